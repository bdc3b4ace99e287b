// Conditions on classes: a requirement, or a smallest unit that a machine must hold. Hundreds of patterns combine a few
// dozen conditions, so each is tested once per class and not once per pattern. Part of patterns.ts.

import { extended, grownCapacity, sharedUint8 } from '../../collections/columns.ts';
import { covers, meets, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { ClassTable } from './classes.ts';

const UNKNOWN = 0;
const MET = 1;
const UNMET = 2;

type Test = (classNumber: number) => boolean;

export class Condition {
  readonly text: string;
  readonly #classes: ClassTable;
  readonly #test: Test;
  #flags: Uint8Array = sharedUint8(0);
  /** Patterns that have it. */
  holders = 0;

  constructor(text: string, classes: ClassTable, test: Test) {
    this.text = text;
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

  constructor(classes: ClassTable) {
    this.#classes = classes;
    classes.onReuse((number) => {
      for (const condition of this.#conditions.values()) condition.forget(number);
    });
  }

  /** Adds a reference to the conditions of a pattern: of its requirements, in their order, then of its smallest unit. */
  retain(requirements: readonly Requirement[], minUnit: ResourceVector): readonly Condition[] {
    const { attributes, offered } = this.#classes;
    const conditions = requirements.map((requirement) => {
      const { key, operator, values } = requirement;
      return this.#of(JSON.stringify([key, operator, values]), (c) => meets(attributes[c]!, requirement));
    });
    const unit = this.#of(JSON.stringify([...minUnit]), (c) => covers(offered[c]!, minUnit));
    for (const condition of [...conditions, unit]) condition.holders++;
    return [...conditions, unit];
  }

  #of(text: string, test: Test): Condition {
    let condition = this.#conditions.get(text);
    if (condition === undefined) {
      condition = new Condition(text, this.#classes, test);
      this.#conditions.set(text, condition);
    }
    return condition;
  }

  /** Drops a reference to each of the conditions. */
  drop(conditions: readonly Condition[]): void {
    for (const condition of conditions) {
      condition.holders--;
      if (condition.holders === 0) this.#conditions.delete(condition.text);
    }
  }
}
