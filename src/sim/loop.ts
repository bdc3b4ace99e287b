// A closed loop: decide, accept the plan, let time pass, decide again. Moves take as many cycles as they are told
// to, so that what a slow provider does to a decision can be watched without one. Pure: equal starts, deciders,
// delays and events give equal runs.

import type { ActionKind, DecisionInput, LedgerMachine, Need, Plan } from '../model/index.ts';
import { acceptPlan, dropStaleTargets, endMove, isMoving, rowsByKey } from './loop-moves.ts';

export type Decider = (input: DecisionInput) => Plan;

/**
 * How many decisions see a machine in a move (Creating, Configuring, Draining, Deleting): one number for all, or
 * one per machine as it enters the move. 0: the move is over before the next decision.
 */
export type Delays = number | ((machine: LedgerMachine, cycle: number) => number);

/** Something that happens to the fleet between two decisions. */
export interface LoopEvent {
  /** Machines that are gone: nobody lists them any more. */
  readonly lost?: readonly string[];
  readonly added?: readonly LedgerMachine[];
  /** All rows from now on. */
  readonly needs?: readonly Need[];
}

export interface LoopState {
  /** What the next decision reads. */
  readonly input: DecisionInput;
  /** Number of the next decision, from 0. */
  readonly cycle: number;
  /** Cycles still to go, by machine, for moves that have been waited for already. */
  readonly waits: ReadonlyMap<string, number>;
}

export interface LoopRules {
  readonly decide: Decider;
  readonly delays: Delays;
  /** Milliseconds between decisions; 0 stops the clock, so that nothing is released for its age alone. */
  readonly cycleMs?: number;
}

/** One decision and what it asked for. */
export interface LoopStep {
  readonly cycle: number;
  readonly input: DecisionInput;
  readonly plan: Plan;
  readonly counts: Readonly<Record<ActionKind, number>>;
  /** Machines that this decision binds or buys. */
  readonly acquired: readonly string[];
}

export interface LoopRun {
  readonly steps: readonly LoopStep[];
  readonly end: LoopState;
}

export function startLoop(input: DecisionInput): LoopState {
  return { input, cycle: 0, waits: new Map() };
}

/** Whether every move has come to its end. */
export function isSettled({ input }: LoopState): boolean {
  return !input.machines.some(isMoving);
}

/** Whether the step changes nothing at all; on a settled fleet with a stopped clock, nothing ever will again. */
export function isQuiet({ plan }: LoopStep): boolean {
  return plan.actions.length === 0 && plan.restamps.size === 0;
}

/** One decision, its plan accepted, and one cycle of time. */
export function stepLoop(state: LoopState, rules: LoopRules): { step: LoopStep; next: LoopState } {
  const { input, cycle } = state;
  const plan = rules.decide(input);
  const rows = rowsByKey(input.needs);
  const accepted = dropStaleTargets(acceptPlan(input.machines, rows, plan), rows);
  const nowMs = input.nowMs + (rules.cycleMs ?? 0);
  const waits = new Map<string, number>();
  const machines = accepted.map((machine) => {
    if (!isMoving(machine)) return machine;
    const left = state.waits.get(machine.id) ?? delayOf(rules.delays, machine, cycle);
    if (left <= 0) return endMove(machine, nowMs);
    waits.set(machine.id, left - 1);
    return machine;
  });
  return {
    step: stepOf(cycle, input, plan),
    next: { input: { ...input, nowMs, machines }, cycle: cycle + 1, waits },
  };
}

function delayOf(delays: Delays, machine: LedgerMachine, cycle: number): number {
  return typeof delays === 'number' ? delays : delays(machine, cycle);
}

function stepOf(cycle: number, input: DecisionInput, plan: Plan): LoopStep {
  const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
  const acquired: string[] = [];
  for (const { kind, machine } of plan.actions) {
    counts[kind]++;
    if (kind === 'Bootstrap' || kind === 'Provision') acquired.push(machine);
  }
  return { cycle, input, plan, counts, acquired };
}

/** The fleet after an event; a machine that comes back under an old id starts anew. */
export function withEvent(state: LoopState, event: LoopEvent): LoopState {
  const { input } = state;
  const gone = new Set([...(event.lost ?? []), ...(event.added ?? []).map(({ id }) => id)]);
  const machines = [...input.machines.filter(({ id }) => !gone.has(id)), ...(event.added ?? [])];
  const waits = new Map([...state.waits].filter(([id]) => !gone.has(id)));
  return { ...state, input: { ...input, machines, needs: event.needs ?? input.needs }, waits };
}

/** So many cycles, with events that come before the decision of their number. */
export function runLoop(
  from: LoopState,
  rules: LoopRules,
  cycles: number,
  events: ReadonlyMap<number, LoopEvent> = new Map(),
): LoopRun {
  const steps: LoopStep[] = [];
  let state = from;
  for (let i = 0; i < cycles; i++) {
    const event = events.get(state.cycle);
    const { step, next } = stepLoop(event === undefined ? state : withEvent(state, event), rules);
    steps.push(step);
    state = next;
  }
  return { steps, end: state };
}

/** Runs until a decision on a settled fleet changes nothing, which is then the last step; at most `limit` cycles. */
export function runUntilQuiet(from: LoopState, rules: LoopRules, limit: number): LoopRun {
  const steps: LoopStep[] = [];
  let state = from;
  for (let i = 0; i < limit; i++) {
    const settled = isSettled(state);
    const { step, next } = stepLoop(state, rules);
    steps.push(step);
    state = next;
    if (settled && isQuiet(step)) break;
  }
  return { steps, end: state };
}

/** Every machine that the steps bound or bought, each once. */
export function acquiredIn(steps: readonly LoopStep[]): ReadonlySet<string> {
  return new Set(steps.flatMap(({ acquired }) => acquired));
}

/** How many actions of a kind the steps asked for. */
export function countIn(steps: readonly LoopStep[], kind: ActionKind): number {
  return steps.reduce((sum, { counts }) => sum + counts[kind], 0);
}
