// Suggestions for misspelt words. Used by validation.ts, the configuration, the API and the command line.

/** The candidate nearest to a word, as a question to append to a refusal; '' if none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  let nearest = '';
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // The difference in length is a lower bound of the distance; it spares the computation for very long words.
    if (!isTail(word, candidate) && Math.abs(word.length - candidate.length) >= least) continue;
    const edits = isTail(word, candidate) ? 1 : distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits >= least) continue;
    least = edits;
    nearest = candidate;
  }
  return nearest === '' ? '' : ` Did you mean ${nearest}?`;
}

/** Whether the word is a key without its section. */
function isTail(word: string, candidate: string): boolean {
  return candidate.endsWith(`.${word}`);
}

/** Levenshtein distance: insertions, deletions and substitutions of one letter. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
