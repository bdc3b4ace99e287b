// Needs: wire ↔ model. One bad field refuses the whole roll-up, because a roll-up is the cluster's complete
// demand and half of it would look like the other half had been withdrawn.

import {
  BigFleetError,
  formatResources,
  isOperator,
  isPenaltyBucket,
  makeProfile,
  mergeNeeds,
  type Need,
  Operator,
  ok,
  type Problem,
  parseQuantity,
  printable,
  type Requirement,
  type ResourceVector,
  type Result,
  type Rounding,
  refused,
  type Spread,
  WhenUnsatisfiable,
} from '../model/index.ts';
import type {
  CapacityNeed,
  ClusterCapacityNeeds,
  NodeSelectorRequirement,
  PenaltyBucket,
  TopologySpread,
} from './gen/bigfleet/v1alpha1/capacity.ts';

/** Problems that are listed before the rest is only counted, so that a hostile roll-up cannot fill the log. */
const MAX_PROBLEMS = 20;

/**
 * A whole roll-up, or every reason why not. `cluster` is the one the session belongs to: the id inside the
 * message is checked against it and never trusted by itself.
 */
export function needsFromWire(message: ClusterCapacityNeeds, cluster: string): Result<readonly Need[]> {
  const problems = sessionProblems(message.clusterId, cluster);
  if (problems.length > 0) return refused(problems);
  return combineNeeds(message.needs.map((wire, i) => needFromWire(wire, cluster, `needs[${i}]`)));
}

/** Whether the cluster a roll-up names is the one its session belongs to. */
export function sessionProblems(named: string, cluster: string): readonly Problem[] {
  if (named === cluster && named !== '') return [];
  if (named === '') {
    return [{ code: 'BF_CLUSTER_EMPTY', path: 'cluster_id', message: 'The roll-up names no cluster.' }];
  }
  const message = `The roll-up names "${printable(named)}", the session belongs to "${printable(cluster)}".`;
  return [{ code: 'BF_CLUSTER_MISMATCH', path: 'cluster_id', message }];
}

/** All rows of a roll-up, or the problems of all: rows with equal keys become one. */
export function combineNeeds(rows: readonly Result<Need>[]): Result<readonly Need[]> {
  const needs: Need[] = [];
  const problems: Problem[] = [];
  for (const row of rows) {
    if (row.ok) needs.push(row.value);
    else problems.push(...row.problems.slice(0, MAX_PROBLEMS - problems.length));
    if (problems.length >= MAX_PROBLEMS) break;
  }
  if (problems.length > 0) return refused(problems);
  try {
    return ok(mergeNeeds(needs));
  } catch (error) {
    if (error instanceof BigFleetError) return refused(error.problems);
    throw error;
  }
}

/** One row. Its first-seen time is the shard's business and starts as 0, "not known". */
export function needFromWire(wire: CapacityNeed, cluster: string, path: string): Result<Need> {
  const problems: Problem[] = [];
  const requirements: Requirement[] = [];
  for (const [i, { key, operator, values }] of wire.requirements.entries()) {
    if (isOperator(operator) && operator !== Operator.Unspecified)
      requirements.push({ key, operator, values });
    else {
      const message = `Operator number ${Number(operator)} of key "${printable(key)}" is not known.`;
      problems.push({ code: 'BF_OPERATOR_UNKNOWN', path: `${path}.requirements[${i}].operator`, message });
    }
  }
  checkBucket(wire.interruptionPenaltyBucket, `${path}.interruption_penalty_bucket`, problems);
  checkBucket(wire.reclamationPenaltyBucket, `${path}.reclamation_penalty_bucket`, problems);
  const aggregate = resourcesFromWire(wire.aggregateResources, 'up', `${path}.aggregate_resources`, problems);
  const minUnit = resourcesFromWire(wire.minUnit, 'up', `${path}.min_unit`, problems);
  if (problems.length > 0) return refused(problems);

  const profile = makeProfile({
    requirements,
    spread: wire.spread.map(spreadFromWire),
    priority: wire.priority,
    interruptionBucket: wire.interruptionPenaltyBucket,
    reclamationBucket: wire.reclamationPenaltyBucket,
  });
  return ok({ cluster, profile, group: wire.group, aggregate, minUnit, firstSeenMs: 0 });
}

function checkBucket(bucket: number, path: string, problems: Problem[]): void {
  if (isPenaltyBucket(bucket)) return;
  problems.push({ code: 'BF_BUCKET_RANGE', path, message: `Bucket ${bucket} is outside 0 to 27.` });
}

// A spread policy we do not know is no reason to drop a cluster's demand; it then binds nothing.
function spreadFromWire({ topologyKey, maxSkew, whenUnsatisfiable }: TopologySpread): Spread {
  const known = Object.values(WhenUnsatisfiable).find((n) => n === whenUnsatisfiable);
  return { topologyKey, maxSkew, whenUnsatisfiable: known ?? WhenUnsatisfiable.Unspecified };
}

/** Quantity texts to units; what cannot be read is added to `problems` and left out. */
export function resourcesFromWire(
  wire: ReadonlyMap<string, string>,
  rounding: Rounding,
  path: string,
  problems: Problem[],
): ResourceVector {
  const resources = new Map<string, number>();
  for (const [name, text] of wire) {
    try {
      resources.set(name, parseQuantity(text, name, rounding));
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      for (const { code, message } of error.problems) {
        problems.push({ code, path: `${path}["${printable(name)}"]`, message });
      }
    }
  }
  return resources;
}

export function resourcesToWire(vector: ResourceVector): Map<string, string> {
  return new Map(Object.entries(formatResources(vector)));
}

export function needToWire(need: Need): CapacityNeed {
  const { profile } = need;
  return {
    requirements: requirementsToWire(profile.requirements),
    aggregateResources: resourcesToWire(need.aggregate),
    priority: profile.priority,
    spread: [...profile.spread],
    interruptionPenaltyBucket: profile.interruptionBucket as PenaltyBucket,
    reclamationPenaltyBucket: profile.reclamationBucket as PenaltyBucket,
    minUnit: resourcesToWire(need.minUnit),
    group: need.group,
  };
}

export function requirementsToWire(requirements: readonly Requirement[]): NodeSelectorRequirement[] {
  return requirements.map(({ key, operator, values }) => ({ key, operator, values: [...values] }));
}
