// A closed loop: decide, accept the plan, advance time, decide again. The caller sets how many cycles a move takes, so
// the effect of a slow provider on decisions can be tested without a provider. Pure: equal starts, deciders, delays and
// events give equal runs. Used by tests of the engine (test/engine) and of the demo's demand; loop-moves.ts carries the
// moves out.

import {
  type ActionKind,
  type DecisionInput,
  type DecisionOptions,
  isBound,
  type LedgerMachine,
  MachineState,
  type Need,
  type NodeUse,
  type Plan,
} from '../../src/model/index.ts';
import { acceptPlan, dropStaleTargets, endMove, isMoving, rowsByKey } from './loop-moves.ts';

export type Decider = (input: DecisionInput) => Plan;

/**
 * The number of decisions that see a machine in a move (Creating, Configuring, Draining, Deleting): one number for all,
 * or one per machine as it enters the move. 0: the move completes before the next decision.
 */
export type Delays = number | ((machine: LedgerMachine, cycle: number) => number);

/** The use of a bound machine as its cluster reports it before a decision. */
export type ReportedUse = (machine: LedgerMachine, cycle: number) => NodeUse | undefined;

/** A change to the fleet between two decisions. */
export interface LoopEvent {
  /** Ids of machines that no provider lists any more. */
  readonly lost?: readonly string[];
  readonly added?: readonly LedgerMachine[];
  /** Replaces all rows. */
  readonly needs?: readonly Need[];
}

export interface LoopState {
  /** Input of the next decision. */
  readonly input: DecisionInput;
  /** Number of the next decision, from 0. */
  readonly cycle: number;
  /** By machine: remaining cycles of a move that has already waited at least one. */
  readonly waits: ReadonlyMap<string, number>;
}

export interface LoopRules {
  readonly decide: Decider;
  readonly delays: Delays;
  /** Milliseconds between decisions; 0 stops the clock, so that no machine is released because of its age. */
  readonly cycleMs?: number;
  /** Absent: clusters report no facts, and machines keep those that they have until they leave their cluster. */
  readonly facts?: ReportedUse | undefined;
}

/** One decision and its actions. */
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

/** Whether no move is in flight. */
export function isSettled({ input }: LoopState): boolean {
  return !input.machines.some(isMoving);
}

/** Whether the step changes nothing; on a settled fleet with a stopped clock, no later step will either. */
export function isQuiet({ plan }: LoopStep): boolean {
  return plan.actions.length === 0 && plan.restamps.size === 0 && plan.retargets.size === 0;
}

/** One decision, its plan accepted, and time advanced by one cycle. */
export function stepLoop(state: LoopState, rules: LoopRules): { step: LoopStep; next: LoopState } {
  const { cycle } = state;
  const input = rules.facts === undefined ? state.input : withFacts(state.input, rules.facts, cycle);
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
    next: {
      input: { ...input, nowMs, machines, options: keepMarks(input, machines) },
      cycle: cycle + 1,
      waits,
    },
  };
}

/** An unchanged machine keeps its identity. */
function withFacts(input: DecisionInput, facts: ReportedUse, cycle: number): DecisionInput {
  const machines = input.machines.map((machine) => {
    const use = isBound(machine.state) ? facts(machine, cycle) : undefined;
    return use === machine.use ? machine : { ...machine, use };
  });
  return { ...input, machines };
}

/** As in the shard, the mark of a machine that is to be replaced ends when the machine is not Configured in its cluster. */
function keepMarks({ machines, options }: DecisionInput, next: readonly LedgerMachine[]): DecisionOptions {
  if (options.retiring.size === 0) return options;
  const isMarked = ({ id, state }: LedgerMachine) =>
    state === MachineState.Configured && options.retiring.has(id);
  const clusters = new Map(machines.filter(isMarked).map(({ id, cluster }) => [id, cluster]));
  const kept = next.filter((machine) => isMarked(machine) && clusters.get(machine.id) === machine.cluster);
  return { ...options, retiring: new Set(kept.map(({ id }) => id)) };
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

/** The fleet after an event; a machine that returns under an old id has no state from before. */
export function withEvent(state: LoopState, event: LoopEvent): LoopState {
  const { input } = state;
  const gone = new Set([...(event.lost ?? []), ...(event.added ?? []).map(({ id }) => id)]);
  const machines = [...input.machines.filter(({ id }) => !gone.has(id)), ...(event.added ?? [])];
  const waits = new Map([...state.waits].filter(([id]) => !gone.has(id)));
  return { ...state, input: { ...input, machines, needs: event.needs ?? input.needs }, waits };
}

/** Runs `cycles` cycles; an event is applied before the decision with its number. */
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

/** Runs until a decision on a settled fleet changes nothing, which is the last step; at most `limit` cycles. */
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

/** Every machine that the steps bound or bought, without duplicates. */
export function acquiredIn(steps: readonly LoopStep[]): ReadonlySet<string> {
  return new Set(steps.flatMap(({ acquired }) => acquired));
}

/** Number of actions of a kind in the steps. */
export function countIn(steps: readonly LoopStep[], kind: ActionKind): number {
  return steps.reduce((sum, { counts }) => sum + counts[kind], 0);
}
