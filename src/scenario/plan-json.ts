// A plan as JSON, for programs: the actions, the verdict of each Need, the cost, and a digest for comparing two
// decisions. Printed by `bigfleet decide -o json` and by `bigfleet replay`; benchmarks and tests compare digests.
// Quantities are texts; keys are (cluster, fingerprint, group) everywhere.

import { createHash } from 'node:crypto';
import {
  type Action,
  BUCKET_LARGEST,
  compareText,
  type DecisionInput,
  type DomainCandidate,
  dollarsOfBucket,
  formatResources,
  keyOf,
  keyText,
  type LedgerMachine,
  type NeedKey,
  type PenaltyBucket,
  type Plan,
  type Share,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
  WIRE_UNMET_REASON,
} from '../model/index.ts';

interface NeedJson extends NeedKey {
  readonly priority: number;
  readonly satisfied: boolean;
  readonly deficit: Readonly<Record<string, string>>;
  readonly claimed: readonly string[];
  /** Present only for a Need that counts on machines of other rows. */
  readonly shares?: readonly ShareJson[];
  readonly bootstraps: readonly string[];
  readonly provisions: readonly string[];
  readonly preempts: readonly string[];
  readonly domain: string | null;
  readonly satisfiable: boolean | null;
  /** null when satisfied. */
  readonly reason: UnmetReason | null;
  /** Present only for a Need that is served by a fold. */
  readonly foldedInto?: NeedKey;
  /** This and the following fields are present only for unmet Needs. */
  readonly wireReason?: number;
  readonly candidates?: readonly DomainCandidate[];
  readonly matching?: UnmetDetail['matching'];
  readonly fitting?: UnmetDetail['fitting'];
  readonly blocker?: NeedKey | null;
  readonly extraSupply?: UnmetDetail['extraSupply'];
}

interface ShareJson {
  readonly machine: string;
  readonly amount: Readonly<Record<string, string>>;
}

/** USD per hour, to the millionth. */
interface CostJson {
  /** List prices of all machines that have a host. */
  readonly before: number;
  /** `before`, plus what is provisioned, minus what is deleted. */
  readonly after: number;
  /**
   * Expected loss by interruptions: over all claimed machines, probability × the upper bound of the claiming
   * row's interruption bucket. Pinned has no upper bound and counts as the largest bucket, $8,388,608.
   */
  readonly risk: number;
}

/** A plan without its cost, which would require the machines. */
export interface DecidedJson {
  readonly actions: readonly Action[];
  /** The original Needs, by rank. */
  readonly needs: readonly NeedJson[];
  readonly claims: Readonly<Record<string, NeedKey>>;
  readonly restamps: Readonly<Record<string, NeedKey>>;
  /** Present only if there are any. */
  readonly retargets?: Readonly<Record<string, NeedKey>>;
  /** By machine id, in milliseconds since 1970; present only if there are any. */
  readonly onHold?: Readonly<Record<string, number>>;
  /** SHA-256 of all of the above as JSON with sorted keys and no white space. */
  readonly digest: string;
}

export interface PlanJson extends DecidedJson {
  readonly cost: CostJson;
}

export function planJson(plan: Plan, input: DecisionInput): PlanJson {
  const { digest, ...decided } = decidedJson(plan);
  return { ...decided, cost: costOf(plan, input), digest };
}

export function decidedJson(plan: Plan): DecidedJson {
  const decided = {
    actions: plan.actions.map(actionJson),
    needs: plan.verdicts.map(needJson),
    claims: keysById(plan.claims),
    restamps: keysById(plan.restamps),
    ...(plan.retargets.size === 0 ? {} : { retargets: keysById(plan.retargets) }),
    ...(plan.onHold.size === 0 ? {} : { onHold: Object.fromEntries(plan.onHold) }),
  };
  const digest = createHash('sha256').update(canonicalJson(decided)).digest('hex');
  return { ...decided, digest };
}

function actionJson(action: Action): Action {
  const { kind, machine, cluster, reason, graceSeconds, preemptorPriority, need } = action;
  const key = need === null ? null : keyJson(need);
  return { kind, machine, cluster, reason, graceSeconds, preemptorPriority, need: key };
}

function needJson(verdict: Verdict): NeedJson {
  const { unmet } = verdict;
  return {
    ...keyJson(verdict.key),
    priority: verdict.priority,
    satisfied: verdict.satisfied,
    deficit: formatResources(verdict.deficit),
    claimed: [...verdict.claimed],
    ...(verdict.shares.length === 0 ? {} : { shares: verdict.shares.map(shareJson) }),
    bootstraps: [...verdict.bootstraps],
    provisions: [...verdict.provisions],
    preempts: [...verdict.preempts],
    domain: verdict.domain,
    satisfiable: verdict.satisfiable,
    reason: unmet?.reason ?? null,
    ...(verdict.foldedInto === null ? {} : { foldedInto: keyJson(verdict.foldedInto) }),
    ...(unmet === null ? {} : unmetJson(verdict, unmet)),
  };
}

function shareJson({ machine, amount }: Share): ShareJson {
  return { machine, amount: formatResources(amount) };
}

function unmetJson(verdict: Verdict, unmet: UnmetDetail): Partial<NeedJson> {
  const { idle, speculative, configured } = unmet.matching;
  const { total, failed, blocked, deleting } = unmet.fitting;
  return {
    wireReason: WIRE_UNMET_REASON[unmet.reason],
    candidates: verdict.candidates.map(({ domain, coverage, worstCoverage, satisfiable }) => {
      return { domain, coverage, worstCoverage, satisfiable };
    }),
    matching: { idle, speculative, configured },
    fitting: { total, failed, blocked, deleting },
    blocker: unmet.blocker === null ? null : keyJson(unmet.blocker),
    extraSupply:
      unmet.extraSupply === null ? null : { count: unmet.extraSupply.count, like: unmet.extraSupply.like },
  };
}

function keyJson({ cluster, fingerprint, group }: NeedKey): NeedKey {
  return { cluster, fingerprint, group };
}

function keysById(map: ReadonlyMap<string, NeedKey>): Readonly<Record<string, NeedKey>> {
  const sorted = [...map].sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(sorted.map(([id, key]) => [id, keyJson(key)]));
}

function costOf(plan: Plan, input: DecisionInput): CostJson {
  // In a fixed order, since a floating-point sum depends on it.
  const machines = [...input.machines].sort((a, b) => compareText(a.id, b.id));
  const changed = new Map(plan.actions.map((action) => [action.machine, action.kind]));
  const buckets = bucketsByClaimant(plan, input);
  let before = 0;
  let change = 0;
  let risk = 0;
  for (const machine of machines) {
    const claimant = plan.claims.get(machine.id);
    if (machine.host !== null) before += machine.pricePerHour;
    if (changed.get(machine.id) === 'Provision') change += machine.pricePerHour;
    if (changed.get(machine.id) === 'Delete') change -= machine.pricePerHour;
    if (claimant !== undefined) risk += riskOf(machine, buckets.get(keyText(claimant)) ?? 0);
  }
  return { before: toMillionth(before), after: toMillionth(before + change), risk: toMillionth(risk) };
}

function riskOf(machine: LedgerMachine, bucket: PenaltyBucket): number {
  return machine.interruptionProbability * dollarsOfBucket(Math.min(bucket, BUCKET_LARGEST));
}

/** Interruption buckets of rows and folds: a fold has those of its members. */
function bucketsByClaimant(plan: Plan, input: DecisionInput): ReadonlyMap<string, PenaltyBucket> {
  const buckets = new Map<string, PenaltyBucket>();
  for (const need of input.needs) buckets.set(keyText(keyOf(need)), need.profile.interruptionBucket);
  for (const { key, foldedInto } of plan.verdicts) {
    if (foldedInto !== null) buckets.set(keyText(foldedInto), buckets.get(keyText(key)) ?? 0);
  }
  return buckets;
}

function toMillionth(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}

/** JSON with keys in UTF-8 order and no white space. JSON.stringify alone would move keys such as "10" to the front. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => compareText(a, b));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}
