// Verdicts: for every original Need whether it is met, by what, and if not, why and what would help.

import {
  effectiveCost,
  MachineState,
  type NeedKey,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
} from '../model/index.ts';
import type { Cycle, Served } from './cycle.ts';
import type { Preemption } from './preempt.ts';
import { SpreadTest } from './spread.ts';
import { compareTurns, turnOf } from './turns.ts';

/** One verdict per row of demand, by the rank of the row. */
export function verdictsOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Verdict[] {
  const { fleet } = cycle;
  const verdicts: { readonly row: number; readonly verdict: Verdict }[] = [];
  for (const [number, served] of cycle.served.entries()) {
    if (served.turn.kind !== 'fold') {
      const { row } = served.turn;
      verdicts.push({ row, verdict: verdictOf(cycle, served, row, null, preemptions.get(number)) });
      continue;
    }
    const fold = fleet.keys.keyOf(served.turn.key);
    for (const row of served.turn.members.slice(0, served.hosted)) {
      verdicts.push({ row, verdict: verdictOf(cycle, served, row, fold, undefined) });
    }
  }
  return verdicts
    .map((entry) => ({ ...entry, turn: turnOf(fleet, entry.row, 'plain') }))
    .sort((a, b) => compareTurns(fleet, a.turn, b.turn))
    .map(({ verdict }) => verdict);
}

function verdictOf(
  cycle: Cycle,
  served: Served,
  row: number,
  foldedInto: NeedKey | null,
  preemption: Preemption | undefined,
): Verdict {
  const { demand, dimensions, machines } = cycle.fleet;
  const ids = (slots: readonly number[]): string[] => slots.map((slot) => machines.idOf(slot));
  const idle = (slot: number): boolean => machines.state[slot] === MachineState.Idle;
  return {
    key: demand.keyOf(row),
    priority: demand.profiles.entryOf(demand.profile[row]!).profile.priority,
    foldedInto,
    satisfied: served.covered,
    deficit: served.deficit === null ? new Map() : dimensions.vectorOf(served.deficit, 0),
    claimed: ids(served.claims),
    bootstraps: ids(served.acquired.filter(idle)),
    provisions: ids(served.acquired.filter((slot) => !idle(slot))),
    preempts: ids(preemption?.picks.map(({ slot }) => slot) ?? []),
    domain: served.gang?.domain ?? null,
    satisfiable: served.gang?.satisfiable ?? null,
    candidates: served.gang?.candidates ?? [],
    unmet: served.covered ? null : unmetOf(cycle, served, preemption!),
  };
}

function unmetOf(cycle: Cycle, served: Served, preemption: Preemption): UnmetDetail {
  const { classes, keys, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(served.turn.pattern);
  const matching = { idle: 0, speculative: 0, configured: 0 };
  for (let c = 0; c < classes.size; c++) {
    if (classes.attributes[c] === undefined || !pattern.matches(c)) continue;
    matching.idle += machines.counts[c * 9 + MachineState.Idle] ?? 0;
    matching.speculative += machines.counts[c * 9 + MachineState.Speculative] ?? 0;
    matching.configured += machines.counts[c * 9 + MachineState.Configured] ?? 0;
  }
  return {
    reason: reasonOf(cycle, served, preemption),
    matching,
    blocker: served.blocker === -1 ? null : keys.keyOf(cycle.served[served.blocker]!.turn.key),
    extraSupply: extraSupplyOf(cycle, served),
  };
}

function reasonOf(cycle: Cycle, served: Served, preemption: Preemption): UnmetReason {
  const { classes, patterns } = cycle.fleet;
  const { turn } = served;
  if (preemption.covered) return 'preempting';
  if (!cycle.canBind(turn.cluster)) return 'cluster-disconnected';
  if (turn.kind === 'gang' && !couldEverBeWhole(cycle, served)) return 'topology-unsatisfiable';
  const pattern = patterns.patternOf(turn.pattern);
  let matches = false;
  let fits = false;
  for (let c = 0; c < classes.size; c++) {
    if (classes.attributes[c] === undefined) continue;
    matches ||= pattern.matches(c);
    fits ||= pattern.fits(c);
  }
  if (!matches) return 'no-matching-supply';
  if (!fits) return 'no-fitting-supply';
  if (preemption.picks.length > 0) return 'preemption-exhausted';
  return skewForbids(cycle, served) ? 'spread-unsatisfiable' : 'priority-starved';
}

const USABLE = [
  MachineState.Speculative,
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
];

/** Whether one domain has enough machines at all, whoever uses them now. */
function couldEverBeWhole(cycle: Cycle, served: Served): boolean {
  const { classes, demand, dimensions, domains, machines, patterns } = cycle.fleet;
  const { turn } = served;
  const pattern = patterns.patternOf(turn.pattern);
  const { stride, count } = dimensions;
  const byKey = domains.by(demand.profiles.entryOf(turn.profile).sameKey!);
  const sums = new Map<number, Float64Array>();
  for (let c = 0; c < classes.size; c++) {
    if (classes.attributes[c] === undefined || !pattern.fits(c)) continue;
    const members = USABLE.reduce((sum, state) => sum + (machines.counts[c * 9 + state] ?? 0), 0);
    let sum = sums.get(byKey.of(c));
    if (sum === undefined) sums.set(byKey.of(c), (sum = new Float64Array(count)));
    for (let d = 0; d < count; d++) {
      const wanted = demand.aggregate.data[turn.row * stride + d]!;
      sum[d] = Math.min(wanted, sum[d]! + members * classes.allocatable.data[c * stride + d]!);
    }
  }
  return [...sums.values()].some((sum) =>
    sum.every((have, d) => have >= demand.aggregate.data[turn.row * stride + d]!),
  );
}

/** Whether free machines that fit are left, and the skew is all that keeps the row from them. */
function skewForbids(cycle: Cycle, served: Served): boolean {
  if (served.spread === null) return false;
  const { spreadKey, maxSkew } = cycle.fleet.demand.profiles.entryOf(served.turn.profile);
  const test = new SpreadTest(cycle.fleet.domains.by(spreadKey!), maxSkew, served.spread);
  return test.free.size > 0 && ![...test.free].some((c) => test.passes(c));
}

/** So many machines like a known one would do: fewest, then cheapest, then by id. */
function extraSupplyOf(cycle: Cycle, served: Served): UnmetDetail['extraSupply'] {
  const { classes, demand, domains, machines, patterns } = cycle.fleet;
  const { turn } = served;
  const entry = demand.profiles.entryOf(turn.profile);
  const pattern = patterns.patternOf(turn.pattern);
  const within = served.gang?.domain ?? null;
  const byKey = within === null ? null : domains.by(entry.sameKey!);
  let best: { count: number; cost: number; slot: number } | null = null;
  for (let slot = 0; slot < machines.size; slot++) {
    if (machines.state[slot] === 0) continue;
    const c = machines.classOf[slot]!;
    if (!pattern.fits(c) || (byKey !== null && byKey.names[byKey.of(c)] !== within)) continue;
    const count = machinesNeeded(cycle, served.deficit!, c);
    if (count === Number.POSITIVE_INFINITY) continue;
    const cost = effectiveCost(classes.price[c]!, classes.probability[c]!, entry.interruptionDollars);
    const better =
      best === null ||
      count < best.count ||
      (count === best.count &&
        (cost < best.cost || (cost === best.cost && machines.idOrder(slot, best.slot) < 0)));
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
    count = Math.max(count, offered === 0 ? Number.POSITIVE_INFINITY : Math.ceil(deficit[d]! / offered));
  }
  return count;
}
