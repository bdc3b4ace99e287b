// Backpressure between the hands and a brain that may be behind because of a long cycle, a burst of roll-ups or a large
// number of clusters. While the brain's queue is long, demand is queued here and coalesced: only the newest demand of each
// cluster is kept, so the queue is bounded by the number of clusters, whatever operators send. Other events are rare, or
// bounded by their senders, and are posted at once.

import type { BrainEvent } from '../events.ts';
import type { Brain } from '../sessions/sessions.ts';

export interface SlowBrain extends Brain {
  /** The queue of unprocessed events is full enough that callers should defer events where they can. */
  readonly isBehind: boolean;
  /** Resolves when the brain is no longer behind. */
  room(): Promise<void>;
}

type DemandEvent = Extract<BrainEvent, { readonly kind: 'demand' }>;

export class PacedBrain implements Brain {
  readonly #brain: SlowBrain;
  /** By cluster, in posting order. */
  readonly #waiting = new Map<string, DemandEvent>();
  /** Number of demand events replaced by a newer one of their cluster while they were queued. */
  coalesced = 0;
  #isEmptying = false;

  constructor(brain: SlowBrain) {
    this.#brain = brain;
  }

  /** Number of clusters whose demand is queued. */
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
