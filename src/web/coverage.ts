// How much of what a Need wants it has, for bars and figures of the pages. Runs in a browser.

import { quantityValue } from './figures.ts';

type Quantities = Readonly<Record<string, string>>;

/** Share of the wanted amount, 0 to 1, of the resource that is covered least. */
export function coverageOf({
  wants,
  missing,
}: {
  readonly wants: Quantities;
  readonly missing: Quantities;
}): number {
  const shares = Object.entries(missing).map(([resource, quantity]) => {
    const wanted = quantityValue(wants[resource] ?? '') ?? 0;
    return wanted <= 0 ? 0 : 1 - (quantityValue(quantity) ?? 0) / wanted;
  });
  return Math.max(0, Math.min(1, ...shares));
}

/** `63 %`; with accelerators `general 63 %, accelerated 12 %`; empty if no machine serves. */
export function usedText(usedShare: Readonly<Record<string, number>>): string {
  const shares = Object.entries(usedShare);
  if (shares.length === 1 && shares[0]![0] === 'general') return percentText(shares[0]![1]);
  return shares.map(([kind, share]) => `${kind} ${percentText(share)}`).join(', ');
}

/** Whole percent; 100 only for all of it, and 0 only for nothing. */
export function percentText(share: number): string {
  if (share >= 1) return '100 %';
  if (share <= 0) return '0 %';
  return `${Math.min(99, Math.max(1, Math.round(share * 100)))} %`;
}
