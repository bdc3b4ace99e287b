// Remainders: what rows leave over of the machines they count on, and how later rows of the cluster borrow it (E1a, E1d of
// docs/internals/engine.md). Phase 1 keeps one list per cluster; Phase 2 keeps another one for machines that will have
// drained, and so does the forecast of it in Phase 1 (coming.ts).

import {
  compareText,
  covers,
  isZero,
  type RemainderCounts,
  type ResourceVector,
  subtract,
} from '../../src/model/index.ts';
import { coversMinUnit, matches, type Row, type Slot } from './ledger.ts';

/** What is left over of one machine; shrinks as rows borrow. */
export interface Remainder {
  readonly slot: Slot;
  left: ResourceVector;
}

/** A part of a remainder that a row takes. */
export interface Borrowing {
  readonly remainder: Remainder;
  /** Dimensions above zero, names in order. */
  readonly amount: ResourceVector;
}

/** Remainders by cluster, each in the order they were entered. */
export type RemainderLists = Map<string, readonly Remainder[]>;

/** The remainders of the row's cluster. */
export function remaindersFor(lists: RemainderLists, row: Row): readonly Remainder[] {
  return lists.get(row.key.cluster) ?? [];
}

/** Enters what these machines of the row leave over once `want` is taken of them. */
export function enterRemainders(
  lists: RemainderLists,
  row: Row,
  slots: readonly Slot[],
  want: ResourceVector,
): void {
  lists.set(row.key.cluster, [...remaindersFor(lists, row), ...fill(row, slots, want)]);
}

/** "Both shrink by it." */
export function borrow(lists: RemainderLists, row: Row, want: ResourceVector): readonly Borrowing[] {
  const borrowings = borrowable(remaindersFor(lists, row), row, want);
  for (const { remainder, amount } of borrowings) remainder.left = subtract(remainder.left, amount);
  return borrowings;
}

/**
 * E1a: "Walk the remainders of the row's cluster in the order they were entered, until covered … take min(remainder, left)
 * per dimension." The first one that is taken also satisfies "one claim must cover min_unit", so the walk ends when nothing
 * of `want` is left (R89).
 */
export function borrowable(
  remainders: readonly Remainder[],
  row: Row,
  want: ResourceVector,
): readonly Borrowing[] {
  const borrowings: Borrowing[] = [];
  let left = want;
  for (const remainder of remainders) {
    if (isZero(left)) break;
    if (!mayBorrow(row, remainder)) continue;
    const amount = lesser(remainder.left, left);
    // "That adds nothing."
    if (amount.size === 0) continue;
    left = subtract(left, amount);
    borrowings.push({ remainder, amount });
  }
  return borrowings;
}

/**
 * "Skip one whose machine does not match; whose remainder does not cover min_unit in every dimension, or lacks altogether a
 * dimension of which the aggregate wants some; … or where probability × dollars of the row's interruption bucket exceeds
 * the price (pinned: any probability above 0)."
 */
function mayBorrow(row: Row, { slot, left }: Remainder): boolean {
  const { interruptionProbability, pricePerHour } = slot.machine;
  if (!covers(left, row.minUnit) || !matches(row, slot)) return false;
  for (const [name, units] of row.aggregate) {
    if (units > 0 && (left.get(name) ?? 0) === 0) return false;
  }
  return interruptionProbability === 0 || interruptionProbability * row.penaltyDollars <= pricePerHour;
}

/** Per dimension minimum; dimensions above zero, names in order. */
function lesser(a: ResourceVector, b: ResourceVector): ResourceVector {
  const amounts = [...a].map(([name, units]) => [name, Math.min(units, b.get(name) ?? 0)] as const);
  return new Map(amounts.filter(([, units]) => units > 0).sort(([x], [y]) => compareText(x, y)));
}

/**
 * E1d: "First, unless the row borrowed, the first claim that covers min_unit …; then the others; each by price asc, then
 * id: take min(allocatable, want) per dimension; enter every non-zero remainder, in this order."
 */
function fill(row: Row, slots: readonly Slot[], want: ResourceVector): readonly Remainder[] {
  const inOrder = [...slots].sort(byPrice);
  const first = row.shares.length > 0 ? undefined : inOrder.find((slot) => coversMinUnit(row, slot));
  const filled = first === undefined ? inOrder : [first, ...inOrder.filter((slot) => slot !== first)];
  const remainders: Remainder[] = [];
  let left = want;
  for (const slot of filled) {
    const amount = lesser(slot.offer, left);
    left = subtract(left, amount);
    const remainder = { slot, left: subtract(slot.offer, amount) };
    if (!isZero(remainder.left)) remainders.push(remainder);
  }
  return remainders;
}

function byPrice(a: Slot, b: Slot): number {
  return a.machine.pricePerHour - b.machine.pricePerHour || compareText(a.id, b.id);
}

/** Remainders that match, and how many of them cover min_unit; those that are used up are none (R91). */
export function countRemainders(remainders: readonly Remainder[], row: Row): RemainderCounts {
  const matching = remainders.filter(({ slot, left }) => !isZero(left) && matches(row, slot));
  return {
    matching: matching.length,
    holdingUnit: matching.filter(({ left }) => covers(left, row.minUnit)).length,
  };
}
