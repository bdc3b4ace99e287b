// Needs: wire ↔ model. A field that violates the contract refuses the whole roll-up, because a roll-up is the cluster's
// complete demand and half of it would look like the other half had been withdrawn. A row that only exceeds a limit of
// ours is set aside instead: one typing error of a tenant must not stop the demand of its whole cluster. Used by
// intake.ts and combination.ts; operators and the shard's answers use the other direction.

import {
  BigFleetError,
  type ErrorCode,
  excerpt,
  formatResources,
  isOperator,
  isPenaltyBucket,
  makeProfile,
  type Need,
  NO_RESOURCES,
  Operator,
  type Problem,
  type Profile,
  parseDemand,
  parseQuantity,
  type Requirement,
  type ResourceVector,
  type Rounding,
  type Spread,
  setAside,
  WhenUnsatisfiable,
} from '../../model/index.ts';
import type {
  CapacityNeed,
  NodeSelectorRequirement,
  PenaltyBucket,
  TopologySpread,
} from '../gen/bigfleet/v1alpha1/capacity.ts';
import type { Excess } from './need-limits.ts';

/** What a problem did to its row: see RollupReport in shard.proto. */
export type RowEffect = 'set-aside' | 'saturated' | 'zeroed' | 'refused';

/** Remarks that are kept of one row; the others are only counted. A row may have 32 of them, a roll-up 50,000 rows. */
const MAX_ROW_REMARKS = 4;

/**
 * Something wrong with a row. It is put into words only when it is listed: escaped, a name may be six times as long, and
 * every row that is kept may have remarks. The path is relative to the row, because a row keeps its remarks when it
 * changes its place.
 */
interface RowRemark {
  readonly code: ErrorCode;
  readonly effect: RowEffect;
  readonly words: () => { readonly path: string; readonly message: string };
}

interface Remarked {
  readonly remarks: readonly RowRemark[];
  /** How many more there are; absent: none. */
  readonly moreRemarks?: number;
}

/** What became of one row. */
export type Row =
  /** A row of demand; its remarks may say that it is set aside. */
  | ({ readonly kind: 'need'; readonly need: Need } & Remarked)
  /** Set aside, and not even its key is known. */
  | ({ readonly kind: 'hidden' } & Remarked)
  /** Violates the contract, so that the whole roll-up is refused. */
  | ({ readonly kind: 'refused' } & Remarked);

const NO_REMARKS: Remarked = { remarks: [] };

/** Whether the cluster a roll-up names is the one its session belongs to. */
export function sessionProblems(named: string, cluster: string): readonly Problem[] {
  if (named === cluster && named !== '') return [];
  if (named === '') {
    return [{ code: 'BF_CLUSTER_EMPTY', path: 'cluster_id', message: 'The roll-up names no cluster.' }];
  }
  const message = `The roll-up names "${excerpt(named)}", the session belongs to "${excerpt(cluster)}".`;
  return [{ code: 'BF_CLUSTER_MISMATCH', path: 'cluster_id', message }];
}

/** One row within its limits. Its first-seen time is assigned by the shard and starts as 0, "not known". */
export function rowFromWire(wire: CapacityNeed, cluster: string): Row {
  const remarks: RowRemark[] = [];
  const profile = profileFromWire(wire, remarks);
  const aggregate = demandFromWire(wire.aggregateResources, 'aggregate_resources', 'set-aside', remarks);
  const minUnit = demandFromWire(wire.minUnit, 'min_unit', 'saturated', remarks);
  if (profile === null || remarks.some(isViolation)) return refused(remarks);
  const need = { cluster, profile, group: wire.group, aggregate, minUnit, firstSeenMs: 0 };
  if (remarks.length === 0) return { kind: 'need', need, ...NO_REMARKS };
  const isAside = remarks.some(({ effect }) => effect === 'set-aside');
  return { kind: 'need', need: isAside ? setAside(need) : need, ...firstOf(remarks) };
}

/** A row beyond a limit; `wire` is the row without its amounts, null if its key is unknown. */
export function rowBeyondLimit(excess: Excess, wire: CapacityNeed | null, cluster: string): Row {
  const remark = excessRemark(excess);
  if (wire === null) return { kind: 'hidden', remarks: [remark] };
  const violations: RowRemark[] = [];
  const profile = profileFromWire(wire, violations);
  if (profile === null) return refused(violations);
  const amounts = { aggregate: NO_RESOURCES, minUnit: NO_RESOURCES };
  const need = setAside({ cluster, profile, group: wire.group, ...amounts, firstSeenMs: 0 });
  return { kind: 'need', need, remarks: [remark] };
}

function excessRemark({ path, unit, found, limit }: Excess): RowRemark {
  const code = unit === 'bytes' ? 'BF_NAME_LENGTH' : 'BF_ROLLUP_LIMIT';
  const words = () => ({ path, message: `${found} ${unit}, the limit is ${limit}.` });
  return { code, effect: 'set-aside', words };
}

function isViolation({ effect }: RowRemark): boolean {
  return effect === 'refused';
}

/** A refusal says why; what else could be said of the row does not matter then. */
function refused(remarks: readonly RowRemark[]): Row {
  return { kind: 'refused', ...firstOf(remarks.filter(isViolation)) };
}

function firstOf(remarks: readonly RowRemark[]): Remarked {
  if (remarks.length <= MAX_ROW_REMARKS) return { remarks };
  return { remarks: remarks.slice(0, MAX_ROW_REMARKS), moreRemarks: remarks.length - MAX_ROW_REMARKS };
}

/** null if the row violates the contract; `remarks` then says how. */
function profileFromWire(wire: CapacityNeed, remarks: RowRemark[]): Profile | null {
  const before = remarks.length;
  const requirements: Requirement[] = [];
  for (const [i, { key, operator, values }] of wire.requirements.entries()) {
    if (isOperator(operator) && operator !== Operator.Unspecified)
      requirements.push({ key, operator, values });
    else remarks.push(operatorViolation(i, operator, key));
  }
  checkBucket(wire.interruptionPenaltyBucket, '.interruption_penalty_bucket', remarks);
  checkBucket(wire.reclamationPenaltyBucket, '.reclamation_penalty_bucket', remarks);
  if (remarks.length > before) return null;
  return makeProfile({
    requirements,
    spread: wire.spread.map(spreadFromWire),
    priority: wire.priority,
    interruptionBucket: wire.interruptionPenaltyBucket,
    reclamationBucket: wire.reclamationPenaltyBucket,
  });
}

function operatorViolation(index: number, operator: number, key: string): RowRemark {
  const words = () => ({
    path: `.requirements[${index}].operator`,
    message: `Operator number ${operator} of key "${excerpt(key)}" is not known.`,
  });
  return { code: 'BF_OPERATOR_UNKNOWN', effect: 'refused', words };
}

function checkBucket(bucket: number, path: string, remarks: RowRemark[]): void {
  if (isPenaltyBucket(bucket)) return;
  const words = () => ({ path, message: `Bucket ${bucket} is outside 0 to 27.` });
  remarks.push({ code: 'BF_BUCKET_RANGE', effect: 'refused', words });
}

/** Amounts of demand in units. `overflow` is what an amount beyond the exact range does to the row. */
function demandFromWire(
  wire: ReadonlyMap<string, string>,
  map: string,
  overflow: 'set-aside' | 'saturated',
  remarks: RowRemark[],
): ResourceVector {
  const resources = new Map<string, number>();
  const remark = (code: ErrorCode, effect: RowEffect, name: string, message: string): void => {
    remarks.push({ code, effect, words: amountText(map, name, message) });
  };
  for (const [name, text] of wire) {
    try {
      const { units, effect } = parseDemand(text, name);
      resources.set(name, units);
      if (effect === 'zeroed')
        remark('BF_QUANTITY_NEGATIVE', effect, name, `"${text}" is below zero and counts as 0.`);
      else if (effect === 'saturated')
        remark('BF_QUANTITY_OVERFLOW', overflow, name, `"${text}" is too large to count exactly.`);
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      remark(error.code, 'refused', name, error.problems[0]!.message);
    }
  }
  return resources;
}

/** Separate function: what it returns keeps its arguments alive and nothing else of the row. */
function amountText(map: string, name: string, message: string): RowRemark['words'] {
  return () => ({ path: `.${map}["${excerpt(name)}"]`, message });
}

// A spread policy we do not know is no reason to drop a cluster's demand; it then binds nothing.
function spreadFromWire({ topologyKey, maxSkew, whenUnsatisfiable }: TopologySpread): Spread {
  const known = Object.values(WhenUnsatisfiable).find((n) => n === whenUnsatisfiable);
  return { topologyKey, maxSkew, whenUnsatisfiable: known ?? WhenUnsatisfiable.Unspecified };
}

/** Amounts of supply in units; what cannot be read is added to `problems` and left out. */
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
        problems.push({ code, path: `${path}["${excerpt(name)}"]`, message });
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
