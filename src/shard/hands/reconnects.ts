// How often a cluster may open a session. Each one makes the brain tell the cluster of all its machines, so an operator
// that connects in a loop, or two that take the session from each other, would cost a shard far more than themselves.

/** Sessions in a row before a cluster has to wait; an operator that backs off as it should never gets there. */
const BURST = 20;
/** Another one is allowed after so long. */
const REFILL_MS = 2000;
/** Clusters remembered before those are forgotten that may do as they like again. */
const MAX_REMEMBERED = 20_000;

export class Reconnects {
  /** By cluster: when it will have all of its burst again. */
  readonly #fullAtMs = new Map<string, number>();

  /** Counts a session and returns 0; or returns how long the cluster should wait, and counts nothing. */
  waitMs(cluster: string, nowMs: number): number {
    const rememberedMs = this.#fullAtMs.get(cluster) ?? nowMs;
    // Nobody has used up more than a burst: a later time is of a clock that has been set back since.
    const latestMs = nowMs + BURST * REFILL_MS;
    if (rememberedMs > latestMs) this.#fullAtMs.set(cluster, latestMs);
    const fullAtMs = Math.min(Math.max(rememberedMs, nowMs), latestMs) + REFILL_MS;
    const waitMs = fullAtMs - nowMs - BURST * REFILL_MS;
    if (waitMs > 0) return waitMs;
    this.#fullAtMs.set(cluster, fullAtMs);
    if (this.#fullAtMs.size > MAX_REMEMBERED) this.#forget(nowMs);
    return 0;
  }

  #forget(nowMs: number): void {
    for (const [cluster, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(cluster);
  }
}
