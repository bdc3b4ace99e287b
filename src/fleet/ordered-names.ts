// Names that are counted by who holds them, with their order as a number each: of two names that are held, the one that
// comes first has the smaller place. Few and long ones, such as fingerprints, are then compared once, on arrival.

import { compareText } from '../model/index.ts';

/** Between the places of neighbours when all are given out anew: names come in between many times before that is due. */
const STEP = 2 ** 32;

/** No name has number 0. */
export class OrderedNames {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  readonly #holders: number[] = [0];
  readonly #free: number[] = [];
  /** Numbers in name order. */
  readonly #sorted: number[] = [];
  /** By number. A name that arrives gets a place between those of its neighbours. */
  readonly #places: number[] = [0];

  /** The number of a name, with one more holder. */
  hold(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#names.length;
      this.#numbers.set(name, number);
      this.#names[number] = name;
      this.#holders[number] = 0;
      this.#insert(number);
    }
    this.#holders[number]!++;
    return number;
  }

  /** The number of a name that somebody holds, else 0. */
  find(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  nameOf(number: number): string {
    return this.#names[number]!;
  }

  /** Where a name stands among those held: good for comparing two, until another arrives. */
  placeOf(number: number): number {
    return this.#places[number]!;
  }

  /** One holder less. */
  release(number: number): void {
    if (--this.#holders[number]! > 0) return;
    const name = this.#names[number]!;
    this.#sorted.splice(this.#positionOf(name), 1);
    this.#numbers.delete(name);
    this.#names[number] = '';
    this.#free.push(number);
  }

  #insert(number: number): void {
    const sorted = this.#sorted;
    const at = this.#positionOf(this.#names[number]!);
    const before = at === 0 ? 0 : this.#places[sorted[at - 1]!]!;
    const after = at === sorted.length ? before + 2 * STEP : this.#places[sorted[at]!]!;
    const place = (before + after) / 2;
    sorted.splice(at, 0, number);
    this.#places[number] = place;
    if (before < place && place < after) return;
    for (const [i, other] of sorted.entries()) this.#places[other] = (i + 1) * STEP;
  }

  /** How many names come before one. */
  #positionOf(name: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareText(this.#names[this.#sorted[middle]!]!, name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
