// Interned, reference-counted names with an order-maintenance label (the place): of two names in use, the one that
// sorts first has the smaller place. For few and long names, such as fingerprints, whose texts are then compared only
// on arrival. Used by fleet/tables/names.ts.

import { compareText } from '../model/index.ts';

/** Distance between neighbouring places after relabelling. A large gap is halved many times before the next relabelling. */
const STEP = 2 ** 32;

/** No name has number 0. */
export class OrderedNames {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  readonly #holders: number[] = [0];
  readonly #free: number[] = [];
  /** Numbers of all names in use, in name order. */
  readonly #sorted: number[] = [];
  /** By number. A new name gets the midpoint between the places of its neighbours. */
  readonly #places: number[] = [0];

  /** Adds a reference to a name, interning it if it is new, and returns its number. */
  retain(name: string): number {
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

  /** The number of a name in use, else 0. */
  find(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  nameOf(number: number): string {
    return this.#names[number]!;
  }

  /** Sort label of a name. Labels are comparable with each other until the next `retain`, which may relabel all names. */
  placeOf(number: number): number {
    return this.#places[number]!;
  }

  /** Drops a reference. */
  drop(number: number): void {
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

  /** Number of names in use that sort before `name`. */
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
