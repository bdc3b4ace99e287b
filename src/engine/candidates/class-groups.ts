// Classes that a pattern can use and that have free machines, sorted by some keys; classes with equal keys form a group,
// in which only ids decide. Kept between cycles and updated incrementally. candidate-list.ts and coverage-list.ts search
// the groups in their own order.

import { type KeyOf, sortedBy } from '../../collections/radix.ts';
import type { Domains } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { ClassAvailability } from './class-availability.ts';
import { type Heaps, NOTHING_LEFT } from './class-heap.ts';

/** Which classes a step may use: all, those of one domain, or those of the domains a spread allows. */
export type ClassFilter = (classNumber: number) => boolean;

/** The current sort keys, most significant first. A key that is added later is 0 for all classes sorted before. */
export type SortKeys = () => readonly KeyOf[];

const NO_CLASSES = new Uint32Array(0);
/** Groups of at most this many classes are searched one by one: racks have many small groups, and each heap takes 1 KB. */
const FEW = 8;

export class ClassGroups {
  readonly availability: ClassAvailability;
  readonly #keys: SortKeys;
  readonly #fits: ClassFilter;
  /** Classes to choose from; null: all with free machines. */
  readonly #from: (() => ArrayLike<number>) | null;
  #classes: Uint32Array = NO_CLASSES;
  /** Start of each group in `#classes`, and the end of the last one. */
  #starts = new Uint32Array(1);
  #seen = -1;
  /** By group: its heaps, created on first use. Small groups need none, and most groups are never reached. */
  #heaps: (Heaps | undefined)[] = [];

  constructor(
    availability: ClassAvailability,
    keys: SortKeys,
    fits: ClassFilter,
    from: (() => ArrayLike<number>) | null = null,
  ) {
    this.availability = availability;
    this.#keys = keys;
    this.#fits = fits;
    this.#from = from;
  }

  /** Number of groups. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** Some class of a group; all have equal keys. */
  classIn(group: number): number {
    return this.#classes[this.#starts[group]!]!;
  }

  /** Applies the changes of availability since the last call; returns whether there are other groups now. */
  refresh(): boolean {
    const { changes } = this.availability;
    if (this.#seen === changes.end) return false;
    const changed = changes.since(this.#seen);
    const isOther = changed === null ? this.#fill() : this.#follow(changed);
    this.#seen = changes.end;
    return isOther;
  }

  #fill(): true {
    const holding = this.#from?.() ?? this.availability.holding();
    const found: number[] = [];
    for (let i = 0; i < holding.length; i++) if (this.#fits(holding[i]!)) found.push(holding[i]!);
    this.#arrange(sortedBy(Uint32Array.from(found), ...this.#keys()));
    return true;
  }

  #follow(changed: readonly number[]): boolean {
    const coming = [...new Set(changed)].filter((c) => this.availability.holds(c) && this.#fits(c));
    const staying = this.#classes.filter((c) => !this.availability.changedSince(this.#seen, c));
    if (coming.length === 0 && staying.length === this.#classes.length) return false;
    const keys = this.#keys();
    coming.sort((a, b) => compareBy(keys, a, b));
    const merged = new Uint32Array(staying.length + coming.length);
    let next = 0;
    for (let i = 0, at = 0; at < merged.length; at++) {
      const comes =
        next < coming.length && (i === staying.length || compareBy(keys, coming[next]!, staying[i]!) < 0);
      merged[at] = comes ? coming[next++]! : staying[i++]!;
    }
    this.#arrange(merged);
    return true;
  }

  #arrange(classes: Uint32Array): void {
    const keys = this.#keys();
    const starts: number[] = [];
    for (let i = 0; i < classes.length; i++) {
      if (i === 0 || compareBy(keys, classes[i - 1]!, classes[i]!) !== 0) starts.push(i);
    }
    starts.push(classes.length);
    this.#classes = classes;
    this.#starts = Uint32Array.from(starts);
    this.#heaps = [];
  }

  /** The groups of each domain; they are not refreshed. */
  partsBy(domains: Domains): Map<number, ClassGroups> {
    const parts = new Map<number, ClassGroups>();
    for (const [domain, classes] of Map.groupBy(this.#classes, (c) => domains.of(c))) {
      const part = new ClassGroups(this.availability, this.#keys, this.#fits);
      part.#arrange(Uint32Array.from(classes));
      parts.set(domain, part);
    }
    return parts;
  }

  /** Groups without classes. */
  none(): ClassGroups {
    return new ClassGroups(this.availability, this.#keys, this.#fits);
  }

  /**
   * The class of a group with the lowest first machine; NONE if nothing is left. `tentative`: machines may be returned in
   * this cycle, which the heaps do not support.
   */
  firstIn(group: number, tentative: boolean): number {
    if (tentative || this.#starts[group + 1]! - this.#starts[group]! <= FEW)
      return this.lowestIn(group, null);
    return this.#heapsOf(group).first(this.availability.cycle);
  }

  #heapsOf(group: number): Heaps {
    let heaps = this.#heaps[group];
    if (heaps === undefined) {
      heaps = this.availability.heapsOf(this.#classes.subarray(this.#starts[group], this.#starts[group + 1]));
      this.#heaps[group] = heaps;
    }
    return heaps;
  }

  /** The class of a group with the lowest first machine among those that `accepts` accepts; null: among all. */
  lowestIn(group: number, accepts: ClassFilter | null): number {
    let lowest = NONE;
    let ordinal = NOTHING_LEFT;
    for (let i = this.#starts[group]!; i < this.#starts[group + 1]!; i++) {
      const c = this.#classes[i]!;
      const first = this.availability.firstOrdinalOf(c);
      if (first >= ordinal || (accepts !== null && !accepts(c))) continue;
      lowest = c;
      ordinal = first;
    }
    return lowest;
  }
}

/** Negative if class `a` precedes `b`; 0 if they are of one group. */
function compareBy(keys: readonly KeyOf[], a: number, b: number): number {
  for (const keyOf of keys) {
    const keyOfA = keyOf(a);
    const keyOfB = keyOf(b);
    // Infinite keys are equal; their difference is not a number.
    if (keyOfA !== keyOfB) return keyOfA - keyOfB;
  }
  return 0;
}
