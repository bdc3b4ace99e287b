// Circuit breaker of one provider. Open: no calls are made, because each would run into its timeout. Half-open: one
// call probes the provider. `answered` closes it; for reachability a refusal is an answer too. Used by
// call-scheduler.ts: one for calls and one for denied mutations of each provider.

import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Consecutive failures that open it. */
  readonly failures: number;
  readonly backoff: BackoffLimits;
  readonly onChange: (state: BreakerState) => void;
}

export class Breaker {
  readonly #parts: BreakerParts;
  #state: BreakerState = 'closed';
  #failures = 0;
  /** Openings since the last answer. */
  #openings = 0;
  #cancel = () => {};

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  get state(): BreakerState {
    return this.#state;
  }

  answered(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#cancel();
    this.#become('closed');
  }

  failed(): void {
    this.#failures++;
    const isProbe = this.#state === 'half-open';
    if (this.#state === 'open' || (!isProbe && this.#failures < this.#parts.failures)) return;
    this.#openings++;
    const { clock, random, backoff } = this.#parts;
    const wait = backoffMs(random, backoff, this.#openings);
    this.#cancel = clock.after(wait, () => this.#become('half-open'));
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#parts.onChange(state);
  }
}
