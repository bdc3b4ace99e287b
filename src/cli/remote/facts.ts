// Lays out facts below one another, `name  text`, and sentences that are wrapped instead of cut. Used by `bigfleet
// get`, `explain` and `decide`.

import { asCalledHere } from '../invocation.ts';
import { proseWidth, wrapped } from '../table.ts';

export type Fact = readonly [name: string, texts: string | readonly string[]];

const NAME_WIDTH = 14;
const INDENT = 2;

/** Facts without a text are left out. */
export function factLines(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap(([name, value]) => {
    const texts = (typeof value === 'string' ? [value] : value).filter((text) => text !== '');
    const lines = texts.flatMap((text) => wrapped(asCalledHere(text), proseWidth() - NAME_WIDTH - INDENT));
    return lines.map((line, i) => `${' '.repeat(INDENT)}${(i === 0 ? name : '').padEnd(NAME_WIDTH)}${line}`);
  });
}

/** Sentences as a paragraph each. */
export function proseLines(sentences: readonly string[], bullet = ''): readonly string[] {
  const indent = INDENT + bullet.length;
  return sentences.flatMap((sentence) =>
    wrapped(asCalledHere(sentence), proseWidth() - indent).map(
      (line, i) => `${i === 0 ? ' '.repeat(INDENT) + bullet : ' '.repeat(indent)}${line}`,
    ),
  );
}
