// The order in which rows take free machines (E3 of docs/internals/engine.md). Plain rows look at the price of covering what
// they still want, so their order changes with every machine they take; gangs and folds go by the price of the machine.

import {
  compareText,
  hasForeignAccelerator,
  MachineState,
  type ResourceVector,
} from '../../src/model/index.ts';
import { ascending, costFor, type Row, reclamationDollars, type Slot } from './ledger.ts';

/**
 * "Without foreign accelerator first; Idle before Speculative; least score; least factor; cost; price; Idle: reclamation
 * penalty desc; id." Gangs and folds "use the first two keys, then their old order", which is the rest without score and
 * factor. `want` is what is left to cover.
 */
export function poolOrder(row: Row, want: ResourceVector): (a: Slot, b: Slot) => number {
  const isByCoverage = row.kind === 'plain' && row.options.poolOrder === 'coverage';
  return (a, b) =>
    Number(hasForeign(row, a)) - Number(hasForeign(row, b)) ||
    Number(isIdle(b)) - Number(isIdle(a)) ||
    (isByCoverage ? byCoverage(row, want, a, b) : 0) ||
    ascending(poolCost(row, a), poolCost(row, b)) ||
    a.machine.pricePerHour - b.machine.pricePerHour ||
    (isIdle(a) ? ascending(reclamationDollars(b), reclamationDollars(a)) : 0) ||
    compareText(a.id, b.id);
}

function byCoverage(row: Row, want: ResourceVector, a: Slot, b: Slot): number {
  const [x, y] = [factor(want, a.offer), factor(want, b.offer)];
  return ascending(score(poolCost(row, a), x), score(poolCost(row, b), y)) || ascending(x, y);
}

/** With `accelerators: by-price` the key is left out. */
function hasForeign(row: Row, slot: Slot): boolean {
  const { accelerators, ignoredAccelerators } = row.options;
  return (
    accelerators === 'last' &&
    hasForeignAccelerator(slot.offer, row.aggregate, row.minUnit, ignoredAccelerators)
  );
}

/**
 * "factor = max(1, max over d with w_d > 0 of w_d ÷ v_d), an IEEE double, +∞ if such a v_d is 0; 1 if only the largest piece
 * is missing."
 */
export function factor(want: ResourceVector, offer: ResourceVector): number {
  let most = 1;
  for (const [name, units] of want) {
    if (units > 0) most = Math.max(most, units / (offer.get(name) ?? 0));
  }
  return most;
}

/** "score = round(10⁶ × cost × factor), +∞ if either is." Multiplied from left to right, halves rounded up (R95). */
export function score(cost: number, times: number): number {
  if (cost === Number.POSITIVE_INFINITY || times === Number.POSITIVE_INFINITY)
    return Number.POSITIVE_INFINITY;
  return Math.round(1e6 * cost * times);
}

/** "cost = price for Idle, effective cost for Speculative." */
function poolCost(row: Row, slot: Slot): number {
  return isIdle(slot) ? slot.machine.pricePerHour : costFor(row, slot);
}

function isIdle(slot: Slot): boolean {
  return slot.machine.state === MachineState.Idle;
}
