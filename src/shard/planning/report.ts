// The report of a shard to the coordinator: machine counts and shortfalls. Counts are summed by class, of which there are
// few, not by machine. Without a coordinator no component requests a report.

import type { Fleet } from '../../fleet/index.ts';
import { MAX_UNITS, MachineState, type ResourceVector } from '../../model/index.ts';
import type { PenaltyBucket } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type {
  InstructAck,
  ShardReport,
  ShardSummary,
  Shortfall as WireShortfall,
} from '../../wire/gen/bigfleet/v1alpha1/coordinator.ts';
import { requirementsToWire, resourcesToWire } from '../../wire/index.ts';
import type { Shortfall } from './shortfalls.ts';

/** Bound on the profiles in a report. */
export const MAX_REPORTED = 100;

/** Fields of the report about the shard itself. */
export interface ReportFacts {
  readonly shard: string;
  /** Number of the report since the process started, from 1. */
  readonly number: number;
  readonly nowMs: number;
  readonly epoch: number;
  /** Address at which peers reach the shard. */
  readonly address: string;
  readonly providerAddress: string;
  readonly acks: readonly InstructAck[];
}

export function shardReport(facts: ReportFacts, fleet: Fleet, shortfalls: Iterable<Shortfall>): ShardReport {
  return {
    shardId: facts.shard,
    cycle: BigInt(facts.number),
    timestampUnixNanos: BigInt(Math.trunc(facts.nowMs)) * 1_000_000n,
    shardEpoch: BigInt(facts.epoch),
    summary: summaryOf(fleet, facts.providerAddress),
    shortfalls: worstProfiles(shortfalls),
    instructionAcks: facts.acks,
    shardAddress: facts.address,
  };
}

function summaryOf({ machines, classes }: Fleet, providerAddress: string): ShardSummary {
  let freeMachines = 0;
  const perInstanceTypeCounts = new Map<string, number>();
  const perZoneCounts = new Map<string, number>();
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined) continue;
    let count = 0;
    for (const state of Object.values(MachineState)) count += machines.countOf(c, state);
    freeMachines += machines.countOf(c, MachineState.Idle) + machines.countOf(c, MachineState.Speculative);
    tally(perInstanceTypeCounts, attributes.instanceType, count);
    tally(perZoneCounts, attributes.zone, count);
  }
  return {
    totalMachines: machines.count,
    freeMachines,
    perInstanceTypeCounts,
    perZoneCounts,
    providerAddress,
  };
}

function tally(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

/** The wire has one row per profile: the sum of the deficits and the age of the oldest shortfall. */
interface ProfileShortfall {
  readonly of: Shortfall;
  readonly deficit: Map<string, number>;
  ageCycles: number;
}

function worstProfiles(shortfalls: Iterable<Shortfall>): WireShortfall[] {
  const profiles = new Map<string, ProfileShortfall>();
  for (const shortfall of shortfalls) {
    const { fingerprint } = shortfall.key;
    let sum = profiles.get(fingerprint);
    if (sum === undefined) {
      sum = { of: shortfall, deficit: new Map(), ageCycles: 0 };
      profiles.set(fingerprint, sum);
    }
    sum.ageCycles = Math.max(sum.ageCycles, shortfall.ageCycles);
    addTo(sum.deficit, shortfall.deficit);
  }
  const worst = [...profiles.values()].sort(
    (a, b) => b.of.profile.priority - a.of.profile.priority || b.ageCycles - a.ageCycles,
  );
  return worst.slice(0, MAX_REPORTED).map(toWire);
}

/** Saturates at `MAX_UNITS`: a sum over many clusters may leave the exact range, and a report needs no exact excess. */
function addTo(sum: Map<string, number>, more: ResourceVector): void {
  for (const [name, units] of more) sum.set(name, Math.min(MAX_UNITS, (sum.get(name) ?? 0) + units));
}

function toWire({ of: { profile }, deficit, ageCycles }: ProfileShortfall): WireShortfall {
  return {
    requirements: requirementsToWire(profile.requirements),
    deficit: { resources: resourcesToWire(deficit) },
    priority: profile.priority,
    ageCycles,
    interruptionPenaltyBucket: profile.interruptionBucket as PenaltyBucket,
  };
}
