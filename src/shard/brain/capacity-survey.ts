// What could be had for a profile, found by class and never by machine. Answers are kept for as long as the survey lasts,
// because many clusters ask the same; what is known of numbers, which mean something else once the fleet has changed, is
// forgotten in between (`refresh`).

import type { Fleet, Pattern, ProfileEntry } from '../../fleet/index.ts';
import { effectiveCost, MachineState, type ResourceVector } from '../../model/index.ts';
import { AvailableCapacityUpdate_Confidence as Confidence } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { Holders } from './holders.ts';

export interface Answer {
  readonly count: number;
  readonly confidence: Confidence;
  readonly costPerHour: number;
  /** Size of the cheapest; of the largest pod if there is none. */
  readonly size: ResourceVector;
}

/** A profile that a cluster demands. Its rows may differ in their largest pod, so there may be several patterns. */
export interface Question {
  readonly profile: ProfileEntry;
  readonly patterns: ReadonlySet<Pattern>;
}

export class CapacitySurvey {
  readonly #fleet: Fleet;
  #holders: Holders;
  /** What is free, for whoever asks; null: nothing. */
  readonly #free = new Map<Pattern, Map<ProfileEntry, Answer | null>>();
  /** Classes and machines looked at so far: what it has cost. */
  visits = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#holders = new Holders(fleet.machines);
  }

  /** To be called when the fleet may have changed. Counts may be behind; that is what hints are. */
  refresh(): void {
    this.#holders = new Holders(this.#fleet.machines);
  }

  /**
   * Looks which classes fit, until so many visits are made in all; says false if that was not enough for an answer. Where
   * no two machines are alike, the first look of a pattern at all of them takes longer than a decision.
   */
  prepare({ patterns }: Question, maxVisits: number): boolean {
    for (const pattern of patterns) {
      if (!pattern.isExamined) this.visits += pattern.examine(Math.max(0, maxVisits - this.visits));
      if (!pattern.isExamined) return false;
    }
    return true;
  }

  /** One answer for all rows of a profile: that of the row which is hardest to serve. */
  answer(cluster: number, { profile, patterns }: Question): Answer {
    let hardest: Answer | null = null;
    for (const pattern of patterns) {
      const answer = this.#freeFor(profile, pattern) ?? this.#notFreeFor(cluster, profile, pattern);
      if (hardest === null || isHarder(answer, hardest)) hardest = answer;
    }
    return hardest!;
  }

  #freeFor(profile: ProfileEntry, pattern: Pattern): Answer | null {
    let answers = this.#free.get(pattern);
    if (answers === undefined) {
      answers = new Map();
      this.#free.set(pattern, answers);
    }
    let answer = answers.get(profile);
    if (answer === undefined) {
      answer = this.#countFree(profile, pattern);
      answers.set(profile, answer);
    }
    return answer;
  }

  #countFree(profile: ProfileEntry, pattern: Pattern): Answer | null {
    const { machines } = this.#fleet;
    const idle = new Tally(this.#fleet, profile);
    const speculative = new Tally(this.#fleet, profile);
    for (const c of this.#fitting(pattern)) {
      idle.add(c, machines.idleRuns[c]?.length ?? 0);
      speculative.add(c, machines.speculativeRuns[c]?.length ?? 0);
    }
    if (idle.count > 0) return idle.answer(Confidence.CONFIDENCE_HIGH, idle.count + speculative.count);
    return speculative.count > 0 ? speculative.answer(Confidence.CONFIDENCE_MEDIUM) : null;
  }

  #notFreeFor(cluster: number, profile: ProfileEntry, pattern: Pattern): Answer {
    const { machines } = this.#fleet;
    const { priority } = profile.profile;
    const tally = new Tally(this.#fleet, profile);
    const before = this.#holders.visits;
    for (const c of this.#fitting(pattern)) {
      let count = this.#holders.below(c, priority, cluster);
      for (const state of [MachineState.Idle, MachineState.Speculative]) {
        count += machines.countOf(c, state) - machines.freeCountOf(c, state);
      }
      tally.add(c, count);
    }
    this.visits += this.#holders.visits - before;
    if (tally.count > 0) return tally.answer(Confidence.CONFIDENCE_LOW);
    return { count: 0, confidence: Confidence.CONFIDENCE_NONE, costPerHour: 0, size: pattern.minUnit };
  }

  #fitting(pattern: Pattern): Uint32Array {
    const fitting = pattern.fittingClasses();
    this.visits += fitting.length;
    return fitting;
  }
}

/** Counts machines by class and knows the cheapest. */
class Tally {
  readonly #fleet: Fleet;
  readonly #penaltyDollars: number;
  count = 0;
  #cost = Number.POSITIVE_INFINITY;
  #cheapest = -1;

  constructor(fleet: Fleet, profile: ProfileEntry) {
    this.#fleet = fleet;
    this.#penaltyDollars = profile.interruptionDollars;
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
