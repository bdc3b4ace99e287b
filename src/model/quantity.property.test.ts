// The grammar of quantities a second time, as a character scanner over exact fractions, to compare the parser with.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigFleetError } from './errors.ts';
import { formatQuantity, MAX_UNITS, parseQuantity, type Rounding } from './quantity.ts';

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const RESOURCES = ['cpu', 'memory', 'ephemeral-storage', 'hugepages-1Gi', 'nvidia.com/gpu', '__proto__', ''];

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

function digitsAt(text: string, from: number): number {
  let end = from;
  while (end < text.length && '0123456789'.includes(text.charAt(end))) end++;
  return end;
}

function suffixFactor(suffix: string): Fraction | null {
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return powerOfTen(3 * (decimal - 3));
  const binary = BINARY.indexOf(suffix);
  if (binary >= 0) return { over: 1024n ** BigInt(binary + 1), under: 1n };
  if (suffix.charAt(0).toLowerCase() !== 'e') return null;
  const start = '+-'.includes(suffix.charAt(1)) && suffix.length > 1 ? 2 : 1;
  if (start === suffix.length || digitsAt(suffix, start) !== suffix.length) return null;
  return powerOfTen(Number(suffix.slice(1)));
}

function powerOfTen(n: number): Fraction {
  return n >= 0 ? { over: 10n ** BigInt(n), under: 1n } : { over: 1n, under: 10n ** BigInt(-n) };
}

function scan(text: string): Fraction | null {
  const start = text.startsWith('+') || text.startsWith('-') ? 1 : 0;
  const point = digitsAt(text, start);
  const hasPoint = text.charAt(point) === '.';
  const end = hasPoint ? digitsAt(text, point + 1) : point;
  const fraction = hasPoint ? text.slice(point + 1, end) : '';
  const digits = text.slice(start, point) + fraction;
  const factor = suffixFactor(text.slice(end));
  if (digits === '' || factor === null) return null;
  const sign = text.startsWith('-') ? -1n : 1n;
  return { over: sign * BigInt(digits) * factor.over, under: 10n ** BigInt(fraction.length) * factor.under };
}

function expected(text: string, resource: string, rounding: Rounding): number | string {
  const value = scan(text);
  if (value === null) return 'BF_QUANTITY_SYNTAX';
  if (value.over < 0n) return 'BF_QUANTITY_NEGATIVE';
  const over = value.over * (resource === 'cpu' ? 1000n : 1n);
  const units = rounding === 'up' ? (over + value.under - 1n) / value.under : over / value.under;
  return units > BigInt(MAX_UNITS) ? 'BF_QUANTITY_OVERFLOW' : Number(units);
}

function actual(text: string, resource: string, rounding: Rounding): number | string {
  try {
    return parseQuantity(text, resource, rounding);
  } catch (error) {
    if (error instanceof BigFleetError) return error.code;
    throw error;
  }
}

const resource = fc.constantFrom(...RESOURCES);
const rounding = fc.constantFrom<Rounding>('up', 'down');
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), maxLength: 20 });
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 30 }))
  .map(([letter, sign, n]) => `${letter}${sign}${n}`);
const suffix = fc.oneof(fc.constantFrom(...DECIMAL, ...BINARY), exponent);
const sensible = fc
  .tuple(fc.constantFrom('', '', '', '+', '-'), digits, fc.option(digits), suffix)
  .map(([sign, whole, fraction, end]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${end}`);
const scrambled = fc.string({ unit: fc.constantFrom(...'0159.eEKMGTPikmnu+- '.split('')), maxLength: 7 });

const amount = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 5000 }),
  fc
    .tuple(fc.integer({ min: 1, max: 1023 }), fc.constantFrom(10, 20, 30, 40, 43), fc.constantFrom(-1, 0, 1))
    .map(([n, shift, off]) => n * 2 ** shift + off),
);

describe('parseQuantity against exact fractions', () => {
  it('given a number with a suffix, then both return the same units or the same refusal', () => {
    fc.assert(
      fc.property(sensible, resource, rounding, (text, name, round) => {
        expect(actual(text, name, round)).toBe(expected(text, name, round));
      }),
      { numRuns: 3000 },
    );
  });

  it('given scrambled characters, then both accept and refuse the same texts', () => {
    fc.assert(
      fc.property(scrambled, resource, rounding, (text, name, round) => {
        expect(actual(text, name, round)).toBe(expected(text, name, round));
      }),
      { numRuns: 3000 },
    );
  });

  it('given any text, then the result is an amount or one of three refusals', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), resource, rounding, (text, name, round) => {
        const found = actual(text, name, round);
        if (typeof found === 'number') expect(Number.isSafeInteger(found) && found >= 0).toBe(true);
        else expect(found).toMatch(/^BF_QUANTITY_(SYNTAX|NEGATIVE|OVERFLOW)$/);
      }),
    );
  });

  it('given any quantity, then rounding up exceeds rounding down by at most one unit', () => {
    fc.assert(
      fc.property(sensible, resource, (text, name) => {
        const up = actual(text, name, 'up');
        const down = actual(text, name, 'down');
        if (typeof up === 'number' && typeof down === 'number') expect([0, 1]).toContain(up - down);
      }),
    );
  });
});

describe('formatQuantity and parseQuantity', () => {
  it('given any amount, when formatted and parsed again, then it is the same amount, with either rounding', () => {
    fc.assert(
      fc.property(amount, resource, rounding, (units, name, round) => {
        expect(parseQuantity(formatQuantity(units, name), name, round)).toBe(units);
      }),
      { numRuns: 2000 },
    );
  });

  it('given any quantity, when formatted, then the text is canonical', () => {
    fc.assert(
      fc.property(sensible, resource, (text, name) => {
        const units = actual(text, name, 'up');
        if (typeof units !== 'number') return;
        const written = formatQuantity(units, name);
        expect(written).toMatch(/^\d+(m|[KMGTPE]i)?$/);
        expect(formatQuantity(parseQuantity(written, name, 'down'), name)).toBe(written);
      }),
    );
  });
});
