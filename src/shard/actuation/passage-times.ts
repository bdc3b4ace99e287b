// Median time that machines of a provider spend in each transitional state. It yields the expected end of a transition
// for display; no decision reads it. Part of actuation.ts.

import type { TransitionalState } from './actuation-limits.ts';

/** Latest transitions kept per provider and state. */
const WINDOW = 31;

export class PassageTimes {
  readonly #seconds = new Map<string, number[]>();

  add(provider: string, state: TransitionalState, seconds: number): void {
    // The wall clock was set back during the transition.
    if (seconds < 0) return;
    const key = `${state} ${provider}`;
    const known = this.#seconds.get(key) ?? [];
    this.#seconds.set(key, known);
    known.push(seconds);
    if (known.length > WINDOW) known.shift();
  }

  /** null: no machine of the provider has left the state since the shard started. */
  usualMs(provider: string, state: TransitionalState): number | null {
    const known = this.#seconds.get(`${state} ${provider}`);
    if (known === undefined) return null;
    return known.toSorted((a, b) => a - b)[known.length >> 1]! * 1000;
  }
}
