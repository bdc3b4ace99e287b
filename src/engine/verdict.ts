// Verdicts: for every original Need whether it is met, by what, and if not, why and what would help.

import { firstOf } from '../collections/first-of.ts';
import type { Fleet, Pattern } from '../fleet/index.ts';
import {
  type FittingSupply,
  MachineState,
  type NeedKey,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
} from '../model/index.ts';
import { domainsOf } from './assign/gang.ts';
import { NONE, TurnKind } from './assign/ranked-rows.ts';
import { spreadTestOf } from './assign/skew.ts';
import { isFreeState } from './candidates/class-availability.ts';
import type { Cycle } from './cycle.ts';
import type { Supply } from './missing-supply.ts';
import type { Preemption } from './preempt/preempt.ts';
import type { Unmet } from './unmet.ts';

/** Verdicts on the unmet rows, in the order they were served. */
export function unmetVerdictsOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Verdict[] {
  const { supply } = cycle;
  supply.refresh();
  return cycle.unmet.map((unmet) => {
    const { turn } = unmet;
    return verdictOf(cycle, turn, cycle.turns.row[turn]!, null, unmet, preemptions.get(turn), supply);
  });
}

/** The turn in which a row was served: its own, or that of its fold, which may host only some members. */
export function turnOf({ fleet, turns }: Cycle, row: number): number {
  const own = turns.ofKey[fleet.demand.key[row]!]!;
  return own === NONE ? turns.ofKey[fleet.demand.foldKey[row]!]! : own;
}

/** Idle machines to bind and Speculative ones to buy for a turn, in claim order; none where the cluster cannot bind. */
function acquiredBy(cycle: Cycle, turn: number): number[] {
  if (!cycle.canBind(turn)) return [];
  const { state } = cycle.fleet.machines;
  return cycle.claimsOf(turn).filter((slot) => isFreeState(state[slot]));
}

/** The verdict on a met row that was served in this turn. */
export function metVerdictOf(
  cycle: Cycle,
  turn: number,
  row: number,
  preemptions: ReadonlyMap<number, Preemption>,
): Verdict {
  const { fleet, turns, supply } = cycle;
  if (turns.kind[turn] !== TurnKind.Fold)
    return verdictOf(cycle, turn, row, null, undefined, preemptions.get(turn), supply);
  const fold = fleet.keys.keyOf(turns.key[turn]!);
  return verdictOf(cycle, turn, row, fold, undefined, undefined, supply);
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
  const unmet = new Map(cycle.unmet.map((row) => [row.turn, row]));
  const { supply, fleet } = cycle;
  supply.refresh();
  const clusters = cluster === undefined ? fleet.clusters.sorted() : [fleet.clusters.find(cluster)];
  const rows = rowsOf(fleet, clusters, skip + limit, order);
  const { first } = firstOf(rows, skip + limit, rowOrder(fleet, order));
  return first.slice(skip).map((row) => {
    const turn = turnOf(cycle, row);
    const missed = unmet.get(turn);
    if (missed === undefined) return metVerdictOf(cycle, turn, row, preemptions);
    return verdictOf(cycle, turn, row, null, missed, preemptions.get(turn), supply);
  });
}

/**
 * Rows that may be among the first `limit`: the best `limit` of each cluster. In `priority` order also those that follow
 * with the same priority, since they may precede some of these.
 */
function* rowsOf(
  fleet: Fleet,
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

function priorityOf({ demand }: Fleet, row: number): number {
  return demand.profiles.entryOf(demand.profile[row]!).profile.priority;
}

function rowOrder(fleet: Fleet, order: RowOrder): (a: number, b: number) => number {
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
  turn: number,
  row: number,
  foldedInto: NeedKey | null,
  unmet: Unmet | undefined,
  preemption: Preemption | undefined,
  supply: Supply,
): Verdict {
  const { demand, dimensions, machines } = cycle.fleet;
  const ids = (slots: readonly number[]): string[] => slots.map((slot) => machines.idOf(slot));
  const idle = (slot: number): boolean => machines.state[slot] === MachineState.Idle;
  const acquired = acquiredBy(cycle, turn);
  const { domain, satisfiable } = choiceOf(cycle, turn);
  return {
    key: demand.keyOf(row),
    priority: demand.profiles.entryOf(demand.profile[row]!).profile.priority,
    foldedInto,
    satisfied: unmet === undefined,
    deficit: unmet === undefined ? new Map() : dimensions.vectorOf(unmet.deficit, 0),
    claimed: ids(cycle.claimsOf(turn)),
    bootstraps: ids(acquired.filter(idle)),
    provisions: ids(acquired.filter((slot) => !idle(slot))),
    preempts: ids(preemption?.picks.map(({ slot }) => slot) ?? []),
    domain: domain === NONE ? null : domainsOf(cycle, turn).names[domain]!,
    satisfiable,
    candidates: unmet === undefined ? [] : (cycle.gangs.get(turn)?.candidates ?? []),
    unmet: unmet === undefined ? null : unmetOf(cycle, unmet, preemption!, supply),
  };
}

/**
 * The domain of a gang; NONE for other rows. A gang that its own machines complete made no choice: all of them are in one
 * domain.
 */
export function choiceOf(
  cycle: Cycle,
  turn: number,
): { readonly domain: number; readonly satisfiable: boolean | null } {
  if (cycle.turns.kind[turn] !== TurnKind.Gang) return { domain: NONE, satisfiable: null };
  const first = cycle.claims[cycle.creditStart[turn]!]!;
  return (
    cycle.gangs.get(turn) ?? {
      domain: domainsOf(cycle, turn).of(cycle.fleet.machines.classOf[first]!),
      satisfiable: true,
    }
  );
}

function unmetOf(cycle: Cycle, unmet: Unmet, preemption: Preemption, supply: Supply): UnmetDetail {
  const { keys } = cycle.fleet;
  const pattern = cycle.turns.pattern[unmet.turn]!;
  const fitting = supply.fitting(pattern);
  const ownHeld = ownHeldOf(cycle, unmet.turn, fitting);
  return {
    reason: reasonOf(cycle, unmet, preemption, supply),
    matching: supply.matching(pattern),
    fitting: ownHeld.length === 0 ? fitting : { ...fitting, blocked: fitting.blocked - ownHeld.length },
    blocker: unmet.blocker === NONE ? null : keys.keyOf(cycle.turns.key[unmet.blocker]!),
    extraSupply: cycle.turns.kind[unmet.turn] === TurnKind.SetAside ? null : supply.extra(unmet),
  };
}

function reasonOf(cycle: Cycle, unmet: Unmet, preemption: Preemption, supply: Supply): UnmetReason {
  const { turns } = cycle;
  const { turn } = unmet;
  if (turns.kind[turn] === TurnKind.SetAside) return 'set-aside';
  if (preemption.covered) return 'preempting';
  const isGang = turns.kind[turn] === TurnKind.Gang;
  if (isGang && preemption.infeasible && !cycle.stocks.of(turn).wouldSufficeInAll(turns.row[turn]!))
    return 'topology-unsatisfiable';
  const pattern = cycle.fleet.patterns.patternOf(turns.pattern[turn]!);
  if (pattern.matchingClasses().length === 0) return 'no-matching-supply';
  if (pattern.fittingClasses().length === 0) return 'no-fitting-supply';
  if (!cycle.canBind(turn)) return 'cluster-disconnected';
  if (preemption.picks.length > 0) return 'preemption-exhausted';
  if (skewForbids(cycle, unmet)) return 'spread-unsatisfiable';
  if (!isGang && !supply.wouldSufficeInAll(turns.pattern[turn]!, turns.row[turn]!))
    return 'insufficient-supply';
  return largestObstacle(cycle, unmet, pattern, supply);
}

/** The machines that fit would suffice together, so the reason is the largest group of those that the row cannot claim. */
function largestObstacle(
  cycle: Cycle,
  { turn, blocker }: Unmet,
  pattern: Pattern,
  supply: Supply,
): UnmetReason {
  const { precedence } = cycle.turns;
  const fitting = supply.fitting(cycle.turns.pattern[turn]!);
  const { total, failed, blocked, deleting } = fitting;
  const ownHeld = ownHeldOf(cycle, turn, fitting);
  const unavailable = blocked - ownHeld.length + deleting;
  // Upper bound of the row's own claims; above it, another group is larger than that of the machines of other rows.
  const mostOwn = total - ownHeld.length - failed - unavailable - Math.max(failed, unavailable);
  // If usable machines are too few, the row would be short even if other rows gave up all of theirs.
  if (wouldSuffice(cycle, turn, supply, ownHeld) && claimsAtMost(cycle, turn, pattern, mostOwn)) {
    if (blocker === NONE) return 'claimed-elsewhere';
    return precedence[blocker]! > precedence[turn]! ? 'priority-starved' : 'claimed-by-equals';
  }
  return failed >= unavailable ? 'supply-failed' : 'supply-blocked';
}

/**
 * Whether at most `most` of the machines that a row claims fit it and are not blocked. Counts them only if the row has more
 * claims than that.
 */
function claimsAtMost(cycle: Cycle, turn: number, pattern: Pattern, most: number): boolean {
  const { creditStart, creditEnd, laterStart, laterEnd } = cycle;
  const claims = creditEnd[turn]! - creditStart[turn]! + (laterEnd[turn]! - laterStart[turn]!);
  if (most < 0 || claims <= most) return most >= 0;
  const { classOf, held } = cycle.fleet.machines;
  const usable = cycle.claimsOf(turn).filter((slot) => held[slot] === 0 && pattern.fits(classOf[slot]!));
  return usable.length <= most;
}

/** Machines that a row claims, that fit it and are blocked: they serve the row and are not an obstacle. */
function ownHeldOf(cycle: Cycle, turn: number, { blocked }: FittingSupply): readonly number[] {
  if (blocked === 0) return [];
  const { patterns, machines } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const { classOf, held } = machines;
  return cycle.claimsOf(turn).filter((slot) => held[slot] === 1 && pattern.fits(classOf[slot]!));
}

/**
 * Whether a row would be covered if all machines that fit it and are not blocked were free, together with its own blocked
 * ones.
 */
function wouldSuffice(
  { stocks, turns }: Cycle,
  turn: number,
  supply: Supply,
  ownHeld: readonly number[],
): boolean {
  const row = turns.row[turn]!;
  if (turns.kind[turn] === TurnKind.Gang) return stocks.of(turn).wouldSuffice(row, ownHeld);
  return supply.wouldSuffice(turns.pattern[turn]!, row, ownHeld);
}

/** Whether fitting free machines are left, and the skew alone keeps the row from them. */
function skewForbids(cycle: Cycle, { turn, spread, shortage }: Unmet): boolean {
  if (spread === null || spread.free.size === 0) return false;
  const test = spreadTestOf(cycle, turn, spread);
  cycle.unfilled.restore(cycle.turns.row[turn]!, shortage);
  test.settle(cycle.unfilled);
  return ![...spread.free].some((c) => test.passes(c));
}
