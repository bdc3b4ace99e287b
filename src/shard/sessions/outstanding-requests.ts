// Outstanding requests and instructions to clusters. They belong to the cluster, not to a session: all of them are
// sent again to a new session. The controller decides when to abandon one, and then withdraws it. Part of sessions.ts.

import { MAX_ASKS } from './limits.ts';
import { type Ask, askKey } from './messages.ts';

export class OutstandingRequests {
  readonly #open = new Map<string, Map<string, Ask>>();
  readonly #capacity: number;

  constructor(capacity: number = MAX_ASKS) {
    this.#capacity = capacity;
  }

  /** Adds a request. Returns the oldest one, evicted, if the cluster exceeds its capacity. */
  add(ask: Ask): Ask | null {
    const open = this.#open.get(ask.cluster) ?? new Map<string, Ask>();
    this.#open.set(ask.cluster, open);
    open.set(askKey(ask), ask);
    if (open.size <= this.#capacity) return null;
    const oldest = open.values().next().value!;
    open.delete(askKey(oldest));
    return oldest;
  }

  /**
   * Removes the request; returns whether it was outstanding. An answer counts only if it comes from the cluster that
   * was asked.
   */
  settle(cluster: string, ask: Pick<Ask, 'kind' | 'id'>): boolean {
    const open = this.#open.get(cluster);
    const wasOpen = open?.delete(askKey(ask)) ?? false;
    if (open?.size === 0) this.#open.delete(cluster);
    return wasOpen;
  }

  isOpen(ask: Ask): boolean {
    return this.#open.get(ask.cluster)?.has(askKey(ask)) ?? false;
  }

  /**
   * Outstanding requests of a cluster, oldest first. An instruction whose grace period is over is dropped: the machine
   * may have left long ago and be serving the same cluster again.
   */
  openOf(cluster: string, nowMs: number): readonly Ask[] {
    const open = [...(this.#open.get(cluster)?.values() ?? [])];
    const isOver = (ask: Ask): boolean => ask.kind === 'reclaim' && ask.deadlineMs <= nowMs;
    for (const ask of open) if (isOver(ask)) this.settle(cluster, ask);
    return open.filter((ask) => !isOver(ask));
  }
}
