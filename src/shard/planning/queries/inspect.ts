// ShardRead.InspectNeeds: every Need of the last cycle with its verdict. Soft state: it describes that cycle and no
// later change. Only the requested verdicts are computed, in order; each row is encoded lazily as the generator is
// read. Used by answers.ts; api/shard-read-grpc.ts sends it.

import {
  MAX_UNITS,
  type Need,
  type NeedKey,
  type ResourceVector,
  type UnmetDetail,
  type Verdict,
  WIRE_UNMET_REASON,
} from '../../../model/index.ts';
import type { Resources } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type {
  InspectNeedsResponse,
  MatchingSupply,
  NeedView,
  PreemptionSummary,
} from '../../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import { needToWire, resourcesToWire } from '../../../wire/index.ts';

/** The last cycle, with lookups for the keys and ids that verdicts contain. */
export interface InspectedCycle {
  /** From 1; 0: no cycle has finished yet. */
  readonly cycle: number;
  readonly computedAtMs: number;
  /** Number of all Needs; `verdicts` may cover only the first of them. */
  readonly totalNeeds: number;
  /** Highest priority first, then first seen, then by cluster. */
  readonly verdicts: readonly Verdict[];
  readonly needOf: (key: NeedKey) => Need | undefined;
  /** Consecutive cycles that a Need has been unmet. */
  readonly unmetCyclesOf: (key: NeedKey) => number;
  /** Resources of a machine by id; undefined if it is no longer on record. */
  readonly offeredBy: (machine: string) => ResourceVector | undefined;
}

/** Cap that the wire contract sets on counts of matching machines. */
const MATCHING_LIMIT = 256;

/** Yields the header, then the Needs in the order of the verdicts. */
export function* inspectNeeds(inspected: InspectedCycle): Generator<InspectNeedsResponse> {
  const { cycle, computedAtMs, totalNeeds, verdicts, needOf } = inspected;
  const header = { cycle: BigInt(cycle), computedAtUnixNanos: unixNanos(computedAtMs), totalNeeds };
  yield { frame: { $case: 'header', value: header } };
  for (const verdict of verdicts) {
    const need = needOf(verdict.key);
    // Withdrawn since the cycle.
    if (need === undefined) continue;
    yield { frame: { $case: 'need', value: viewOf(need, verdict, inspected) } };
  }
}

function viewOf(need: Need, verdict: Verdict, { unmetCyclesOf, offeredBy }: InspectedCycle): NeedView {
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
