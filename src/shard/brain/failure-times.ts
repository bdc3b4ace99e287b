// When each Failed machine failed, by the shard's clock, so that people are shown the newest error. In memory: after a restart
// machines that are already Failed count as failed at the start.

import type { Clock } from '../../model/index.ts';
import { MachineState } from '../../model/index.ts';
import type { Book } from './book.ts';

export class FailureTimes {
  readonly #failedMs = new Map<string, number>();

  constructor(book: Book, clock: Clock) {
    book.listen((id, before, after) => {
      if (after?.state !== MachineState.Failed) this.#failedMs.delete(id);
      else if (before?.state !== MachineState.Failed) this.#failedMs.set(id, clock.now());
    });
  }

  /** 0 for a machine that is not Failed. */
  of(id: string): number {
    return this.#failedMs.get(id) ?? 0;
  }
}
