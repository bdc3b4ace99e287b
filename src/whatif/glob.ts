// Patterns in which `*` means any text, the empty one included. Used by selection.ts.

/** Whether a text has the form of a pattern. Linear in the text for each `*`, so that no pattern of a caller is expensive. */
function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return text === pattern;
  const last = rest.pop()!;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

export function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, text));
}
