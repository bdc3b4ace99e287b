// Sorting numbers by a key without comparing them two by two: what has to be ordered each cycle (rows that wait for
// the pools, classes by price) is long, and a comparator costs a call for each pair.

const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
/** Where the digits of a 32-bit word begin, lowest first. */
const SHIFTS = [0, DIGIT_BITS, 2 * DIGIT_BITS];
/** Below this, counting buckets costs more than comparing. */
const SHORT = 256;

/** The items by key, lowest first; items with equal keys stay in the order they came in. Keys are never NaN. */
export function sortedBy(items: Uint32Array, keyOf: (item: number) => number): Uint32Array {
  if (items.length < SHORT) return sortedByComparing(items, keyOf);
  const { low, high } = wordsOf(items, keyOf);
  let order = new Uint32Array(items.length);
  let spare = new Uint32Array(items.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (const words of [low, high]) {
    for (const shift of SHIFTS) {
      if (!distribute(words, shift, order, spare)) continue;
      [order, spare] = [spare, order];
    }
  }
  for (let i = 0; i < order.length; i++) spare[i] = items[order[i]!]!;
  return spare;
}

// Infinite keys are equal; their difference is not a number.
function sortedByComparing(items: Uint32Array, keyOf: (item: number) => number): Uint32Array {
  return items.toSorted((a, b) => (keyOf(a) === keyOf(b) ? 0 : keyOf(a) - keyOf(b)));
}

/** The keys as pairs of words that compare like the keys do: the bits of a double, negative ones turned round. */
function wordsOf(
  items: Uint32Array,
  keyOf: (item: number) => number,
): { readonly low: Uint32Array; readonly high: Uint32Array } {
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
  return { low, high };
}

/** One pass: `from` by one digit of its words into `to`. False if all share the digit; then `to` is untouched. */
function distribute(words: Uint32Array, shift: number, from: Uint32Array, to: Uint32Array): boolean {
  const starts = new Uint32Array(BUCKETS);
  for (let i = 0; i < words.length; i++) starts[(words[i]! >>> shift) & (BUCKETS - 1)]!++;
  if (starts[(words[0]! >>> shift) & (BUCKETS - 1)] === words.length) return false;
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
  return true;
}
