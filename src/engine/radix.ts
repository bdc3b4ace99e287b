// Sorting numbers by a key without comparing them two by two: what has to be ordered each cycle (rows that wait for
// the pools, classes by price) is long, and a comparator costs a call for each pair.

import { withRoom } from '../fleet/index.ts';

const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
/** Below this, counting buckets costs more than comparing. */
const SHORT = 256;
/** A first key with so few values, as precedence has, is told apart before anything is sorted. */
const FEW_VALUES = 64;

/** Tells the key of an item. Keys are never NaN. */
export type KeyOf = (item: number) => number;

/**
 * The items by their first key, lowest first, those with equal ones by the next; items that are equal in all keys stay in
 * the order they came in.
 */
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
 * Sorts by keys in columns. Its buffers stay: new ones for every cycle of a cold fleet would be twenty megabytes, and the
 * collector would look at the whole heap every few cycles for their sake.
 */
export class Sorter {
  #sorted = new Uint32Array(0);
  #grouped: Float64Array[] = [];
  #groupOf = new Uint8Array(0);
  #order = new Uint32Array(0);
  #spare = new Uint32Array(0);
  readonly #starts = new Uint32Array(BUCKETS);

  /**
   * As `sortedBy`, with the keys of all items in columns, which are of no use afterwards; the result is good until the next
   * call. Where the first key has few values, the items of each are put together and sorted by the others: what moves back
   * and forth then stays in the cache.
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
      // Most passes are short, and a group of few rows is no reason to count thousands of buckets.
      part.set(part.length < SHORT ? comparedBy(part, keys) : this.#distributed(part, keys));
    }
    return sorted;
  }

  /**
   * Puts the places of a column in `#order`, those of equal values together and the lowest value first. Returns where
   * those of each start, or null if there are many.
   */
  #group(column: Float64Array): readonly number[] | null {
    this.#groupOf = withRoom(this.#groupOf, column.length);
    const groupOf = this.#groupOf;
    const groups = new Map<number, number>();
    const next = new Uint32Array(FEW_VALUES);
    let last = Number.NaN;
    let group = 0;
    for (let i = 0; i < column.length; i++) {
      // As a rule the one before has the same value.
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

  /** Sorts digit by digit, the lowest of the last key first. */
  #distributed(items: Uint32Array, columns: readonly Float64Array[]): Uint32Array {
    let order = this.#order.subarray(0, items.length);
    let spare = this.#spare.subarray(0, items.length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    for (const column of columns.toReversed()) {
      const words = comparable(column);
      for (const half of [LOW, HIGH]) {
        let differing = differingBits(words, half);
        while (differing !== 0) {
          // From the lowest bit that is not the same in all.
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

/** Sorts few items by keys in columns. */
function comparedBy(items: Uint32Array, columns: readonly Float64Array[]): Uint32Array {
  const order = sortedByComparing(
    Uint32Array.from(items.keys()),
    columns.map((column) => (place: number) => column[place]!),
  );
  return order.map((place) => items[place]!);
}

type Column = Uint32Array | Float64Array;

/** Puts a column in another order. */
function gather(column: Column, order: Uint32Array, to: Column): void {
  for (let i = 0; i < order.length; i++) to[i] = column[order[i]!]!;
}

/** Where the halves of a double stand. */
const ONE = new Uint32Array(Float64Array.of(1).buffer);
const HIGH = ONE[0] === 0 ? 1 : 0;
const LOW = 1 - HIGH;

/** The keys as pairs of words that compare like the keys do: the bits of a double, negative ones turned round. */
function comparable(column: Float64Array): Uint32Array {
  const words = new Uint32Array(column.buffer, column.byteOffset, 2 * column.length);
  for (let i = 0; i < column.length; i++) {
    // Adding zero makes one of the two zeros.
    column[i]! += 0;
    const high = words[2 * i + HIGH]!;
    const turned = (high | 0) >> 31;
    words[2 * i + HIGH] = high ^ (turned | 0x80000000);
    words[2 * i + LOW]! ^= turned;
  }
  return words;
}

/** Bits that are not the same in all keys. */
function differingBits(words: Uint32Array, half: number): number {
  let differing = 0;
  for (let i = half; i < words.length; i += 2) differing |= words[i]! ^ words[half]!;
  return differing;
}

/** One pass: `from` by one digit of its words into `to`, with room to count in `starts`. */
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
