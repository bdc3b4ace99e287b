// Which clusters have changed, for everyone who keeps something about them. Each watcher has a set of its own and
// empties it when it has caught up; one who is gone is forgotten.

export class Changes {
  #watchers: WeakRef<Set<number>>[] = [];

  /** A set that every later change is added to, for as long as somebody holds it. */
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
