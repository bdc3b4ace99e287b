// Publishes changed numbers (clusters, classes or slots) to subscribers that cache data about them. Each subscriber
// owns a set, which it clears once it has updated its cache; sets are weakly referenced, so that no subscriber has to
// unsubscribe. Published by the fleet's ledgers; the engine's cycle.ts and foldable.ts subscribe.

export class Changes {
  #watchers: WeakRef<Set<number>>[] = [];

  /** Subscribes: returns a set that every later change is added to until the caller drops it. */
  watch(): Set<number> {
    const changed = new Set<number>();
    this.#watchers = this.#watchers.filter((watcher) => watcher.deref() !== undefined);
    this.#watchers.push(new WeakRef(changed));
    return changed;
  }

  add(cluster: number): void {
    for (const watcher of this.#watchers) watcher.deref()?.add(cluster);
  }
}
