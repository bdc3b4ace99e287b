import { describe, expect, it } from 'vitest';
import { coverageOf, percentText, usedText } from './coverage.ts';

describe('coverage of a Need', () => {
  it('given several resources, then it is that of the one that is covered least', () => {
    expect(coverageOf({ wants: { cpu: '8', memory: '16Gi' }, missing: { cpu: '2', memory: '12Gi' } })).toBe(
      0.25,
    );
  });

  it('given nothing missing, then it is whole; given all missing, or an unknown amount, then nothing', () => {
    expect(coverageOf({ wants: { cpu: '8' }, missing: {} })).toBe(1);
    expect(coverageOf({ wants: { cpu: '8' }, missing: { cpu: '8' } })).toBe(0);
    expect(coverageOf({ wants: {}, missing: { cpu: '8' } })).toBe(0);
  });

  it.each([
    [1, '100 %'],
    [0.999, '99 %'],
    [0.001, '1 %'],
    [0, '0 %'],
  ])('given a share of %d, then the text is %s', (share, text) => {
    expect(percentText(share)).toBe(text);
  });
});

describe('the used share of machines', () => {
  it.each([
    [{ general: 0.634 }, '63 %'],
    [{ general: 0.634, accelerated: 1 }, 'general 63 %, accelerated 100 %'],
    [{ accelerated: 0.5 }, 'accelerated 50 %'],
    [{}, ''],
  ])('given %j, then the text names the hardware where it is not general alone: %s', (shares, text) => {
    expect(usedText(shares)).toBe(text);
  });
});
