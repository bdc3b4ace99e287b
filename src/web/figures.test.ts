import { describe, expect, it } from 'vitest';
import {
  amount,
  byInterest,
  count,
  counted,
  dollars,
  instant,
  measured,
  milliseconds,
  perHour,
  perMonth,
  quantityValue,
  span,
  sparkline,
  timeOfDay,
} from './figures.ts';

describe('figures', () => {
  it.each<[string, string]>([
    [count(0), '0'],
    [count(999), '999'],
    [count(1_234_567), '1,234,567'],
    [counted(1, 'machine'), '1 machine'],
    [counted(0, 'machine'), '0 machines'],
    [dollars(0.0416), '$0.04'],
    [dollars(-0.004), '$0.00'],
    [dollars(-1_234.5), '-$1,234.50'],
    [instant(Date.UTC(2026, 2, 1, 12, 0, 0, 250)), '2026-03-01T12:00:00.250Z'],
    [timeOfDay(Date.UTC(2026, 2, 1, 23, 5, 9)), '23:05:09Z'],
    [perHour(0), '$0.00/h'],
    [perHour(12.345), '$12.35/h'],
    [perHour(12_345.6), '$12,345.60/h'],
    [perMonth(1.5), '$1,095.00 in 730 h'],
    [milliseconds(0.42), '0.4 ms'],
    [milliseconds(42.4), '42 ms'],
    [milliseconds(1234), '1.2 s'],
    [span(-5), '0 s'],
    [span(59_999), '59 s'],
    [span(60_000), '1 min'],
    [span(7_500_000), '2 h 5 min'],
    [span(90_000_000), '1 d 1 h'],
    [amount('cpu', 2.25), '2.3'],
    [amount('cpu', 1234.4), '1,234'],
    [amount('cpu', 0.02), '0.02'],
    [amount('memory', 512), '512 B'],
    [amount('memory', 3.5 * 1024 ** 4), '3.5 TiB'],
    [amount('ephemeral-storage', 20 * 1024 ** 3), '20 GiB'],
    [measured('cpu', 340), '340 cores'],
    [measured('cpu', 1), '1 core'],
    [measured('memory', 1.2 * 1024 ** 4), '1.2 TiB'],
    [measured('nvidia.com/gpu', 8), '8'],
    [amount('nvidia.com/gpu', 64), '64'],
    [sparkline([], 10), ''],
    [sparkline([0, 0], 10), '▁▁'],
    [sparkline([5, 5, 5], 10), '███'],
    [sparkline([100, 101, 100, 102], 10), '████'],
    [sparkline([100, 0, 7, 14], 3), '▁▅█'],
  ])('%s', (shown, wanted) => {
    expect(shown).toBe(wanted);
  });

  it.each([
    ['12', 12],
    ['53750m', 53.75],
    ['48Gi', 48 * 2 ** 30],
    ['2G', 2e9],
    ['many', undefined],
    ['3 x', undefined],
  ])('given the quantity %s, then its value is %s', (quantity, value) => {
    expect(quantityValue(quantity)).toBe(value);
  });

  it('given several resources, then cpu, memory and gpu come first', () => {
    const names = ['ephemeral-storage', 'nvidia.com/gpu', 'memory', 'cpu'];
    expect(byInterest(names)).toEqual(['cpu', 'memory', 'nvidia.com/gpu', 'ephemeral-storage']);
  });
});
