// String order. Every tie in a decision ends in a comparison of names, and names compare by their
// UTF-8 bytes, so that any implementation in any language sorts them alike.

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

/** The unit that has a place in that order. */
export function unitOfRank(rank: number): number {
  if (rank < 0xd800) return rank;
  return rank < 0xf800 ? rank + 0x800 : rank - 0x2000;
}

/** Sorted by UTF-8 bytes, each string once. */
export function sortedUnique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareText);
}

/** A string shown to a person: control characters and changes of writing direction spelled out, so that a hostile name cannot move the cursor. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
