import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fitLinesTo, indented, LINE_WIDTH, paintFor, proseWidth, tableLines, wrapped } from './table.ts';

describe('a table', () => {
  const texts = fc.array(fc.string({ maxLength: 150 }), { minLength: 8, maxLength: 8 });

  it('given any cells, then every line fits the width', () => {
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

describe('wrapping', () => {
  it('given a text, then it breaks between words, and within a word longer than a line', () => {
    expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapped('one elephants', 7)).toEqual(['one', 'elephan', 'ts']);
  });

  it('given wide gaps, then they stay within a line, but not at its ends', () => {
    expect(wrapped('cycle 1  ok  abc', 12)).toEqual(['cycle 1  ok', 'abc']);
  });

  it('given control characters, then they are escaped', () => {
    expect(wrapped('a\x1b[2J', 20)).toEqual(['a\\u001b[2J']);
  });

  it('given an indent, then every line has it and fits the width', () => {
    const lines = indented('word '.repeat(40), 4);
    expect(lines.every((line) => line.startsWith('    word') && line.length <= LINE_WIDTH)).toBe(true);
    expect(lines).toHaveLength(3);
  });
});

describe('the width of lines', () => {
  afterEach(() => fitLinesTo({ isTTY: true, columns: LINE_WIDTH }));
  const long = 'word '.repeat(60).trimEnd();
  const table = () => tableLines([{ header: 'A' }, { header: 'B' }], [[{ text: long }, { text: long }]]);

  it('given a file or a pipe, then no table is cut and no sentence wrapped', () => {
    fitLinesTo({});
    expect(table()[1]).toBe(`${long}  ${long}`);
    expect(wrapped(long, proseWidth())).toEqual([long]);
    expect(indented(long, 4)).toEqual([`    ${long}`]);
  });

  it('given a terminal, then tables have its columns, and sentences at most a hundred of them', () => {
    fitLinesTo({ isTTY: true, columns: 60 });
    expect(table()[1]).toHaveLength(60);
    expect(Math.max(...indented(long, 0).map((line) => line.length))).toBeLessThanOrEqual(60);
    fitLinesTo({ isTTY: true, columns: 160 });
    expect(table()[1]).toHaveLength(160);
    expect(Math.max(...indented(long, 0).map((line) => line.length))).toBeLessThanOrEqual(LINE_WIDTH);
  });

  it('given a terminal that does not know its size, then lines have the usual width', () => {
    fitLinesTo({ isTTY: true, columns: 0 });
    expect(table()[1]).toHaveLength(LINE_WIDTH);
  });
});

describe('colours', () => {
  afterEach(() => vi.unstubAllEnvs());
  const painted = (env: Readonly<Record<string, string>>, isTTY = true): string => {
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'COLORTERM', 'CI'])
      vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries({ TERM: 'xterm-256color', ...env })) vi.stubEnv(name, value);
    const getColorDepth = () => WriteStream.prototype.getColorDepth();
    return paintFor(Object.assign(new PassThrough(), { isTTY, getColorDepth }))('red', 'x');
  };

  it('given a terminal, then texts have colours; given a pipe, NO_COLOR or TERM=dumb, then none', () => {
    expect(painted({})).toContain('\x1b[31m');
    expect(painted({}, false)).toBe('x');
    expect(painted({ NO_COLOR: '1' })).toBe('x');
    expect(painted({ TERM: 'dumb' })).toBe('x');
  });
});
