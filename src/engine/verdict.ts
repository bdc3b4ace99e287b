// Verdicts: for every original Need whether it is met, by what, and if not, why and what would help. Called by
// engine.ts.

import { firstOf } from '../collections/first-of.ts';
import type { FleetView, Pattern } from '../fleet/index.ts';
import {
  type FittingSupply,
  MachineState,
  microsOf,
  type NeedKey,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
} from '../model/index.ts';
import { domainsOf } from './assign/gang.ts';
import { NONE, RowKind } from './assign/ranked-rows.ts';
import type { Share } from './assign/sharing.ts';
import { spreadTestOf } from './assign/skew.ts';
import { isFreeState } from './candidates/class-availability.ts';
import type { Cycle } from './cycle.ts';
import type { Preemption } from './preempt/preempt.ts';
import type { Unmet } from './unmet.ts';

/** Verdicts on the unmet rows, in the order they were served. */
export function unmetVerdictsOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Verdict[] {
  cycle.fittingMachines.refresh();
  return cycle.result.unmet.map((unmet) => {
    const { rankedRow } = unmet;
    return verdictOf(
      cycle,
      rankedRow,
      cycle.rankedRows.row[rankedRow]!,
      null,
      unmet,
      preemptions.get(rankedRow),
    );
  });
}

/**
 * The purchase that would meet unmet rows at the lowest price, each row by itself: rows that could share machines may need
 * fewer. Rows without a remedy are left out, such as those of clusters that no machine can join.
 */
export function cheapestPurchase(cycle: Cycle): Purchase {
  let machines = 0;
  let micros = 0;
  for (const unmet of cycle.result.unmet) {
    const found = isPurchaseARemedy(cycle, unmet) ? cycle.fittingMachines.cheapest(unmet) : null;
    machines += found?.count ?? 0;
    micros += found === null ? 0 : found.count * microsOf(found.price);
  }
  return { machines, micros };
}

function isPurchaseARemedy(cycle: Cycle, { rankedRow }: Unmet): boolean {
  return cycle.rankedRows.kind[rankedRow] !== RowKind.SetAside && cycle.canBind(rankedRow);
}

export interface Purchase {
  readonly machines: number;
  /** Micro-dollars per hour. */
  readonly micros: number;
}

/** The ranked row in which a row was served: its own, or that of its fold, which may host only some members. */
export function rankedRowOf({ fleet, rankedRows }: Cycle, row: number): number {
  const own = rankedRows.ofKey[fleet.demand.key[row]!]!;
  return own === NONE ? rankedRows.ofKey[fleet.demand.foldKey[row]!]! : own;
}

/**
 * Idle machines to bind and Speculative ones to buy for a ranked row, in claim order; none where the cluster cannot bind.
 */
function acquiredBy(cycle: Cycle, rankedRow: number): number[] {
  if (!cycle.canBind(rankedRow)) return [];
  const { state } = cycle.fleet.machines;
  return cycle.claims.of(rankedRow).filter((slot) => isFreeState(state[slot]));
}

/** The verdict on a met row that was served in this ranked row. */
export function metVerdictOf(
  cycle: Cycle,
  rankedRow: number,
  row: number,
  preemptions: ReadonlyMap<number, Preemption>,
): Verdict {
  const { fleet, rankedRows } = cycle;
  if (rankedRows.kind[rankedRow] !== RowKind.Fold)
    return verdictOf(cycle, rankedRow, row, null, undefined, preemptions.get(rankedRow));
  const fold = fleet.keys.keyOf(rankedRows.key[rankedRow]!);
  return verdictOf(cycle, rankedRow, row, fold, undefined, undefined);
}

type RowOrder = 'rank' | 'priority';

/** Selects rows; without any field, all of them. */
export interface VerdictQuestion {
  readonly cluster?: string | undefined;
  /** Number of rows to leave out at the start; no verdict on them is computed. */
  readonly skip?: number;
  /** Maximum number of rows after `skip`. */
  readonly limit?: number;
  /** Default: by rank. `priority`: highest priority first, then first-seen, then cluster, then rank. */
  readonly order?: RowOrder;
}

/** One verdict per selected row of demand, in the given order. Only selected verdicts are computed. */
export function verdictsOf(
  cycle: Cycle,
  preemptions: ReadonlyMap<number, Preemption>,
  { cluster, skip = 0, limit = Number.POSITIVE_INFINITY, order = 'rank' }: VerdictQuestion = {},
): Verdict[] {
  const unmet = new Map(cycle.result.unmet.map((row) => [row.rankedRow, row]));
  const { fleet, fittingMachines } = cycle;
  fittingMachines.refresh();
  const clusters = cluster === undefined ? fleet.clusters.sorted() : [fleet.clusters.find(cluster)];
  const rows = rowsOf(fleet, clusters, skip + limit, order);
  const { first } = firstOf(rows, skip + limit, rowOrder(fleet, order));
  return first.slice(skip).map((row) => {
    const rankedRow = rankedRowOf(cycle, row);
    return eitherVerdictOf(cycle, rankedRow, row, unmet.get(rankedRow), preemptions);
  });
}

/** The verdict on a row, met or not. */
export function verdictOn(cycle: Cycle, row: number, preemptions: ReadonlyMap<number, Preemption>): Verdict {
  const rankedRow = rankedRowOf(cycle, row);
  cycle.fittingMachines.refresh();
  const missed = cycle.result.unmet.find((unmet) => unmet.rankedRow === rankedRow);
  return eitherVerdictOf(cycle, rankedRow, row, missed, preemptions);
}

function eitherVerdictOf(
  cycle: Cycle,
  rankedRow: number,
  row: number,
  missed: Unmet | undefined,
  preemptions: ReadonlyMap<number, Preemption>,
): Verdict {
  if (missed === undefined) return metVerdictOf(cycle, rankedRow, row, preemptions);
  return verdictOf(cycle, rankedRow, row, null, missed, preemptions.get(rankedRow));
}

/**
 * Rows that may be among the first `limit`: the best `limit` of each cluster. In `priority` order also those that follow
 * with the same priority, since they may precede some of these.
 */
function* rowsOf(
  fleet: FleetView,
  clusters: Iterable<number>,
  limit: number,
  order: RowOrder,
): Generator<number> {
  const { demand } = fleet;
  for (const cluster of clusters) {
    const { offset, length } = demand.rowsOf(cluster);
    for (let i = offset; i < offset + length; i++) {
      const row = demand.ranked[i]!;
      if (i >= offset + limit) {
        if (order === 'rank' || priorityOf(fleet, row) < priorityOf(fleet, demand.ranked[i - 1]!)) break;
      }
      yield row;
    }
  }
}

function priorityOf({ demand }: FleetView, row: number): number {
  return demand.profiles.entryOf(demand.profile[row]!).profile.priority;
}

function rowOrder(fleet: FleetView, order: RowOrder): (a: number, b: number) => number {
  const { clusters, demand, keys } = fleet;
  const cluster = (row: number): number => clusters.placeOf(demand.cluster[row]!);
  const byRank = (a: number, b: number): number =>
    demand.precedence[b]! - demand.precedence[a]! ||
    demand.firstSeenMs[a]! - demand.firstSeenMs[b]! ||
    cluster(a) - cluster(b) ||
    keys.compare(demand.key[a]!, demand.key[b]!);
  if (order === 'rank') return byRank;
  return (a: number, b: number): number =>
    priorityOf(fleet, b) - priorityOf(fleet, a) ||
    demand.firstSeenMs[a]! - demand.firstSeenMs[b]! ||
    cluster(a) - cluster(b) ||
    byRank(a, b);
}

function verdictOf(
  cycle: Cycle,
  rankedRow: number,
  row: number,
  foldedInto: NeedKey | null,
  unmet: Unmet | undefined,
  preemption: Preemption | undefined,
): Verdict {
  const { demand, dimensions, machines } = cycle.fleet;
  const ids = (slots: readonly number[]): string[] => slots.map((slot) => machines.idOf(slot));
  const idle = (slot: number): boolean => machines.state[slot] === MachineState.Idle;
  const acquired = acquiredBy(cycle, rankedRow);
  const { domain, satisfiable } = choiceOf(cycle, rankedRow);
  return {
    key: demand.keyOf(row),
    priority: demand.profiles.entryOf(demand.profile[row]!).profile.priority,
    foldedInto,
    satisfied: unmet === undefined,
    deficit: unmet === undefined ? new Map() : dimensions.vectorOf(unmet.deficit, 0),
    claimed: ids(cycle.claims.of(rankedRow)),
    shares: sharesOf(cycle, unmet?.shares ?? cycle.sharing.sharesOf(rankedRow)),
    bootstraps: ids(acquired.filter(idle)),
    provisions: ids(acquired.filter((slot) => !idle(slot))),
    preempts: ids(preemption?.picks.map(({ slot }) => slot) ?? []),
    domain: domain === NONE ? null : domainsOf(cycle, rankedRow).names[domain]!,
    satisfiable,
    candidates: unmet === undefined ? [] : (cycle.result.gangs.get(rankedRow)?.candidates ?? []),
    unmet: unmet === undefined ? null : unmetOf(cycle, unmet, preemption!),
  };
}

function sharesOf({ fleet }: Cycle, shares: readonly Share[]): Verdict['shares'] {
  return shares.map(({ slot, amount }) => {
    return { machine: fleet.machines.idOf(slot), amount: fleet.dimensions.vectorOf(amount, 0) };
  });
}

/**
 * The domain of a gang; NONE for other rows. A gang that its own machines complete made no choice: all of them are in one
 * domain.
 */
export function choiceOf(
  cycle: Cycle,
  rankedRow: number,
): { readonly domain: number; readonly satisfiable: boolean | null } {
  if (cycle.rankedRows.kind[rankedRow] !== RowKind.Gang) return { domain: NONE, satisfiable: null };
  const first = cycle.claims.slots[cycle.claims.creditStart[rankedRow]!]!;
  return (
    cycle.result.gangs.get(rankedRow) ?? {
      domain: domainsOf(cycle, rankedRow).of(cycle.fleet.machines.classOf[first]!),
      satisfiable: true,
    }
  );
}

function unmetOf(cycle: Cycle, unmet: Unmet, preemption: Preemption): UnmetDetail {
  const { keys } = cycle.fleet;
  const pattern = cycle.rankedRows.pattern[unmet.rankedRow]!;
  const fitting = cycle.fittingMachines.fitting(pattern);
  const ownBlocked = ownBlockedOf(cycle, unmet.rankedRow, fitting);
  return {
    reason: reasonOf(cycle, unmet, preemption),
    matching: cycle.fittingMachines.matching(pattern),
    fitting: ownBlocked.length === 0 ? fitting : { ...fitting, blocked: fitting.blocked - ownBlocked.length },
    blocker: unmet.blocker === NONE ? null : keys.keyOf(cycle.rankedRows.key[unmet.blocker]!),
    extraSupply: isPurchaseARemedy(cycle, unmet) ? cycle.fittingMachines.extra(unmet) : null,
  };
}

function reasonOf(cycle: Cycle, unmet: Unmet, preemption: Preemption): UnmetReason {
  const { rankedRows } = cycle;
  const { rankedRow } = unmet;
  if (rankedRows.kind[rankedRow] === RowKind.SetAside) return 'set-aside';
  if (preemption.covered) return 'preempting';
  const isGang = rankedRows.kind[rankedRow] === RowKind.Gang;
  if (
    isGang &&
    preemption.infeasible &&
    !cycle.availability.of(rankedRow).wouldSufficeInAll(rankedRows.row[rankedRow]!)
  )
    return 'topology-unsatisfiable';
  const pattern = cycle.fleet.patterns.patternOf(rankedRows.pattern[rankedRow]!);
  if (pattern.matchingClasses().length === 0) return 'no-matching-supply';
  if (pattern.fittingClasses().length === 0) return 'no-fitting-supply';
  if (!cycle.canBind(rankedRow)) return 'cluster-disconnected';
  if (unmet.isStopped) return 'spend-limit';
  if (preemption.picks.length > 0) return 'preemption-exhausted';
  if (skewForbids(cycle, unmet)) return 'spread-unsatisfiable';
  if (
    !isGang &&
    !cycle.fittingMachines.wouldSufficeInAll(rankedRows.pattern[rankedRow]!, rankedRows.row[rankedRow]!)
  )
    return 'insufficient-supply';
  return largestObstacle(cycle, unmet, pattern);
}

/** The machines that fit would suffice together, so the reason is the largest group of those that the row cannot claim. */
function largestObstacle(cycle: Cycle, { rankedRow, blocker }: Unmet, pattern: Pattern): UnmetReason {
  const { precedence } = cycle.rankedRows;
  const fitting = cycle.fittingMachines.fitting(cycle.rankedRows.pattern[rankedRow]!);
  const { total, failed, blocked, deleting } = fitting;
  const ownBlocked = ownBlockedOf(cycle, rankedRow, fitting);
  const unavailable = blocked - ownBlocked.length + deleting;
  // Upper bound of the row's own claims; above it, another group is larger than that of the machines of other rows.
  const mostOwn = total - ownBlocked.length - failed - unavailable - Math.max(failed, unavailable);
  // If usable machines are too few, the row would be short even if other rows gave up all of theirs.
  if (wouldSuffice(cycle, rankedRow, ownBlocked) && claimsAtMost(cycle, rankedRow, pattern, mostOwn)) {
    if (blocker === NONE) return 'claimed-elsewhere';
    return precedence[blocker]! > precedence[rankedRow]! ? 'priority-starved' : 'claimed-by-equals';
  }
  return failed >= unavailable ? 'supply-failed' : 'supply-blocked';
}

/**
 * Whether at most `most` of the machines that a row claims fit it and are not blocked. Counts them only if the row has more
 * claims than that.
 */
function claimsAtMost(cycle: Cycle, rankedRow: number, pattern: Pattern, most: number): boolean {
  const { creditStart, creditEnd, laterStart, laterEnd } = cycle.claims;
  const claims =
    creditEnd[rankedRow]! - creditStart[rankedRow]! + (laterEnd[rankedRow]! - laterStart[rankedRow]!);
  if (most < 0 || claims <= most) return most >= 0;
  const { classOf, blocked } = cycle.fleet.machines;
  const usable = cycle.claims
    .of(rankedRow)
    .filter((slot) => blocked[slot] === 0 && pattern.fits(classOf[slot]!));
  return usable.length <= most;
}

/** Machines that a row claims, that fit it and are blocked: they serve the row and are not an obstacle. */
function ownBlockedOf(cycle: Cycle, rankedRow: number, fitting: FittingSupply): readonly number[] {
  if (fitting.blocked === 0) return [];
  const { patterns, machines } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
  const { classOf, blocked } = machines;
  return cycle.claims.of(rankedRow).filter((slot) => blocked[slot] === 1 && pattern.fits(classOf[slot]!));
}

/**
 * Whether a row would be covered if all machines that fit it and are not blocked were free, together with its own blocked
 * ones.
 */
function wouldSuffice(
  { availability, fittingMachines, rankedRows }: Cycle,
  rankedRow: number,
  ownBlocked: readonly number[],
): boolean {
  const row = rankedRows.row[rankedRow]!;
  if (rankedRows.kind[rankedRow] === RowKind.Gang)
    return availability.of(rankedRow).wouldSuffice(row, ownBlocked);
  return fittingMachines.wouldSuffice(rankedRows.pattern[rankedRow]!, row, ownBlocked);
}

/** Whether fitting free machines are left, and the skew alone keeps the row from them. */
function skewForbids(cycle: Cycle, { rankedRow, spread, shortage }: Unmet): boolean {
  if (spread === null || spread.free.size === 0) return false;
  const test = spreadTestOf(cycle, rankedRow, spread);
  cycle.unfilled.restore(cycle.rankedRows.row[rankedRow]!, shortage);
  test.settle(cycle.unfilled);
  return ![...spread.free].some((c) => test.passes(c));
}
