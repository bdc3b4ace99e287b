// Counts the machines that a cluster could still have for a profile, for the AvailableCapacity hints of
// available-capacity.ts. Counted by class, not by machine. One survey is one round over all clusters; hints are cached for
// it, because many clusters demand the same profile. `refresh` drops what is cached by class and cluster number, which the
// next commit may reassign.

import type { Fleet, Pattern, ProfileEntry } from '../../fleet/index.ts';
import { effectiveCost, MachineState, type ResourceVector } from '../../model/index.ts';
import { AvailableCapacityUpdate_Confidence as Confidence } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { Holders } from './holders.ts';

export interface CapacityHint {
  readonly count: number;
  readonly confidence: Confidence;
  readonly costPerHour: number;
  /** Size of the cheapest machine; of the largest pod if no machine counts. */
  readonly size: ResourceVector;
}

/** A profile that a cluster demands. Its rows may differ in their largest pod, so there may be several patterns. */
export interface ProfileDemand {
  readonly profile: ProfileEntry;
  readonly patterns: ReadonlySet<Pattern>;
}

export class CapacitySurvey {
  readonly #fleet: Fleet;
  #holders: Holders;
  /** Hints for free machines, which do not depend on the cluster; null: none is free. */
  readonly #free = new Map<Pattern, Map<ProfileEntry, CapacityHint | null>>();
  /** Classes and machines visited so far: the cost of the survey. */
  visits = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#holders = new Holders(fleet.machines);
  }

  /** To be called when the fleet may have changed. Cached hints may be stale, which is acceptable for hints. */
  refresh(): void {
    this.#holders = new Holders(this.#fleet.machines);
  }

  /**
   * Examines which classes fit, up to `maxVisits` visits in all; false: the bound was reached first, call again later.
   * Where no two machines are alike, the first examination of a pattern takes longer than a decision.
   */
  prepare({ patterns }: ProfileDemand, maxVisits: number): boolean {
    for (const pattern of patterns) {
      if (!pattern.isExamined) this.visits += pattern.examine(Math.max(0, maxVisits - this.visits));
      if (!pattern.isExamined) return false;
    }
    return true;
  }

  /** One hint for all rows of a profile: that of the pattern with the lowest confidence, then the lowest count. */
  hint(cluster: number, { profile, patterns }: ProfileDemand): CapacityHint {
    let worst: CapacityHint | null = null;
    for (const pattern of patterns) {
      const hint = this.#freeFor(profile, pattern) ?? this.#notFreeFor(cluster, profile, pattern);
      if (worst === null || isWorse(hint, worst)) worst = hint;
    }
    return worst!;
  }

  #freeFor(profile: ProfileEntry, pattern: Pattern): CapacityHint | null {
    let hints = this.#free.get(pattern);
    if (hints === undefined) {
      hints = new Map();
      this.#free.set(pattern, hints);
    }
    let hint = hints.get(profile);
    if (hint === undefined) {
      hint = this.#countFree(profile, pattern);
      hints.set(profile, hint);
    }
    return hint;
  }

  #countFree(profile: ProfileEntry, pattern: Pattern): CapacityHint | null {
    const { machines } = this.#fleet;
    const idle = new Tally(this.#fleet, profile);
    const speculative = new Tally(this.#fleet, profile);
    for (const c of this.#fitting(pattern)) {
      idle.add(c, machines.idleSlices[c]?.length ?? 0);
      speculative.add(c, machines.speculativeSlices[c]?.length ?? 0);
    }
    if (idle.count > 0) return idle.hint(Confidence.CONFIDENCE_HIGH, idle.count + speculative.count);
    return speculative.count > 0 ? speculative.hint(Confidence.CONFIDENCE_MEDIUM) : null;
  }

  #notFreeFor(cluster: number, profile: ProfileEntry, pattern: Pattern): CapacityHint {
    const { machines } = this.#fleet;
    const { priority } = profile.profile;
    const tally = new Tally(this.#fleet, profile);
    const before = this.#holders.visits;
    for (const c of this.#fitting(pattern)) {
      let count = this.#holders.below(c, priority, cluster);
      for (const state of [MachineState.Idle, MachineState.Speculative]) {
        count += machines.countOf(c, state) - machines.unblockedCountOf(c, state);
      }
      tally.add(c, count);
    }
    this.visits += this.#holders.visits - before;
    if (tally.count > 0) return tally.hint(Confidence.CONFIDENCE_LOW);
    return { count: 0, confidence: Confidence.CONFIDENCE_NONE, costPerHour: 0, size: pattern.minUnit };
  }

  #fitting(pattern: Pattern): Uint32Array {
    const fitting = pattern.fittingClasses();
    this.visits += fitting.length;
    return fitting;
  }
}

/** Counts machines and tracks the cheapest class. */
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

  hint(confidence: Confidence, count = this.count): CapacityHint {
    const { offered, price } = this.#fleet.classes;
    // The effective cost of work in the highest interruption bucket (27, pinned) on interruptible machines is infinite,
    // which the wire cannot carry.
    const costPerHour = Number.isFinite(this.#cost) ? this.#cost : price[this.#cheapest]!;
    return { count, confidence, costPerHour, size: offered[this.#cheapest]! };
  }
}

function isWorse(a: CapacityHint, b: CapacityHint): boolean {
  return a.confidence < b.confidence || (a.confidence === b.confidence && a.count < b.count);
}
