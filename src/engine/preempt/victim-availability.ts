// What rows might lose: Configured machines by class and by the loss they cause. Machines equal in both are equally
// good victims for any row, so only their ids order them. Claimed machines of a class are scanned by id, once for all
// readers, and only as far as one reads. Used by victims.ts and preempt.ts.

import type { SliceView } from '../../fleet/index.ts';
import { dollarsOfBucket } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Cycle } from '../cycle.ts';

/** Above every penalty bucket plus one. */
const BUCKETS = 32;
const BUCKET_PAIRS = BUCKETS * BUCKETS;

/** The cost of losing a machine: to the row that claims it, or by its stamp if no row does. */
export interface Loss {
  readonly priority: number;
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
}

/** Machines of one class with the same loss, in id order. */
export interface VictimGroup {
  /** Machine number `i`, or NONE. */
  at(i: number): number;
  /** Number of machines; scans all. */
  count(): number;
}

/** Unclaimed machines that differ only in their class. */
export class UnclaimedVictims {
  /** By their stamp; the priority is null if that is unknown. */
  readonly loss: Omit<Loss, 'priority'> & { readonly priority: number | null };
  /** Their cluster has reported, and its rows do not claim them. */
  readonly excess: boolean;
  readonly byClass = new Map<number, SortedGroup>();

  constructor(loss: UnclaimedVictims['loss'], excess: boolean) {
    this.loss = loss;
    this.excess = excess;
  }

  add(cycle: Cycle, slot: number): void {
    const { classOf, idOrder } = cycle.fleet.machines;
    const c = classOf[slot]!;
    let group = this.byClass.get(c);
    if (group === undefined) {
      group = new SortedGroup(idOrder);
      this.byClass.set(c, group);
    }
    group.add(slot);
  }
}

/** Sorted at the first read; nothing is added after that. */
class SortedGroup implements VictimGroup {
  readonly #order: (a: number, b: number) => number;
  readonly #slots: number[] = [];
  #sorted = false;

  constructor(order: (a: number, b: number) => number) {
    this.#order = order;
  }

  add(slot: number): void {
    this.#slots.push(slot);
  }

  at(i: number): number {
    if (!this.#sorted) this.#slots.sort(this.#order);
    this.#sorted = true;
    return this.#slots[i] ?? NONE;
  }

  count(): number {
    return this.#slots.length;
  }
}

/** Claimed machines of one class, by the loss to their claimants. */
class ClaimedOfClass {
  readonly #availability: VictimAvailability;
  readonly #slice: SliceView;
  #read = 0;
  readonly #byLoss: number[][];

  constructor(availability: VictimAvailability, slice: SliceView) {
    this.#availability = availability;
    this.#slice = slice;
    this.#byLoss = availability.losses.map(() => []);
  }

  groupOf(loss: number): VictimGroup {
    const slots = this.#byLoss[loss]!;
    return {
      at: (i) => {
        while (slots.length <= i && this.#read < this.#slice.length) this.#readOne();
        return slots[i] ?? NONE;
      },
      count: () => {
        while (this.#read < this.#slice.length) this.#readOne();
        return slots.length;
      },
    };
  }

  #readOne(): void {
    const { cycle } = this.#availability;
    const slot = cycle.fleet.machines.arena.data[this.#slice.offset + this.#read++]!;
    const claimant = cycle.claims.claimedBy[slot]! - 1;
    if (claimant !== NONE) this.#byLoss[this.#availability.lossOf(slot, claimant)]!.push(slot);
  }
}

export class VictimAvailability {
  readonly cycle: Cycle;
  /** Distinct losses of claimants, by number. */
  readonly losses: Loss[] = [];
  readonly #lossOfProfile: number[] = [];
  /** Losses of claimants together with rows that borrow from their machines, by claimant's loss and buckets. */
  readonly #sharedLosses = new Map<number, number>();
  readonly #claimed: (ClaimedOfClass | undefined)[] = [];
  readonly unclaimed: readonly UnclaimedVictims[];

  constructor(cycle: Cycle) {
    this.cycle = cycle;
    this.#numberLosses();
    if (cycle.sharing.isActive) this.#numberSharedLosses();
    this.unclaimed = this.#unclaimed();
  }

  /** Whether unclaimed machines of reported clusters are on hold: victims of any row that they fit, whatever their stamp. */
  get hasHold(): boolean {
    return this.cycle.options.reclaimHoldSeconds > 0;
  }

  /** Number of the loss of a machine to the ranked row that claims it and to those that borrow from it. */
  lossOf(slot: number, claimant: number): number {
    const alone = this.#lossOfProfile[this.cycle.rankedRows.profile[claimant]!]!;
    const buckets = this.#bucketsOf(slot);
    return buckets === 0 ? alone : this.#sharedLosses.get(alone * BUCKET_PAIRS + buckets)!;
  }

  /** Buckets of the rows that borrow from a machine, as one number; 0 for none. */
  #bucketsOf(slot: number): number {
    const { interruptionBucket, isActive, reclamationBucket } = this.cycle.sharing;
    return isActive ? interruptionBucket[slot]! * BUCKETS + reclamationBucket[slot]! : 0;
  }

  /** The two dollar figures are each the largest of claimant and borrowers; the priority is the claimant's. */
  #numberSharedLosses(): void {
    const { claims, fleet, rankedRows } = this.cycle;
    for (let slot = 0; slot < fleet.machines.size; slot++) {
      const claimant = claims.claimedBy[slot]! - 1;
      const buckets = this.#bucketsOf(slot);
      if (claimant === NONE || buckets === 0) continue;
      const alone = this.#lossOfProfile[rankedRows.profile[claimant]!]!;
      const memo = alone * BUCKET_PAIRS + buckets;
      if (this.#sharedLosses.has(memo)) continue;
      const { priority, interruptionDollars, reclamationDollars } = this.losses[alone]!;
      const dollars = (bucket: number): number => (bucket === 0 ? 0 : dollarsOfBucket(bucket - 1));
      this.#sharedLosses.set(memo, this.losses.length);
      this.losses.push({
        priority,
        interruptionDollars: Math.max(interruptionDollars, dollars(Math.floor(buckets / BUCKETS))),
        reclamationDollars: Math.max(reclamationDollars, dollars(buckets % BUCKETS)),
      });
    }
  }

  /** Claimed machines of a class with a numbered loss; null if the class has no Configured machines. */
  claimed(classNumber: number, loss: number): VictimGroup | null {
    const slice = this.cycle.fleet.machines.configuredSlices[classNumber];
    if (slice === undefined || slice.length === 0) return null;
    this.#claimed[classNumber] ??= new ClaimedOfClass(this, slice);
    return this.#claimed[classNumber].groupOf(loss);
  }

  /** Profiles equal in precedence are equal in all fields of a loss. */
  #numberLosses(): void {
    const numbers = new Map<number, number>();
    for (const [profile, entry] of this.cycle.fleet.demand.profiles.entries.entries()) {
      if (entry === undefined) continue;
      let number = numbers.get(entry.precedence);
      if (number === undefined) {
        const { interruptionDollars, reclamationDollars } = entry;
        number = this.losses.length;
        numbers.set(entry.precedence, number);
        this.losses.push({ priority: entry.profile.priority, interruptionDollars, reclamationDollars });
      }
      this.#lossOfProfile[profile] = number;
    }
  }

  #unclaimed(): UnclaimedVictims[] {
    const { cycle } = this;
    const { clusters, machines } = cycle.fleet;
    const { stamps } = machines;
    const found = new Map<number, UnclaimedVictims>();
    for (let cluster = 1; cluster < clusters.size; cluster++) {
      const end = cycle.credits.unclaimedConfiguredEnd[cluster] ?? 0;
      let i = cycle.credits.start[cluster] ?? 0;
      if (i === end) continue;
      const ready = cycle.isReady(cluster);
      for (; i < end; i++) {
        const slot = cycle.credits.unclaimed[i]!;
        const stamp = machines.stamp[slot]!;
        // A blocked machine could not be acquired once it has drained.
        if (!cycle.claims.isFree(slot) || machines.blocked[slot] === 1) continue;
        // One without a known priority is a victim only on hold.
        if (stamps.hasPriority[stamp] === 0 && !(ready && this.hasHold)) continue;
        const memo = stamp * 2 + (ready ? 1 : 0);
        let victims = found.get(memo);
        if (victims === undefined) {
          victims = new UnclaimedVictims(this.#stamped(stamp), ready);
          found.set(memo, victims);
        }
        victims.add(cycle, slot);
      }
    }
    return [...found.values()];
  }

  #stamped(stamp: number): UnclaimedVictims['loss'] {
    const { hasPriority, priority, interruptionDollars, reclamationDollars } =
      this.cycle.fleet.machines.stamps;
    return {
      priority: hasPriority[stamp] === 0 ? null : priority[stamp]!,
      interruptionDollars: interruptionDollars[stamp]!,
      reclamationDollars: reclamationDollars[stamp]!,
    };
  }
}
