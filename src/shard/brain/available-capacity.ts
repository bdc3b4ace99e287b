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
// Idle one if there is any. Machines are counted by class, and once for all clusters with the same question.

import type { Fleet } from '../../fleet/index.ts';
import { canonicalResources, effectiveCost, MachineState, type ResourceVector } from '../../model/index.ts';
import {
  type AvailableCapacityUpdate,
  AvailableCapacityUpdate_Confidence as Confidence,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { requirementsToWire, resourcesToWire } from '../../wire/index.ts';
import { Holders } from './holders.ts';

/** Between two frames of a cluster about a profile, at least. More often, and operators write objects all day. */
const CAPACITY_INTERVAL_MS = 5000;

/** Frames for one cluster. */
export interface ClusterCapacity {
  readonly cluster: string;
  readonly updates: readonly AvailableCapacityUpdate[];
}

/** What can be had for a profile. */
interface Answer {
  readonly count: number;
  readonly confidence: Confidence;
  readonly costPerHour: number;
  /** Size of the cheapest; of the largest pod if there is none. */
  readonly size: ResourceVector;
}

/** What a cluster was told of a profile, and when. */
interface Told {
  readonly answer: Answer;
  readonly atMs: number;
}

interface Listener {
  /** The cluster's rows when they were last looked at; another object when they have changed. */
  rows: object | null;
  /** By fingerprint. */
  readonly told: Map<string, Told>;
}

export class AvailableCapacity {
  readonly #fleet: Fleet;
  readonly #intervalMs: number;
  readonly #listeners = new Map<string, Listener>();
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet, intervalMs = CAPACITY_INTERVAL_MS) {
    this.#fleet = fleet;
    this.#intervalMs = intervalMs;
  }

  /**
   * What the connected clusters are to be told after a cycle. Profiles that a cluster has not demanded before are
   * answered at once; the others are all looked at together when the interval has passed.
   */
  updates(connected: Iterable<string>, nowMs: number): ClusterCapacity[] {
    // A clock that was set back must not silence us until it has caught up.
    const isDue = nowMs >= this.#dueMs || this.#dueMs - nowMs > this.#intervalMs;
    if (isDue) this.#dueMs = nowMs + this.#intervalMs;
    const survey = new Survey(this.#fleet);
    const all: ClusterCapacity[] = [];
    for (const cluster of connected) {
      const updates = this.#updatesOf(cluster, nowMs, isDue, survey);
      if (updates.length > 0) all.push({ cluster, updates });
    }
    return all;
  }

  /** The cluster's session has ended: whoever connects next knows nothing. */
  forget(cluster: string): void {
    this.#listeners.delete(cluster);
  }

  #updatesOf(cluster: string, nowMs: number, isDue: boolean, survey: Survey): AvailableCapacityUpdate[] {
    const { clusters, demand } = this.#fleet;
    const number = clusters.find(cluster);
    const rows = demand.rowsOf(number);
    const listener = this.#listenerOf(cluster);
    if (!isDue && listener.rows === rows) return [];
    listener.rows = rows;
    const updates: AvailableCapacityUpdate[] = [];
    const demanded = new Set<string>();
    for (const [profile, patterns] of patternsByProfile(this.#fleet, number)) {
      const { fingerprint, requirements } = demand.profiles.entryOf(profile).profile;
      demanded.add(fingerprint);
      const told = listener.told.get(fingerprint);
      if (told !== undefined && (!isDue || this.#isRecent(told, nowMs))) continue;
      const answer = survey.hardest(number, profile, patterns);
      if (told !== undefined && sameAnswer(told.answer, answer)) continue;
      listener.told.set(fingerprint, { answer, atMs: nowMs });
      updates.push(toWire(fingerprint, requirements, answer));
    }
    for (const [fingerprint, told] of listener.told) {
      // Not sooner: a profile that comes and goes is no reason to speak more often.
      if (!demanded.has(fingerprint) && !this.#isRecent(told, nowMs)) listener.told.delete(fingerprint);
    }
    return updates;
  }

  #isRecent({ atMs }: Told, nowMs: number): boolean {
    return nowMs >= atMs && nowMs - atMs < this.#intervalMs;
  }

  #listenerOf(cluster: string): Listener {
    let listener = this.#listeners.get(cluster);
    if (listener === undefined) {
      listener = { rows: null, told: new Map() };
      this.#listeners.set(cluster, listener);
    }
    return listener;
  }
}

/** By profile: the patterns of a cluster's rows. Gangs of one profile may differ in their largest pod. */
function patternsByProfile({ demand }: Fleet, cluster: number): Map<number, Set<number>> {
  const patterns = new Map<number, Set<number>>();
  const { offset, length } = demand.rowsOf(cluster);
  for (let row = offset; row < offset + length; row++) {
    const known = patterns.get(demand.profile[row]!);
    if (known === undefined) patterns.set(demand.profile[row]!, new Set([demand.pattern[row]!]));
    else known.add(demand.pattern[row]!);
  }
  return patterns;
}

/** Answers to one round of questions, over a fleet that does not change meanwhile. */
class Survey {
  readonly #fleet: Fleet;
  readonly #holders: Holders;
  /** By profile and pattern: what is free, for whoever asks; null: nothing. */
  readonly #free = new Map<number, Answer | null>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#holders = new Holders(fleet.machines);
  }

  /** One answer for all rows of a profile: that of the row which is hardest to serve. */
  hardest(cluster: number, profile: number, patterns: Iterable<number>): Answer {
    let hardest: Answer | null = null;
    for (const pattern of patterns) {
      const answer = this.#freeFor(profile, pattern) ?? this.#notFreeFor(cluster, profile, pattern);
      if (hardest === null || isHarder(answer, hardest)) hardest = answer;
    }
    return hardest!;
  }

  #freeFor(profile: number, pattern: number): Answer | null {
    const question = pattern * 2 ** 24 + profile;
    let answer = this.#free.get(question);
    if (answer === undefined) {
      answer = this.#countFree(profile, pattern);
      this.#free.set(question, answer);
    }
    return answer;
  }

  #countFree(profile: number, pattern: number): Answer | null {
    const { machines, patterns } = this.#fleet;
    const idle = new Tally(this.#fleet, profile);
    const speculative = new Tally(this.#fleet, profile);
    for (const c of patterns.patternOf(pattern).fittingClasses()) {
      idle.add(c, machines.idleRuns[c]?.length ?? 0);
      speculative.add(c, machines.speculativeRuns[c]?.length ?? 0);
    }
    if (idle.count > 0) return idle.answer(Confidence.CONFIDENCE_HIGH, idle.count + speculative.count);
    return speculative.count > 0 ? speculative.answer(Confidence.CONFIDENCE_MEDIUM) : null;
  }

  #notFreeFor(cluster: number, profile: number, number: number): Answer {
    const { demand, machines, patterns } = this.#fleet;
    const { priority } = demand.profiles.entryOf(profile).profile;
    const pattern = patterns.patternOf(number);
    const tally = new Tally(this.#fleet, profile);
    for (const c of pattern.fittingClasses()) {
      let count = this.#holders.below(c, priority, cluster);
      for (const state of [MachineState.Idle, MachineState.Speculative]) {
        count += machines.countOf(c, state) - machines.freeCountOf(c, state);
      }
      tally.add(c, count);
    }
    if (tally.count > 0) return tally.answer(Confidence.CONFIDENCE_LOW);
    return { count: 0, confidence: Confidence.CONFIDENCE_NONE, costPerHour: 0, size: pattern.minUnit };
  }
}

/** Counts machines by class and knows the cheapest. */
class Tally {
  readonly #fleet: Fleet;
  readonly #penaltyDollars: number;
  count = 0;
  #cost = Number.POSITIVE_INFINITY;
  #cheapest = -1;

  constructor(fleet: Fleet, profile: number) {
    this.#fleet = fleet;
    this.#penaltyDollars = fleet.demand.profiles.entryOf(profile).interruptionDollars;
  }

  add(c: number, count: number): void {
    if (count === 0) return;
    const { price, probability } = this.#fleet.classes;
    this.count += count;
    const cost = effectiveCost(price[c]!, probability[c]!, this.#penaltyDollars);
    if (this.#cheapest !== -1 && cost >= this.#cost) return;
    this.#cost = cost;
    this.#cheapest = c;
  }

  answer(confidence: Confidence, count = this.count): Answer {
    const { offered, price } = this.#fleet.classes;
    // Pinned work on machines that may be interrupted costs infinitely much, which no quantity can say.
    const costPerHour = Number.isFinite(this.#cost) ? this.#cost : price[this.#cheapest]!;
    return { count, confidence, costPerHour, size: offered[this.#cheapest]! };
  }
}

function isHarder(a: Answer, b: Answer): boolean {
  return a.confidence < b.confidence || (a.confidence === b.confidence && a.count < b.count);
}

function sameAnswer(a: Answer, b: Answer): boolean {
  return (
    a.count === b.count &&
    a.confidence === b.confidence &&
    a.costPerHour === b.costPerHour &&
    (a.size === b.size || canonicalResources(a.size) === canonicalResources(b.size))
  );
}

function toWire(
  fingerprint: string,
  requirements: Parameters<typeof requirementsToWire>[0],
  { count, confidence, costPerHour, size }: Answer,
): AvailableCapacityUpdate {
  return {
    supersedesKey: `available:${fingerprint}`,
    requirements: requirementsToWire(requirements),
    resources: { resources: resourcesToWire(size) },
    availableCount: count,
    confidence,
    costPerHour,
  };
}
