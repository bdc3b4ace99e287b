// Numbers for equal values, with reference counts: pods keep a number in a column instead of an object, and a value that no
// pod refers to any more is forgotten, so that a year of rollouts does not fill the memory. Used for the shapes, resource
// vectors, label sets, claims and namespaces of pods.

export class CountedInterner<T> {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [''];
  readonly #values: (T | undefined)[] = [undefined];
  readonly #references: number[] = [0];
  readonly #free: number[] = [];

  /** The number of a text, from 1. A new one has no reference yet: the caller must call `retain`. */
  numberOf(text: string, make: () => T): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#values.length;
    this.#numbers.set(text, number);
    this.#texts[number] = text;
    this.#values[number] = make();
    this.#references[number] = 0;
    return number;
  }

  /** 0 if the text has no number. */
  find(text: string): number {
    return this.#numbers.get(text) ?? 0;
  }

  valueOf(number: number): T {
    return this.#values[number]!;
  }

  textOf(number: number): string {
    return this.#texts[number]!;
  }

  retain(number: number): void {
    if (number !== 0) this.#references[number]!++;
  }

  /** Forgets the value with its last reference. */
  drop(number: number): void {
    if (number === 0 || --this.#references[number]! > 0) return;
    this.#numbers.delete(this.#texts[number]!);
    this.#texts[number] = '';
    this.#values[number] = undefined;
    this.#free.push(number);
  }

  /** Numbers and values in use. */
  *entries(): Generator<readonly [number, T]> {
    for (const number of this.#numbers.values()) yield [number, this.#values[number]!];
  }
}
