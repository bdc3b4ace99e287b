// Rate limit for new sessions per cluster, a token bucket. Each new session makes the controller resync all machines
// of the cluster, so an operator that reconnects in a loop, or two that replace each other, would cost the shard far
// more than it costs them. Used by sessions.ts.

/** Bucket size: sessions before a cluster has to wait. An operator with proper backoff never reaches it. */
const BURST = 20;
/** Time to refill one session. */
const REFILL_MS = 2000;
/** Entries above this number trigger the removal of clusters whose bucket is full again. */
const MAX_REMEMBERED = 20_000;

export class Reconnects {
  /** By cluster: when its bucket will be full again. */
  readonly #fullAtMs = new Map<string, number>();

  /** Counts a session and returns 0, or counts nothing and returns how long the cluster should wait. */
  waitMs(cluster: string, nowMs: number): number {
    const rememberedMs = this.#fullAtMs.get(cluster) ?? nowMs;
    // A bucket is full after at most BURST * REFILL_MS; a later time means that the clock was set back.
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
