// String order. Every tie in a decision ends in a comparison of names, and names compare by their UTF-8 bytes, so that
// any implementation in any language sorts them alike. Also `excerpt`, through which every text of a peer passes before
// it is logged or shown.

/** Orders two strings by their UTF-8 bytes: negative, zero or positive. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rankOfUnit(x) - rankOfUnit(y);
  }
  return a.length - b.length;
}

/**
 * The place of a UTF-16 unit in that order. UTF-16 puts surrogates (code points above U+FFFF) below U+E000..U+FFFF; UTF-8
 * puts them above.
 */
export function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Inverse of `rankOfUnit`. */
export function unitOfRank(rank: number): number {
  if (rank < 0xd800) return rank;
  return rank < 0xf800 ? rank + 0x800 : rank - 0x2000;
}

/** Sorted by UTF-8 bytes, each string once. */
export function sortedUnique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareText);
}

/** Bytes of a peer's text that are shown, logged or kept at most. */
export const MAX_EXCERPT_BYTES = 200;

/**
 * A text that came from a peer, made safe to keep and to show: cut to a bounded number of UTF-8 bytes, marked as cut with
 * its full length, and then escaped like `printable`. Every peer's text passes through here before it becomes part of a
 * problem, log line, metric label, API answer, journal or database record.
 */
export function excerpt(text: string, maxBytes = MAX_EXCERPT_BYTES): string {
  // A UTF-16 unit takes one to three bytes, so a text of a third of the bound always fits.
  if (text.length * 3 <= maxBytes) return printable(text);
  // Encoding into a new buffer also makes a copy: a slice of a long string would keep the whole string in memory.
  const { read, written } = encoder.encodeInto(text, scratchOf(maxBytes));
  const kept = scratch.toString('utf8', 0, written);
  return read === text.length ? printable(kept) : `${printable(kept)}… (${text.length} characters)`;
}

/** Whether a text has more than `maxBytes` UTF-8 bytes. For most texts their length alone decides. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  // A UTF-16 unit takes one to three bytes.
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

const encoder = new TextEncoder();
let scratch = Buffer.alloc(MAX_EXCERPT_BYTES);

/** Never writes half a character into it: `encodeInto` stops before one that does not fit. */
function scratchOf(bytes: number): Uint8Array {
  if (scratch.length < bytes) scratch = Buffer.alloc(bytes);
  return scratch.subarray(0, bytes);
}

/** A string for display: control and bidi characters are escaped, so that a hostile name cannot move the cursor. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
