// AvailableCapacity: a hint to each connected cluster how many more machines it could have for each profile it demands.
//
//   HIGH    some stand Idle; the count has Idle and Speculative machines
//   MEDIUM  all of them have to be bought first
//   LOW     none is free. Some that fit are kept back for now (back-off, quarantine), or serve other clusters at a lower
//           priority, where only a preemption would get them; those are counted
//   NONE    no machine that fits could come free
//
// A machine counts if it meets the requirements, zone and labels included, and holds the largest pod; one that is on its
// way to a row does not. The cost is the effective cost for the profile, of the cheapest machine counted: the cheapest
// Idle one if there is any.
//
// A round asks for all clusters and profiles (capacity-survey.ts). In a fleet of few classes it is done within a cycle;
// where every machine has a price of its own, it goes on for as many cycles as it takes, because a hint must not cost a
// decision its time.

import type { Fleet, Pattern, ProfileEntry } from '../../fleet/index.ts';
import { canonicalResources, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { AvailableCapacityUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { requirementsToWire, resourcesToWire } from '../../wire/index.ts';
import { type Answer, CapacitySurvey, type Question } from './capacity-survey.ts';

/** Between two frames of a cluster about a profile, at least. More often, and operators write objects all day. */
const CAPACITY_INTERVAL_MS = 5000;
/**
 * Counts of a large fleet change all the time, by a few of many thousands. That is no news to anybody: so small a part of
 * what was told waits for so long. Otherwise most of what leaves a shard, and what operators write, would be such counts.
 */
const NEGLIGIBLE = 0.1;
const NEGLIGIBLE_INTERVAL_MS = 10 * 60_000;
/** Classes, machines and rows looked at in a cycle, about: some 10 ms at worst. With less, large fleets get old hints. */
const MAX_VISITS = 200_000;
/** What making a frame costs, in visits: no more than 2,000 frames leave after a cycle. */
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

/** What a cluster was told of a profile, and when. */
interface Told {
  readonly answer: Answer;
  readonly atMs: number;
}

interface Listener {
  /** The cluster's rows when they were last looked at; another object when they have changed. */
  rows: object | null;
  /** The round has not come to it yet. */
  isDue: boolean;
  /** What to look at next, the last first. */
  pending: Question[];
  /** By fingerprint. */
  readonly told: Map<string, Told>;
}

export class AvailableCapacity {
  readonly #fleet: Fleet;
  readonly #intervalMs: number;
  readonly #maxVisits: number;
  readonly #listeners = new Map<string, Listener>();
  /** Of the round that is under way, if any. */
  #survey: CapacitySurvey | null = null;
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet, options: CapacityOptions = {}) {
    this.#fleet = fleet;
    this.#intervalMs = options.intervalMs ?? CAPACITY_INTERVAL_MS;
    this.#maxVisits = options.maxVisits ?? MAX_VISITS;
  }

  /**
   * What the connected clusters are to be told after a cycle. Profiles that a cluster has not demanded before are
   * answered at once; the others in rounds.
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

  /** The cluster's session has ended: whoever connects next knows nothing. */
  forget(cluster: string): void {
    this.#listeners.delete(cluster);
  }

  /** Begins a round if it is time for one and the last one has ended. */
  #begin(clusters: readonly string[], nowMs: number): void {
    // A clock that was set back must not silence us until it has caught up.
    const isTime = nowMs >= this.#dueMs || this.#dueMs - nowMs > this.#intervalMs;
    if (!isTime || this.#survey !== null) return;
    this.#dueMs = nowMs + this.#intervalMs;
    this.#survey = new CapacitySurvey(this.#fleet);
    for (const cluster of clusters) this.#listenerOf(cluster).isDue = true;
  }

  #updatesOf(cluster: string, nowMs: number, survey: CapacitySurvey): AvailableCapacityUpdate[] {
    const number = this.#fleet.clusters.find(cluster);
    const listener = this.#listenerOf(cluster);
    this.#ask(listener, number, nowMs, survey);
    const updates: AvailableCapacityUpdate[] = [];
    while (listener.pending.length > 0 && survey.visits < this.#maxVisits) {
      const question = listener.pending.at(-1)!;
      const { fingerprint } = question.profile.profile;
      const told = listener.told.get(fingerprint);
      const isRecent = told !== undefined && this.#isRecent(told, nowMs);
      if (!isRecent && !survey.prepare(question, this.#maxVisits)) break;
      listener.pending.pop();
      if (isRecent) continue;
      const answer = survey.answer(number, question);
      if (told !== undefined && !this.#isNews(answer, told, nowMs)) continue;
      survey.visits += FRAME_VISITS;
      listener.told.set(fingerprint, { answer, atMs: nowMs });
      updates.push(toWire(question.profile, answer));
    }
    return updates;
  }

  /** Finds what there is to ask for a cluster: everything if it is due, else what is new in its rows. */
  #ask(listener: Listener, cluster: number, nowMs: number, survey: CapacitySurvey): void {
    const rows = this.#fleet.demand.rowsOf(cluster);
    if (!listener.isDue && listener.rows === rows) return;
    survey.visits += rows.length;
    const questions = questionsOf(this.#fleet, cluster);
    const { told, pending } = listener;
    const isAsked = ({ profile: { profile } }: Question): boolean => told.has(profile.fingerprint);
    // What was pending before the rows changed may be gone; what is left of it is found again.
    const left = new Set(pending.map(({ profile }) => profile.profile.fingerprint));
    listener.pending = [...questions.values()].filter(
      (question) => listener.isDue || !isAsked(question) || left.has(question.profile.profile.fingerprint),
    );
    listener.rows = rows;
    listener.isDue = false;
    for (const [fingerprint, last] of told) {
      // Not sooner: a profile that comes and goes is no reason to speak more often.
      if (!questions.has(fingerprint) && !this.#isRecent(last, nowMs)) told.delete(fingerprint);
    }
  }

  #isRecent({ atMs }: Told, nowMs: number): boolean {
    return isWithin(this.#intervalMs, atMs, nowMs);
  }

  #isNews(answer: Answer, told: Told, nowMs: number): boolean {
    if (!sameOffer(told.answer, answer)) return true;
    const difference = Math.abs(told.answer.count - answer.count);
    if (difference === 0) return false;
    const isSmall = difference < told.answer.count * NEGLIGIBLE;
    return !isSmall || !isWithin(NEGLIGIBLE_INTERVAL_MS, told.atMs, nowMs);
  }

  #listenerOf(cluster: string): Listener {
    let listener = this.#listeners.get(cluster);
    if (listener === undefined) {
      listener = { rows: null, isDue: false, pending: [], told: new Map() };
      this.#listeners.set(cluster, listener);
    }
    return listener;
  }
}

/** By fingerprint: what the rows of a cluster ask for. */
function questionsOf({ demand, patterns }: Fleet, cluster: number): Map<string, Question> {
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

/** A clock that was set back makes nothing recent. */
function isWithin(intervalMs: number, atMs: number, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < intervalMs;
}

/** Whether two answers differ in their counts at most. */
function sameOffer(a: Answer, b: Answer): boolean {
  return (
    a.confidence === b.confidence &&
    a.costPerHour === b.costPerHour &&
    (a.size === b.size || canonicalResources(a.size) === canonicalResources(b.size))
  );
}

/** Frames say the same few requirements and sizes over and over; what is said twice in a message crosses threads once. */
const wireRequirements = new WeakMap<readonly Requirement[], AvailableCapacityUpdate['requirements']>();
const wireSizes = new WeakMap<ResourceVector, AvailableCapacityUpdate['resources']>();

function toWire({ profile }: ProfileEntry, answer: Answer): AvailableCapacityUpdate {
  const { count, confidence, costPerHour, size } = answer;
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
