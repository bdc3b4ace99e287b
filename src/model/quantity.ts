// Kubernetes quantities, exactly. A text such as `1.5Gi` is read once, at the edge, into a whole number
// of the resource's unit (cpu: milli-cores; everything else: ones) and is an integer from then on.
//
//   quantity = [+|-] digits[.digits] | .digits   then one suffix
//   suffix   = n u m (none) k M G T P E  |  Ki Mi Gi Ti Pi Ei  |  (e|E)[+|-]digits
//
// `12E` is twelve exa, `12E3` is twelve thousand: an E with digits behind it is an exponent.

import { BigFleetError } from './errors.ts';
import { printable } from './text.ts';

/** Demand rounds a part of a unit up, supply rounds it down, so that neither is ever promised what is not there. */
export type Rounding = 'up' | 'down';

/** The largest amount that stays exact in a column of doubles. */
export const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/** Longest text that is looked at; the longest sensible quantity has well under 40 characters. */
const MAX_TEXT_LENGTH = 128;

/** An exact value: `digits × 10^exponent × 2^shift`, digits may be negative. */
interface ExactQuantity {
  readonly digits: bigint;
  readonly exponent: number;
  readonly shift: number;
}

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SHIFT: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

const GRAMMAR = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const PLAIN = /^\d{1,15}$/;

/** Reads a quantity of one resource as a whole number of its unit. Throws on bad grammar, below zero, or too large. */
export function parseQuantity(text: string, resource: string, rounding: Rounding): number {
  const units = readUnits(text, resource, rounding);
  if (units < 0) throw new BigFleetError('BF_QUANTITY_NEGATIVE', `Quantity "${text}" is below zero.`);
  if (units <= MAX_UNITS) return units;
  throw new BigFleetError('BF_QUANTITY_OVERFLOW', `Quantity "${text}" is too large to count exactly.`);
}

/** What reading an amount of demand did to it: below zero it counts as zero, beyond the exact range as its end. */
export type DemandEffect = 'zeroed' | 'saturated' | null;

/** Reads an amount that is asked for, rounded up and kept within the exact range. Throws on bad grammar alone. */
export function parseDemand(
  text: string,
  resource: string,
): { readonly units: number; readonly effect: DemandEffect } {
  const units = readUnits(text, resource, 'up');
  if (units < 0) return { units: 0, effect: 'zeroed' };
  return units <= MAX_UNITS ? { units, effect: null } : { units: MAX_UNITS, effect: 'saturated' };
}

/** The exact number of units; any negative number for one below zero, infinity for one above `MAX_UNITS`. */
function readUnits(text: string, resource: string, rounding: Rounding): number {
  const unitExponent = unitExponentOf(resource);
  if (PLAIN.test(text)) {
    // Nearly all quantities are short whole numbers; 15 digits × 1000 may leave the exact range.
    const units = unitExponent === 0 ? Number(text) : Number(text) * 1000;
    if (units <= MAX_UNITS) return units;
  }
  const exact = parseExact(text);
  return exact.digits < 0n ? -1 : toUnits(exact, unitExponent, rounding);
}

function parseExact(text: string): ExactQuantity {
  const match = text.length <= MAX_TEXT_LENGTH ? GRAMMAR.exec(text) : null;
  const whole = match?.[2] ?? '';
  const fraction = match?.[3] ?? '';
  if (match === null || whole.length + fraction.length === 0) {
    const shown = printable(text.length > 40 ? `${text.slice(0, 40)}…` : text);
    throw new BigFleetError('BF_QUANTITY_SYNTAX', `"${shown}" is not a quantity.`);
  }
  const suffix = match[4] ?? '';
  const magnitude = BigInt(whole + fraction);
  const digits = match[1] === '-' ? -magnitude : magnitude;
  const binary = BINARY_SHIFT[suffix];
  if (binary !== undefined) return { digits, exponent: -fraction.length, shift: binary };
  const power = DECIMAL_EXPONENT[suffix] ?? Number(suffix.slice(1));
  return { digits, exponent: power - fraction.length, shift: 0 };
}

function toUnits(exact: ExactQuantity, unitExponent: number, rounding: Rounding): number {
  if (exact.digits === 0n) return 0;
  const exponent = exact.exponent + unitExponent;
  // 10^20 already exceeds the range, and 128 digits cannot lift 10^-200 to one unit: decide such texts by
  // their exponent instead of building a number with a billion digits.
  if (exponent > 20) return Number.POSITIVE_INFINITY;
  if (exponent < -200) return rounding === 'up' ? 1 : 0;

  const numerator = exact.digits << BigInt(exact.shift);
  let units: bigint;
  if (exponent >= 0) {
    units = numerator * 10n ** BigInt(exponent);
  } else {
    const divisor = 10n ** BigInt(-exponent);
    units = numerator / divisor;
    if (rounding === 'up' && units * divisor !== numerator) units += 1n;
  }
  return units > BigInt(MAX_UNITS) ? Number.POSITIVE_INFINITY : Number(units);
}

const BINARY_SUFFIXES = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const;

/** Writes a whole number of units back in canonical form: the shortest text without a fraction. */
export function formatQuantity(units: number, resource: string): string {
  if (unitExponentOf(resource) === 3) {
    return units % 1000 === 0 ? String(units / 1000) : `${units}m`;
  }
  if (units !== 0 && isBytes(resource)) {
    for (const suffix of BINARY_SUFFIXES) {
      const size = 2 ** BINARY_SHIFT[suffix]!;
      if (units % size === 0) return `${units / size}${suffix}`;
    }
  }
  return String(units);
}

/** cpu is counted in thousandths of a core, everything else in ones. */
function unitExponentOf(resource: string): 0 | 3 {
  return resource === 'cpu' ? 3 : 0;
}

function isBytes(resource: string): boolean {
  return (
    resource === 'memory' ||
    resource === 'ephemeral-storage' ||
    resource === 'storage' ||
    resource.startsWith('hugepages-')
  );
}
