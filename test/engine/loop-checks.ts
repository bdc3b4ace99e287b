// Invariants of the closed loop on any fleet of a kind, as checks of (fleet, seed): the seed decides which machines are
// lost, which rows grow and how long each move takes. properties-loop.test.ts runs a few of them,
// scripts/soak-engine.ts as many as requested.

import type fc from 'fast-check';
import {
  attributeOf,
  covers,
  type DecisionInput,
  effectiveAllocatable,
  isBound,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type Plan,
  SHARED_OPTIONS,
  sameTermOf,
  type Verdict,
} from '../../src/model/index.ts';
import { saveDifference } from '../../src/scenario/save-difference.ts';
import { incrementalDecider } from '../../testing/loop/incremental-decider.ts';
import {
  acquiredIn,
  countIn,
  type Delays,
  type LoopStep,
  type ReportedUse,
  runLoop,
  startLoop,
  withEvent,
} from '../../testing/loop/loop.ts';
import { reportedUses, reportedUsesIfAny } from '../../testing/loop/reported-use.ts';
import { anyFleets, fleets, resources } from '../../testing/support/fleets.ts';
import { difference, onBoth, onEngine } from './compare.ts';
import {
  equalFleets,
  fullFleets,
  plentifulFleets,
  withNothingInFlight,
  withoutGangs,
} from './loop-fleets.ts';
import { adds, planProblems, shortOf } from './plan-checks.ts';
import { hashOf, promisedCycles, runToRest, servingIn, unevenDelays } from './rest.ts';

export interface FleetCheck {
  readonly name: string;
  readonly fleets: () => fc.Arbitrary<DecisionInput>;
  readonly problems: (input: DecisionInput, seed: number) => readonly string[];
}

/** For every second seed all moves take equally long; otherwise each takes its own time. */
function delaysFrom(seed: number): Delays {
  return seed % 2 === 0 ? hashOf('uniform', seed) % 6 : unevenDelays(seed, 1 + (hashOf('uneven', seed) % 8));
}

/**
 * Delays under which counts are exact: any, if every row has a cluster to itself. Waiting rows of one cluster are
 * credited with each other's machines, and no record says which row claimed which; if replacements arrive at different
 * times such a claim jumps to the newest machine, and occasionally one machine too many is bought or preempted. So
 * there all moves take the same time, unless rows share machines: then a claim leaves a stamp.
 */
function exactDelays({ needs, options }: DecisionInput, seed: number): Delays {
  const apart = new Set(needs.map(({ cluster }) => cluster)).size === needs.length;
  return delaysFrom(apart || options.sharing === 'on' ? seed : 2 * seed);
}

/** Facts that change in every cycle, and facts that stay. */
function changingFacts(seed: number): ReportedUse | undefined {
  return reportedUsesIfAny(seed, Number.POSITIVE_INFINITY);
}

function steadyFacts(seed: number): ReportedUse | undefined {
  return reportedUsesIfAny(seed, 0);
}

function withSharing(input: DecisionInput): DecisionInput {
  return { ...input, options: { ...input.options, ...SHARED_OPTIONS } };
}

export const CHECKS: readonly FleetCheck[] = [
  {
    name: 'engine equals oracle',
    fleets: anyFleets,
    problems: (input) => [difference(input)].filter((text) => text !== null),
  },
  { name: 'plan', fleets, problems: (input) => planProblems(input, onEngine(input)) },
  { name: 'engine equals oracle in a loop', fleets: anyFleets, problems: agreesInLoop },
  { name: 'incremental equals full in a loop', fleets: anyFleets, problems: keepsNothingWrong },
  { name: 'settles', fleets, problems: comesToRest },
  { name: 'settles within the bound', fleets: () => equalFleets().map(withoutGangs), problems: restsInTime },
  { name: 'rests with other facts', fleets: equalFleets, problems: restsWithOtherFacts },
  { name: 'replaces what is lost', fleets: plentifulFleets, problems: replacesLosses },
  { name: 'preempts what is short', fleets: fullFleets, problems: preemptsExactly },
  { name: 'preempts around protected machines', fleets: fullFleets, problems: preemptsAroundProtected },
  // With sharing the count is exact with any delays: a row keeps to a machine that it took over.
  {
    name: 'replaces what is lost, shared',
    fleets: () => plentifulFleets().map(withSharing),
    problems: replacesLosses,
  },
  {
    name: 'preempts what is short, shared',
    fleets: () => fullFleets().map(withSharing),
    problems: preemptsExactly,
  },
  {
    name: 'one row never binds and reclaims',
    fleets: () => fleets({ machines: 24, needs: 1 }).map(withNothingInFlight),
    problems: neverBindsAndReclaims,
  },
  { name: 'served gangs stay', fleets, problems: gangsStay },
];

export function checkNamed(name: string): FleetCheck {
  return CHECKS.find((check) => check.name === name)!;
}

function agreesInLoop(input: DecisionInput, seed: number): readonly string[] {
  try {
    runLoop(
      startLoop(input),
      { decide: onBoth, delays: delaysFrom(seed), cycleMs: 60_000, facts: changingFacts(seed) },
      6,
    );
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/** State that an engine caches between cycles does not change a plan; a difference is saved with both plans. */
function keepsNothingWrong(input: DecisionInput, seed: number): readonly string[] {
  const problems: string[] = [];
  const { decide } = incrementalDecider({
    checkEvery: 1,
    onDifference: (difference) => {
      const [incremental, full] = saveDifference('.cache/differences', difference);
      problems.push(`cycle ${difference.cycle}: compare ${incremental} with ${full}`);
    },
  });
  const changed = input.needs.map((need) =>
    hashOf(keyText(keyOf(need)), seed) % 3 > 0 ? need : { ...need, minUnit: resources({}) },
  );
  const lost = input.machines.map(({ id }) => id).filter((id) => hashOf(id, seed) % 5 === 0);
  const events = new Map([
    [2, { lost }],
    [4, { needs: changed }],
    [6, { needs: changed.slice(1), added: input.machines.filter(({ id }) => lost.includes(id)) }],
  ]);
  const rules = { decide, delays: delaysFrom(seed), cycleMs: 60_000, facts: changingFacts(seed) };
  runLoop(startLoop(input), rules, 9, events);
  return problems;
}

/** P21 on any fleet: at rest after at most 2 × (rows + 2) decisions, and permanently. */
function comesToRest(input: DecisionInput, seed: number): readonly string[] {
  const { rested, cyclesToRest } = runToRest(startLoop(input), {
    decide: onEngine,
    delays: delaysFrom(seed),
    facts: steadyFacts(seed),
  });
  if (!rested) return ['P21: it never settles'];
  return cyclesToRest > 2 * (input.needs.length + 2) ? [`P21: rest after ${cyclesToRest} cycles`] : [];
}

/** P21 as promised: (priority levels in use + 2) decisions. */
function restsInTime(input: DecisionInput, seed: number): readonly string[] {
  const { rested, cyclesToRest } = runToRest(startLoop(input), {
    decide: onEngine,
    delays: delaysFrom(seed),
    facts: steadyFacts(seed),
  });
  const promised = promisedCycles(input);
  return rested && cyclesToRest <= promised ? [] : [`P21: rest after ${cyclesToRest}, promised ${promised}`];
}

/**
 * P21 and P22 for facts that change once in a fleet at rest, all of whose rows are met, with no Idle machine that is the
 * target of a row: no machine moves for them.
 */
function restsWithOtherFacts(input: DecisionInput, seed: number): readonly string[] {
  const rules = { decide: onEngine, delays: delaysFrom(seed) };
  const calm = runToRest(startLoop(input), { ...rules, facts: reportedUses(seed, 0) });
  const isReserved = calm.end.input.machines.some(
    ({ state, target }) => state === MachineState.Idle && target !== null,
  );
  if (!calm.rested || isReserved || !isMet(calm.steps.at(-1)!.plan)) return [];
  const { steps, rested } = runToRest(calm.end, { ...rules, facts: reportedUses(seed + 1, 0) });
  const actions = steps.flatMap(({ plan }) => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`));
  if (!rested) return ['P21: it never settles with other facts'];
  return actions.map((action) => `P22: ${action} because of facts`);
}

/** P22: k machines lost, k distinct machines acquired. */
function replacesLosses(input: DecisionInput, seed: number): readonly string[] {
  const facts = steadyFacts(seed);
  const before = runToRest(startLoop(input), { decide: onEngine, delays: 0, facts });
  const calm = before.steps.at(-1)!;
  // Nothing is guaranteed if a row is unmet from the start.
  if (!isMet(calm.plan)) return [];
  const lost = servingIn(calm)
    .map(({ id }) => id)
    .filter((id) => hashOf(id, seed) % 4 === 0)
    .slice(0, 3);
  const event = withEvent(before.end, { lost });
  const rules = { decide: onEngine, delays: exactDelays(input, seed), facts };
  const { steps, rested } = runToRest(event, rules);
  const acquired = acquiredIn(steps).size;
  const problems: string[] = [];
  if (!rested || !isMet(steps.at(-1)!.plan)) problems.push('P22: a loss is never made good');
  if (acquired !== lost.length) problems.push(`P22: ${lost.length} lost, ${acquired} acquired`);
  const disturbed = countIn(steps, 'Reclaim') + countIn(steps, 'Preempt');
  if (disturbed > 0) problems.push(`P22: ${disturbed} machines had to leave`);
  return problems;
}

/** P22: k machines short, k preemptions in total, where no machine is protected. */
function preemptsExactly(input: DecisionInput, seed: number): readonly string[] {
  const facts = steadyFacts(seed);
  const unprotected: ReportedUse = (machine, cycle) => {
    const use = facts?.(machine, cycle);
    return use === 'protected' ? 'in-use' : use;
  };
  return preemptsWithin(input, seed, unprotected, 1);
}

/**
 * With protected machines at most twice as many: a row of the highest priority spares one of the lowest and preempts one
 * of the middle, whose row preempts in its turn.
 */
function preemptsAroundProtected(input: DecisionInput, seed: number): readonly string[] {
  return preemptsWithin(input, seed, reportedUses(seed, 0), 2);
}

function preemptsWithin(
  input: DecisionInput,
  seed: number,
  facts: ReportedUse,
  most: number,
): readonly string[] {
  let spare = input.machines.filter(({ cluster }) => cluster.startsWith('low')).length;
  let short = 0;
  const needs = input.needs.map((need): Need => {
    const growth = need.cluster.startsWith('low')
      ? 0
      : Math.min(spare, hashOf(keyText(keyOf(need)), seed) % 3);
    spare -= growth;
    short += growth;
    return { ...need, aggregate: resources({ cpu: need.aggregate.get('cpu')! + 4 * growth }) };
  });
  const grown = withEvent(startLoop(input), { needs });
  const rules = { decide: onEngine, delays: exactDelays(input, seed), facts };
  const { steps, rested } = runToRest(grown, rules);
  const preempts = countIn(steps, 'Preempt');
  const problems: string[] = [];
  if (preempts < short || preempts > most * short)
    problems.push(`P22: ${short} short, ${preempts} preempted`);
  const unserved = steps
    .at(-1)!
    .plan.verdicts.some(({ key, satisfied }) => !key.cluster.startsWith('low') && !satisfied);
  if (!rested || unserved) problems.push('P22: preemption does not serve the higher rows');
  return problems;
}

/** P23, from a start without machines in flight: a single row does not acquire in the cycle in which a machine leaves that would have added to it. */
function neverBindsAndReclaims(input: DecisionInput, seed: number): readonly string[] {
  const rules = { decide: onEngine, delays: delaysFrom(seed), facts: steadyFacts(seed) };
  const { steps } = runToRest(startLoop(input), rules);
  return steps.flatMap((step) => wasteIn(step));
}

function wasteIn({ cycle, input, plan, acquired }: LoopStep): readonly string[] {
  const [need] = input.needs;
  const [verdict] = plan.verdicts;
  if (need === undefined || verdict === undefined || acquired.length === 0) return [];
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  const had = verdict.claimed
    .filter((id) => !acquired.includes(id))
    .map((id) => effectiveAllocatable(machines.get(id)!));
  const short = shortOf(need, had);
  return plan.actions
    .filter(({ kind, machine }) => kind === 'Reclaim' && wouldServe(machines.get(machine)!, need, verdict))
    .filter(({ machine }) => adds(effectiveAllocatable(machines.get(machine)!), short))
    .map(({ machine }) => `P23: cycle ${cycle} reclaims ${machine} and acquires ${acquired.join(', ')}`);
}

/** Fits the row, and is in its domain if it has one: a gang that moves leaves the machines of other domains behind. */
function wouldServe(machine: LedgerMachine, need: Need, { domain }: Verdict): boolean {
  const gang = sameTermOf(need.profile);
  return (
    machine.cluster === need.cluster &&
    meetsAll(machine, need.profile.requirements) &&
    covers(effectiveAllocatable(machine), need.minUnit) &&
    (gang === undefined || attributeOf(machine, gang.key) === domain)
  );
}

/**
 * P24: a gang whose own machines cover it, with none bound elsewhere or in flight, keeps its domain, whatever
 * happens to Idle and Speculative machines, as long as no better-ranked row that lost free machines claims one of them.
 */
function gangsStay(input: DecisionInput, seed: number): readonly string[] {
  const { steps } = runToRest(startLoop(input), { decide: onEngine, delays: 0, facts: steadyFacts(seed) });
  const { input: calm, plan } = steps.at(-1)!;
  const pool = calm.machines.filter(({ state }) => isPooled(state));
  const shaken = {
    ...calm,
    machines: calm.machines
      .filter(({ id, state }) => !isPooled(state) || hashOf(id, seed) % 3 > 0)
      .concat(
        pool
          .filter(({ id }) => hashOf(id, seed) % 3 === 1)
          .map((machine) => ({ ...machine, id: `new-${machine.id}`, target: null })),
      ),
  };
  const { claims, verdicts } = onEngine(shaken);
  const after = new Map(verdicts.map((verdict) => [keyText(verdict.key), verdict]));
  return calm.needs
    .filter((need) => isServedByItsOwn(calm, plan, need))
    .filter((need) => {
      const key = keyText(keyOf(need));
      const { claimed, domain } = plan.verdicts.find((verdict) => keyText(verdict.key) === key)!;
      const taken = claimed.some((id) => keyText(claims.get(id) ?? keyOf(need)) !== key);
      return !taken && after.get(key)!.domain !== domain;
    })
    .map((need) => `P24: ${keyText(keyOf(need))} moves`);
}

/** Satisfied by bound machines that are all its own, and it owns no others, bound or in flight. */
function isServedByItsOwn({ machines }: DecisionInput, plan: Plan, need: Need): boolean {
  const key = keyText(keyOf(need));
  const { satisfied, claimed, domain } = plan.verdicts.find((verdict) => keyText(verdict.key) === key)!;
  if (!satisfied || domain === null || claimed.length === 0) return false;
  const own = machines.filter(
    ({ cluster, stamp, target }) =>
      (target !== null && keyText(target) === key) ||
      (stamp !== null && keyText({ ...stamp, cluster }) === key),
  );
  return (
    own.length === claimed.length && own.every(({ id, state }) => isBound(state) && claimed.includes(id))
  );
}

function isPooled(state: MachineState): boolean {
  return state === MachineState.Idle || state === MachineState.Speculative;
}

function isMet(plan: Plan): boolean {
  return plan.verdicts.every(({ satisfied }) => satisfied);
}
