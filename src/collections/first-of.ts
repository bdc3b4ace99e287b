// Top-k selection: the same result as sorting all values and truncating, at little more than one comparison per value.
// Used for verdicts and for lists of the shard's API.

export interface FirstOf<T> {
  readonly first: T[];
  /** Number of all values. */
  readonly count: number;
}

/** The first `limit` values in order; stable for equal values. */
export function firstOf<T>(values: Iterable<T>, limit: number, compare: (a: T, b: T) => number): FirstOf<T> {
  const kept: T[] = [];
  let count = 0;
  let isCut = false;
  for (const value of values) {
    count++;
    if (limit <= 0 || (isCut && compare(value, kept[limit - 1]!) >= 0)) continue;
    kept.push(value);
    // Truncated at twice the limit, to amortise the sort.
    if (kept.length < 2 * limit) continue;
    kept.sort(compare);
    kept.length = limit;
    isCut = true;
  }
  return { first: kept.sort(compare).slice(0, limit), count };
}
