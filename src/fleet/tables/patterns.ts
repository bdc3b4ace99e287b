// Patterns: a requirement set with the smallest machine it accepts. Whether a class matches, and whether it is large
// enough, is computed once per (pattern, class) from the conditions that patterns share, and cached until the class
// number is reused. demand-rows.ts adds them, the engine matches with them.

import { extended, grownCapacity, sharedUint8 } from '../../collections/columns.ts';
import { makeProfile, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { ClassTable } from './classes.ts';
import { type Condition, ConditionTable } from './conditions.ts';

const NO_CLASSES = new Uint32Array(0);
const KNOWN = 1;
const MATCHES = 2;
const FITS = 4;

/** How machines of a class serve a pattern: not at all; in part, below its smallest unit; or in full. */
export const Serves = { Not: 0, InPart: 1, InFull: 3 } as const;
export type Serves = (typeof Serves)[keyof typeof Serves];

export class PatternTable {
  readonly #classes: ClassTable;
  readonly #conditions: ConditionTable;
  /** By canonical text of the requirements: sets with at least one pattern. */
  readonly #sets = new Map<string, RequirementSet>();
  /** Rows of a profile share one list of requirements, so its canonical text is computed once. */
  readonly #setOf = new WeakMap<readonly Requirement[], RequirementSet>();
  readonly #patterns: (Pattern | undefined)[] = [];
  readonly #free: number[] = [];

  constructor(classes: ClassTable) {
    this.#classes = classes;
    this.#conditions = new ConditionTable(classes);
    classes.onReuse((number) => {
      for (const pattern of this.#patterns) pattern?.forget(number);
    });
  }

  get size(): number {
    return this.#patterns.length;
  }

  /** Patterns in use. */
  get count(): number {
    return this.#patterns.length - this.#free.length;
  }

  patternOf(number: number): Pattern {
    return this.#patterns[number]!;
  }

  /** The bits of all requirements that a class meets; a pattern matches no class without the bits of its own mask. */
  maskOf(classNumber: number): number {
    return this.#conditions.maskOf(classNumber);
  }

  /** Incremented whenever a pattern is added or removed. */
  version = 0;

  /** All patterns by number; undefined for a number that is not in use. */
  list(): readonly (Pattern | undefined)[] {
    return this.#patterns;
  }

  /** Copies a pattern of another thread's fleet; undefined if the number is not in use there. */
  mirror(number: number, parts: PatternParts | undefined): void {
    this.#conditions.drop(this.#patterns[number]?.conditions ?? []);
    this.#patterns[number] = parts && this.#make(parts.requirements, parts.minUnit, null);
    this.version++;
  }

  /** The pattern of a number; undefined if the number is not in use. */
  find(number: number): Pattern | undefined {
    return this.#patterns[number];
  }

  /** Adds a reference to a pattern and returns its number. `amounts` is the canonical text of `minUnit`. */
  retain(requirements: readonly Requirement[], minUnit: ResourceVector, amounts: string): number {
    const set = this.#requirementSet(requirements);
    let number = set.patterns.get(amounts);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#patterns.length;
      set.patterns.set(amounts, number);
      this.#patterns[number] = this.#make(requirements, minUnit, { set, amounts });
      this.version++;
    }
    this.#patterns[number]!.holders++;
    return number;
  }

  #make(requirements: readonly Requirement[], minUnit: ResourceVector, place: Pattern['place']): Pattern {
    const conditions = this.#conditions.retain(requirements, minUnit);
    return new Pattern(this.#classes, requirements, minUnit, conditions, place);
  }

  #requirementSet(requirements: readonly Requirement[]): RequirementSet {
    const known = this.#setOf.get(requirements);
    // A set without patterns was removed from `#sets`; a newer set of the same text may exist.
    if (known !== undefined && known.patterns.size > 0) return known;
    // The fingerprint of a bare profile is the canonical text of its requirements.
    const text = makeProfile({ requirements }).fingerprint;
    const set = this.#sets.get(text) ?? { text, patterns: new Map() };
    this.#sets.set(text, set);
    this.#setOf.set(requirements, set);
    return set;
  }

  /** Drops a reference. */
  drop(number: number): void {
    const pattern = this.#patterns[number]!;
    if (--pattern.holders > 0) return;
    const { set, amounts } = pattern.place!;
    this.#conditions.drop(pattern.conditions);
    set.patterns.delete(amounts);
    if (set.patterns.size === 0) this.#sets.delete(set.text);
    this.#patterns[number] = undefined;
    this.version++;
    this.#free.push(number);
  }
}

/** Patterns with the same requirements. */
interface RequirementSet {
  readonly text: string;
  /** By canonical text of the smallest machine. */
  readonly patterns: Map<string, number>;
}

/** A pattern as plain data. */
export interface PatternParts {
  readonly requirements: readonly Requirement[];
  readonly minUnit: ResourceVector;
}

export class Pattern {
  readonly #classes: ClassTable;
  readonly requirements: readonly Requirement[];
  readonly minUnit: ResourceVector;
  /** Whether `minUnit` has an amount above 0. */
  readonly hasUnit: boolean;
  /** Those of its requirements, in their order, and that of its smallest unit as the last one. */
  readonly conditions: readonly Condition[];
  /** Bits that `PatternTable.maskOf` has for every class that matches: a test that reads nothing of the pattern. */
  readonly mask: number;
  /** Its entry in the table; null in a worker thread, whose table is a copy. */
  readonly place: { readonly set: RequirementSet; readonly amounts: string } | null;
  holders = 0;
  /** Class numbers, ascending. */
  #fitting: Uint32Array = NO_CLASSES;
  #matching: Uint32Array = NO_CLASSES;
  #seen = -1;
  /** Classes below this number have been examined, except for numbers that were reused since. */
  #examined = 0;
  #flags: Uint8Array = sharedUint8(0);

  constructor(
    classes: ClassTable,
    requirements: readonly Requirement[],
    minUnit: ResourceVector,
    conditions: readonly Condition[],
    place: Pattern['place'],
  ) {
    this.#classes = classes;
    this.requirements = requirements;
    this.minUnit = minUnit;
    this.hasUnit = [...minUnit.values()].some((amount) => amount > 0);
    this.conditions = conditions;
    this.mask = conditions.reduce((mask, { bit }) => mask | bit, 0);
    this.place = place;
  }

  /** Whether machines of the class meet every requirement. */
  matches(classNumber: number): boolean {
    return (this.#flagsOf(classNumber) & MATCHES) !== 0;
  }

  /** Whether they also hold the smallest unit. */
  fits(classNumber: number): boolean {
    return (this.#flagsOf(classNumber) & FITS) !== 0;
  }

  /** `matches` and `fits` in one lookup. */
  servesAs(classNumber: number): Serves {
    return (this.#flagsOf(classNumber) >> 1) as Serves;
  }

  /** All classes that fit, ascending. Cached, and updated incrementally from the class table's change log. */
  fittingClasses(): Uint32Array {
    this.#list();
    return this.#fitting;
  }

  /** All classes that match, large enough or not, ascending. */
  matchingClasses(): Uint32Array {
    this.#list();
    return this.#matching;
  }

  /** Whether `fittingClasses` would have to examine few classes at most. */
  get isExamined(): boolean {
    return this.#seen !== -1 || this.#examined >= this.#classes.size;
  }

  /** Examines at most `most` classes, so that a caller can bound its time; returns how many class numbers it covered. */
  examine(most: number): number {
    const from = this.#examined;
    const end = Math.min(from + most, this.#classes.size);
    const { attributes } = this.#classes;
    for (let c = from; c < end; c++) if (attributes[c] !== undefined) this.#flagsOf(c);
    this.#examined = end;
    return end - from;
  }

  #list(): void {
    const { changes } = this.#classes;
    if (this.#seen === changes.end) return;
    const changed = changes.since(this.#seen);
    this.#seen = changes.end;
    if (changed === null) {
      this.#listAll();
      return;
    }
    const numbers = Uint32Array.from(new Set(changed)).sort();
    const isInUse = (c: number): boolean => this.#classes.attributes[c] !== undefined;
    this.#matching = relisted(this.#matching, numbers, (c) => isInUse(c) && this.matches(c));
    this.#fitting = relisted(this.#fitting, numbers, (c) => isInUse(c) && this.fits(c));
  }

  #listAll(): void {
    const { attributes, size } = this.#classes;
    const matching = new Uint32Array(size);
    const fitting = new Uint32Array(size);
    let matches = 0;
    let fits = 0;
    for (let c = 0; c < size; c++) {
      if (attributes[c] === undefined) continue;
      const flags = this.#flagsOf(c);
      if ((flags & MATCHES) !== 0) matching[matches++] = c;
      if ((flags & FITS) !== 0) fitting[fits++] = c;
    }
    this.#matching = matching.slice(0, matches);
    this.#fitting = fitting.slice(0, fits);
  }

  /** Invalidates the cached flags of a class number that was reused. */
  forget(classNumber: number): void {
    if (classNumber < this.#flags.length) this.#flags[classNumber] = 0;
  }

  #flagsOf(classNumber: number): number {
    const known = classNumber < this.#flags.length ? this.#flags[classNumber]! : 0;
    return known !== 0 ? known : this.#work(classNumber);
  }

  #work(classNumber: number): number {
    if (classNumber >= this.#flags.length) {
      const capacity = grownCapacity(this.#flags.length, this.#classes.size);
      this.#flags = extended(this.#flags, capacity);
    }
    const flags = KNOWN | this.#test(classNumber);
    this.#flags[classNumber] = flags;
    return flags;
  }

  #test(classNumber: number): number {
    const last = this.conditions.length - 1;
    for (let i = 0; i < last; i++) if (!this.conditions[i]!.isMetBy(classNumber)) return 0;
    return this.conditions[last]!.isMetBy(classNumber) ? MATCHES | FITS : MATCHES;
  }
}

/** The ascending `list`, in which each of the ascending `numbers` is kept, inserted or removed according to `belongs`. */
function relisted(
  list: Uint32Array,
  numbers: Uint32Array,
  belongs: (number: number) => boolean,
): Uint32Array {
  const result = new Uint32Array(list.length + numbers.length);
  let seen = 0;
  let end = 0;
  for (const number of numbers) {
    const at = placeOf(list, number, seen);
    if (at > seen) result.set(list.subarray(seen, at), end);
    end += at - seen;
    seen = list[at] === number ? at + 1 : at;
    if (belongs(number)) result[end++] = number;
  }
  result.set(list.subarray(seen), end);
  return result.slice(0, end + list.length - seen);
}

/** Lower bound: index of the first entry at or after `from` that is not below `number`. */
function placeOf(list: Uint32Array, number: number, from: number): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
