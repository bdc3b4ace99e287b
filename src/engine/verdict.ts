// Verdicts: for every original Need whether it is met, by what, and if not, why and what would help.

import {
  compareKeys,
  effectiveCost,
  MachineState,
  type NeedKey,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
} from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { domainsOf } from './gang.ts';
import type { Preemption } from './preempt.ts';
import { spreadTestOf } from './skew.ts';
import { NONE, TurnKind } from './turns.ts';
import type { Unmet } from './unmet.ts';

/** The machine of a class with the smallest id, whatever its state. */
type FirstOf = (classNumber: number) => number;

/** Looks through all machines once, when first asked. */
function firstOf(cycle: Cycle): FirstOf {
  const { classes, machines } = cycle.fleet;
  let first: Int32Array | null = null;
  return (classNumber) => {
    if (first === null) {
      first = new Int32Array(classes.size).fill(NONE);
      for (let slot = 0; slot < machines.size; slot++) {
        if (machines.state[slot] === 0) continue;
        const c = machines.classOf[slot]!;
        if (first[c] === NONE || machines.idOrder(slot, first[c]!) < 0) first[c] = slot;
      }
    }
    return first[classNumber]!;
  };
}

/** Verdicts on the rows that are not met, in the order they were served. */
export function unmetVerdictsOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Verdict[] {
  const first = firstOf(cycle);
  return cycle.unmet.map((unmet) => {
    const { turn } = unmet;
    return verdictOf(cycle, turn, cycle.turns.row[turn]!, null, unmet, preemptions.get(turn), first);
  });
}

/** One verdict per row of demand, by the rank of the row. */
export function verdictsOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Verdict[] {
  const { demand } = cycle.fleet;
  const unmet = new Map(cycle.unmet.map((row) => [row.turn, row]));
  const first = firstOf(cycle);
  const verdicts: { readonly row: number; readonly verdict: Verdict }[] = [];
  for (const turn of cycle.turns.all()) {
    if (cycle.turns.kind[turn] !== TurnKind.Fold) {
      const row = cycle.turns.row[turn]!;
      const verdict = verdictOf(cycle, turn, row, null, unmet.get(turn), preemptions.get(turn), first);
      verdicts.push({ row, verdict });
      continue;
    }
    const fold = cycle.fleet.keys.keyOf(cycle.turns.key[turn]!);
    const members = cycle.turns.membersOf(cycle.fleet, turn);
    for (const row of members.slice(0, cycle.hosted.get(turn) ?? members.length)) {
      verdicts.push({ row, verdict: verdictOf(cycle, turn, row, fold, undefined, undefined, first) });
    }
  }
  const precedence = (row: number): number => demand.profiles.entryOf(demand.profile[row]!).precedence;
  verdicts.sort(
    (a, b) =>
      precedence(b.row) - precedence(a.row) ||
      demand.firstSeenMs[a.row]! - demand.firstSeenMs[b.row]! ||
      compareKeys(a.verdict.key, b.verdict.key),
  );
  return verdicts.map(({ verdict }) => verdict);
}

function verdictOf(
  cycle: Cycle,
  turn: number,
  row: number,
  foldedInto: NeedKey | null,
  unmet: Unmet | undefined,
  preemption: Preemption | undefined,
  first: FirstOf,
): Verdict {
  const { demand, dimensions, machines } = cycle.fleet;
  const ids = (slots: readonly number[]): string[] => slots.map((slot) => machines.idOf(slot));
  const idle = (slot: number): boolean => machines.state[slot] === MachineState.Idle;
  const acquired = cycle.acquiredOf(turn);
  const gang = cycle.turns.kind[turn] === TurnKind.Gang ? cycle.gangs.get(turn) : undefined;
  const settled = cycle.turns.kind[turn] === TurnKind.Gang && gang === undefined;
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
    domain: settled ? settledDomain(cycle, turn) : (gang?.domain ?? null),
    satisfiable: settled ? true : (gang?.satisfiable ?? null),
    candidates: unmet === undefined ? [] : (gang?.candidates ?? []),
    unmet: unmet === undefined ? null : unmetOf(cycle, unmet, preemption!, first),
  };
}

/** The domain of a gang that its own machines complete: they all stand in it. */
function settledDomain(cycle: Cycle, turn: number): string {
  const domains = domainsOf(cycle, turn);
  return domains.names[domains.of(cycle.fleet.machines.classOf[cycle.claims[cycle.creditStart[turn]!]!]!)]!;
}

function unmetOf(cycle: Cycle, unmet: Unmet, preemption: Preemption, first: FirstOf): UnmetDetail {
  const { keys } = cycle.fleet;
  return {
    reason: reasonOf(cycle, unmet, preemption),
    matching: cycle.census.matching(cycle.turns.pattern[unmet.turn]!),
    blocker: unmet.blocker === NONE ? null : keys.keyOf(cycle.turns.key[unmet.blocker]!),
    extraSupply: extraSupplyOf(cycle, unmet, first),
  };
}

function reasonOf(cycle: Cycle, unmet: Unmet, preemption: Preemption): UnmetReason {
  const { turns } = cycle;
  const { turn } = unmet;
  if (preemption.covered) return 'preempting';
  if (!cycle.canBind(turns.cluster[turn]!)) return 'cluster-disconnected';
  if (turns.kind[turn] === TurnKind.Gang && !couldEverBeWhole(cycle, turn)) return 'topology-unsatisfiable';
  const pattern = cycle.fleet.patterns.patternOf(turns.pattern[turn]!);
  if (pattern.matchingClasses().length === 0) return 'no-matching-supply';
  if (pattern.fittingClasses().length === 0) return 'no-fitting-supply';
  if (preemption.picks.length > 0) return 'preemption-exhausted';
  return skewForbids(cycle, unmet) ? 'spread-unsatisfiable' : 'priority-starved';
}

/** Whether one domain has enough machines at all, whoever uses them now. */
function couldEverBeWhole(cycle: Cycle, turn: number): boolean {
  const { demand, dimensions } = cycle.fleet;
  const wanted = demand.aggregate.data;
  const from = cycle.turns.row[turn]! * dimensions.stride;
  const usable = cycle.census.usable(cycle.turns.pattern[turn]!, domainsOf(cycle, turn));
  return [...usable.values()].some((sum) => sum.every((have, d) => have >= wanted[from + d]!));
}

/** Whether free machines that fit are left, and the skew is all that keeps the row from them. */
function skewForbids(cycle: Cycle, { turn, spread, shortage }: Unmet): boolean {
  if (spread === null || spread.free.size === 0) return false;
  const test = spreadTestOf(cycle, turn, spread);
  cycle.want.restore(cycle.turns.row[turn]!, shortage);
  test.settle(cycle.want);
  return ![...spread.free].some((c) => test.passes(c));
}

/**
 * So many machines like a known one would do: fewest, then cheapest, then by id. A gang counts what its domain could
 * give it already, and wants the rest there.
 */
function extraSupplyOf(cycle: Cycle, { turn, deficit }: Unmet, first: FirstOf): UnmetDetail['extraSupply'] {
  const { classes, demand, machines, patterns } = cycle.fleet;
  const { interruptionDollars } = demand.profiles.entryOf(cycle.turns.profile[turn]!);
  const gang = cycle.gangs.get(turn);
  const within = gang?.domain ?? null;
  const domains = within === null ? null : domainsOf(cycle, turn);
  const rest = gang?.missing ?? deficit;
  let best: { count: number; cost: number; slot: number } | null = null;
  for (const c of patterns.patternOf(cycle.turns.pattern[turn]!).fittingClasses()) {
    if (domains !== null && domains.names[domains.of(c)] !== within) continue;
    const count = machinesNeeded(cycle, rest, c);
    if (count === Number.POSITIVE_INFINITY) continue;
    const cost = effectiveCost(classes.price[c]!, classes.probability[c]!, interruptionDollars);
    if (best !== null && (count > best.count || (count === best.count && cost > best.cost))) continue;
    const slot = first(c);
    const better =
      best === null || count < best.count || cost < best.cost || machines.idOrder(slot, best.slot) < 0;
    if (better) best = { count, cost, slot };
  }
  return best === null ? null : { count: best.count, like: machines.idOf(best.slot) };
}

function machinesNeeded(cycle: Cycle, deficit: Float64Array, classNumber: number): number {
  const { classes, dimensions } = cycle.fleet;
  let count = 0;
  for (let d = 0; d < dimensions.count; d++) {
    if (deficit[d]! === 0) continue;
    const offered = classes.allocatable.data[classNumber * dimensions.stride + d]!;
    count = Math.max(count, offered === 0 ? Number.POSITIVE_INFINITY : wholeTimes(deficit[d]!, offered));
  }
  return count;
}

/** ⌈amount ÷ each⌉ without a rounding error. */
function wholeTimes(amount: number, each: number): number {
  const over = amount % each;
  return (amount - over) / each + (over > 0 ? 1 : 0);
}
