// A map by row key, as nested maps by cluster, fingerprint and group. Keys of one profile share one fingerprint
// string, which is long and whose hash is cached; joined keys would allocate and hash 100,000 new strings every cycle.
// Used by shortfalls.ts and demand/first-seen.ts.

import type { NeedKey } from '../../model/index.ts';

export class KeyMap<V> {
  readonly #clusters = new Map<string, Map<string, Map<string, V>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ cluster, fingerprint, group }: NeedKey): V | undefined {
    return this.#clusters.get(cluster)?.get(fingerprint)?.get(group);
  }

  set({ cluster, fingerprint, group }: NeedKey, value: V): void {
    const groups = inside(inside(this.#clusters, cluster), fingerprint);
    if (!groups.has(group)) this.#size++;
    groups.set(group, value);
  }

  delete({ cluster, fingerprint, group }: NeedKey): void {
    const fingerprints = this.#clusters.get(cluster);
    const groups = fingerprints?.get(fingerprint);
    if (!groups?.delete(group)) return;
    this.#size--;
    if (groups.size > 0) return;
    fingerprints!.delete(fingerprint);
    if (fingerprints!.size === 0) this.#clusters.delete(cluster);
  }

  *values(): Generator<V> {
    for (const fingerprints of this.#clusters.values()) {
      for (const groups of fingerprints.values()) yield* groups.values();
    }
  }
}

function inside<V>(outer: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let inner = outer.get(name);
  if (inner === undefined) {
    inner = new Map();
    outer.set(name, inner);
  }
  return inner;
}
