// Applies a plan to the scenario it was made from, which gives the input of the next decision. Moves complete at once;
// cases with slow moves set the intermediate states by hand. Used by cases.test.ts between the steps of a case.

import {
  type Action,
  type DecisionInput,
  dollarsOfBucket,
  keyOf,
  keyText,
  type NeedKey,
  type Plan,
} from '../../src/model/index.ts';
import type { Change, Json } from './case-file.ts';
import { expandItems, expandKeys } from './ranges.ts';

/** A scenario as written, with ranges expanded. */
export interface RawScenario extends Json {
  readonly machines: readonly Json[];
  readonly needs: readonly Json[];
}

/** The scenario after every action of the plan has completed. */
export function afterPlan(scenario: RawScenario, plan: Plan, input: DecisionInput): RawScenario {
  const actions = new Map(plan.actions.map((action) => [action.machine, action]));
  const stamps = stampsByKey(plan, input);
  const machines = scenario.machines.map((machine) => {
    const id = machine['id'] as string;
    const action = actions.get(id);
    const restamp = plan.restamps.get(id);
    const moved = action === undefined ? machine : afterAction(machine, action, stamps, input);
    const timed = { ...moved, unclaimedSince: action === undefined ? (plan.onHold.get(id) ?? null) : null };
    if (restamp === undefined) return timed;
    const { fingerprint, group } = restamp;
    return { ...timed, assigned: { ...(moved['assigned'] as Json | undefined), fingerprint, group } };
  });
  return { ...scenario, machines };
}

function afterAction(
  machine: Json,
  action: Action,
  stamps: ReadonlyMap<string, Json>,
  input: DecisionInput,
): Json {
  const {
    assigned: _assigned,
    target: _target,
    cluster: _cluster,
    idleSince: _idleSince,
    use: _use,
    ...rest
  } = machine;
  const idle = { ...rest, state: 'IDLE', idleSince: input.nowMs };
  switch (action.kind) {
    case 'Bootstrap':
    case 'Provision': {
      const assigned = stamps.get(keyText(action.need!));
      return { ...rest, state: 'CONFIGURED', cluster: action.cluster, assigned };
    }
    case 'Preempt':
      return { ...idle, target: action.need };
    case 'Reclaim':
      return idle;
    case 'Delete': {
      const { host: _host, ...slot } = rest;
      return { ...slot, state: 'SPECULATIVE' };
    }
  }
}

/** The stamp of a machine bound for a row or a fold. */
function stampsByKey(plan: Plan, input: DecisionInput): ReadonlyMap<string, Json> {
  const foldOf = new Map(plan.verdicts.map(({ key, foldedInto }) => [keyText(key), foldedInto]));
  const stamps = new Map<string, Json>();
  for (const need of input.needs) {
    const { priority, interruptionBucket, reclamationBucket } = need.profile;
    const stamp = (key: NeedKey): Json => ({
      priority,
      interruptionPenalty: dollarsText(dollarsOfBucket(interruptionBucket)),
      reclamationPenalty: dollarsText(dollarsOfBucket(reclamationBucket)),
      fingerprint: key.fingerprint,
      group: key.group,
    });
    const key = keyOf(need);
    const fold = foldOf.get(keyText(key));
    stamps.set(keyText(key), stamp(key));
    if (fold) stamps.set(keyText(fold), stamp(fold));
  }
  return stamps;
}

function dollarsText(dollars: number): number | string {
  return dollars === Number.POSITIVE_INFINITY ? 'inf' : dollars;
}

/** The scenario with a step's changes. */
export function withChange(scenario: RawScenario, change: Change): RawScenario {
  const now = change.now ?? later(scenario['now'] as string | number, change.advanceSeconds ?? 0);
  const patches = expandKeys(change.machines ?? {});
  const kept = scenario.machines
    .filter((machine) => patches[machine['id'] as string] !== null)
    .map((machine) => withFields(machine, (patches[machine['id'] as string] ?? {}) as Json));
  const known = new Set(kept.map((machine) => machine['id']));
  const added = Object.entries(patches)
    .filter(([id, fields]) => !known.has(id) && fields !== null)
    .map(([id, fields]) => ({ id, ...(fields as Json) }));
  return {
    ...scenario,
    now,
    options: change.options ?? scenario['options'],
    machines: [...kept, ...added],
    needs: change.needs === undefined ? scenario.needs : expandItems(change.needs),
  };
}

function later(now: string | number, seconds: number): string | number {
  return seconds === 0 ? now : new Date(new Date(now).getTime() + seconds * 1000).toISOString();
}

function withFields(machine: Json, fields: Json): Json {
  const all = Object.entries({ ...machine, ...fields });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
