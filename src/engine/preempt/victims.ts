// Victims: Configured machines that a row may preempt, best first. Unclaimed machines of reported clusters come first, with
// a reclaim hold all that fit and are not protected; then machines that are not protected; then the score decides, then the
// id. Lists are sorted lazily, only as far as they are read. Used by preempt.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { victimScore } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Loss, VictimAvailability, VictimGroup } from './victim-availability.ts';

/** Victims in order, read by index. */
export interface VictimList {
  /** Classes that have victims. */
  readonly classes: readonly number[];
  countOf(classNumber: number): number;
  /** Index of the first victim that is not marked as picked; picks that may be undone must not be marked. */
  first(picked: ReadonlyColumn<Uint8Array>): number;
  /** Whether there is a victim at index `i`, counted from the best. */
  has(i: number): boolean;
  slotAt(i: number): number;
  /** Priority of the row that would lose it. */
  priorityAt(i: number): number;
  /** Unclaimed, in a cluster that has reported. */
  isExcess(i: number): boolean;
}

/** Equally good victims: one loss, one drain time, all protected or none. */
interface Batch {
  readonly loss: Loss;
  readonly excess: boolean;
  readonly isProtected: boolean;
  readonly score: number;
  readonly groups: () => (readonly [classNumber: number, VictimGroup])[];
}

/** A cursor into a group; the head is at index `next − 1`. */
interface Reading {
  readonly batch: Batch;
  readonly group: VictimGroup;
  head: number;
  next: number;
}

export class Victims implements VictimList {
  readonly #availability: VictimAvailability;
  readonly #preemptor: number;
  readonly #slots: number[] = [];
  readonly #from: Batch[] = [];
  #first = 0;
  readonly #bySeconds: ReadonlyMap<number, readonly number[]>;
  /**
   * Best first; those before `#opened` are in the heap or fully read. Victims other than excess ones are added when these are
   * read: finding the losses of claimed machines takes a scan, and mostly excess ones suffice.
   */
  readonly #batches: Batch[];
  #hasInversions = false;
  #opened = 0;
  /** Groups that are equally good, the smallest id on top. */
  readonly #heap: Reading[] = [];
  #counts: Map<number, number> | null = null;

  constructor(availability: VictimAvailability, patternNumber: number, preemptor: number) {
    const { classes, patterns } = availability.cycle.fleet;
    this.#availability = availability;
    this.#preemptor = preemptor;
    const fitting = patterns.patternOf(patternNumber).fittingClasses();
    this.#bySeconds = Map.groupBy(fitting, (c) => classes.drainSeconds[c]!);
    this.#batches = [...this.#unclaimed(true)].sort(bestFirst);
  }

  /** Adds victims that are not excess; returns false if they were added before. */
  #addInversions(): boolean {
    if (this.#hasInversions) return false;
    this.#hasInversions = true;
    this.#batches.push(...[...this.#unclaimed(false), ...this.#claimed()].sort(bestFirst));
    return true;
  }

  get classes(): readonly number[] {
    return [...this.#counted().keys()];
  }

  countOf(classNumber: number): number {
    return this.#counted().get(classNumber) ?? 0;
  }

  first(picked: ReadonlyColumn<Uint8Array>): number {
    while (this.has(this.#first) && picked[this.slotAt(this.#first)] === 1) this.#first++;
    return this.#first;
  }

  has(i: number): boolean {
    while (this.#slots.length <= i && this.#fill()) this.#read();
    return i < this.#slots.length;
  }

  slotAt(i: number): number {
    return this.#slots[i]!;
  }

  priorityAt(i: number): number {
    return this.#from[i]!.loss.priority;
  }

  isExcess(i: number): boolean {
    return this.#from[i]!.excess;
  }

  *#unclaimed(excess: boolean): Generator<Batch> {
    const { hasHold, unclaimedKinds } = this.#availability;
    for (const { number, loss: stamped, excess: isExcess, isProtected } of unclaimedKinds) {
      const loss = { ...stamped, priority: stamped.priority ?? this.#preemptor };
      // Only a preemption may break the budgets of a protected machine.
      const isHeld = excess && hasHold && !isProtected;
      if (isExcess !== excess || (loss.priority >= this.#preemptor && !isHeld)) continue;
      yield* this.#batchesOf({ loss, excess, isProtected }, (c) => this.#availability.unclaimed(c, number));
    }
  }

  *#claimed(): Generator<Batch> {
    for (const [number, loss] of this.#availability.losses.entries()) {
      if (loss.priority >= this.#preemptor) continue;
      for (const isProtected of this.#availability.protections) {
        const kind = { loss, excess: false, isProtected };
        yield* this.#batchesOf(kind, (c) => this.#availability.claimed(c, number, isProtected));
      }
    }
  }

  *#batchesOf(
    kind: Pick<Batch, 'loss' | 'excess' | 'isProtected'>,
    groupOf: (classNumber: number) => VictimGroup | null,
  ): Generator<Batch> {
    for (const [seconds, classes] of this.#bySeconds) {
      const groups = () =>
        classes.flatMap((c) => {
          const group = groupOf(c);
          return group === null ? [] : [[c, group] as const];
        });
      yield { ...kind, score: this.#scoreOf(kind.loss, seconds), groups };
    }
  }

  #scoreOf(loss: Loss, drainSeconds: number): number {
    return victimScore(this.#preemptor, { ...loss, drainSeconds }, this.#availability.cycle.options.weights);
  }

  #counted(): Map<number, number> {
    if (this.#counts !== null) return this.#counts;
    this.#counts = new Map();
    this.#addInversions();
    for (const { groups } of this.#batches) {
      for (const [c, group] of groups()) {
        const count = group.count();
        if (count > 0) this.#counts.set(c, (this.#counts.get(c) ?? 0) + count);
      }
    }
    return this.#counts;
  }

  /** Refills the heap with the next best batches; false if there is no victim left. */
  #fill(): boolean {
    const batches = this.#batches;
    while (this.#heap.length === 0) {
      const best = batches[this.#opened];
      if (best === undefined) {
        if (this.#addInversions()) continue;
        return false;
      }
      for (; this.#opened < batches.length; this.#opened++) {
        if (!areEquallyGood(batches[this.#opened]!, best)) break;
        this.#open(batches[this.#opened]!);
      }
      for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i);
    }
    return true;
  }

  #open(batch: Batch): void {
    for (const [, group] of batch.groups()) {
      const reading = { batch, group, head: NONE, next: 0 };
      if (this.#advance(reading)) this.#heap.push(reading);
    }
  }

  /** Moves the top of the heap to the end of the list. */
  #read(): void {
    const heap = this.#heap;
    const top = heap[0]!;
    this.#slots.push(top.head);
    this.#from.push(top.batch);
    if (!this.#advance(top)) {
      const last = heap.pop()!;
      if (heap.length === 0) return;
      heap[0] = last;
    }
    this.#sink(0);
  }

  #advance(reading: Reading): boolean {
    do reading.head = reading.group.at(reading.next++);
    while (reading.head !== NONE && !this.#mayLose(reading.head));
    return reading.head !== NONE;
  }

  /** The claims of a cluster that has not reported are not current, so the stamp must also allow the preemption. */
  #mayLose(slot: number): boolean {
    const { cycle } = this.#availability;
    const { cluster, stamp, stamps } = cycle.fleet.machines;
    if (cycle.isReady(cluster[slot]!)) return true;
    return stamps.hasPriority[stamp[slot]!] === 1 && stamps.priority[stamp[slot]!]! < this.#preemptor;
  }

  #sink(at: number): void {
    const heap = this.#heap;
    const { ordinal } = this.#availability.cycle.fleet.machines;
    const reading = heap[at]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && ordinal[heap[child + 1]!.head]! < ordinal[heap[child]!.head]!) child++;
      if (ordinal[heap[child]!.head]! > ordinal[reading.head]!) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = reading;
  }
}

/** The order of batches that are all excess, or none. */
function bestFirst(a: Batch, b: Batch): number {
  return Number(a.isProtected) - Number(b.isProtected) || b.score - a.score;
}

function areEquallyGood(a: Batch, b: Batch): boolean {
  return a.score === b.score && a.excess === b.excess && a.isProtected === b.isProtected;
}

export const NO_VICTIMS: VictimList = {
  classes: [],
  countOf: () => 0,
  first: () => 0,
  has: () => false,
  slotAt: () => 0,
  priorityAt: () => 0,
  isExcess: () => false,
};
