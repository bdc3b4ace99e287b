// The first few of many in an order: what sorting all of them and cutting comes to, for little more than one look at
// each.

export interface FirstOf<T> {
  readonly first: T[];
  /** How many there were in all. */
  readonly count: number;
}

/** The first `limit` of some values; equals stay in the order they came. */
export function firstOf<T>(values: Iterable<T>, limit: number, compare: (a: T, b: T) => number): FirstOf<T> {
  const kept: T[] = [];
  let count = 0;
  let isCut = false;
  for (const value of values) {
    count++;
    if (limit <= 0 || (isCut && compare(value, kept[limit - 1]!) >= 0)) continue;
    kept.push(value);
    // Cut when twice too long, so that few sorts are made.
    if (kept.length < 2 * limit) continue;
    kept.sort(compare);
    kept.length = limit;
    isCut = true;
  }
  return { first: kept.sort(compare).slice(0, limit), count };
}
