// Measures of a closed loop: cycles until it is at rest, actions taken, and invariants on the way. Used by
// loop-checks.ts and scenario.ts.

import {
  type DecisionInput,
  isBound,
  keyOf,
  keyText,
  type LedgerMachine,
  type Need,
  type ResourceVector,
} from '../../src/model/index.ts';
import {
  type Delays,
  isSettled,
  type LoopRules,
  type LoopRun,
  type LoopState,
  type LoopStep,
  stepLoop,
} from '../../testing/loop/loop.ts';

/** Cycles that a provider takes per move, in the scenarios. */
export const CYCLES_PER_MOVE = [0, 1, 2, 3, 5, 12] as const;

function levelsIn(needs: readonly Need[]): number {
  return new Set(needs.map((need) => need.profile.priority)).size;
}

/** "Quiet after at most (priority levels in use + 2) cycles once transitions are done." */
export function promisedCycles({ needs }: DecisionInput): number {
  return levelsIn(needs) + 2;
}

/** From 0 to `most` cycles for every move of every machine; deterministic per seed. */
export function unevenDelays(seed: number, most: number): Delays {
  return (machine, cycle) => hashOf(`${machine.id}/${machine.state}/${cycle}`, seed) % (most + 1);
}

/** FNV-1a; the low bits are the weak ones. */
export function hashOf(text: string, seed: number): number {
  let hash = (0x81_1c_9d_c5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93) >>> 0;
  return hash >>> 7;
}

export interface Rest extends LoopRun {
  /** Decisions made while no move was in flight, up to the last one with an action; 0: there was none. */
  readonly cyclesToRest: number;
  /** Whether it reached rest at all. */
  readonly rested: boolean;
}

/** Decisions without an action, on a settled fleet, that count as rest. */
const PATIENCE = 5;
const LIMIT = 2_000;

/** Runs until no move is in flight and no action is requested for several decisions in a row. */
export function runToRest(from: LoopState, rules: LoopRules): Rest {
  const steps: LoopStep[] = [];
  let state = from;
  let settled = 0;
  let cyclesToRest = 0;
  while (steps.length < LIMIT && settled - cyclesToRest < PATIENCE) {
    const still = isSettled(state);
    const { step, next } = stepLoop(state, rules);
    if (still) settled++;
    if (still && step.plan.actions.length > 0) cyclesToRest = settled;
    steps.push(step);
    state = next;
  }
  return { steps, end: state, cyclesToRest, rested: settled - cyclesToRest >= PATIENCE };
}

/** Keys of rows that a step leaves unmet. */
function unmetIn({ plan }: LoopStep): readonly string[] {
  return plan.verdicts.filter(({ satisfied }) => !satisfied).map(({ key }) => keyText(key));
}

/**
 * Rows that are unmet at constant demand and are credited with less bound supply than in the previous cycle, although
 * no machine of their cluster was preempted. Must be empty.
 */
export function lostSupply(steps: readonly LoopStep[]): readonly string[] {
  const lost: string[] = [];
  for (const [i, step] of steps.entries()) {
    const before = steps[i - 1];
    if (before === undefined || before.input.needs !== step.input.needs) continue;
    const raided = new Set(
      before.plan.actions.filter(({ kind }) => kind === 'Preempt').map(({ cluster }) => cluster),
    );
    const unmet = new Set(unmetIn(before));
    for (const need of step.input.needs) {
      const key = keyText(keyOf(need));
      if (!unmet.has(key) || raided.has(need.cluster)) continue;
      if (boundClaims(step, key) < boundClaims(before, key)) lost.push(`cycle ${step.cycle}: ${key}`);
    }
  }
  return lost;
}

function boundClaims(step: LoopStep, key: string): number {
  const machines = new Map(step.input.machines.map((machine) => [machine.id, machine]));
  const claims = [...step.plan.claims].filter(([, claimant]) => keyText(claimant) === key);
  return claims.filter(([id]) => isBound(machines.get(id)!.state)).length;
}

/** Machines bound and claimed at the end of a run, by id. */
export function servingIn(step: LoopStep): readonly LedgerMachine[] {
  return step.input.machines.filter(({ id, state }) => isBound(state) && step.plan.claims.has(id));
}

/** Units of one resource that a step's unmet rows lack, in total. */
export function missing(step: LoopStep, resource: string): number {
  const of = (deficit: ResourceVector): number => deficit.get(resource) ?? 0;
  return step.plan.verdicts.reduce((sum, { deficit }) => sum + of(deficit), 0);
}
