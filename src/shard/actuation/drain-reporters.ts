// Clusters whose operator announced `drain-report` in its last hello. A drain of such a cluster waits for the operator
// also while there is no session: the operator is restarting or being replaced, or the shard itself has just started.
// Durable, in one write for all hellos of a moment, because every operator connects at once after a restart of the
// shard. Used by drain-waits.ts; storage/ has the stores.

import type { Clock } from '../../runtime/clock.ts';

export interface DrainReporterStore {
  /** Oldest first. */
  drainReporters(): Iterable<string>;
  /** Durable when it returns. */
  saveDrainReporters(added: readonly string[], dropped: readonly string[]): void;
}

/** As many as clusters of a shard. Beyond it the oldest are dropped, and their drains do not wait without a session. */
export const MAX_DRAIN_REPORTERS = 10_000;

/** Longer loses the hellos of more time if the process is killed; shorter makes more writes to disk. */
const SAVE_AFTER_MS = 100;

export interface DrainReportersParts {
  readonly store: DrainReporterStore;
  readonly clock: Clock;
}

export class DrainReporters {
  readonly #parts: DrainReportersParts;
  /** Oldest hello first. */
  readonly #clusters: Set<string>;
  /** Clusters whose entry in the store may be stale. */
  readonly #unsaved = new Set<string>();
  #cancelSave: (() => void) | null = null;
  #isStopped = false;

  constructor(parts: DrainReportersParts) {
    this.#parts = parts;
    this.#clusters = new Set(parts.store.drainReporters());
  }

  has(cluster: string): boolean {
    return this.#clusters.has(cluster);
  }

  /** A hello of the cluster's operator. */
  greeted(cluster: string, announcesReports: boolean): void {
    const isKnown = this.#clusters.delete(cluster);
    if (announcesReports) this.#clusters.add(cluster);
    if (isKnown !== announcesReports) this.#changed(cluster);
    if (this.#clusters.size <= MAX_DRAIN_REPORTERS) return;
    const oldest = this.#clusters.values().next().value!;
    this.#clusters.delete(oldest);
    this.#changed(oldest);
  }

  /** Saves what is not saved yet. Later hellos are not saved: the file is about to be closed. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelSave?.();
    this.#save();
  }

  #save(): void {
    this.#cancelSave = null;
    if (this.#unsaved.size === 0) return;
    const changed = [...this.#unsaved];
    this.#unsaved.clear();
    const added = changed.filter((cluster) => this.#clusters.has(cluster));
    const dropped = changed.filter((cluster) => !this.#clusters.has(cluster));
    this.#parts.store.saveDrainReporters(added, dropped);
  }

  #changed(cluster: string): void {
    if (this.#isStopped) return;
    this.#unsaved.add(cluster);
    this.#cancelSave ??= this.#parts.clock.after(SAVE_AFTER_MS, () => this.#save());
  }
}
