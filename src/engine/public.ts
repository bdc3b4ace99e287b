// The entry point `bigfleet/engine`: decisions on plain values. It validates its input, which the engine itself does not,
// since there the ledgers are written by callers that have validated already.

import { fleetOf } from '../fleet/index.ts';
import {
  BigFleetError,
  type DecisionInput,
  type Explanation,
  excerpt,
  isMachineState,
  keyOf,
  keyText,
  MAX_UNITS,
  machineProblems,
  type NeedKey,
  type Plan,
  type Problem,
  type ResourceVector,
} from '../model/index.ts';
import { decide as decideFleet, explain as explainFleet } from './engine.ts';

export type {
  Action,
  ActionKind,
  ActionReason,
  Attributes,
  CapacityType,
  Claimant,
  ClaimedCause,
  DecisionInput,
  DecisionOptions,
  DomainCandidate,
  EconomyOptions,
  Explanation,
  FittingSupply,
  HostRef,
  LedgerMachine,
  Machine,
  MachineState,
  Need,
  NeedKey,
  NodeUse,
  ObstacleCause,
  Obstacles,
  Operator,
  PenaltyBucket,
  Plan,
  Profile,
  PurchaseBudget,
  RemainderCounts,
  Requirement,
  ResourceVector,
  ScoreWeights,
  Share,
  Spread,
  Stamp,
  UnmetDetail,
  UnmetReason,
  Verdict,
  WhenUnsatisfiable,
} from '../model/index.ts';
export {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
} from '../model/index.ts';

/**
 * Decides which machines serve which Needs. A pure function: equal inputs give equal plans, and nothing is read but the
 * input. Throws a `BigFleetError` with the code `BF_INPUT_INVALID` and all problems of the input if it has any.
 */
export function decide(input: DecisionInput): Plan {
  check(input);
  return decideFleet(fleetOf(input), input.nowMs, input.options);
}

/**
 * Explains what one Need found when it was served, met or not: the domains it chose from and what keeps each matching
 * machine from it. null if the input has no such Need. Throws like `decide`.
 */
export function explain(input: DecisionInput, key: NeedKey): Explanation | null {
  check(input);
  return explainFleet(fleetOf(input), input.nowMs, input.options, key);
}

/** Problems named in the message of the error; all of them are in its `problems`. */
const SHOWN_PROBLEMS = 20;

function check(input: DecisionInput): void {
  const problems = [...checkMachines(input), ...checkNeeds(input)];
  if (!Number.isFinite(input.nowMs)) problems.push(problem('nowMs', `The time is ${String(input.nowMs)}.`));
  if (problems.length === 0) return;
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ path, message }) => `\n  ${path}: ${message}`);
  const more = problems.length > SHOWN_PROBLEMS ? `\n  and ${problems.length - SHOWN_PROBLEMS} more` : '';
  const detail = `${problems.length} problems.${shown.join('')}${more}\n`;
  throw new BigFleetError('BF_INPUT_INVALID', detail, { problems });
}

function checkMachines({ machines }: DecisionInput): Problem[] {
  const ids = new Set<string>();
  return machines.flatMap((machine, i) => {
    const path = `machines[${i}]`;
    if (!isMachineState(machine.state)) {
      const message = `${String(machine.state)} is not a state.`;
      return [{ code: 'BF_MACHINE_STATE_UNKNOWN' as const, path: `${path}.state`, message }];
    }
    const problems = [...machineProblems(machine, path)];
    if (ids.has(machine.id)) {
      problems.push(problem(`${path}.id`, `Another machine has the id "${excerpt(machine.id)}".`));
    }
    ids.add(machine.id);
    return [
      ...problems,
      ...checkAmounts(machine.resources, `${path}.resources`),
      ...checkAmounts(machine.allocatable, `${path}.allocatable`),
    ];
  });
}

function checkNeeds({ needs }: DecisionInput): Problem[] {
  const keys = new Set<string>();
  return needs.flatMap((need, i) => {
    const path = `needs[${i}]`;
    const problems: Problem[] = [];
    if (need.cluster === '') {
      problems.push({ code: 'BF_CLUSTER_EMPTY', path: `${path}.cluster`, message: 'There is no cluster.' });
    }
    const key = keyText(keyOf(need));
    if (keys.has(key)) {
      problems.push(problem(path, 'Another Need has its cluster, profile and group; merge them first.'));
    }
    keys.add(key);
    return [
      ...problems,
      ...checkAmounts(need.aggregate, `${path}.aggregate`),
      ...checkAmounts(need.minUnit, `${path}.minUnit`),
    ];
  });
}

function checkAmounts(amounts: ResourceVector, path: string): Problem[] {
  return Array.from(amounts)
    .filter(([, units]) => !Number.isInteger(units) || units < 0 || units > MAX_UNITS)
    .map(([name, units]) =>
      problem(
        `${path}["${excerpt(name)}"]`,
        `${String(units)} is not a whole number from 0 to ${MAX_UNITS}.`,
      ),
    );
}

function problem(path: string, message: string): Problem {
  return { code: 'BF_INPUT_INVALID', path, message };
}
