// The promises of sharing over many cycles, as checks of (fleet, seed) on the oracle alone: the seed decides which machines
// are lost, which rows come, go and change, and how long each move takes. loop-properties.test.ts runs a few fleets,
// `npm run verify:sharing` as many as requested.

import type fc from 'fast-check';
import {
  compareRank,
  type DecisionInput,
  type EconomyOptions,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
  sameTermOf,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import {
  acquiredIn,
  countIn,
  type Delays,
  isSettled,
  type LoopEvent,
  type LoopRules,
  type LoopRun,
  type LoopState,
  type LoopStep,
  type ReportedUse,
  runLoop,
  startLoop,
  stepLoop,
  withEvent,
} from '../loop/loop.ts';
import { reportedUses, reportedUsesIfAny } from '../loop/reported-use.ts';
import { anyFleets, resources } from '../support/fleets.ts';
import { isPurchase } from './budgets.ts';
import { brokenProperties } from './invariants.ts';
import { acquirable, makeOracleState, rowOf } from './ledger.ts';
import { ALIKE, catalogueFleets, LOW_CLUSTER, MIXED, pressureFleets } from './loop-fleets.ts';
import { decide } from './oracle.ts';
import { Shortage } from './shortage.ts';

export interface LoopProperty {
  readonly name: string;
  readonly fleets: () => fc.Arbitrary<DecisionInput>;
  readonly problems: (input: DecisionInput, seed: number) => readonly string[];
  /** Fleets of a thousand that may break it, as measured; READINGS.md has examples. */
  readonly knownPerThousand: number;
}

/** Not shorter than the hold, so that a hold that starts in one cycle has run out in the next. */
const CYCLE_MS = SHARED_OPTIONS.reclaimHoldSeconds * 1000;
/** Decisions without an action, with nothing in flight and no hold running, that count as rest. */
const PATIENCE = 4;
const LIMIT = 300;
/** Cycles with events, before a fleet is to come to rest. */
const SHAKEN = 8;
/** Machines that a check takes away at most. */
const MOST_LOST = 3;

interface Rest extends LoopRun {
  readonly rested: boolean;
  /** Decisions with nothing in flight and no hold running, up to the last one with an action. */
  readonly cyclesToRest: number;
}

export function runToRest(from: LoopState, rules: LoopRules): Rest {
  const steps: LoopStep[] = [];
  let state = from;
  let calm = 0;
  let cyclesToRest = 0;
  while (steps.length < LIMIT && calm - cyclesToRest < PATIENCE) {
    const isStill = isSettled(state);
    const { step, next } = stepLoop(state, rules);
    if (isStill && !hasHoldRunning(step)) {
      calm++;
      if (step.plan.actions.length > 0) cyclesToRest = calm;
    }
    steps.push(step);
    state = next;
  }
  return { steps, end: state, cyclesToRest, rested: calm - cyclesToRest >= PATIENCE };
}

function hasHoldRunning({ input, plan }: LoopStep): boolean {
  const holdMs = input.options.reclaimHoldSeconds * 1000;
  return [...plan.onHold.values()].some((since) => input.nowMs - since < holdMs);
}

/** FNV-1a; the low bits are the weak ones. */
function hashOf(text: string, seed: number): number {
  let hash = (0x81_1c_9d_c5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93) >>> 0;
  return hash >>> 7;
}

/** For every second seed all moves take equally long; otherwise each takes its own time. */
export function hasUnevenDelays(seed: number): boolean {
  return seed % 2 === 1;
}

function delaysFrom(seed: number): Delays {
  if (!hasUnevenDelays(seed)) return hashOf('uniform', seed) % 4;
  return (machine, cycle) => hashOf(`${machine.id}/${machine.state}/${cycle}`, seed) % 5;
}

/** Departures, losses, changes of demand and arrivals in the first cycles. */
function eventsFrom({ machines, needs }: DecisionInput, seed: number): ReadonlyMap<number, LoopEvent> {
  const isChosen = (text: string, part: number): boolean => hashOf(text, seed) % part === 0;
  const staying = needs.filter((_, i) => !isChosen(`leaves ${i}`, 4));
  const changed = staying.map((need, i) =>
    isChosen(`changes ${i}`, 3) ? { ...need, aggregate: need.minUnit } : need,
  );
  const lost = machines.filter(({ id }) => isChosen(`lost ${id}`, 6));
  const added: readonly LedgerMachine[] = lost.map((machine) => ({ ...machine, id: `new-${machine.id}` }));
  return new Map<number, LoopEvent>([
    [2, { needs: staying }],
    [4, { lost: lost.map(({ id }) => id) }],
    [5, { needs: changed }],
    [7, { needs, added }],
  ]);
}

/** The fleet after its events, until it is at rest. */
function shakenToRest(input: DecisionInput, seed: number): Rest {
  const rules = {
    decide,
    delays: delaysFrom(seed),
    cycleMs: CYCLE_MS,
    facts: reportedUsesIfAny(seed, SHAKEN),
  };
  const shaken = runLoop(startLoop(input), rules, SHAKEN, eventsFrom(input, seed));
  const rest = runToRest(shaken.end, rules);
  return { ...rest, steps: [...shaken.steps, ...rest.steps] };
}

/** Every plan is sound, it settles, and then no row is short beside a free machine and no machine is kept without need. */
function isSound(input: DecisionInput, seed: number): readonly string[] {
  const { steps, rested } = shakenToRest(input, seed);
  const problems = steps.flatMap((step) => brokenProperties(step.input, step.plan));
  if (!rested) return [...problems, 'P21: it never settles'];
  return [...problems, ...starvedIn(steps.at(-1)!), ...keptIn(steps.at(-1)!), ...restampedIn(steps.at(-1)!)];
}

/** Machines whose stamps still change at rest. Gangs are left out: two of them can go on swapping stamps. */
function restampedIn({ input, plan }: LoopStep): readonly string[] {
  const plain = input.needs.filter(({ profile }) => sameTermOf(profile) === undefined);
  const texts = new Set(plain.map((need) => keyText(keyOf(need))));
  return [...plan.restamps].filter(([, key]) => texts.has(keyText(key))).map(([id]) => `restamped: ${id}`);
}

/** P21: quiet after (priority levels + 2) cycles once moves are done and holds have run out. */
function settlesInTime(input: DecisionInput, seed: number): readonly string[] {
  const { cyclesToRest } = shakenToRest(input, seed);
  const promised = new Set(input.needs.map(({ profile }) => profile.priority)).size + 2;
  return cyclesToRest > promised ? [`P21: rest after ${cyclesToRest}, promised ${promised}`] : [];
}

/**
 * Rows without a constraint on location that miss something although a free machine would add to it. What may not be bought is
 * not free.
 */
function starvedIn({ input, plan }: LoopStep): readonly string[] {
  const state = makeOracleState(input);
  return input.needs.flatMap((need: Need) => {
    const row = rowOf(need, input.options);
    const text = keyText(keyOf(need));
    const verdict = plan.verdicts.find(({ key }) => keyText(key) === text)!;
    if (row.kind !== 'plain' || row.spread !== undefined || !row.canBind || verdict.satisfied) return [];
    row.turn = 0;
    const short = new Shortage(
      row,
      state.slots.filter(({ id }) => verdict.claimed.includes(id)),
    );
    for (const { amount } of verdict.shares) short.borrow(amount);
    return acquirable(state, row)
      .filter((slot) => !plan.claims.has(slot.id) && short.adds(slot))
      .filter((slot) => input.options.purchaseBudget === undefined || !isPurchase(slot))
      .map((slot) => `starved: ${text} beside ${slot.id}`);
  });
}

/** Where every row is met, no machine stays on hold. */
function keptIn({ plan }: LoopStep): readonly string[] {
  if (plan.verdicts.some(({ satisfied }) => !satisfied)) return [];
  return [...plan.onHold.keys()].map((id) => `kept: ${id}`);
}

/** P22: of a fleet at rest, with all rows met and machines alike, k are lost and exactly k are acquired. */
function replaces(input: DecisionInput, seed: number): readonly string[] {
  const run = afterLosses(input, seed);
  if (run === null) return [];
  const { lost, acquired, steps } = run;
  const problems = acquired === lost ? [] : [`P22: ${lost} lost, ${acquired} acquired`];
  if (countIn(steps, 'Preempt') > 0) problems.push('P22: a replacement preempts');
  return problems;
}

/** P22 right after rows have shrunk, while machines are on hold: at most k are acquired. */
function replacesOnHold(input: DecisionInput, seed: number): readonly string[] {
  const shrunk = input.needs.map((need, i) =>
    hashOf(`shrinks ${i}`, seed) % 2 === 0 ? { ...need, aggregate: need.minUnit } : need,
  );
  const run = afterLosses(input, seed, shrunk);
  if (run === null || run.acquired <= run.lost) return [];
  return [`P22: ${run.lost} lost, ${run.acquired} acquired`];
}

/** Losses of a fleet at rest whose rows are all met; null if there is no such rest, or too few replacements. */
function afterLosses(input: DecisionInput, seed: number, needs = input.needs) {
  const facts = reportedUsesIfAny(seed, 0);
  const calm = runToRest(startLoop(input), { decide, delays: 0, cycleMs: CYCLE_MS, facts });
  const last = calm.steps.at(-1)!;
  const isMet = last.plan.verdicts.every(({ satisfied }) => satisfied);
  // There must be a replacement for each of them.
  const isPlentiful = last.input.machines.length - last.plan.claims.size >= 2 * MOST_LOST;
  if (!calm.rested || !isMet || !isPlentiful) return null;
  const lost = last.input.machines
    .map(({ id }) => id)
    .filter((id) => last.plan.claims.has(id) && hashOf(id, seed) % 4 === 0)
    .slice(0, MOST_LOST);
  const rules = { decide, delays: delaysFrom(seed), cycleMs: 1, facts };
  const { steps } = runToRest(withEvent(calm.end, { lost, needs }), rules);
  return { lost: lost.length, acquired: acquiredIn(steps).size, steps };
}

/**
 * A fleet at rest whose facts change once, and then stay: it comes to rest as soon as after any other change. Where machines
 * are alike, all rows met and no Idle machine is the target of a row, no machine is bought, bound or preempted for facts.
 */
function restsWithOtherFacts(input: DecisionInput, seed: number, areAlike: boolean): readonly string[] {
  const rules = { decide, delays: delaysFrom(seed), cycleMs: CYCLE_MS };
  const calm = runToRest(startLoop(input), { ...rules, facts: reportedUses(seed, 0) });
  if (!calm.rested) return ['P21: it never settles'];
  const isMet = calm.steps.at(-1)!.plan.verdicts.every(({ satisfied }) => satisfied);
  const isReserved = calm.end.input.machines.some(
    ({ state, target }) => state === MachineState.Idle && target !== null,
  );
  const { cyclesToRest, rested, steps } = runToRest(calm.end, { ...rules, facts: reportedUses(seed + 1, 0) });
  const promised = new Set(input.needs.map(({ profile }) => profile.priority)).size + 2;
  const problems = steps.flatMap((step) => brokenProperties(step.input, step.plan));
  if (!rested) problems.push('P21: it never settles with other facts');
  if (cyclesToRest > promised) problems.push(`P21: rest after ${cyclesToRest}, promised ${promised}`);
  const disturbs = acquiredIn(steps).size + countIn(steps, 'Preempt');
  if (areAlike && isMet && !isReserved && disturbs > 0)
    problems.push(`facts: ${disturbs} machines bought, bound or preempted`);
  return problems;
}

const restsMixed: LoopProperty['problems'] = (input, seed) => restsWithOtherFacts(input, seed, false);
const restsAlike: LoopProperty['problems'] = (input, seed) => restsWithOtherFacts(input, seed, true);

/** The Phase 1 outcome of rows does not depend on the demand of plain rows that are ranked after them. */
function ignoresWorseRows(input: DecisionInput, seed: number): readonly string[] {
  const inRank = input.needs.toSorted(compareRank);
  const pivot = hashOf('pivot', seed) % (inRank.length + 1);
  const changed = inRank.map((need, i): Need => {
    if (i < pivot || sameTermOf(need.profile) !== undefined || need.setAside === true) return need;
    const cpu = [0, 1, 3, 50][hashOf(`demand ${i}`, seed) % 4]!;
    const minUnit = hashOf(`unit ${i}`, seed) % 2 === 0 ? need.minUnit : resources({ cpu: Math.min(cpu, 2) });
    return { ...need, aggregate: resources({ cpu }), minUnit };
  });
  const outcomes = (needs: readonly Need[]): readonly string[] =>
    decide({ ...input, needs })
      .verdicts.slice(0, pivot)
      .map(({ key, claimed, shares, deficit, domain }) =>
        JSON.stringify([
          keyText(key),
          claimed,
          shares.map((of) => [of.machine, ...of.amount]),
          [...deficit],
          domain,
        ]),
      );
  const [before, after] = [outcomes(inRank), outcomes(changed)];
  return before.flatMap((text, i) => (text === after[i] ? [] : [`worse rows change ${text} to ${after[i]}`]));
}

/** When a high row leaves while victims drain, no other high row that was covered picks another victim. */
function departs(input: DecisionInput, seed: number, facts?: ReportedUse): readonly string[] {
  const rules = { decide, delays: delaysFrom(seed), cycleMs: 1, facts };
  const high = input.needs.filter(({ cluster }) => cluster !== LOW_CLUSTER);
  const leaver = high[hashOf('leaver', seed) % high.length]!;
  const before = runLoop(startLoop(input), rules, 1 + (hashOf('when', seed) % 5));
  const isCovered = before.steps
    .at(-1)!
    .plan.verdicts.every(
      ({ key, unmet }) => key.cluster === LOW_CLUSTER || unmet === null || unmet.reason === 'preempting',
    );
  if (!isCovered) return [];
  const needs = input.needs.filter((need) => need !== leaver);
  const after = runToRest(withEvent(before.end, { needs }), rules);
  // A low row may pick what the departure leaves on hold.
  const picks = after.steps
    .flatMap(({ plan }) => plan.actions)
    .filter(({ kind, need }) => kind === 'Preempt' && need?.cluster !== LOW_CLUSTER);
  return picks.length === 0 ? [] : [`departure: ${picks.length} more victims`];
}

const departsWithoutFacts: LoopProperty['problems'] = (input, seed) => departs(input, seed);
const departsWithFacts: LoopProperty['problems'] = (input, seed) =>
  departs(input, seed, reportedUses(seed, 0));

const SCARCE = { minLength: 2, maxLength: 10 };
const anyFleet = () =>
  anyFleets().map((input) => ({
    ...input,
    options: { ...input.options, releaseHoldSeconds: new Map() },
  }));

/** A property of fleets with each setting of the switches. `known`: with sharing, and without. */
function both(
  name: string,
  fleets: (options: EconomyOptions) => fc.Arbitrary<DecisionInput>,
  problems: LoopProperty['problems'],
  known: readonly [shared: number, unshared: number] = [0, 0],
): readonly LoopProperty[] {
  return [
    { name, fleets: () => fleets(SHARED_OPTIONS), problems, knownPerThousand: known[0] },
    {
      name: `${name}, unshared`,
      fleets: () => fleets(UNSHARED_OPTIONS),
      problems,
      knownPerThousand: known[1],
    },
  ];
}

const plenty = (options: EconomyOptions) => catalogueFleets(MIXED, options);
const scarce = (options: EconomyOptions) => catalogueFleets(MIXED, options, SCARCE);
const alike = (options: EconomyOptions) => catalogueFleets(ALIKE, options);
const anyWith = (options: EconomyOptions) =>
  anyFleet().map((input) => ({ ...input, options: { ...input.options, ...options } }));

export const LOOP_PROPERTIES: readonly LoopProperty[] = [
  ...both('sound, any fleet', anyWith, isSound),
  ...both('sound, plenty', plenty, isSound),
  ...both('sound, scarce', scarce, isSound),
  ...both('settles in time, any fleet', anyWith, settlesInTime),
  ...both('settles in time, plenty', plenty, settlesInTime, [0, 3]),
  ...both('settles in time, scarce', scarce, settlesInTime),
  ...both('rests with other facts, any fleet', anyWith, restsMixed),
  ...both('rests with other facts, plenty', plenty, restsMixed),
  ...both('rests with other facts, scarce', scarce, restsMixed),
  ...both('rests with other facts, alike', alike, restsAlike),
  ...both('replaces', alike, replaces, [0, 6]),
  ...both('replaces at most, on hold', alike, replacesOnHold, [0, 6]),
  ...both('departs', pressureFleets, departsWithoutFacts, [3, 2]),
  ...both('departs, with facts', pressureFleets, departsWithFacts, [6, 2]),
  { name: 'ignores worse rows', fleets: anyFleets, problems: ignoresWorseRows, knownPerThousand: 0 },
];
