// Names as small numbers. Clusters, resource names, fingerprints and keys are compared and hashed once, when they
// arrive; a cycle sees numbers only. Number 0 means "none" everywhere.

import { compareText, keyText, type NeedKey } from '../model/index.ts';

/** Names that stay for the life of the process: clusters. Their number is bounded by the fleet. */
export class NameTable {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  #sorted: readonly number[] = [];
  readonly #places: number[] = [];

  /** The number of a name, given out on first sight. '' is 0. */
  numberOf(name: string): number {
    if (name === '') return 0;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /** The number of a name if it has one, else 0. */
  find(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  nameOf(number: number): string {
    return this.#names[number]!;
  }

  /** One more than the largest number in use. */
  get size(): number {
    return this.#names.length;
  }

  /** Numbers 1… in name order. */
  sorted(): readonly number[] {
    if (this.#sorted.length !== this.#names.length - 1) {
      const numbers = this.#names.map((_, number) => number).slice(1);
      this.#sorted = numbers.sort((a, b) => compareText(this.nameOf(a), this.nameOf(b)));
      for (const [place, number] of this.#sorted.entries()) this.#places[number] = place;
    }
    return this.#sorted;
  }

  /** Place of a name among all names. */
  placeOf(number: number): number {
    this.sorted();
    return this.#places[number]!;
  }
}

/**
 * Keys of rows: (cluster, fingerprint, group). Groups come and go with every job, so a key is counted by those
 * who hold it and its number is given out again when nobody does.
 */
export class KeyTable {
  readonly #numbers = new Map<string, number>();
  readonly #keys: (NeedKey | undefined)[] = [undefined];
  readonly #holders: number[] = [0];
  readonly #free: number[] = [];

  /** The number of a key, with one more holder. */
  hold(key: NeedKey): number {
    const text = keyText(key);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#keys.length;
      this.#numbers.set(text, number);
      this.#keys[number] = key;
      this.#holders[number] = 0;
    }
    this.#holders[number]!++;
    return number;
  }

  /** The number of a key that somebody holds, else 0. */
  find(key: NeedKey): number {
    return this.#numbers.get(keyText(key)) ?? 0;
  }

  /** Keys in use. */
  get count(): number {
    return this.#numbers.size;
  }

  /** One holder less. */
  release(number: number): void {
    if (number === 0) return;
    this.#holders[number]!--;
    if (this.#holders[number]! > 0) return;
    this.#numbers.delete(keyText(this.#keys[number]!));
    this.#keys[number] = undefined;
    this.#free.push(number);
  }

  keyOf(number: number): NeedKey {
    return this.#keys[number]!;
  }

  /** One more than the largest number in use. */
  get size(): number {
    return this.#keys.length;
  }
}
