// Patterns: a requirement set together with the smallest machine it accepts. Whether a class matches, and whether
// it is large enough, is worked out once per (pattern, class) and remembered until the class number is reused.

import {
  canonicalResources,
  covers,
  makeProfile,
  meetsAll,
  type Requirement,
  type ResourceVector,
} from '../model/index.ts';
import type { ClassTable } from './classes.ts';
import { extended, grownCapacity, sharedUint8 } from './columns.ts';

const KNOWN = 1;
const MATCHES = 2;
const FITS = 4;

/** How machines of a class serve a pattern: not at all; in part, below its smallest unit; or in full. */
export const Serves = { Not: 0, InPart: 1, InFull: 3 } as const;
export type Serves = (typeof Serves)[keyof typeof Serves];

export class PatternTable {
  readonly #classes: ClassTable;
  readonly #numbers = new Map<string, number>();
  readonly #patterns: (Pattern | undefined)[] = [];
  readonly #free: number[] = [];

  constructor(classes: ClassTable) {
    this.#classes = classes;
    classes.onReuse((number) => {
      for (const pattern of this.#patterns) pattern?.forget(number);
    });
  }

  get size(): number {
    return this.#patterns.length;
  }

  /** Patterns in use. */
  get count(): number {
    return this.#numbers.size;
  }

  patternOf(number: number): Pattern {
    return this.#patterns[number]!;
  }

  /** Changes whenever a pattern comes or goes. */
  version = 0;

  /** All patterns by number; undefined for a number that is not in use. */
  list(): readonly (Pattern | undefined)[] {
    return this.#patterns;
  }

  /** Takes over a pattern of another thread's fleet, or that its number is not in use. */
  mirror(number: number, parts: PatternParts | undefined): void {
    this.#patterns[number] = parts && new Pattern(this.#classes, parts.requirements, parts.minUnit, '');
  }

  /** The pattern that has a number now, if any. */
  find(number: number): Pattern | undefined {
    return this.#patterns[number];
  }

  /** The number of a pattern, with one more holder. */
  hold(requirements: readonly Requirement[], minUnit: ResourceVector): number {
    // The fingerprint of a bare profile is the canonical text of its requirements.
    const text = `${makeProfile({ requirements }).fingerprint}\n${canonicalResources(minUnit)}`;
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#patterns.length;
      this.#numbers.set(text, number);
      this.#patterns[number] = new Pattern(this.#classes, requirements, minUnit, text);
      this.version++;
    }
    this.#patterns[number]!.holders++;
    return number;
  }

  /** One holder less. */
  release(number: number): void {
    const pattern = this.#patterns[number]!;
    if (--pattern.holders > 0) return;
    this.#numbers.delete(pattern.text);
    this.#patterns[number] = undefined;
    this.version++;
    this.#free.push(number);
  }
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
  readonly text: string;
  holders = 0;
  #fitting: readonly number[] = [];
  #matching: number[] = [];
  #listedVersion = -1;
  #flags: Uint8Array = sharedUint8(0);

  constructor(
    classes: ClassTable,
    requirements: readonly Requirement[],
    minUnit: ResourceVector,
    text: string,
  ) {
    this.#classes = classes;
    this.requirements = requirements;
    this.minUnit = minUnit;
    this.text = text;
  }

  /** Whether machines of the class meet every requirement. */
  matches(classNumber: number): boolean {
    return (this.#flagsOf(classNumber) & MATCHES) !== 0;
  }

  /** Whether they also hold the smallest unit. */
  fits(classNumber: number): boolean {
    return (this.#flagsOf(classNumber) & FITS) !== 0;
  }

  /** Both at once. */
  servesAs(classNumber: number): Serves {
    return (this.#flagsOf(classNumber) >> 1) as Serves;
  }

  /** All classes that fit, in no particular order; worked out anew only when classes have come or gone. */
  fittingClasses(): readonly number[] {
    this.#list();
    return this.#fitting;
  }

  /** All classes that match, large enough or not. */
  matchingClasses(): readonly number[] {
    this.#list();
    return this.#matching;
  }

  #list(): void {
    if (this.#listedVersion === this.#classes.version) return;
    this.#listedVersion = this.#classes.version;
    this.#matching = [];
    for (let c = 0; c < this.#classes.size; c++) {
      if (this.#classes.attributes[c] !== undefined && this.matches(c)) this.#matching.push(c);
    }
    this.#fitting = this.#matching.filter((c) => this.fits(c));
  }

  /** Drops what is known of a class number that now means another class. */
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
      this.#flags = extended(this.#flags, sharedUint8(capacity));
    }
    let flags = KNOWN;
    if (meetsAll(this.#classes.attributes[classNumber]!, this.requirements)) {
      flags |= MATCHES;
      if (covers(this.#classes.offered[classNumber]!, this.minUnit)) flags |= FITS;
    }
    this.#flags[classNumber] = flags;
    return flags;
  }
}
