// Radix sort of numbers by keys: what is sorted each cycle (rows that wait for free machines, classes by price) is
// long, and a comparator costs a call for each pair. Used by the engine's candidate-list.ts and waiting-rows.ts.

import { withRoom } from './columns.ts';

const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
/** Below this length, counting buckets costs more than comparing. */
const SHORT = 256;
/**
 * If the first key has at most this number of values, as precedence does, items are grouped by it before they are sorted.
 */
const FEW_VALUES = 64;

/** Returns the key of an item. Keys are never NaN. */
export type KeyOf = (item: number) => number;

/** The items by their first key, lowest first, ties by the next key; stable. */
export function sortedBy(items: Uint32Array, ...keys: readonly KeyOf[]): Uint32Array {
  if (items.length < SHORT) return sortedByComparing(items, keys);
  return new Sorter().sort(items, ...keys.map((keyOf) => Float64Array.from(items, keyOf)));
}

function sortedByComparing(items: Uint32Array, keys: readonly KeyOf[]): Uint32Array {
  return items.toSorted((a, b) => {
    // Infinite keys are equal; their difference is not a number.
    const differing = keys.find((keyOf) => keyOf(a) !== keyOf(b));
    return differing === undefined ? 0 : differing(a) - differing(b);
  });
}

/**
 * Sorts by keys in columns. Its buffers are reused: new ones for every cycle of a cold fleet would be 20 MB, and would
 * cause a full garbage collection every few cycles.
 */
export class Sorter {
  #sorted = new Uint32Array(0);
  #grouped: Float64Array[] = [];
  #groupOf = new Uint8Array(0);
  #order = new Uint32Array(0);
  #spare = new Uint32Array(0);
  readonly #starts = new Uint32Array(BUCKETS);

  /**
   * Sorts as `sortedBy` does, with the keys of all items in columns, which it destroys; the result is valid until the next
   * call. If the first key has few values, the items of each are grouped and sorted by the other keys, so that the data
   * being moved stays in the CPU cache.
   */
  sort(items: Uint32Array, ...columns: readonly Float64Array[]): Uint32Array {
    const { length } = items;
    this.#order = withRoom(this.#order, length);
    this.#spare = withRoom(this.#spare, length);
    const others = columns.slice(1);
    const starts = others.length === 0 ? null : this.#group(columns[0]!);
    if (starts === null) return this.#distributed(items, columns);
    const order = this.#order.subarray(0, length);
    this.#sorted = withRoom(this.#sorted, length);
    const sorted = this.#sorted.subarray(0, length);
    gather(items, order, sorted);
    for (const [k, column] of others.entries()) {
      this.#grouped[k] = withRoom(this.#grouped[k] ?? new Float64Array(0), length);
      gather(column, order, this.#grouped[k]);
    }
    for (const [i, start] of starts.entries()) {
      const end = starts[i + 1] ?? length;
      const part = sorted.subarray(start, end);
      const keys = others.map((_, k) => this.#grouped[k]!.subarray(start, end));
      // Most passes are short, and a small group does not justify counting thousands of buckets.
      part.set(part.length < SHORT ? comparedBy(part, keys) : this.#distributed(part, keys));
    }
    return sorted;
  }

  /**
   * Writes the indexes of a column to `#order`, grouped by value, lowest value first. Returns the start of each group, or
   * null if there are more than FEW_VALUES.
   */
  #group(column: Float64Array): readonly number[] | null {
    this.#groupOf = withRoom(this.#groupOf, column.length);
    const groupOf = this.#groupOf;
    const groups = new Map<number, number>();
    const next = new Uint32Array(FEW_VALUES);
    let last = Number.NaN;
    let group = 0;
    for (let i = 0; i < column.length; i++) {
      // Fast path: usually the previous item has the same value.
      if (column[i] !== last) {
        last = column[i]!;
        group = groups.get(last) ?? groups.size;
        if (group === FEW_VALUES) return null;
        groups.set(last, group);
      }
      groupOf[i] = group;
      next[group]!++;
    }
    const starts: number[] = [];
    let start = 0;
    for (const [, number] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const count = next[number]!;
      starts.push(start);
      next[number] = start;
      start += count;
    }
    const order = this.#order;
    for (let i = 0; i < column.length; i++) order[next[groupOf[i]!]!++] = i;
    return starts;
  }

  /** Sorts digit by digit, starting with the lowest digit of the last key. */
  #distributed(items: Uint32Array, columns: readonly Float64Array[]): Uint32Array {
    let order = this.#order.subarray(0, items.length);
    let spare = this.#spare.subarray(0, items.length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    for (const column of columns.toReversed()) {
      const words = comparable(column);
      for (const half of [LOW, HIGH]) {
        let differing = differingBits(words, half);
        while (differing !== 0) {
          // Starts at the lowest bit in which keys differ.
          const shift = 31 - Math.clz32(differing & -differing);
          distribute(words, half, shift, order, spare, this.#starts);
          [order, spare] = [spare, order];
          differing &= shift + DIGIT_BITS < 32 ? -1 << (shift + DIGIT_BITS) : 0;
        }
      }
    }
    gather(items, order, spare);
    return spare;
  }
}

/** Sorts a short list by keys in columns. */
function comparedBy(items: Uint32Array, columns: readonly Float64Array[]): Uint32Array {
  const order = sortedByComparing(
    Uint32Array.from(items.keys()),
    columns.map((column) => (place: number) => column[place]!),
  );
  return order.map((place) => items[place]!);
}

type Column = Uint32Array | Float64Array;

/** Writes a column in another order to `to`. */
function gather(column: Column, order: Uint32Array, to: Column): void {
  for (let i = 0; i < order.length; i++) to[i] = column[order[i]!]!;
}

/** Offsets of the two halves of a double, by endianness. */
const ONE = new Uint32Array(Float64Array.of(1).buffer);
const HIGH = ONE[0] === 0 ? 1 : 0;
const LOW = 1 - HIGH;

/** The keys as pairs of words that compare as the keys do: the bits of a double, inverted for negative ones. */
function comparable(column: Float64Array): Uint32Array {
  const words = new Uint32Array(column.buffer, column.byteOffset, 2 * column.length);
  for (let i = 0; i < column.length; i++) {
    // Adding zero turns −0 into 0.
    column[i]! += 0;
    const high = words[2 * i + HIGH]!;
    const turned = (high | 0) >> 31;
    words[2 * i + HIGH] = high ^ (turned | 0x80000000);
    words[2 * i + LOW]! ^= turned;
  }
  return words;
}

/** Bits in which keys differ. */
function differingBits(words: Uint32Array, half: number): number {
  let differing = 0;
  for (let i = half; i < words.length; i += 2) differing |= words[i]! ^ words[half]!;
  return differing;
}

/** One pass: distributes `from` by one digit of its words into `to`; `starts` is scratch space for the counts. */
function distribute(
  words: Uint32Array,
  half: number,
  shift: number,
  from: Uint32Array,
  to: Uint32Array,
  starts: Uint32Array,
): void {
  starts.fill(0);
  for (let i = half; i < words.length; i += 2) starts[(words[i]! >>> shift) & (BUCKETS - 1)]!++;
  let start = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const count = starts[bucket]!;
    starts[bucket] = start;
    start += count;
  }
  for (let i = 0; i < from.length; i++) {
    const item = from[i]!;
    const bucket = (words[2 * item + half]! >>> shift) & (BUCKETS - 1);
    to[starts[bucket]!++] = item;
  }
}
