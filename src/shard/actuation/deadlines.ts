// Deadlines of transitional states. The ledger reports every machine that enters or leaves such a state, whether an
// action or a provider's record moved it; when the time allowed for the state has leftTransition, `overdue` is called.
// Part of actuation.ts.

import type { MachineStatus } from '../../fleet/index.ts';
import type { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isTransitional, type TransitionalState } from './actuation-limits.ts';

export interface Passage {
  readonly state: TransitionalState;
  readonly sinceMs: number;
  readonly cancel: () => void;
}

export interface DeadlinesParts {
  readonly clock: Clock;
  /** Milliseconds until `overdue` is called for a state, from its start or from an extension. */
  readonly allowedMs: (id: string, state: TransitionalState) => number;
  readonly overdue: (id: string, state: TransitionalState, sinceMs: number) => void;
  /** The machine left the state `from` for `to`, `seconds` after it entered it. */
  readonly leftTransition: (id: string, from: TransitionalState, to: MachineState, seconds: number) => void;
}

export class Deadlines {
  readonly #parts: DeadlinesParts;
  readonly #passages = new Map<string, Passage>();

  constructor(parts: DeadlinesParts) {
    this.#parts = parts;
  }

  moved(id: string, after: MachineStatus | null): void {
    const passage = this.#passages.get(id);
    if (passage !== undefined && passage.state === after?.state) return;
    const now = this.#parts.clock.now();
    if (passage !== undefined) {
      passage.cancel();
      this.#passages.delete(id);
      if (after !== null)
        this.#parts.leftTransition(id, passage.state, after.state, (now - passage.sinceMs) / 1000);
    }
    if (after !== null && isTransitional(after.state)) this.#arm(id, after.state, now);
  }

  /** null if the machine is in a stable state. */
  passageOf(id: string): Pick<Passage, 'state' | 'sinceMs'> | null {
    return this.#passages.get(id) ?? null;
  }

  /** Restarts the timer with the full allowance of the state, from now. */
  extend(id: string): void {
    const passage = this.#passages.get(id);
    if (passage !== undefined) this.#arm(id, passage.state, passage.sinceMs);
  }

  #arm(id: string, state: TransitionalState, sinceMs: number): void {
    const { clock, allowedMs, overdue } = this.#parts;
    const cancel = clock.after(allowedMs(id, state), () => overdue(id, state, sinceMs));
    this.#passages.set(id, { state, sinceMs, cancel });
  }
}
