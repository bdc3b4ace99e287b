// What the pools have of one state, Idle or Speculative: by class, a run of machines in id order and how many of them
// have been taken. Machines of a class are taken in that order, so what is left of a class is the tail of its run.

import { ChangeLog, type Fleet, type Run, withRoom } from '../fleet/index.ts';
import { type Attributes, MachineState } from '../model/index.ts';
import { Heap, Heaps, NOTHING_LEFT } from './heap.ts';
import { NONE } from './turns.ts';

/** So many machines of a class are looked at ahead: all at once that takes little longer than one by one. */
const AHEAD = 16;
/** Heaps that nobody has used for so many cycles are not given to others any more. */
const HEAP_CYCLES = 16;

/** Whether the pools have machines in this state. */
export function isFreeState(state: number | undefined): boolean {
  return state === MachineState.Idle || state === MachineState.Speculative;
}

export class ClassAvailability {
  readonly #fleet: Fleet;
  readonly #runs: readonly (Run | undefined)[];
  /** By class: machines taken in this cycle. */
  #heads = new Int32Array(0);
  /** By class: places in id order of the machines of its run from `#lookedFrom` on; -1 where nobody has looked. */
  #ordinals = new Int32Array(0);
  #lookedFrom = new Int32Array(0);
  /** By class: what it was when it had machines last; undefined without. A number given out again has other ones. */
  #known: (Attributes | undefined)[] = [];
  #seen = -1;
  #claimedBy: Int32Array = new Int32Array(0);
  /** What all looks ahead at claims came to. Public, so that nobody takes it for unused and leaves them out. */
  glanced = 0;
  /** Classes that came to have machines, or have none any more, or took over the number of another. */
  readonly changes = new ChangeLog();
  /** By class: where in `changes` it stands last. */
  #changedAt = new Float64Array(0);
  /** By their classes, as a text. */
  readonly #groups = new Map<string, Heaps>();
  readonly #heaps = new Map<string, Heap>();
  /** Counts cycles: what was found in one is of no use in the next. */
  cycle = 0;

  constructor(fleet: Fleet, runs: readonly (Run | undefined)[]) {
    this.#fleet = fleet;
    this.#runs = runs;
  }

  /** One more than the largest class number in use. */
  get size(): number {
    return this.#fleet.classes.size;
  }

  /** Puts everything back, and notices which classes came and went since the last cycle. */
  begin(claimedBy: Int32Array): void {
    const { classes, machines } = this.#fleet;
    this.cycle++;
    this.#claimedBy = claimedBy;
    this.#heads = withRoom(this.#heads, classes.size);
    this.#heads.fill(0);
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
   * Heaps of some classes that cost the same, one for each instance type and zone: most patterns can use all of those
   * or none, and have their heaps in common. Patterns that can use the same classes have all of it in common.
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
    return (this.#runs[classNumber]?.length ?? 0) > 0;
  }

  /** Whether the class has changed since a reader of `changes` stood here. */
  changedSince(position: number, classNumber: number): boolean {
    return this.#changedAt[classNumber]! >= position;
  }

  /** Machines of a class that are left. */
  free(classNumber: number): number {
    return (this.#runs[classNumber]?.length ?? 0) - this.#heads[classNumber]!;
  }

  takenFrom(classNumber: number): number {
    return this.#heads[classNumber]!;
  }

  /** The first machine of a class that is left, or NONE. */
  firstOf(classNumber: number): number {
    const run = this.#runs[classNumber];
    const head = this.#heads[classNumber]!;
    if (run === undefined || head >= run.length) return NONE;
    return this.#fleet.machines.arena.data[run.offset + head]!;
  }

  /** Its place in id order, or NOTHING_LEFT. */
  firstOrdinalOf(classNumber: number): number {
    const head = this.#heads[classNumber]!;
    const from = head - (head % AHEAD);
    if (this.#lookedFrom[classNumber] !== from) this.#lookAhead(classNumber, from);
    return this.#ordinals[classNumber * AHEAD + head - from]!;
  }

  /** Also looks at who claims the machines: somebody soon will, and writing to a place nobody has looked at takes longer. */
  #lookAhead(classNumber: number, from: number): void {
    const { arena, ordinal } = this.#fleet.machines;
    const run = this.#runs[classNumber];
    const left = run === undefined ? 0 : Math.min(run.length - from, AHEAD);
    const to = classNumber * AHEAD;
    let seen = 0;
    for (let i = 0; i < left; i++) {
      const slot = arena.data[run!.offset + from + i]!;
      this.#ordinals[to + i] = ordinal[slot]!;
      seen += this.#claimedBy[slot]!;
    }
    this.#ordinals.fill(NOTHING_LEFT, to + left, to + AHEAD);
    this.#lookedFrom[classNumber] = from;
    this.glanced += seen;
  }

  /** Takes a machine, if it is the first of its class. */
  take(slot: number, classNumber: number): void {
    if (this.firstOf(classNumber) === slot) this.#heads[classNumber]!++;
  }

  /** Puts a machine back, if it was the last one taken from its class. */
  putBack(slot: number): void {
    const classNumber = this.#fleet.machines.classOf[slot]!;
    if (this.#heads[classNumber] === 0) return;
    this.#heads[classNumber]!--;
    if (this.firstOf(classNumber) !== slot) this.#heads[classNumber]!++;
  }
}
