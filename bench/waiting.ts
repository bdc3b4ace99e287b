// Waits in a run of `bench shard` or `bench hostile` (their measure.ts), with progress output, and parses the durations
// on their command lines.

import type { Progress } from './ladder/progress.ts';

const POLL_MS = 50;

/** Waits for the work and updates the progress line meanwhile. */
export async function withProgress<T>(progress: Progress, work: Promise<T>, text: () => string): Promise<T> {
  const timer = setInterval(() => progress.update(text()), POLL_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await pause(POLL_MS);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** '10s' in milliseconds; NaN for any other text. */
export function millisecondsOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Number(amount) * UNITS[unit]!;
}
