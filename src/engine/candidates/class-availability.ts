// Free machines of one state, Idle or Speculative: by class, a slice of machines in id order and how many of them have
// been taken. Machines of a class are taken in that order, so the tail of the slice is what remains of the class.
// `FreeMachines` has one for each of the two states.

import { ChangeLog } from '../../collections/changelog.ts';
import { withRoom } from '../../collections/columns.ts';
import { ColumnGroup, type ReadonlyColumn } from '../../collections/table.ts';
import type { FleetView, SliceView } from '../../fleet/index.ts';
import { type Attributes, MachineState } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import { Heap, Heaps, NOTHING_LEFT } from './class-heap.ts';

/** Machines of a class that are prefetched at once: a batch takes little longer than a single machine. */
const AHEAD = 16;
/** Heaps unused for this number of cycles are evicted from the cache. */
const HEAP_CYCLES = 16;

/** Whether machines in this state are free machines. */
export function isFreeState(state: number | undefined): boolean {
  return state === MachineState.Idle || state === MachineState.Speculative;
}

export class ClassAvailability {
  readonly #fleet: FleetView;
  readonly #slices: readonly (SliceView | undefined)[];

  readonly byClass = new ColumnGroup(this);
  /** Machines of the class taken in this cycle. The only state of the pass; lanes share it, and all else here is a cache. */
  readonly heads = this.byClass.i32();

  /**
   * By class: ordinals (positions in id order) of the AHEAD machines of its slice from `#lookedFrom` on; -1 in
   * `#lookedFrom` if not prefetched.
   */
  #ordinals = new Int32Array(0);
  #lookedFrom = new Int32Array(0);
  /** By class: its attributes when it last had machines; undefined without. A reused class number has a new object. */
  #known: (Attributes | undefined)[] = [];
  #seen = -1;
  #claimedBy: ReadonlyColumn<Int32Array> = new Int32Array(0);
  /** Sum of all prefetched claims. Public, so that the reads do not look unused and are not optimized away. */
  prefetched = 0;
  /** Classes that gained their first machine, lost their last, or reuse the number of another. */
  readonly changes = new ChangeLog();
  /** What `holding` returns, and the end of `changes` when it was computed. */
  #holding = new Uint32Array(0);
  #holdingSeen = -1;
  /** By class: position of its last entry in `changes`. */
  #changedAt = new Float64Array(0);
  /** Caches, keyed by the class numbers joined to a text. */
  readonly #groups = new Map<string, Heaps>();
  readonly #heaps = new Map<string, Heap>();
  /** Counts cycles; what a heap found in one cycle is invalid in the next. */
  cycle = 0;

  constructor(fleet: FleetView, slices: readonly (SliceView | undefined)[]) {
    this.#fleet = fleet;
    this.#slices = slices;
  }

  /** One more than the largest class number in use. */
  get size(): number {
    return this.#fleet.classes.size;
  }

  /** Returns all taken machines. */
  returnAll(): void {
    this.byClass.reserve(this.#fleet.classes.size);
    this.heads.fill(0);
  }

  /** Begins a cycle: records which classes appeared or disappeared since the last one. */
  begin(claimedBy: ReadonlyColumn<Int32Array>): void {
    const { classes, machines } = this.#fleet;
    this.cycle++;
    this.#claimedBy = claimedBy;
    this.#ordinals = withRoom(this.#ordinals, classes.size * AHEAD);
    this.#lookedFrom = withRoom(this.#lookedFrom, classes.size).fill(-1);
    this.#changedAt = withRoom(this.#changedAt, classes.size);
    const restocked = machines.restocked.since(this.#seen);
    this.#seen = machines.restocked.end;
    if (restocked === null) {
      this.changes.restart();
      this.#known = Array.from({ length: classes.size }, (_, c) => this.#attributesOf(c));
      return;
    }
    for (const c of restocked) {
      if (this.#attributesOf(c) === this.#known[c]) continue;
      this.#known[c] = this.#attributesOf(c);
      this.#changedAt[c] = this.changes.end;
      this.changes.add(c);
    }
    for (const heaps of [this.#groups, this.#heaps]) {
      for (const [text, { cycle }] of heaps) if (cycle < this.cycle - HEAP_CYCLES) heaps.delete(text);
    }
  }

  /**
   * Heaps for classes of equal cost, one heap per instance type and zone. Most patterns can use all classes of such a pair
   * or none, so patterns share heaps; patterns that can use the same classes share the whole set.
   */
  heapsOf(classes: Uint32Array): Heaps {
    const sorted = classes.toSorted();
    const text = sorted.join();
    let heaps = this.#groups.get(text);
    if (heaps === undefined) {
      const { attributes } = this.#fleet.classes;
      const kinds = Map.groupBy(sorted, (c) => `${attributes[c]!.instanceType}\n${attributes[c]!.zone}`);
      heaps = new Heaps([...kinds.values()].map((members) => this.#heapOf(members)));
      this.#groups.set(text, heaps);
    }
    return heaps;
  }

  #heapOf(classes: readonly number[]): Heap {
    const text = classes.join();
    let heap = this.#heaps.get(text);
    if (heap === undefined) {
      heap = new Heap(this, Uint32Array.from(classes));
      this.#heaps.set(text, heap);
    }
    return heap;
  }

  #attributesOf(classNumber: number): Attributes | undefined {
    return this.holds(classNumber) ? this.#fleet.classes.attributes[classNumber] : undefined;
  }

  /** Whether the class had machines when the cycle began. */
  holds(classNumber: number): boolean {
    return (this.#slices[classNumber]?.length ?? 0) > 0;
  }

  /** The classes that had machines when the cycle began, ascending. Cached: most of millions of classes may have none. */
  holding(): Uint32Array {
    if (this.#holdingSeen !== this.changes.end) {
      const numbers = new Uint32Array(this.size);
      let end = 0;
      for (let c = 0; c < this.size; c++) if (this.holds(c)) numbers[end++] = c;
      this.#holding = numbers.slice(0, end);
      this.#holdingSeen = this.changes.end;
    }
    return this.#holding;
  }

  /** Whether the class has changed since a reader of `changes` was at `position`. */
  changedSince(position: number, classNumber: number): boolean {
    return this.#changedAt[classNumber]! >= position;
  }

  free(classNumber: number): number {
    return (this.#slices[classNumber]?.length ?? 0) - this.heads[classNumber]!;
  }

  takenFrom(classNumber: number): number {
    return this.heads[classNumber]!;
  }

  /** The first remaining machine of a class, or NONE. */
  firstOf(classNumber: number): number {
    const slice = this.#slices[classNumber];
    const head = this.heads[classNumber]!;
    if (slice === undefined || head >= slice.length) return NONE;
    return this.#fleet.machines.arena.data[slice.offset + head]!;
  }

  /** Ordinal of the first remaining machine of a class, or NOTHING_LEFT. */
  firstOrdinalOf(classNumber: number): number {
    const head = this.heads[classNumber]!;
    const from = head - (head % AHEAD);
    if (this.#lookedFrom[classNumber] !== from) this.#lookAhead(classNumber, from);
    return this.#ordinals[classNumber * AHEAD + head - from]!;
  }

  /**
   * Prefetches ordinals, and also reads the claims of the machines: they are written soon, and a write to an uncached place
   * takes longer.
   */
  #lookAhead(classNumber: number, from: number): void {
    const { arena, ordinal } = this.#fleet.machines;
    const slice = this.#slices[classNumber];
    const left = slice === undefined ? 0 : Math.min(slice.length - from, AHEAD);
    const to = classNumber * AHEAD;
    let seen = 0;
    for (let i = 0; i < left; i++) {
      const slot = arena.data[slice!.offset + from + i]!;
      this.#ordinals[to + i] = ordinal[slot]!;
      seen += this.#claimedBy[slot]!;
    }
    this.#ordinals.fill(NOTHING_LEFT, to + left, to + AHEAD);
    this.#lookedFrom[classNumber] = from;
    this.prefetched += seen;
  }

  /** Takes a machine, if it is the first remaining one of its class. */
  take(slot: number, classNumber: number): void {
    if (this.firstOf(classNumber) === slot) this.heads[classNumber]!++;
  }

  /** Returns a machine, if it was the last one taken from its class. */
  putBack(slot: number): void {
    const classNumber = this.#fleet.machines.classOf[slot]!;
    if (this.heads[classNumber] === 0) return;
    this.heads[classNumber]!--;
    if (this.firstOf(classNumber) !== slot) this.heads[classNumber]!++;
  }
}
