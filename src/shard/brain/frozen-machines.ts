// Machines of clusters that are frozen by name are nobody's victims: the ledger has them as held, as it has those that
// actuation holds for reasons of its own. A machine is free again when neither has a reason left.

import type { Standing } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { Book } from './book.ts';
import type { Freezes } from './freezes.ts';

export interface FrozenMachinesParts {
  readonly book: Book;
  readonly freezes: Freezes;
  /** Whether actuation holds a machine. */
  readonly isHeld: (machine: string) => boolean;
}

export class FrozenMachines {
  readonly #parts: FrozenMachinesParts;

  constructor(parts: FrozenMachinesParts) {
    this.#parts = parts;
    parts.book.alwaysHeld = (standing) => parts.freezes.isHeld(standing);
    parts.book.listen((id, before, after) => {
      if (after !== null && isConcerned(before, after)) this.#settle(id);
    });
  }

  /** A freeze of the cluster has come or gone. */
  changed(cluster: string): void {
    for (const id of [...this.#parts.book.boundTo(cluster)]) this.#settle(id);
  }

  #settle(id: string): void {
    const { book, isHeld } = this.#parts;
    book.hold(id, isHeld(id));
  }
}

/** Only Configured machines are held for a freeze: others are looked at when they come to that or leave it. */
function isConcerned(before: Standing | null, after: Standing): boolean {
  return before?.state === MachineState.Configured || after.state === MachineState.Configured;
}
