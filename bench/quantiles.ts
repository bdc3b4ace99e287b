// Quantiles of durations, for all benchmarks: the median, the 99th percentile and the maximum, in milliseconds.

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Nearest rank, so that every figure is a time that was measured. */
export function quantilesOf(durationsMs: readonly number[]): Quantiles {
  const sorted = Float64Array.from(durationsMs).sort();
  const at = (q: number): number =>
    rounded(sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** To a microsecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
