// Domains: the values of a topology key, by number. All machines of a class share their labels, so a domain belongs to
// the class; it is looked up once per (key, class) and cached. Part of `Fleet`; the engine numbers the domains of gangs
// and spreads with it.

import { attributeOf } from '../../model/index.ts';
import type { ClassTable } from './classes.ts';

/** The value of one topology key for every class. */
export class Domains {
  readonly #key: string;
  readonly #classes: ClassTable;
  readonly #numbers = new Map<string, number>();
  readonly names: string[] = [];
  /** Domain number by class; -1 without the key, -2 not yet looked up. */
  #ofClass = new Int32Array(0);

  constructor(key: string, classes: ClassTable) {
    this.#key = key;
    this.#classes = classes;
  }

  /** The domain of a class, or -1 if its machines lack the key. */
  of(classNumber: number): number {
    if (classNumber >= this.#ofClass.length) {
      const larger = new Int32Array(Math.max(64, this.#classes.size * 2)).fill(-2);
      larger.set(this.#ofClass);
      this.#ofClass = larger;
    }
    const known = this.#ofClass[classNumber]!;
    if (known !== -2) return known;
    const value = attributeOf(this.#classes.attributes[classNumber]!, this.#key);
    const number = value === undefined ? -1 : this.numberOf(value);
    this.#ofClass[classNumber] = number;
    return number;
  }

  forget(classNumber: number): void {
    if (classNumber < this.#ofClass.length) this.#ofClass[classNumber] = -2;
  }

  /** The number of a value of the key. */
  numberOf(value: string): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.names.push(value) - 1;
      this.#numbers.set(value, number);
    }
    return number;
  }
}

export class DomainTable {
  readonly #classes: ClassTable;
  readonly #byKey = new Map<string, Domains>();

  constructor(classes: ClassTable) {
    this.#classes = classes;
    classes.onReuse((number) => {
      for (const domains of this.#byKey.values()) domains.forget(number);
    });
  }

  /** The domains of a topology key. */
  by(key: string): Domains {
    let domains = this.#byKey.get(key);
    if (domains === undefined) {
      domains = new Domains(key, this.#classes);
      this.#byKey.set(key, domains);
    }
    return domains;
  }
}
