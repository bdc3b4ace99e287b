import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deltaOf } from '../../testing/support/rollup-deltas.ts';
import { makeProfile, type Need } from './index.ts';
import {
  composed,
  FRESH,
  keptRows,
  NO_BASE,
  NO_ROLLUP,
  type RollupDelta,
  rowsAfter,
  wholeRollup,
} from './rollup-delta.ts';

function needOf(priority: number, cpu: number): Need {
  const profile = makeProfile({ priority });
  return {
    cluster: 'c',
    profile,
    group: '',
    aggregate: new Map([['cpu', cpu]]),
    minUnit: new Map(),
    firstSeenMs: 1,
  };
}

/** Lists of rows with distinct keys, in any order. */
const lists = fc
  .uniqueArray(fc.tuple(fc.nat(6), fc.nat(2)), { selector: ([priority]) => priority })
  .map((rows) => rows.map(([priority, cpu]) => needOf(priority, cpu)));

const delta = (parts: Partial<RollupDelta>): RollupDelta => ({
  ...{ cluster: 'c', base: 1, version: 2, origin: Int32Array.of(1, FRESH), fresh: [needOf(1, 1)] },
  ...parts,
});

describe('the delta of a roll-up', () => {
  it('given any two lists of rows, when their delta is applied to the first, then the result is the second', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const found = deltaOf('c', { version: 1, needs: before }, after);
        const kept = keptRows(found, { version: 1, rows: before.length });
        expect(rowsAfter(before, found)).toEqual(after);
        expect(before.filter((_, at) => kept[at] === 1)).toHaveLength(after.length - found.fresh.length);
        expect(rowsAfter(before, wholeRollup('c', after))).toEqual(after);
      }),
    );
  });

  it('given any three lists of rows, when their two deltas are composed, then the result leads from the first list to the last', () => {
    fc.assert(
      fc.property(fc.nat(1), lists, lists, lists, (version, first, second, third) => {
        const one = deltaOf('c', { version, needs: first }, second);
        const two = deltaOf('c', { version: one.version, needs: second }, third);
        const both = composed(one, two);
        keptRows(both, { version, rows: first.length });
        expect(both).toMatchObject({ cluster: 'c', base: version, version: two.version });
        expect(rowsAfter(first, both)).toEqual(third);
      }),
    );
  });

  it('given a whole roll-up after a delta, when they are composed, then the result is the whole roll-up', () => {
    const whole = wholeRollup('c', [needOf(3, 3)], 7);
    expect(composed(delta({}), whole)).toBe(whole);
  });

  it('given a whole roll-up, then it applies to any base', () => {
    const whole = wholeRollup('c', [needOf(3, 3)]);
    expect([...keptRows(whole, NO_ROLLUP)]).toEqual([]);
    expect([...keptRows(whole, { version: 9, rows: 2 })]).toEqual([0, 0]);
  });

  it.each([
    ['has a base other than the current version', { base: 4 }],
    ['has its own version as base', { base: 2 }],
    ['has an origin beyond the base', { origin: Int32Array.of(2, FRESH) }],
    ['has an origin below FRESH', { origin: Int32Array.of(-2, FRESH) }],
    ['has one origin twice', { origin: Int32Array.of(1, 1, FRESH) }],
    ['has fewer fresh rows than places for them', { fresh: [] }],
    ['has more fresh rows than places for them', { origin: Int32Array.of(1, 0) }],
    ['is whole and has an origin', { base: NO_BASE }],
  ])('given a delta that %s, then it is refused', (_, parts) => {
    expect([...keptRows(delta({}), { version: 1, rows: 2 })]).toEqual([0, 1]);
    expect(() => keptRows(delta(parts), { version: 1, rows: 2 })).toThrow(
      'BF_ROLLUP_BASE: Roll-up 2 of cluster "c"',
    );
  });

  it('given two deltas that are not consecutive, when they are composed, then that is refused', () => {
    const first = delta({});
    expect(() => composed(first, delta({ base: 1, version: 3 }))).toThrow('It differs from version 1, not 2');
    expect(() => composed(first, delta({ base: 2, version: 3, origin: Int32Array.of(2, FRESH) }))).toThrow(
      'Row 0 has origin 2 among 2 rows',
    );
  });
});
