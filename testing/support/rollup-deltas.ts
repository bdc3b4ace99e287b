// Test support: deltas of roll-ups without a wire: a list of Needs is compared with the one before it, by key and
// content. Imported by tests of fleet, shard and model.

import { isDeepStrictEqual } from 'node:util';
import { FRESH, keyOf, keyText, type Need, NO_BASE, type RollupDelta } from '../../src/model/index.ts';

/** The difference between two complete lists of Needs. Versions are given by the caller; base `NO_BASE`: all are fresh. */
export function deltaOf(
  cluster: string,
  before: { readonly version: number; readonly needs: readonly Need[] },
  needs: readonly Need[],
  version: number = before.version + 1,
): RollupDelta {
  const places = new Map(before.needs.map((need, at) => [keyText(keyOf(need)), at]));
  const origin = Int32Array.from(needs, (need) => {
    const at = places.get(keyText(keyOf(need)));
    if (before.version === NO_BASE || at === undefined) return FRESH;
    return isDeepStrictEqual(before.needs[at], need) ? at : FRESH;
  });
  const fresh = needs.filter((_, i) => origin[i] === FRESH);
  return { cluster, base: before.version, version, origin, fresh };
}

/** Lists of Needs of one cluster, each as the difference from the last one. */
export class DeltaSource {
  readonly #cluster: string;
  #last: { readonly version: number; readonly needs: readonly Need[] } = { version: NO_BASE, needs: [] };

  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  next(needs: readonly Need[]): RollupDelta {
    const delta = deltaOf(this.#cluster, this.#last, needs);
    this.#last = { version: delta.version, needs };
    return delta;
  }
}
