// A machine that is on its way somewhere may not be so for ever: when its time is up, somebody has to look. The book
// tells of every machine that enters or leaves a transitional state, whoever moved it.

import type { Standing } from '../../../fleet/index.ts';
import type { Clock, MachineState } from '../../../model/index.ts';
import { isTransitional, type TransitionalState } from './limits.ts';

export interface Passage {
  readonly state: TransitionalState;
  readonly sinceMs: number;
  readonly cancel: () => void;
}

export interface DeadlinesParts {
  readonly clock: Clock;
  /** How long a machine may stay in a state it has just entered. */
  readonly allowedMs: (id: string, state: TransitionalState) => number;
  readonly overdue: (id: string, state: TransitionalState, sinceMs: number) => void;
  /** A passage ended; where it led, and how long it took. */
  readonly passed: (id: string, from: TransitionalState, to: MachineState, seconds: number) => void;
}

export class Deadlines {
  readonly #parts: DeadlinesParts;
  readonly #passages = new Map<string, Passage>();

  constructor(parts: DeadlinesParts) {
    this.#parts = parts;
  }

  moved(id: string, after: Standing | null): void {
    const passage = this.#passages.get(id);
    if (passage !== undefined && passage.state === after?.state) return;
    const now = this.#parts.clock.now();
    if (passage !== undefined) {
      passage.cancel();
      this.#passages.delete(id);
      if (after !== null) this.#parts.passed(id, passage.state, after.state, (now - passage.sinceMs) / 1000);
    }
    if (after !== null && isTransitional(after.state)) this.#arm(id, after.state, now);
  }

  /** The transitional state that a machine is in; null if it is in none. */
  passageOf(id: string): Pick<Passage, 'state' | 'sinceMs'> | null {
    return this.#passages.get(id) ?? null;
  }

  /** Looks again after as long as was allowed before. */
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
