// The guard against collapses of demand: what it quarantines, how often, and that growth and small clusters are exempt.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CollapseGuard, type Extent, isCollapse } from './demand-guard.ts';

const extent = fc.record({
  rows: fc.nat(300),
  totals: fc.uniqueArray(fc.tuple(fc.constantFrom('cpu', 'memory', 'gpu'), fc.nat(10_000)), {
    selector: ([name]) => name,
  }),
});

function made({ rows, totals }: { rows: number; totals: [string, number][] }): Extent {
  return { rows, totals: new Map(totals) };
}

function part({ rows, totals }: Extent, of: number, ofTotals: number): Extent {
  const scaled = [...totals].map(([name, units]) => [name, units * ofTotals] as const);
  return { rows: Math.ceil(rows * of), totals: new Map(scaled) };
}

describe('isCollapse', () => {
  it('given fewer than ten rows before, then no roll-up is a collapse', () => {
    fc.assert(
      fc.property(extent, extent, fc.nat(9), (before, now, rows) => {
        expect(isCollapse({ ...made(before), rows }, made(now))).toBe(false);
      }),
    );
  });

  it('given at least a tenth of the rows and of some resource, then it is not a collapse', () => {
    fc.assert(
      fc.property(extent, fc.double({ min: 0.1, max: 3, noNaN: true }), (given, kept) => {
        const before = made(given);
        expect(isCollapse(before, part(before, kept, kept * 1.001))).toBe(false);
      }),
    );
  });

  it.each([
    ['99 of 1000 rows', 99, 1, true],
    ['100 of 1000 rows', 100, 1, false],
    ['no rows', 0, 0, true],
    ['all rows with zero amounts', 1000, 0, true],
    ['all rows with a little less than a tenth of the amounts', 1000, 0.0999, true],
    ['all rows with a tenth of the amounts', 1000, 0.1, false],
  ])('given %s, then it is a collapse only below a tenth', (_, rows, kept, expected) => {
    const before = {
      rows: 1000,
      totals: new Map([
        ['cpu', 10_000],
        ['gpu', 0],
      ]),
    };
    expect(isCollapse(before, { rows, totals: new Map([['cpu', 10_000 * kept]]) })).toBe(expected);
  });

  it('given one resource lost and another kept, then it is not a collapse', () => {
    const before = {
      rows: 20,
      totals: new Map([
        ['cpu', 100],
        ['gpu', 100],
      ]),
    };
    expect(isCollapse(before, { rows: 20, totals: new Map([['cpu', 100]]) })).toBe(false);
  });

  it('given rows with zero amounts before and after, then it is not a collapse', () => {
    expect(isCollapse({ rows: 20, totals: new Map() }, { rows: 20, totals: new Map() })).toBe(false);
  });
});

describe('CollapseGuard', () => {
  it('given any roll-ups, then it quarantines only collapses, and never three in a row', () => {
    fc.assert(
      fc.property(extent, fc.array(extent, { maxLength: 30 }), (first, rest) => {
        const guard = new CollapseGuard(made(first), false);
        let consecutive = 0;
        for (const next of rest.map(made)) {
          const baseline = guard.baseline!;
          if (guard.quarantines(next)) {
            expect(isCollapse(baseline, next)).toBe(true);
            expect(guard.baseline).toBe(baseline);
            consecutive++;
          } else {
            expect(isCollapse(baseline, next) ? consecutive : 2).toBe(2);
            guard.accept(next);
            consecutive = 0;
          }
          expect(consecutive).toBeLessThan(3);
        }
      }),
    );
  });

  it('given a refusal, then it quarantines any number of collapses, until the demand is restored', () => {
    const before = { rows: 20, totals: new Map([['cpu', 100]]) };
    const nothing = { rows: 0, totals: new Map<string, number>() };
    const guard = new CollapseGuard(before, false);
    guard.quarantines(nothing);
    guard.refuse();
    for (let i = 0; i < 20; i++) expect(guard.quarantines(nothing)).toBe(true);
    expect(guard.quarantines(before)).toBe(false);
    guard.accept(before);
    expect([1, 2, 3].map(() => guard.quarantines(nothing))).toEqual([true, true, false]);
  });
});
