import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareText, excerpt, printable, sortedUnique } from './text.ts';

// One character from either side of every step in UTF-8 length and of the surrogate range in UTF-16.
const STEPS = [
  '\0',
  'a',
  '\x7f',
  '\x80',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
];

const wellFormed = fc.oneof(
  fc.string({ unit: fc.constantFrom(...STEPS), maxLength: 6 }),
  fc.string({ unit: 'binary' }),
);
const anyText = fc.oneof(
  wellFormed,
  fc.string({ unit: fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff', 'a', '\uffff'), maxLength: 5 }),
);

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
}

describe('compareText', () => {
  it('given well-formed strings, then the order is that of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(byBytes(a, b));
      }),
      { numRuns: 1000 },
    );
  });

  it('given strings with a common start, then the order is still that of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, wellFormed, (start, a, b) => {
        expect(Math.sign(compareText(start + a, start + b))).toBe(byBytes(start + a, start + b));
      }),
    );
  });

  it('given one character of every UTF-8 and UTF-16 length, then they sort in code point order, unlike in a default sort', () => {
    expect([...STEPS].reverse().sort(compareText)).toEqual(STEPS);
    expect([...STEPS].sort()).not.toEqual(STEPS);
  });

  it('is a total order on any strings, lone surrogates included', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (a, b, c) => {
        expect(compareText(a, b) === 0).toBe(a === b);
        expect(Math.sign(compareText(a, b))).toBe(-Math.sign(compareText(b, a)) + 0);
        if (compareText(a, b) < 0 && compareText(b, c) < 0) expect(compareText(a, c)).toBeLessThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('given a lone surrogate, which has no UTF-8 form, then it sorts above U+FFFF and not as the replacement character', () => {
    expect(compareText('\ud800', '\uffff')).toBeGreaterThan(0);
    expect(byBytes('\ud800', '\uffff')).toBe(-1);
    expect(compareText('\ud800', '\ud801')).toBeLessThan(0);
    expect(byBytes('\ud800', '\ud801')).toBe(0);
  });

  it('given a prefix, then it sorts first', () => {
    expect(compareText('', 'a')).toBeLessThan(0);
    expect(compareText('node', 'node-1')).toBeLessThan(0);
    expect(compareText('node-10', 'node-9')).toBeLessThan(0);
    expect(compareText('Z', 'a')).toBeLessThan(0);
  });
});

describe('sortedUnique', () => {
  it('given strings, then the result is sorted without duplicates, and the input is not changed', () => {
    const given = ['b', 'a', 'b', '', '\u{1f600}', '\uffff', 'a'];
    expect(sortedUnique(given)).toEqual(['', 'a', 'b', '\uffff', '\u{1f600}']);
    expect(given).toEqual(['b', 'a', 'b', '', '\u{1f600}', '\uffff', 'a']);
    expect(sortedUnique([])).toEqual([]);
  });

  it('given any order and repetition of strings, then the result is the same', () => {
    fc.assert(
      fc.property(fc.array(anyText), (values) => {
        const once = sortedUnique(values);
        expect(sortedUnique([...values, ...values].reverse())).toEqual(once);
        expect(new Set(once)).toEqual(new Set(values));
        for (let i = 1; i < once.length; i++) expect(compareText(once[i - 1]!, once[i]!)).toBeLessThan(0);
      }),
    );
  });
});

describe('printable', () => {
  it.each([
    ['plain-name_1', 'plain-name_1'],
    ['grüße 你好 \u{1f600}', 'grüße 你好 \u{1f600}'],
    ['a\nb', 'a\\u000ab'],
    ['\0', '\\u0000'],
    ['\x1b[2J', '\\u001b[2J'],
    ['\x7f\x80\x9f\xa0', '\\u007f\\u0080\\u009f\xa0'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['', ''],
  ])('given %j, then it returns %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('given any text, then no control character is left, and escaping again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });
});

describe('excerpt', () => {
  it.each([
    ['given a short name, then it is unchanged', 'web', 'web'],
    ['given 200 bytes, then they are unchanged', 'x'.repeat(200), 'x'.repeat(200)],
    ['given 201 bytes, then the last one is cut', 'x'.repeat(201), `${'x'.repeat(200)}… (201 characters)`],
    [
      'given a multi-byte character at the limit, then it is cut whole',
      `${'x'.repeat(199)}é!`,
      `${'x'.repeat(199)}… (201 characters)`,
    ],
    ['given a control character, then it is escaped', 'a\0b', 'a\\u0000b'],
  ])('%s', (_what, text, shown) => {
    expect(excerpt(text)).toBe(shown);
  });

  it('given 16 MB of zero bytes, then it is cut before it is escaped, so the result stays small', () => {
    const shown = excerpt('\0'.repeat(16_000_000));
    expect(shown).toBe(`${'\\u0000'.repeat(200)}… (16000000 characters)`);
  });

  it('given any text and limit, then the result is a prefix of the escaped text, whole if it fits', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        (text, bytes) => {
          const [kept] = excerpt(text, bytes).split('… (');
          expect(Buffer.byteLength(kept!)).toBeLessThanOrEqual(Buffer.byteLength(printable(text)));
          expect(printable(text).startsWith(kept!)).toBe(true);
          if (Buffer.byteLength(text) <= bytes) expect(excerpt(text, bytes)).toBe(printable(text));
        },
      ),
    );
  });
});
