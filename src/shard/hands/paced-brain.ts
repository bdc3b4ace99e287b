// Between the hands and a brain that may be behind: a cycle that takes long, a burst of roll-ups, ten times the clusters.
// While much waits at the brain, demand waits here instead, of each cluster only the newest, so that what waits is bounded
// by the number of clusters whatever operators send. Everything else is rare, or bounded by those who send it, and goes on.

import type { BrainEvent } from '../events.ts';
import type { Brain } from './hands.ts';

export interface SlowBrain extends Brain {
  /** So much waits that whoever can should hold back. */
  readonly isBehind: boolean;
  /** Resolves when that is over. */
  room(): Promise<void>;
}

type DemandEvent = Extract<BrainEvent, { readonly kind: 'demand' }>;

export class PacedBrain implements Brain {
  readonly #brain: SlowBrain;
  /** By cluster, in the order of their turns. */
  readonly #waiting = new Map<string, DemandEvent>();
  /** Demand that was replaced by a newer one of its cluster while it waited. */
  coalesced = 0;
  #isEmptying = false;

  constructor(brain: SlowBrain) {
    this.#brain = brain;
  }

  /** Clusters whose demand waits. */
  get waiting(): number {
    return this.#waiting.size;
  }

  post(event: BrainEvent): void {
    if (event.kind !== 'demand') this.#brain.post(event);
    else if (this.#waiting.size === 0 && !this.#brain.isBehind) this.#brain.post(event);
    else this.#keep(event);
  }

  #keep(event: DemandEvent): void {
    if (this.#waiting.has(event.cluster)) this.coalesced++;
    this.#waiting.set(event.cluster, event);
    if (!this.#isEmptying) void this.#empty();
  }

  async #empty(): Promise<void> {
    this.#isEmptying = true;
    while (this.#waiting.size > 0) {
      await this.#brain.room();
      for (const [cluster, event] of this.#waiting) {
        this.#waiting.delete(cluster);
        this.#brain.post(event);
        if (this.#brain.isBehind) break;
      }
    }
    this.#isEmptying = false;
  }
}
