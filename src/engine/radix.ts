// Sorting numbers by a key without comparing them two by two: what has to be ordered each cycle (rows that wait for
// the pools, classes by price) is long, and a comparator costs a call for each pair.

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
  return sortedByColumns(items, ...keys.map((keyOf) => Float64Array.from(items, keyOf)));
}

/**
 * The same with the keys of all items in columns, which are of no use afterwards. Where the first key has few values, the
 * items of each are put together and sorted by the others: what moves back and forth then stays in the cache.
 */
export function sortedByColumns(items: Uint32Array, ...columns: readonly Float64Array[]): Uint32Array {
  const [first, ...others] = columns;
  const groups = others.length === 0 ? null : groupsBy(first!);
  if (groups === null) return distributed(items, columns);
  const sorted = gathered(items, groups.order);
  const keys = others.map((column) => gathered(column, groups.order));
  for (const [i, start] of groups.starts.entries()) {
    const end = groups.starts[i + 1] ?? items.length;
    const part = sorted.subarray(start, end);
    part.set(
      distributed(
        part,
        keys.map((column) => column.subarray(start, end)),
      ),
    );
  }
  return sorted;
}

/** Places of a column with equal values together, lowest value first, and where those of each start; null if they are many. */
function groupsBy(column: Float64Array): { order: Uint32Array; starts: readonly number[] } | null {
  const groups = new Map<number, number>();
  const counts = new Uint32Array(FEW_VALUES);
  const groupOf = new Uint8Array(column.length);
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
    counts[group]!++;
  }
  const starts: number[] = [];
  const next = new Uint32Array(FEW_VALUES);
  let start = 0;
  for (const [, number] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    starts.push(start);
    next[number] = start;
    start += counts[number]!;
  }
  const order = new Uint32Array(column.length);
  for (let i = 0; i < order.length; i++) order[next[groupOf[i]!]!++] = i;
  return { order, starts };
}

/** A column in another order. */
function gathered<T extends Uint32Array | Float64Array>(column: T, order: Uint32Array): T {
  const result = column.slice() as T;
  for (let i = 0; i < order.length; i++) result[i] = column[order[i]!]!;
  return result;
}

/** Sorts digit by digit, the lowest of the last key first. */
function distributed(items: Uint32Array, columns: readonly Float64Array[]): Uint32Array {
  let order = new Uint32Array(items.length);
  let spare = new Uint32Array(items.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (const column of columns.toReversed()) {
    const words = comparable(column);
    for (const half of [LOW, HIGH]) {
      let differing = differingBits(words, half);
      while (differing !== 0) {
        // From the lowest bit that is not the same in all.
        const shift = 31 - Math.clz32(differing & -differing);
        distribute(words, half, shift, order, spare);
        [order, spare] = [spare, order];
        differing &= shift + DIGIT_BITS < 32 ? -1 << (shift + DIGIT_BITS) : 0;
      }
    }
  }
  for (let i = 0; i < order.length; i++) spare[i] = items[order[i]!]!;
  return spare;
}

function sortedByComparing(items: Uint32Array, keys: readonly KeyOf[]): Uint32Array {
  return items.toSorted((a, b) => {
    // Infinite keys are equal; their difference is not a number.
    const differing = keys.find((keyOf) => keyOf(a) !== keyOf(b));
    return differing === undefined ? 0 : differing(a) - differing(b);
  });
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

/** One pass: `from` by one digit of its words into `to`. */
function distribute(
  words: Uint32Array,
  half: number,
  shift: number,
  from: Uint32Array,
  to: Uint32Array,
): void {
  const starts = new Uint32Array(BUCKETS);
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
