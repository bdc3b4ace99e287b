import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indented, LINE_WIDTH, tableLines, wrapped } from './table.ts';

describe('a table', () => {
  const texts = fc.array(fc.string({ maxLength: 150 }), { minLength: 8, maxLength: 8 });

  it('fits a line, whatever is in it', () => {
    const columns = ['ID', 'B', 'C', 'D', 'E', 'F', 'G', 'H'].map((header, i) =>
      i === 0 ? { header, isWhole: true as const } : { header },
    );
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 5 }), (rows) => {
        const cells = rows.map((row) => row.map((text) => ({ text })));
        for (const line of tableLines(columns, cells)) expect(line.length).toBeLessThanOrEqual(LINE_WIDTH);
      }),
    );
  });
});

describe('a text in lines', () => {
  it('is broken between words, and within one that is longer than a line', () => {
    expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapped('one elephants', 7)).toEqual(['one', 'elephan', 'ts']);
  });

  it('keeps its gaps within a line, and none at the end or beginning of one', () => {
    expect(wrapped('cycle 1  ok  abc', 12)).toEqual(['cycle 1  ok', 'abc']);
  });

  it('has nothing in it that a terminal would obey', () => {
    expect(wrapped('a\x1b[2J', 20)).toEqual(['a\\u001b[2J']);
  });

  it('may begin further to the right', () => {
    const lines = indented('word '.repeat(40), 4);
    expect(lines.every((line) => line.startsWith('    word') && line.length <= LINE_WIDTH)).toBe(true);
    expect(lines).toHaveLength(3);
  });
});
