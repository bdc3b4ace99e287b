// Machines of clusters that are frozen by name cannot be victims: the ledger's `blocked` bit is set for them, as for
// machines that actuation blocks. The bit is cleared when neither a freeze nor actuation has a reason left. Made by
// controller.ts; sets `ledger.alwaysBlocked`, which awaited-machines.ts then extends.

import type { MachineStatus } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { Freezes } from './freezes.ts';

export interface FrozenMachinesParts {
  readonly ledger: MachineLedger;
  readonly freezes: Freezes;
  /** Whether actuation blocks a machine. */
  readonly isBlocked: (machine: string) => boolean;
}

export class FrozenMachines {
  readonly #parts: FrozenMachinesParts;

  constructor(parts: FrozenMachinesParts) {
    this.#parts = parts;
    parts.ledger.alwaysBlocked = (status) => parts.freezes.isBlocked(status);
    parts.ledger.listen(({ id, before, after }) => {
      if (after !== null && isConcerned(before, after)) this.#settle(id);
    });
  }

  /** To be called when a freeze of the cluster was added or removed. */
  changed(cluster: string): void {
    for (const id of [...this.#parts.ledger.boundTo(cluster)]) this.#settle(id);
  }

  #settle(id: string): void {
    const { ledger, isBlocked } = this.#parts;
    ledger.setBlocked(id, isBlocked(id));
  }
}

/** A freeze blocks Configured machines only, so the bit is recomputed when a machine enters or leaves that state. */
function isConcerned(before: MachineStatus | null, after: MachineStatus): boolean {
  return before?.state === MachineState.Configured || after.state === MachineState.Configured;
}
