// AvailableCapacity: a hint to each connected cluster how many more machines it could have for each profile it demands.
// cycles.ts sends the hints after each cycle; no decision reads them.
//
//   HIGH    some are Idle; the count is of Idle and Speculative machines
//   MEDIUM  none is Idle; the count is of Speculative machines, which have to be bought
//   LOW     none is free; the count is of machines that are blocked (back-off, quarantine) or that serve other clusters
//           at a lower priority, from which only a preemption would acquire them
//   NONE    no machine that fits could become free
//
// A machine counts if it meets the requirements, zone and labels included, and holds the largest pod; a machine in
// transition to a row does not. The cost is the effective cost for the profile of the cheapest machine counted: the
// cheapest Idle one if there is any.
//
// A round surveys all clusters and profiles (capacity-survey.ts). In a fleet of few classes it ends within one cycle. Where
// every machine has its own price, it continues over several cycles: each cycle spends at most `MAX_VISITS` on hints, so
// that they do not delay decisions.

import type { Fleet, Pattern, ProfileEntry } from '../../fleet/index.ts';
import { canonicalResources, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { AvailableCapacityUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { requirementsToWire, resourcesToWire } from '../../wire/index.ts';
import { type CapacityHint, CapacitySurvey, type ProfileDemand } from './capacity-survey.ts';

/** Minimum interval between two frames of one cluster and profile: operators write an object for each frame. */
const CAPACITY_INTERVAL_MS = 5000;
/**
 * Counts of a large fleet change all the time, by a few of many thousands. A change below `NEGLIGIBLE` of the count last
 * sent is sent after `NEGLIGIBLE_INTERVAL_MS` only; otherwise most frames and operator writes would be such changes.
 */
const NEGLIGIBLE = 0.1;
const NEGLIGIBLE_INTERVAL_MS = 10 * 60_000;
/** Approximate bound on classes, machines and rows visited per cycle: 10 ms at worst. Lower makes hints staler. */
const MAX_VISITS = 200_000;
/** Cost of a frame in visits: with `MAX_VISITS`, at most 2,000 frames are sent after a cycle. */
const FRAME_VISITS = 100;

export interface CapacityOptions {
  readonly intervalMs?: number;
  readonly maxVisits?: number;
}

/** Frames for one cluster. */
export interface ClusterCapacity {
  readonly cluster: string;
  readonly updates: readonly AvailableCapacityUpdate[];
}

/** The last hint sent to a cluster for a profile. */
interface Sent {
  readonly hint: CapacityHint;
  readonly atMs: number;
}

interface Listener {
  /** The cluster's rows at the last visit, compared by identity to detect a change. */
  rows: object | null;
  /** The current round has not visited the cluster yet. */
  isDue: boolean;
  /** Stack of profiles to survey: the last one is next. */
  pending: ProfileDemand[];
  /** By fingerprint. */
  readonly sent: Map<string, Sent>;
}

export class AvailableCapacity {
  readonly #fleet: Fleet;
  readonly #intervalMs: number;
  readonly #maxVisits: number;
  readonly #listeners = new Map<string, Listener>();
  /** Survey of the current round; null between rounds. */
  #survey: CapacitySurvey | null = null;
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet, options: CapacityOptions = {}) {
    this.#fleet = fleet;
    this.#intervalMs = options.intervalMs ?? CAPACITY_INTERVAL_MS;
    this.#maxVisits = options.maxVisits ?? MAX_VISITS;
  }

  /**
   * Frames to send to the connected clusters after a cycle. Profiles that are new to a cluster get a hint at once, the
   * others in rounds.
   */
  updates(connected: Iterable<string>, nowMs: number): ClusterCapacity[] {
    const clusters = [...connected];
    this.#begin(clusters, nowMs);
    const survey = this.#survey ?? new CapacitySurvey(this.#fleet);
    survey.refresh();
    survey.visits = 0;
    const all: ClusterCapacity[] = [];
    for (const cluster of clusters) {
      const updates = this.#updatesOf(cluster, nowMs, survey);
      if (updates.length > 0) all.push({ cluster, updates });
      if (survey.visits >= this.#maxVisits) return all;
    }
    this.#survey = null;
    return all;
  }

  /** Drops what was sent to a cluster: the operator of its next session has received nothing yet. */
  forget(cluster: string): void {
    this.#listeners.delete(cluster);
  }

  /** Begins a round if one is due and the previous one has ended. */
  #begin(clusters: readonly string[], nowMs: number): void {
    // A clock that was set back must not delay the next round by the size of the step.
    const isTime = nowMs >= this.#dueMs || this.#dueMs - nowMs > this.#intervalMs;
    if (!isTime || this.#survey !== null) return;
    this.#dueMs = nowMs + this.#intervalMs;
    this.#survey = new CapacitySurvey(this.#fleet);
    for (const cluster of clusters) this.#listenerOf(cluster).isDue = true;
  }

  #updatesOf(cluster: string, nowMs: number, survey: CapacitySurvey): AvailableCapacityUpdate[] {
    const number = this.#fleet.clusters.find(cluster);
    const listener = this.#listenerOf(cluster);
    this.#queueProfiles(listener, number, nowMs, survey);
    const updates: AvailableCapacityUpdate[] = [];
    while (listener.pending.length > 0 && survey.visits < this.#maxVisits) {
      const profileDemand = listener.pending.at(-1)!;
      const { fingerprint } = profileDemand.profile.profile;
      const sent = listener.sent.get(fingerprint);
      const isRecent = sent !== undefined && this.#isRecent(sent, nowMs);
      if (!isRecent && !survey.prepare(profileDemand, this.#maxVisits)) break;
      listener.pending.pop();
      if (isRecent) continue;
      const hint = survey.hint(number, profileDemand);
      if (sent !== undefined && !this.#isWorthSending(hint, sent, nowMs)) continue;
      survey.visits += FRAME_VISITS;
      listener.sent.set(fingerprint, { hint, atMs: nowMs });
      updates.push(toWire(profileDemand.profile, hint));
    }
    return updates;
  }

  /** Queues the profiles of a cluster: all if the round is due for it, else those that are new in its rows. */
  #queueProfiles(listener: Listener, cluster: number, nowMs: number, survey: CapacitySurvey): void {
    const rows = this.#fleet.demand.rowsOf(cluster);
    if (!listener.isDue && listener.rows === rows) return;
    survey.visits += rows.length;
    const demands = profileDemandsOf(this.#fleet, cluster);
    const { sent, pending } = listener;
    const isSent = ({ profile: { profile } }: ProfileDemand): boolean => sent.has(profile.fingerprint);
    // Rebuilt from the current rows: a pending profile stays only if a row still demands it.
    const left = new Set(pending.map(({ profile }) => profile.profile.fingerprint));
    listener.pending = [...demands.values()].filter(
      (profileDemand) =>
        listener.isDue || !isSent(profileDemand) || left.has(profileDemand.profile.profile.fingerprint),
    );
    listener.rows = rows;
    listener.isDue = false;
    for (const [fingerprint, last] of sent) {
      // Kept until the interval has passed, so that a profile that comes and goes causes no extra frames.
      if (!demands.has(fingerprint) && !this.#isRecent(last, nowMs)) sent.delete(fingerprint);
    }
  }

  #isRecent({ atMs }: Sent, nowMs: number): boolean {
    return isWithin(this.#intervalMs, atMs, nowMs);
  }

  #isWorthSending(hint: CapacityHint, sent: Sent, nowMs: number): boolean {
    if (!sameOffer(sent.hint, hint)) return true;
    const difference = Math.abs(sent.hint.count - hint.count);
    if (difference === 0) return false;
    const isSmall = difference < sent.hint.count * NEGLIGIBLE;
    return !isSmall || !isWithin(NEGLIGIBLE_INTERVAL_MS, sent.atMs, nowMs);
  }

  #listenerOf(cluster: string): Listener {
    let listener = this.#listeners.get(cluster);
    if (listener === undefined) {
      listener = { rows: null, isDue: false, pending: [], sent: new Map() };
      this.#listeners.set(cluster, listener);
    }
    return listener;
  }
}

/** By fingerprint: the profiles that the rows of a cluster demand, with their patterns. */
function profileDemandsOf({ demand, patterns }: Fleet, cluster: number): Map<string, ProfileDemand> {
  const asked = new Map<ProfileEntry, Set<Pattern>>();
  const { offset, length } = demand.rowsOf(cluster);
  for (let row = offset; row < offset + length; row++) {
    const profile = demand.profiles.entryOf(demand.profile[row]!);
    const pattern = patterns.patternOf(demand.pattern[row]!);
    const known = asked.get(profile);
    if (known === undefined) asked.set(profile, new Set([pattern]));
    else known.add(pattern);
  }
  return new Map(
    Array.from(asked, ([profile, wanted]) => [profile.profile.fingerprint, { profile, patterns: wanted }]),
  );
}

/** False for an `atMs` in the future, which a clock that was set back leaves behind. */
function isWithin(intervalMs: number, atMs: number, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < intervalMs;
}

/** Whether two hints are equal except for their counts. */
function sameOffer(a: CapacityHint, b: CapacityHint): boolean {
  return (
    a.confidence === b.confidence &&
    a.costPerHour === b.costPerHour &&
    (a.size === b.size || canonicalResources(a.size) === canonicalResources(b.size))
  );
}

/** Frames share few requirements and sizes. Shared objects are cloned once per message between threads. */
const wireRequirements = new WeakMap<readonly Requirement[], AvailableCapacityUpdate['requirements']>();
const wireSizes = new WeakMap<ResourceVector, AvailableCapacityUpdate['resources']>();

function toWire({ profile }: ProfileEntry, hint: CapacityHint): AvailableCapacityUpdate {
  const { count, confidence, costPerHour, size } = hint;
  return {
    supersedesKey: `available:${profile.fingerprint}`,
    requirements: kept(wireRequirements, profile.requirements, requirementsToWire),
    resources: kept(wireSizes, size, (vector) => ({ resources: resourcesToWire(vector) })),
    availableCount: count,
    confidence,
    costPerHour,
  };
}

function kept<K extends object, V>(values: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  let value = values.get(key);
  if (value === undefined) {
    value = make(key);
    values.set(key, value);
  }
  return value;
}
