// Amounts and dollars in pods. Every pod repeats the same few quantity texts, so results are cached by text; and nothing
// here throws: an amount that cannot be counted is a problem of its pod alone.

import {
  BigFleetError,
  bucketOfDollars,
  excerpt,
  MAX_UNITS,
  type PenaltyBucket,
  parseDemand,
} from '../../model/index.ts';

export type Amount =
  | { readonly kind: 'units'; readonly units: number }
  /** Below zero, which the API server refuses; counts as 0. */
  | { readonly kind: 'negative' }
  | { readonly kind: 'problem'; readonly problem: string };

const MAX_CACHED = 4096;
/** cpu is counted in thousandths, everything else in ones, so there are two caches. */
const cached = { cpu: new Map<string, Amount>(), other: new Map<string, Amount>() };

/** An amount that a pod asks for, rounded up to whole units. */
export function amountOf(quantity: string | number, resource: string): Amount {
  const text = typeof quantity === 'string' ? quantity : String(quantity);
  const cache = resource === 'cpu' ? cached.cpu : cached.other;
  const known = cache.get(text);
  if (known !== undefined) return known;
  const amount = readAmount(text, resource);
  if (cache.size >= MAX_CACHED) cache.clear();
  if (text.length <= 32) cache.set(text, amount);
  return amount;
}

function readAmount(text: string, resource: string): Amount {
  try {
    const { units, effect } = parseDemand(text, resource);
    if (effect === 'zeroed') return { kind: 'negative' };
    if (effect === null) return { kind: 'units', units };
    return { kind: 'problem', problem: `"${excerpt(text, 64)}" is too large to count exactly` };
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    return { kind: 'problem', problem: `"${excerpt(text, 64)}" is not a quantity` };
  }
}

/** Sum that stops at the end of the exact range; a pod that reaches it is set aside. */
export function saturatingSum(a: number, b: number): number {
  return Math.min(MAX_UNITS, a + b);
}

/** The penalty bucket of dollars written as a quantity; null if it is not one. */
export function bucketOfQuantity(dollars: string | number): PenaltyBucket | null {
  // In thousandths, rounded up: a bucket is chosen by its upper bound, and all bounds are whole thousandths.
  try {
    const { units, effect } = parseDemand(String(dollars), 'cpu');
    return bucketOfDollars(effect === 'saturated' ? Number.POSITIVE_INFINITY : units / 1000);
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    return null;
  }
}
