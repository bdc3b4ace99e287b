// Coverage: how much of what a gang wants a domain has, in whole parts per million, so that two builds never choose
// different racks because of a rounding error. Used by domain-sums.ts and domain-tree.ts.

export const MILLION = 1_000_000;
/** Up to this multiple of what is wanted, sums of parts per million are exact in a double. */
const MANY = 1_000_000;
/** A thousand times this is still below 2^53. */
const EXACT = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** `floor(1e6 × have ÷ want)` exactly, for whole have and want, want above zero. */
export function partsPerMillion(have: number, want: number): number {
  if (have === want) return MILLION;
  if (have === 0) return 0;
  const estimate = (have / want) * MILLION;
  const floor = Math.floor(estimate);
  // The estimate is off by less than one part in 10^15; only near a whole number can that change the floor.
  const fraction = estimate - floor;
  const margin = Math.max(1e-9, estimate * 1e-15);
  if (fraction > margin && fraction < 1 - margin) return floor;
  if (want <= EXACT && have <= Number.MAX_SAFE_INTEGER) return exactParts(have, want);
  return Number((BigInt(have) * BigInt(MILLION)) / BigInt(want));
}

/** Parts per million, at most a million of them. */
export function cappedParts(have: number, want: number): number {
  return have >= want ? MILLION : partsPerMillion(have, want);
}

/** Whether parts per million without a cap must be computed with whole numbers of any size. */
export function isBeyondDoubles(have: number, want: number): boolean {
  return have > Number.MAX_SAFE_INTEGER || have > want * MANY;
}

/** In two steps of a thousand: the remainders stay whole numbers below 2^53, so the quotients are exact. */
function exactParts(have: number, want: number): number {
  const rest = have % want;
  const thousandths = rest * 1000;
  const left = thousandths % want;
  const parts = ((thousandths - left) / want) * 1000 + Math.floor((left * 1000) / want);
  return ((have - rest) / want) * MILLION + parts;
}
