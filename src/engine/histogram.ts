// How values are distributed, in a fixed number of buckets: what Prometheus calls a histogram, without the client.

/** Upper bounds 2⁻¹⁰ … 2¹⁵: in milliseconds from a microsecond to half a minute, each twice the one before. */
const BOUNDS: readonly number[] = Array.from({ length: 26 }, (_, i) => 2 ** (i - 10));

export class Histogram {
  /** Values up to each bound and above the one before; the last bucket holds all that are larger. */
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
