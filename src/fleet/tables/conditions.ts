// Conditions on classes: a requirement, or a smallest unit that a machine must hold. Hundreds of patterns combine a few
// dozen conditions, so each is tested once per class and not once per pattern. Part of patterns.ts.

import { extended, grownCapacity, sharedInt32, sharedUint8 } from '../../collections/columns.ts';
import { covers, meets, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { ClassTable } from './classes.ts';

const UNKNOWN = 0;
const MET = 1;
const UNMET = 2;

/** In the mask of a class that was computed; the other bits are those of requirements. */
const KNOWN = 1 << 31;
const MASK_BITS = 31;

type Test = (classNumber: number) => boolean;

export class Condition {
  readonly text: string;
  /** A requirement: its bit in the masks of classes, which others may have too. A smallest unit: 0. */
  readonly bit: number;
  readonly #classes: ClassTable;
  readonly #test: Test;
  #flags: Uint8Array = sharedUint8(0);
  /** Patterns that have it. */
  holders = 0;

  constructor(text: string, bit: number, classes: ClassTable, test: Test) {
    this.text = text;
    this.bit = bit;
    this.#classes = classes;
    this.#test = test;
  }

  isMetBy(classNumber: number): boolean {
    const known = classNumber < this.#flags.length ? this.#flags[classNumber]! : UNKNOWN;
    return known === UNKNOWN ? this.#examine(classNumber) : known === MET;
  }

  #examine(classNumber: number): boolean {
    if (classNumber >= this.#flags.length)
      this.#flags = extended(this.#flags, grownCapacity(this.#flags.length, this.#classes.size));
    const isMet = this.#test(classNumber);
    this.#flags[classNumber] = isMet ? MET : UNMET;
    return isMet;
  }

  /** Invalidates the result for a class number that was reused. */
  forget(classNumber: number): void {
    if (classNumber < this.#flags.length) this.#flags[classNumber] = UNKNOWN;
  }
}

/** The conditions of all patterns, by text. */
export class ConditionTable {
  readonly #classes: ClassTable;
  readonly #conditions = new Map<string, Condition>();
  /** By class: KNOWN and the bits of the requirements that it meets; 0 if unknown. */
  #masks: Int32Array = sharedInt32(0);
  /** Requirements added so far, which numbers their bits. */
  #requirements = 0;

  constructor(classes: ClassTable) {
    this.#classes = classes;
    classes.onReuse((number) => {
      for (const condition of this.#conditions.values()) condition.forget(number);
      if (number < this.#masks.length) this.#masks[number] = 0;
    });
  }

  /** Adds a reference to the conditions of a pattern: of its requirements, in their order, then of its smallest unit. */
  retain(requirements: readonly Requirement[], minUnit: ResourceVector): readonly Condition[] {
    const { attributes, offered } = this.#classes;
    const conditions = requirements.map((requirement) => {
      const { key, operator, values } = requirement;
      const text = JSON.stringify([key, operator, values]);
      return (
        this.#conditions.get(text) ?? this.#addRequirement(text, (c) => meets(attributes[c]!, requirement))
      );
    });
    const text = JSON.stringify([...minUnit]);
    const unit = this.#conditions.get(text) ?? this.#add(text, 0, (c) => covers(offered[c]!, minUnit));
    for (const condition of [...conditions, unit]) condition.holders++;
    return [...conditions, unit];
  }

  #addRequirement(text: string, test: Test): Condition {
    // No class was tested for it.
    this.#masks.fill(0);
    return this.#add(text, 1 << (this.#requirements++ % MASK_BITS), test);
  }

  #add(text: string, bit: number, test: Test): Condition {
    const condition = new Condition(text, bit, this.#classes, test);
    this.#conditions.set(text, condition);
    return condition;
  }

  /** The bits of all requirements that a class meets, and possibly others. */
  maskOf(classNumber: number): number {
    const known = classNumber < this.#masks.length ? this.#masks[classNumber]! : 0;
    return known !== 0 ? known : this.#computeMask(classNumber);
  }

  #computeMask(classNumber: number): number {
    if (classNumber >= this.#masks.length)
      this.#masks = extended(this.#masks, grownCapacity(this.#masks.length, this.#classes.size));
    let mask = KNOWN;
    for (const condition of this.#conditions.values())
      if (condition.bit !== 0 && condition.isMetBy(classNumber)) mask |= condition.bit;
    this.#masks[classNumber] = mask;
    return mask;
  }

  /** Drops a reference to each of the conditions. */
  drop(conditions: readonly Condition[]): void {
    for (const condition of conditions) {
      condition.holders--;
      if (condition.holders === 0) this.#conditions.delete(condition.text);
    }
  }
}
