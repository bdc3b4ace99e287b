import { describe, expect, it } from 'vitest';
import { shareColumns } from '../../collections/table.ts';
import { Fleet } from '../../fleet/index.ts';
import { Cycle } from '../cycle.ts';
import { Claims } from './claims.ts';

function withRoom(): Claims {
  const claims = new Claims();
  claims.reserveMachines(10);
  claims.reserveRows(4);
  claims.reserveClaims(10);
  return claims;
}

describe('claims', () => {
  it('given credits and acquired machines, then a row has both, in claim order', () => {
    const claims = withRoom();
    claims.openCredits(2);
    claims.credit(2, 7);
    claims.credit(2, 3);
    claims.openLater(2);
    claims.acquire(2, 5, 0);

    expect(claims.of(2)).toEqual([7, 3, 5]);
    expect([7, 3, 5, 6].map((slot) => claims.isFree(slot))).toEqual([false, false, false, true]);
    expect(claims.count).toBe(3);
  });

  it('when the last claims are undone, then their machines are free and earlier ones are not', () => {
    const claims = withRoom();
    claims.openCredits(1);
    claims.credit(1, 4);
    claims.openLater(1);
    claims.acquire(1, 5, 0);
    claims.acquire(1, 6, 0);

    expect(claims.pop()).toBe(6);
    claims.undoFrom(1);
    claims.forgetLater(1);

    expect(claims.of(1)).toEqual([4]);
    expect([4, 5, 6].map((slot) => claims.isFree(slot))).toEqual([false, true, true]);
    expect(claims.count).toBe(1);
  });

  it('given claims of another lane in the same columns, when the pass is undone, then they are too', () => {
    const claims = withRoom();
    claims.openCredits(0);
    claims.credit(0, 1);
    const lane = new Claims();
    shareColumns(claims, lane);
    lane.continueAt(5);
    lane.openLater(1);
    lane.acquire(1, 2, 0);
    claims.openLater(0);
    claims.acquire(0, 3, 0);
    claims.adopt([{ from: 5, to: lane.count }]);

    expect([claims.of(0), claims.of(1)]).toEqual([[1, 3], [2]]);
    expect(claims.ofPass(1)).toEqual([
      { from: 1, to: 2 },
      { from: 5, to: 6 },
    ]);
    claims.undoPass(1);

    expect([1, 2, 3].map((slot) => claims.isFree(slot))).toEqual([false, true, true]);
  });

  it('given the tables of a cycle, then writing their columns from outside does not type-check', () => {
    const cycle = new Cycle(new Fleet());
    const writes = (): void => {
      // @ts-expect-error: claims are made by its methods
      cycle.claims.claimedBy[0] = 1;
      // @ts-expect-error: so are credits
      cycle.credits.outcome[0] = 1;
      // @ts-expect-error: ranked rows are made by RankedRows
      cycle.rankedRows.key.fill(0);
      // @ts-expect-error: the result is recorded by its methods
      cycle.result.unmet.push();
      // @ts-expect-error: no table is replaced
      cycle.claims = new Claims();
    };

    expect(writes).toBeTypeOf('function');
  });
});
