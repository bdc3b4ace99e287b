// Sorting numbers by a key without comparing them two by two: what has to be ordered each cycle (rows that wait for
// the pools, classes by price) is long, and a comparator costs a call for each pair.

const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
/** Where the digits of a 32-bit word begin, lowest first. */
const SHIFTS = [0, DIGIT_BITS, 2 * DIGIT_BITS];
/** Below this, counting buckets costs more than comparing. */
const SHORT = 256;

/** Tells the key of an item. Keys are never NaN. */
export type KeyOf = (item: number) => number;

/**
 * The items by their first key, lowest first, those with equal ones by the next; items that are equal in all keys stay in
 * the order they came in.
 */
export function sortedBy(items: Uint32Array, ...keys: readonly KeyOf[]): Uint32Array {
  if (items.length < SHORT) return sortedByComparing(items, keys);
  // Keys are asked for in the order the items came in, which is mostly that of memory.
  const words = keys.map((keyOf) => wordsOf(items, keyOf));
  let order = new Uint32Array(items.length);
  let spare = new Uint32Array(items.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (const { low, high } of words.reverse()) {
    for (const half of [low, high]) {
      for (const shift of SHIFTS) {
        if ((half.differing >>> shift) % BUCKETS === 0) continue;
        distribute(half.words, shift, order, spare);
        [order, spare] = [spare, order];
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

/** One half of the keys of all items. */
interface Half {
  readonly words: Uint32Array;
  /** Bits that are not the same in all of them. */
  readonly differing: number;
}

/** The keys as pairs of words that compare like the keys do: the bits of a double, negative ones turned round. */
function wordsOf(items: Uint32Array, keyOf: KeyOf): { readonly low: Half; readonly high: Half } {
  const low = new Uint32Array(items.length);
  const high = new Uint32Array(items.length);
  const double = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < items.length; i++) {
    // Adding zero makes one of the two zeros.
    double.setFloat64(0, keyOf(items[i]!) + 0);
    const top = double.getInt32(0);
    const bottom = double.getInt32(4);
    high[i] = top < 0 ? ~top : top ^ 0x80000000;
    low[i] = top < 0 ? ~bottom : bottom;
  }
  return { low: halfOf(low), high: halfOf(high) };
}

function halfOf(words: Uint32Array): Half {
  let differing = 0;
  for (let i = 1; i < words.length; i++) differing |= words[i]! ^ words[0]!;
  return { words, differing };
}

/** One pass: `from` by one digit of its words into `to`. */
function distribute(words: Uint32Array, shift: number, from: Uint32Array, to: Uint32Array): void {
  const starts = new Uint32Array(BUCKETS);
  for (let i = 0; i < words.length; i++) starts[(words[i]! >>> shift) & (BUCKETS - 1)]!++;
  let start = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const count = starts[bucket]!;
    starts[bucket] = start;
    start += count;
  }
  for (let i = 0; i < from.length; i++) {
    const bucket = (words[from[i]!]! >>> shift) & (BUCKETS - 1);
    to[starts[bucket]!++] = from[i]!;
  }
}
