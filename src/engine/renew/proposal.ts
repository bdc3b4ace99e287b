// Which machines of a cluster to replace next, so that it costs less. Compares what its rows claim with what they would claim
// if they bought again, and tries stretches of rows in rank order: a row borrows from better-ranked ones only, so what a
// row saves may depend on the rows before it. Used by renewals.ts.

import type { FleetView } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { WhatIf } from './what-if.ts';

/**
 * Least part of its cost that a cluster would save if it bought everything again, for its renewal to begin, and to go on.
 * Demand that varies by a few percent leaves about as much to save as it varies, and no renewal would keep it; far above,
 * an old fleet stays expensive.
 */
const LEAST_TO_BEGIN = 0.08;
const LEAST_TO_GO_ON = 0.03;
/** Least saving, as a part of the cost of the machines that leave. Lower: many drains for little money. */
const LEAST_SAVING = 0.05;
/** The saving of this time must outweigh the reclamation penalties of the machines that leave: 30 days. */
const PAYBACK_HOURS = 720;
/** Stretches that are tried for a proposal: each costs about as much as a decision on the cluster, so fewer if it is large. */
const MOST_TRIES = 8;
const LEAST_TRIES = 2;
/** Rows that all tries together serve at most, unless the cluster has more. */
const MOST_ROWS = 2_000;

export interface Proposal {
  /** Slots of machines to replace. */
  readonly slots: readonly number[];
  /** Cost per hour of the cluster now, and without these machines. */
  readonly now: number;
  readonly after: number;
}

export interface ProposalLimits {
  /** Machines of a proposal. */
  readonly machines: number;
  /** Whether machines of the cluster have been replaced, and the renewal was not at its end then. */
  readonly isUnderWay: boolean;
}

export interface Finding {
  /** Cost per hour of the cluster now; null if a row is short, or the answer depends on other clusters. */
  readonly now: number | null;
  readonly proposal: Proposal | null;
  /** Whether nothing is left to replace, so that the renewal is at its end. */
  readonly isDone: boolean;
}

const LATER: Finding = { now: null, proposal: null, isDone: false };

/** What each row could save, in rank order. */
interface RowSaving {
  /** Slots that it would replace. */
  readonly slots: readonly number[];
  /** Dollars per hour; below 0 if it would have to buy what it borrows now. */
  readonly saves: number;
}

interface Stretch {
  /** Its first row, and the one behind its last. */
  readonly from: number;
  readonly to: number;
  readonly saves: number;
}

/** Asks `whatIf` about the cluster that it was opened for. */
export function proposeRenewal(fleet: FleetView, whatIf: WhatIf, limits: ProposalLimits): Finding {
  const now = whatIf.without([]);
  if (now === null || !now.isMet) return LATER;
  const penalties = new Map([...now.claimed].map((slot) => [slot, whatIf.reclamationDollars(slot)]));
  const replaceable = now.rows.map(({ claimed, isRenewable }) =>
    isRenewable ? claimed.filter((slot) => isReplaceable(slot)) : [],
  );
  const none = { now: now.dollarsPerHour, proposal: null };
  if (replaceable.every((slots) => slots.length === 0)) return { ...none, isDone: true };
  const fresh = whatIf.without(replaceable.flat());
  if (fresh === null || !fresh.isMet) return LATER;
  const least = limits.isUnderWay ? LEAST_TO_GO_ON : LEAST_TO_BEGIN;
  // Leftovers are bound before others are bought, whether they fit well or not; they will be gone.
  if (fresh.dollarsPerHour > now.dollarsPerHour * (1 - least))
    return { ...none, isDone: !fresh.takesLeftovers };

  const savings = now.rows.map(({ dollarsPerHour }, i): RowSaving => {
    const bought = fresh.rows[i]!;
    return {
      slots: withoutAlike(replaceable[i]!, bought.claimed),
      saves: dollarsPerHour - bought.dollarsPerHour,
    };
  });
  let best: Proposal | null = null;
  for (const { from, to } of stretchesOf(savings, limits.machines).slice(0, triesOf(savings.length))) {
    const slots = savings.slice(from, to).flatMap((row) => row.slots);
    const proposal = tried(slots.slice(0, limits.machines));
    if (proposal !== null && (best === null || proposal.after < best.after)) best = proposal;
  }
  return { ...none, proposal: best, isDone: false };

  function isReplaceable(slot: number): boolean {
    const { blocked, state } = fleet.machines;
    if (state[slot] !== MachineState.Configured || blocked[slot] === 1) return false;
    return whatIf.isPurchased(slot) && penalties.get(slot) !== Number.POSITIVE_INFINITY;
  }

  /** The machines of a row that are not alike to one that it would buy. */
  function withoutAlike(slots: readonly number[], bought: readonly number[]): readonly number[] {
    const alike = new Map<string, number>();
    const countOf = (text: string): number => alike.get(text) ?? 0;
    for (const slot of bought) alike.set(shapeOf(fleet, slot), countOf(shapeOf(fleet, slot)) + 1);
    return slots.filter((slot) => {
      const text = shapeOf(fleet, slot);
      alike.set(text, countOf(text) - 1);
      return countOf(text) < 0;
    });
  }

  /** The proposal to replace some machines; null if it is not worth it. */
  function tried(slots: readonly number[]): Proposal | null {
    const after = whatIf.without(slots);
    if (after === null || !after.isMet) return null;
    const saving = now!.dollarsPerHour - after.dollarsPerHour;
    let cost = 0;
    let penalty = 0;
    for (const slot of now!.claimed) {
      if (after.claimed.has(slot)) continue;
      cost += fleet.classes.price[fleet.machines.classOf[slot]!]!;
      penalty += penalties.get(slot)!;
    }
    const isWorthIt = saving > 0 && saving >= LEAST_SAVING * cost && saving * PAYBACK_HOURS >= penalty;
    return isWorthIt ? { slots, now: now!.dollarsPerHour, after: after.dollarsPerHour } : null;
  }
}

function triesOf(rows: number): number {
  return Math.min(MOST_TRIES, Math.max(LEAST_TRIES, Math.floor(MOST_ROWS / rows)));
}

/** Machines of one shape and price serve a row alike, whatever their zone. */
function shapeOf({ classes, dimensions, machines }: FleetView, slot: number): string {
  const classNumber = machines.classOf[slot]!;
  const from = classNumber * dimensions.stride;
  const offered = classes.allocatable.data.subarray(from, from + dimensions.count);
  return [classes.price[classNumber], classes.probability[classNumber], ...offered].join();
}

/**
 * Stretches of consecutive rows with at most `limit` machines to replace; those that save most come first. A row with more
 * machines than that is a stretch by itself, and a part of its machines is replaced. Stretches do not overlap, except that
 * each also comes with the rows before it that would buy more: it may be from those that it is to borrow.
 */
function stretchesOf(savings: readonly RowSaving[], limit: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const [from, { slots }] of savings.entries()) {
    if (slots.length > 0) stretches.push(bestFrom(savings, from, limit));
  }
  stretches.sort((a, b) => b.saves - a.saves || a.from - b.from);
  const chosen: Stretch[] = [];
  for (const stretch of stretches) {
    if (chosen.every(({ from, to }) => to <= stretch.from || stretch.to <= from)) chosen.push(stretch);
  }
  return chosen.flatMap((stretch) => {
    const extended = withBuyers(savings, stretch, limit);
    return extended.from === stretch.from ? [stretch] : [stretch, extended];
  });
}

/** A stretch with the rows right before it that would cost more, as far as the limit allows. */
function withBuyers(savings: readonly RowSaving[], stretch: Stretch, limit: number): Stretch {
  let { from, saves } = stretch;
  let machines = 0;
  for (const { slots } of savings.slice(from, stretch.to)) machines += slots.length;
  for (; from > 0 && savings[from - 1]!.saves < 0; from--) {
    machines += savings[from - 1]!.slots.length;
    if (machines > limit) break;
    saves += savings[from - 1]!.saves;
  }
  return { ...stretch, from, saves };
}

/** The stretch that begins with a row and saves most. */
function bestFrom(savings: readonly RowSaving[], from: number, limit: number): Stretch {
  const { saves: first, slots } = savings[from]!;
  let machines = slots.length;
  let saves = machines > limit ? (first * limit) / machines : first;
  let best: Stretch = { from, to: from + 1, saves };
  for (let to = from + 1; to < savings.length && machines < limit; to++) {
    machines += savings[to]!.slots.length;
    if (machines > limit) break;
    saves += savings[to]!.saves;
    if (saves > best.saves) best = { from, to: to + 1, saves };
  }
  return best;
}
