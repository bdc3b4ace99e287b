// Distribution of values in a fixed number of buckets: a Prometheus histogram without the client library. Used by the
// engine's stats.ts, which a shard exports as metrics.

/** Upper bounds 2⁻¹⁰ … 2¹⁵, each twice the previous one: in milliseconds, from 1 µs to half a minute. */
const BOUNDS: readonly number[] = Array.from({ length: 26 }, (_, i) => 2 ** (i - 10));

export class Histogram {
  /** Number of values in (previous bound, bound]; the last bucket holds all larger ones. */
  readonly counts = new Array<number>(BOUNDS.length + 1).fill(0);
  count = 0;
  sum = 0;

  get bounds(): readonly number[] {
    return BOUNDS;
  }

  add(value: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && value > BOUNDS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.count++;
    this.sum += value;
  }

  addAll(other: Histogram): void {
    for (const [bucket, count] of other.counts.entries()) this.counts[bucket]! += count;
    this.count += other.count;
    this.sum += other.sum;
  }
}
