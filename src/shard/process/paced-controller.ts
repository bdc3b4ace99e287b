// Backpressure between the sessions and a controller that may be behind because of a long cycle, a burst of roll-ups
// or a large number of clusters. While the controller's queue is long, demand is queued here and coalesced to one
// event per cluster, so the queue is bounded by the number of clusters, whatever operators send. Other events are
// rare, or bounded by their senders, and are posted at once. Made by shard.ts, which gives it to the sessions in place
// of controller-thread.ts.

import type { ControllerEvent } from '../events.ts';
import type { Controller } from '../sessions/sessions.ts';
import { coalesced, type DemandEvent } from './coalesced-demand.ts';

export interface SlowController extends Controller {
  /** The queue of unprocessed events is full enough that callers should defer events where they can. */
  readonly isBehind: boolean;
  /** Resolves when the controller is no longer behind. */
  room(): Promise<void>;
}

export class PacedController implements Controller {
  readonly #controller: SlowController;
  /** By cluster, in posting order. */
  readonly #waiting = new Map<string, DemandEvent>();
  /** Number of demand events that became part of a newer one of their cluster while they were queued. */
  coalesced = 0;
  #isEmptying = false;

  constructor(controller: SlowController) {
    this.#controller = controller;
  }

  /** Number of clusters whose demand is queued. */
  get waiting(): number {
    return this.#waiting.size;
  }

  post(event: ControllerEvent): void {
    if (event.kind !== 'demand') this.#controller.post(event);
    else if (this.#waiting.size === 0 && !this.#controller.isBehind) this.#controller.post(event);
    else this.#keep(event);
  }

  #keep(event: DemandEvent): void {
    const { cluster } = event.delta;
    const queued = this.#waiting.get(cluster);
    if (queued !== undefined) this.coalesced++;
    this.#waiting.set(cluster, coalesced(queued, event));
    if (!this.#isEmptying) void this.#empty();
  }

  async #empty(): Promise<void> {
    this.#isEmptying = true;
    while (this.#waiting.size > 0) {
      await this.#controller.room();
      for (const [cluster, event] of this.#waiting) {
        this.#waiting.delete(cluster);
        this.#controller.post(event);
        if (this.#controller.isBehind) break;
      }
    }
    this.#isEmptying = false;
  }
}
