import { describe, expect, it } from 'vitest';
import { age, amounts, countOf, dollars, roundAmount, shortAmounts } from './amounts.ts';

describe('amounts for people', () => {
  it.each([
    [-5, '0s'],
    [119_999, '119s'],
    [120_000, '2m'],
    [2 * 3_600_000 - 1, '119m'],
    [47 * 3_600_000, '47h'],
    [72 * 3_600_000, '3d'],
  ])('an age of %i ms is %s', (ms, text) => expect(age(ms)).toBe(text));

  it.each([
    [1.5, '$1.50'],
    [0.0416, '$0.04'],
    [12_345.6, '$12,345.60'],
  ])('%f is %s', (amount, text) => expect(dollars(amount)).toBe(text));

  it('quantities are rounded, long names cut in tables, and what is no quantity is left alone', () => {
    const some = { cpu: '63500m', memory: '1649267441665', 'nvidia.com/gpu': '12000' };
    expect(amounts(some)).toBe('cpu 63.5, memory 1.5Ti, nvidia.com/gpu 12,000');
    expect(shortAmounts(some)).toBe('cpu 63.5 memory 1.5Ti gpu 12,000');
    expect(amounts({})).toBe('nothing');
    expect(amounts({ cpu: 'lots' })).toBe('cpu lots');
    expect(roundAmount('cpu', 0.125)).toBe('0.13');
    expect(roundAmount('memory', 0)).toBe('0');
    expect(roundAmount('memory', 1023)).toBe('1,023');
    expect(roundAmount('memory', 5 * 2 ** 60)).toBe('5,120Pi');
  });

  it('one is one', () => {
    expect([countOf(1, 'machine'), countOf(2000, 'machine')]).toEqual(['1 machine', '2,000 machines']);
  });
});
