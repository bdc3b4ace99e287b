// After a start, clusters report one after the other. A machine whose target cluster has not reported yet must not go
// to a row of lower priority that was reported earlier, because it would be preempted again. Such machines are blocked
// until their cluster reports, for `AWAIT_MS` at most. Made by controller.ts after frozen-machines.ts, whose
// `ledger.alwaysBlocked` it extends.

import type { MachineStatus } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';

/** Longer than operators take to reconnect and report after they lost their shard. */
export const AWAIT_MS = 60_000;

export interface AwaitedMachinesParts {
  readonly ledger: MachineLedger;
  readonly clock: Clock;
  readonly hasReported: (cluster: string) => boolean;
  /** Whether actuation blocks a machine. */
  readonly isBlocked: (machine: string) => boolean;
}

export class AwaitedMachines {
  readonly #parts: AwaitedMachinesParts;
  /** By cluster that has not reported: machines blocked for it. */
  readonly #waiting = new Map<string, Set<string>>();
  #isOver = false;

  constructor(parts: AwaitedMachinesParts) {
    this.#parts = parts;
    const { ledger, clock } = parts;
    const { alwaysBlocked } = ledger;
    ledger.alwaysBlocked = (status) => alwaysBlocked(status) || this.#isAwaited(status);
    ledger.listen(({ id, after }) => {
      if (after !== null && this.#isAwaited(after)) this.#block(id, after.target!.cluster);
    });
    clock.after(AWAIT_MS, () => {
      this.#isOver = true;
      for (const cluster of [...this.#waiting.keys()]) this.reported(cluster);
    });
  }

  /** Unblocks the machines of a cluster once it has reported. */
  reported(cluster: string): void {
    const { ledger, isBlocked } = this.#parts;
    const machines = this.#waiting.get(cluster);
    this.#waiting.delete(cluster);
    for (const id of machines ?? []) ledger.setBlocked(id, isBlocked(id));
  }

  #isAwaited({ state, target }: MachineStatus): boolean {
    if (this.#isOver || state !== MachineState.Idle || target === null) return false;
    return !this.#parts.hasReported(target.cluster);
  }

  #block(id: string, cluster: string): void {
    const machines = this.#waiting.get(cluster) ?? new Set<string>();
    this.#waiting.set(cluster, machines.add(id));
    this.#parts.ledger.setBlocked(id, true);
  }
}
