// Waiting in a run, and what is said meanwhile.

import type { Progress } from './ladder/progress.ts';

const LOOK_MS = 50;

/** Waits, and says how far things are meanwhile. */
export async function saying<T>(progress: Progress, work: Promise<T>, text: () => string): Promise<T> {
  const timer = setInterval(() => progress.say(text()), LOOK_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(LOOK_MS);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** '10s' in milliseconds; NaN if it is no such thing. */
export function millisecondsOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Number(amount) * UNITS[unit]!;
}
