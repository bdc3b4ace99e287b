import { describe, expect, it } from 'vitest';
import { age, amounts, countOf, dollars, roundAmount, shortAmounts } from './amounts.ts';

describe('formatting of amounts', () => {
  it.each([
    [-5, '0s'],
    [119_999, '119s'],
    [120_000, '2m'],
    [2 * 3_600_000 - 1, '119m'],
    [47 * 3_600_000, '47h'],
    [72 * 3_600_000, '3d'],
  ])('given an age of %i ms, then it prints %s', (ms, text) => expect(age(ms)).toBe(text));

  it.each([
    [1.5, '$1.50'],
    [0.0416, '$0.04'],
    [12_345.6, '$12,345.60'],
  ])('given %f dollars, then it prints %s', (amount, text) => expect(dollars(amount)).toBe(text));

  it('given quantities, then they are rounded and names are short in tables; given another text, then it is unchanged', () => {
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

  it('given a count of 1, then the noun is singular', () => {
    expect([countOf(1, 'machine'), countOf(2000, 'machine')]).toEqual(['1 machine', '2,000 machines']);
  });
});
