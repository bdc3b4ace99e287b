// Formats money, quantities, counts and ages for people, rounded to the digits that matter. Used by the commands that
// print tables and sentences; live views use web/figures.ts.

import { formatQuantity, parseQuantity } from '../model/index.ts';

export { dollars, instant } from '../web/figures.ts';

/** 1,234 */
export function count(n: number): string {
  return n.toLocaleString('en-US');
}

/** `1 machine`, `2 machines`. */
export function countOf(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

const AGES = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** In the largest unit with a value of at least 2: 90s, 90m, 47h, 3d. */
export function age(ms: number): string {
  for (const [unit, size] of AGES) if (ms >= 2 * size) return `${Math.floor(ms / size)}${unit}`;
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}

type Quantities = Readonly<Record<string, string>>;

/** For sentences: `cpu 64, memory 256Gi, nvidia.com/gpu 8`. */
export function amounts(quantities: Quantities): string {
  const entries = Object.entries(quantities);
  if (entries.length === 0) return 'nothing';
  return entries.map(([resource, text]) => `${resource} ${quantity(resource, text)}`).join(', ');
}

/** For tables: `cpu 64 memory 256Gi gpu 8`. */
export function shortAmounts(quantities: Quantities): string {
  const entries = Object.entries(quantities);
  return entries
    .map(([resource, text]) => `${resource.slice(resource.lastIndexOf('/') + 1)} ${quantity(resource, text)}`)
    .join(' ');
}

function quantity(resource: string, text: string): string {
  try {
    const units = parseQuantity(text, resource, 'up');
    return roundAmount(resource, formatQuantity(1, resource) === '1m' ? units / 1000 : units);
  } catch {
    return text;
  }
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Cores, bytes or pieces. */
export function roundAmount(resource: string, amount: number): string {
  if (!formatQuantity(1024, resource).endsWith('Ki')) return rounded(amount);
  let step = 0;
  while (step < BINARY.length - 1 && amount >= 1024 ** (step + 1)) step++;
  return `${rounded(amount / 1024 ** step)}${BINARY[step]}`;
}

function rounded(n: number): string {
  return n.toLocaleString('en-US', { maximumFractionDigits: n < 10 ? 2 : 1 });
}
