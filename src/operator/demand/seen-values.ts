// Whole numbers that were seen as values of labels, on nodes, on machines and in published capacity: `Gt` and `Lt` of a pod
// are turned into a list of these, because rows of demand have no comparison. Values are never forgotten: a value that
// existed once can be bought again.

import { wholeNumber } from '../pods/node-terms.ts';

/** A label with more numeric values is an identity, not a size, and is not compared with. */
const MAX_VALUES = 1024;
const MAX_KEYS = 1024;

export class SeenValues {
  readonly #byKey = new Map<string, Set<string>>();

  /** Whether the value is a whole number that is new. */
  add(key: string, value: string): boolean {
    if (value.length > 20 || wholeNumber(value) === null) return false;
    let values = this.#byKey.get(key);
    if (values === undefined) {
      if (this.#byKey.size >= MAX_KEYS) return false;
      values = new Set();
      this.#byKey.set(key, values);
    }
    if (values.size >= MAX_VALUES || values.has(value)) return false;
    values.add(value);
    return true;
  }

  valuesOf(key: string): Iterable<string> {
    return this.#byKey.get(key) ?? [];
  }
}
