// Test support of scenarios-*.test.ts: builders of machines and rows, and the checks at the end of every scenario.

import { expect } from 'vitest';
import {
  type DecisionInput,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  type ProfileParts,
} from '../../src/model/index.ts';
import {
  acquiredIn,
  countIn,
  type LoopEvent,
  type LoopState,
  startLoop,
  withEvent,
} from '../../testing/loop/loop.ts';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';
import { onBoth } from './compare.ts';
import { lostSupply, promisedCycles, type Rest, runToRest } from './rest.ts';

const { Configured } = MachineState;

/** Machines `prefix` + 01, 02 …; ids sort as they are numbered. */
export function several(
  prefix: string,
  count: number,
  state: MachineState,
  given: Partial<LedgerMachine> = {},
): readonly LedgerMachine[] {
  return Array.from({ length: count }, (_, i) =>
    aMachine(`${prefix}${String(i + 1).padStart(2, '0')}`, state, given),
  );
}

export function inRack(rack: string): Partial<LedgerMachine> {
  return { labels: new Map([[RACK_KEY, rack]]) };
}

/** Machines of 4 cpu that serve a row. */
export function serving(
  need: Need,
  prefix: string,
  count: number,
  given: Partial<LedgerMachine> = {},
): readonly LedgerMachine[] {
  return several(prefix, count, Configured, { cluster: need.cluster, stamp: stampOf(need), ...given });
}

/** A row for `count` machines of 4 cpu. */
export function rowFor(count: number, given: Partial<Omit<Need, 'profile'>> & ProfileParts = {}): Need {
  return aNeed({ aggregate: resources({ cpu: 4 * count }), ...given });
}

/** A row for `count` machines of 4 cpu in one rack. */
export function gangOf(count: number, group: string, given: Parameters<typeof rowFor>[1] = {}): Need {
  return rowFor(count, { requirements: [same(RACK_KEY)], group, ...given });
}

/** Number of actions of each kind, and of distinct machines bound or bought. */
export interface Tally {
  readonly bootstraps: number;
  readonly provisions: number;
  readonly preempts: number;
  readonly reclaims: number;
  readonly deletes: number;
  readonly acquired: number;
}

export const NOTHING: Tally = {
  bootstraps: 0,
  provisions: 0,
  preempts: 0,
  reclaims: 0,
  deletes: 0,
  acquired: 0,
};

export interface ScenarioResult {
  readonly rest: Rest;
  readonly tally: Tally;
  /** Distinct machines bound or bought, in order. */
  readonly acquired: readonly string[];
  /** Machines reclaimed, in order. */
  readonly reclaimed: readonly string[];
  /** The last decision, taken at rest. */
  readonly end: Plan;
}

export interface ScenarioRules {
  readonly delays: Parameters<typeof runToRest>[1]['delays'];
  readonly cycleMs?: number;
  readonly decide?: (input: DecisionInput) => Plan;
}

/**
 * Runs a fleet until it is at rest, engine and oracle side by side, and checks the invariants of every scenario: it is at
 * rest in time, and an unmet row loses supply only to a preemption.
 */
function runAndCheck(from: LoopState, rules: ScenarioRules): ScenarioResult {
  const rest = runToRest(from, { decide: onBoth, ...rules });
  expect(rest.rested).toBe(true);
  expect(rest.cyclesToRest).toBeLessThanOrEqual(promisedCycles(from.input));
  expect(lostSupply(rest.steps)).toEqual([]);
  const { steps } = rest;
  const acquired = [...acquiredIn(steps)];
  return {
    rest,
    tally: {
      bootstraps: countIn(steps, 'Bootstrap'),
      provisions: countIn(steps, 'Provision'),
      preempts: countIn(steps, 'Preempt'),
      reclaims: countIn(steps, 'Reclaim'),
      deletes: countIn(steps, 'Delete'),
      acquired: acquired.length,
    },
    acquired,
    reclaimed: steps.flatMap(({ plan }) =>
      plan.actions.filter(({ kind }) => kind === 'Reclaim').map(({ machine }) => machine),
    ),
    end: steps.at(-1)!.plan,
  };
}

export function runScenario(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  rules: ScenarioRules,
): ScenarioResult {
  return runAndCheck(startLoop(anInput(machines, needs)), rules);
}

/** Applies an event to the end of a scenario and runs it to rest again. */
export function afterwards(result: ScenarioResult, event: LoopEvent, rules: ScenarioRules): ScenarioResult {
  return runAndCheck(withEvent(result.rest.end, event), rules);
}

export function isMet(plan: Plan): boolean {
  return plan.verdicts.every(({ satisfied }) => satisfied);
}
