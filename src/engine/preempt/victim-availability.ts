// What rows might lose: Configured machines by class, by the loss they cause and by whether they are protected. Machines
// equal in all three are equally good victims for any row, so only their ids order them. Machines of a class are scanned by id, once for all readers,
// and only as far as one reads; unclaimed ones are listed at once where they are few. Used by victims.ts and preempt.ts.

import type { SliceView, StampedLoss } from '../../fleet/index.ts';
import { dollarsOfBucket } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import { bucketsIn } from '../assign/sharing.ts';
import type { Cycle } from '../cycle.ts';

/**
 * Unclaimed machines are listed if they are at most this part of all machines: listing one costs several times as much as
 * reading one in a scan, but a scan for machines that hardly exist reads all of a class.
 */
const FEW = 1 / 64;

/** The cost of losing a machine: to the row that claims it, or by its stamp if no row does. */
export interface Loss {
  readonly priority: number;
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
}

/** Machines of one class with the same loss, protected or not, in id order. */
export interface VictimGroup {
  /** Machine number `i`, or NONE. */
  at(i: number): number;
  /** Number of machines; scans all. */
  count(): number;
}

/** Unclaimed machines that differ only in their class. */
export interface UnclaimedKind {
  readonly number: number;
  /** By their stamp. */
  readonly loss: StampedLoss;
  /** Their cluster has reported, and its rows do not claim them. */
  readonly excess: boolean;
  readonly isProtected: boolean;
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

/** Machines of one class, in groups by a number that the reader defines. */
class ScannedClass {
  readonly #slots: ArrayLike<number>;
  readonly #end: number;
  #next: number;
  /** Number of the group of a machine; NONE if it is in none. */
  readonly #numberOf: (slot: number) => number;
  readonly #groups: (number[] | undefined)[] = [];

  constructor(slots: ArrayLike<number>, { offset, length }: SliceView, numberOf: (slot: number) => number) {
    this.#slots = slots;
    this.#next = offset;
    this.#end = offset + length;
    this.#numberOf = numberOf;
  }

  groupOf(number: number): VictimGroup {
    this.#groups[number] ??= [];
    const slots = this.#groups[number];
    return {
      at: (i) => {
        while (slots.length <= i && this.#next < this.#end) this.#readOne();
        return slots[i] ?? NONE;
      },
      count: () => {
        while (this.#next < this.#end) this.#readOne();
        return slots.length;
      },
    };
  }

  #readOne(): void {
    const slot = this.#slots[this.#next++]!;
    const number = this.#numberOf(slot);
    if (number === NONE) return;
    this.#groups[number] ??= [];
    this.#groups[number].push(slot);
  }
}

export class VictimAvailability {
  readonly cycle: Cycle;
  /** Distinct losses of claimants, by number. */
  readonly #losses: Loss[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #lossOfProfile: number[] = [];
  /** By claimant's loss and buckets of the rows that borrow: the loss of all of them. Null until a reader asks. */
  #sharedLosses: Map<number, number> | null = null;
  readonly #claimed: (ScannedClass | undefined)[] = [];
  /** By cluster: 1 if it has reported. */
  readonly #isReady: Uint8Array;
  readonly #allReady: boolean;
  /** By class, then by kind; null if unclaimed machines are many. */
  readonly #listed: ReadonlyMap<number, ReadonlyMap<number, SortedGroup>> | null;
  readonly #unclaimed: (ScannedClass | undefined)[] = [];
  readonly unclaimedKinds: readonly UnclaimedKind[];
  /** Whether machines are protected: each value that occurs. Most fleets have no protected machine. */
  readonly protections: readonly boolean[];

  /** `few`: the largest number of unclaimed machines that are listed; the victims are the same for any. */
  constructor(cycle: Cycle, few = FEW * cycle.fleet.machines.size) {
    const { clusters, demand } = cycle.fleet;
    this.cycle = cycle;
    for (const [profile, entry] of demand.profiles.entries.entries()) {
      if (entry === undefined) continue;
      const { interruptionDollars, reclamationDollars } = entry;
      const loss = { priority: entry.profile.priority, interruptionDollars, reclamationDollars };
      this.#lossOfProfile[profile] = this.#numberOf(loss);
    }
    this.#isReady = Uint8Array.from({ length: clusters.size }, (_, cluster) =>
      cycle.isReady(cluster) ? 1 : 0,
    );
    this.protections = cycle.fleet.machines.protectedCount === 0 ? [false] : [false, true];
    this.#allReady = cycle.options.readyClusters === null || !this.#isReady.includes(0, 1);
    this.#listed = this.#countUnclaimed() <= few ? this.#listUnclaimed() : null;
    this.unclaimedKinds = this.#kinds();
  }

  /** Whether unclaimed machines of reported clusters are on hold: victims of any row that they fit, whatever their stamp. */
  get hasHold(): boolean {
    return this.cycle.options.reclaimHoldSeconds > 0;
  }

  /** Distinct losses of claimants together with rows that borrow from their machines, by number. */
  get losses(): readonly Loss[] {
    this.#sharedLosses ??= this.#numberSharedLosses();
    return this.#losses;
  }

  #numberOf(loss: Loss): number {
    const text = `${loss.priority}/${loss.interruptionDollars}/${loss.reclamationDollars}`;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#losses.length);
    return this.#losses.push(loss) - 1;
  }

  /** The two dollar figures are each the largest of claimant and borrowers; the priority is the claimant's. */
  #numberSharedLosses(): Map<number, number> {
    const { claims, fleet, sharing } = this.cycle;
    const numbers = new Map<number, number>();
    for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
      const slice = sharing.lendsIn(cluster) ? fleet.machines.boundOf(cluster)?.configured : undefined;
      if (slice === undefined) continue;
      for (let i = slice.offset; i < slice.offset + slice.length; i++) {
        const slot = fleet.machines.arena.data[i]!;
        const buckets = sharing.bucketsOf(slot);
        const claimant = claims.claimedBy[slot]! - 1;
        if (buckets === 0 || claimant === NONE) continue;
        const memo = this.#memoOf(claimant, buckets);
        if (!numbers.has(memo)) numbers.set(memo, this.#numberOf(this.#shared(claimant, buckets)));
      }
    }
    return numbers;
  }

  #aloneOf(claimant: number): number {
    return this.#lossOfProfile[this.cycle.rankedRows.profile[claimant]!]!;
  }

  #memoOf(claimant: number, buckets: number): number {
    return buckets * this.#lossOfProfile.length + this.#aloneOf(claimant);
  }

  #shared(claimant: number, buckets: number): Loss {
    const { priority, interruptionDollars, reclamationDollars } = this.#losses[this.#aloneOf(claimant)]!;
    const { interruption, reclamation } = bucketsIn(buckets);
    return {
      priority,
      interruptionDollars: Math.max(interruptionDollars, dollarsOfBucket(interruption)),
      reclamationDollars: Math.max(reclamationDollars, dollarsOfBucket(reclamation)),
    };
  }

  /** Claimed machines of a class with a loss of `losses`; null if the class has no Configured machines. */
  claimed(classNumber: number, loss: number, isProtected: boolean): VictimGroup | null {
    this.#claimed[classNumber] ??= this.#scan(classNumber, (slot) => this.#claimedNumberOf(slot));
    return this.#claimed[classNumber]?.groupOf(withBit(loss, isProtected)) ?? null;
  }

  #claimedNumberOf(slot: number): number {
    const claimant = this.cycle.claims.claimedBy[slot]! - 1;
    if (claimant === NONE) return NONE;
    return withBit(this.#lossOf(slot, claimant), this.cycle.fleet.machines.isProtected(slot));
  }

  #lossOf(slot: number, claimant: number): number {
    const buckets = this.cycle.sharing.bucketsOf(slot);
    if (buckets === 0) return this.#aloneOf(claimant);
    return this.#sharedLosses!.get(this.#memoOf(claimant, buckets))!;
  }

  /** Unclaimed machines of a class and kind; null if it has none, as far as that is known without a scan. */
  unclaimed(classNumber: number, kind: number): VictimGroup | null {
    if (this.#listed !== null) return this.#listed.get(classNumber)?.get(kind) ?? null;
    this.#unclaimed[classNumber] ??= this.#scan(classNumber, (slot) => this.#kindOf(slot));
    return this.#unclaimed[classNumber]?.groupOf(kind) ?? null;
  }

  #scan(classNumber: number, numberOf: (slot: number) => number): ScannedClass | undefined {
    const { arena, configuredSlices } = this.cycle.fleet.machines;
    const slice = configuredSlices[classNumber];
    return slice === undefined ? undefined : new ScannedClass(arena.data, slice, numberOf);
  }

  /** Number of the kind of an unclaimed machine; NONE if it is claimed. */
  #kindOf(slot: number): number {
    if (!this.cycle.claims.isFree(slot)) return NONE;
    const { cluster, stamp, stamps } = this.cycle.fleet.machines;
    const isReady = this.#allReady || this.#isReady[cluster[slot]!] === 1;
    const number = withBit(stamps.loss[stamp[slot]!]!, isReady);
    return withBit(number, this.cycle.fleet.machines.isProtected(slot));
  }

  /** Kinds of unclaimed machines; if these were not listed, all that stamps and clusters allow. */
  #kinds(): UnclaimedKind[] {
    const { losses } = this.cycle.fleet.machines.stamps;
    const listed = this.#listed && new Set([...this.#listed.values()].flatMap((kinds) => [...kinds.keys()]));
    const kinds: UnclaimedKind[] = [];
    for (const [i, loss] of losses.entries()) {
      if (loss === undefined) continue;
      for (const excess of [false, true]) {
        for (const isProtected of this.protections) {
          const number = withBit(withBit(i, excess), isProtected);
          const exists = listed === null ? excess || !this.#allReady : listed.has(number);
          if (exists) kinds.push({ number, loss, excess, isProtected });
        }
      }
    }
    return kinds;
  }

  /** Bound machines that no row was credited with; the pass may have claimed some. */
  #countUnclaimed(): number {
    const { start, unclaimedConfiguredEnd } = this.cycle.credits;
    let count = 0;
    for (let cluster = 1; cluster < this.cycle.fleet.clusters.size; cluster++)
      count += (unclaimedConfiguredEnd[cluster] ?? 0) - (start[cluster] ?? 0);
    return count;
  }

  #listUnclaimed(): Map<number, Map<number, SortedGroup>> {
    const { credits, fleet } = this.cycle;
    const { blocked, classOf, idOrder } = fleet.machines;
    const found = new Map<number, Map<number, SortedGroup>>();
    for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
      const end = credits.unclaimedConfiguredEnd[cluster] ?? 0;
      for (let i = credits.start[cluster] ?? 0; i < end; i++) {
        const slot = credits.unclaimed[i]!;
        const kind = this.#kindOf(slot);
        // A blocked machine could not be acquired once it has drained.
        if (kind === NONE || blocked[slot] === 1) continue;
        const ofClass = entryOf(found, classOf[slot]!, () => new Map<number, SortedGroup>());
        entryOf(ofClass, kind, () => new SortedGroup(idOrder)).add(slot);
      }
    }
    return found;
  }
}

/** A number with one more bit: numbers of groups stay small, since they are indexes of arrays. */
function withBit(number: number, bit: boolean): number {
  return 2 * number + (bit ? 1 : 0);
}

/** The entry of a key, which is made if there is none. */
function entryOf<T>(map: Map<number, T>, key: number, make: () => T): T {
  let entry = map.get(key);
  if (entry === undefined) {
    entry = make();
    map.set(key, entry);
  }
  return entry;
}
