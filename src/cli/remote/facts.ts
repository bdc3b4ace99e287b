// Facts below one another, `name  text`, and sentences that go on in the next line instead of being cut.

import { printable } from '../../model/index.ts';
import { LINE_WIDTH } from '../table.ts';

export type Fact = readonly [name: string, texts: string | readonly string[]];

const NAME_WIDTH = 14;
const INDENT = 2;

/** Facts without a text are left out. */
export function factLines(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap(([name, given]) => {
    const texts = (typeof given === 'string' ? [given] : given).filter((text) => text !== '');
    const lines = texts.flatMap((text) => wrapped(text, LINE_WIDTH - NAME_WIDTH - INDENT));
    return lines.map((line, i) => `${' '.repeat(INDENT)}${(i === 0 ? name : '').padEnd(NAME_WIDTH)}${line}`);
  });
}

/** Sentences as a paragraph each. */
export function proseLines(sentences: readonly string[], bullet = ''): readonly string[] {
  const indent = INDENT + bullet.length;
  return sentences.flatMap((sentence) =>
    wrapped(sentence, LINE_WIDTH - indent).map(
      (line, i) => `${i === 0 ? ' '.repeat(INDENT) + bullet : ' '.repeat(indent)}${line}`,
    ),
  );
}

/** Lines of whole words; a word that is longer than a line is broken. */
function wrapped(text: string, width: number): readonly string[] {
  const words = printable(text)
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []);
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
