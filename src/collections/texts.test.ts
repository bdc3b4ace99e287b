import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareText } from '../model/index.ts';
import { Texts } from './texts.ts';

// Characters on both sides of every change in encoded length, and surrogates paired and unpaired.
const UNITS = [
  '\0',
  'a',
  '\x7f',
  '\x80',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ud800',
  '\udbff',
  '\udc00',
  '\udfff',
];
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...UNITS, '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'), maxLength: 5 }),
);

function textsOf(list: readonly string[]): Texts {
  const texts = new Texts();
  for (const [number, text] of list.entries()) texts.set(number, text);
  return texts;
}

describe('Texts', () => {
  it('given any texts, then each number returns its own text', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1 }), anyText, (list, other) => {
        const texts = textsOf(list);
        for (const [number, text] of list.entries()) {
          expect(texts.textOf(number)).toBe(text);
          expect(texts.has(number, text)).toBe(true);
          expect(texts.has(number, other)).toBe(text === other);
          expect(texts.has(number, `${text}a`)).toBe(false);
        }
      }),
    );
  });

  it('given any two texts, then they compare as compareText does', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const texts = textsOf([a, b]);
        expect(Math.sign(texts.compare(0, 1))).toBe(Math.sign(compareText(a, b)));
        expect(texts.compare(0, 0)).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('given a text too long for one call, then it is returned unchanged', () => {
    const long = 'longer \uffff than any id '.repeat(10_000);
    expect(textsOf(['', long]).textOf(1)).toBe(long);
  });

  it('given many freed texts, when the buffer is compacted, then the others are unchanged', () => {
    const list = Array.from({ length: 10_000 }, (_, number) => `machine-\u07ff-${number}`);
    const texts = textsOf(list);
    for (let number = 0; number < 9_000; number++) texts.remove(number);
    const left = Uint32Array.from({ length: 1_000 }, (_, i) => 9_000 + i).reverse();

    texts.tidy(left);
    texts.set(0, 'new');

    expect(Array.from(left, (number) => texts.textOf(number))).toEqual(list.slice(9_000).reverse());
    expect(texts.textOf(0)).toBe('new');
  });
});
