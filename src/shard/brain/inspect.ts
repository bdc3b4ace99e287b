// ShardRead.InspectNeeds: every Need of the last cycle with its verdict. Soft state: it describes that cycle and nothing
// since. All verdicts of the cycle are made and sorted before the first row is; each row is then made as it is taken.

import {
  compareText,
  MAX_UNITS,
  type Need,
  type NeedKey,
  type ResourceVector,
  type UnmetDetail,
  type Verdict,
  WIRE_UNMET_REASON,
} from '../../model/index.ts';
import type { Resources } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type {
  InspectNeedsRequest,
  InspectNeedsResponse,
  MatchingSupply,
  NeedView,
  PreemptionSummary,
} from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import { needToWire, resourcesToWire } from '../../wire/index.ts';

/** The last cycle, and where to look up what verdicts only name. */
export interface InspectedCycle {
  /** From 1; 0: none has finished yet. */
  readonly cycle: number;
  readonly computedAtMs: number;
  readonly verdicts: readonly Verdict[];
  readonly needOf: (key: NeedKey) => Need | undefined;
  /** For how many cycles in a row a Need has been unmet. */
  readonly unmetCyclesOf: (key: NeedKey) => number;
  /** What a machine offers, by id; undefined for one that is no longer on record. */
  readonly offeredBy: (machine: string) => ResourceVector | undefined;
}

/** The contract counts matching machines up to here. */
const MATCHING_LIMIT = 256;

/** A Need and its verdict. */
interface Row {
  readonly need: Need;
  readonly verdict: Verdict;
}

/** The header, then the Needs: highest priority first, then who was here first, then by cluster. */
export function* inspectNeeds(
  inspected: InspectedCycle,
  { clusterId, limit }: InspectNeedsRequest,
): Generator<InspectNeedsResponse> {
  const rows = rowsOf(inspected, clusterId);
  const header = {
    cycle: BigInt(inspected.cycle),
    computedAtUnixNanos: unixNanos(inspected.computedAtMs),
    totalNeeds: rows.length,
  };
  yield { frame: { $case: 'header', value: header } };
  const end = limit > 0 ? Math.min(limit, rows.length) : rows.length;
  for (let i = 0; i < end; i++) yield { frame: { $case: 'need', value: viewOf(rows[i]!, inspected) } };
}

function rowsOf({ verdicts, needOf }: InspectedCycle, cluster: string): Row[] {
  const rows: Row[] = [];
  for (const verdict of verdicts) {
    if (cluster !== '' && verdict.key.cluster !== cluster) continue;
    const need = needOf(verdict.key);
    // Withdrawn since the cycle.
    if (need !== undefined) rows.push({ need, verdict });
  }
  return rows.sort(
    (a, b) =>
      b.verdict.priority - a.verdict.priority ||
      a.need.firstSeenMs - b.need.firstSeenMs ||
      compareText(a.need.cluster, b.need.cluster),
  );
}

function viewOf({ need, verdict }: Row, { unmetCyclesOf, offeredBy }: InspectedCycle): NeedView {
  const { unmet, preempts } = verdict;
  return {
    need: needToWire(need),
    clusterId: need.cluster,
    arrivalUnixNanos: unixNanos(need.firstSeenMs),
    profileFingerprint: need.profile.fingerprint,
    satisfied: verdict.satisfied,
    residualDeficit: resourcesOf(verdict.deficit),
    claimedMachineCount: verdict.claimed.length,
    bootstrapCount: verdict.bootstraps.length,
    provisionCount: verdict.provisions.length,
    sameDomain: verdict.domain ?? '',
    sameSatisfiable: verdict.satisfiable ?? false,
    acquisitionParked: false,
    parkedAgeCycles: 0,
    ageCyclesUnmet: unmet === null ? 0 : unmetCyclesOf(verdict.key),
    unmetReason: unmet === null ? 0 : WIRE_UNMET_REASON[unmet.reason],
    matchingSupply: unmet === null ? undefined : matchingOf(unmet),
    preemption: unmet === null || preempts.length === 0 ? undefined : summaryOf(preempts, offeredBy),
    sameCandidates: verdict.candidates.map(({ domain, worstCoverage, satisfiable }) => ({
      domain,
      coveragePerMille: Math.floor(worstCoverage / 1000),
      satisfiable,
    })),
  };
}

function matchingOf({ matching }: UnmetDetail): MatchingSupply {
  const { idle, configured, speculative } = matching;
  return {
    idle: Math.min(idle, MATCHING_LIMIT),
    configured: Math.min(configured, MATCHING_LIMIT),
    speculative: Math.min(speculative, MATCHING_LIMIT),
    capped: Math.max(idle, configured, speculative) > MATCHING_LIMIT,
  };
}

function summaryOf(victims: readonly string[], offeredBy: InspectedCycle['offeredBy']): PreemptionSummary {
  const freed = new Map<string, number>();
  for (const victim of victims) {
    for (const [name, units] of offeredBy(victim) ?? []) {
      freed.set(name, Math.min(MAX_UNITS, (freed.get(name) ?? 0) + units));
    }
  }
  return { victimsFound: victims.length, capacityFreed: resourcesOf(freed) };
}

function resourcesOf(vector: ResourceVector): Resources {
  return { resources: resourcesToWire(vector) };
}

function unixNanos(ms: number): bigint {
  return BigInt(Math.trunc(ms)) * 1_000_000n;
}
