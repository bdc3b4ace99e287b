// Roll-ups of one cluster as deltas: after each of them, the rows equal those of a ledger loaded from the last roll-up alone.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import { type Need, wholeRollup } from '../../model/index.ts';
import { Fleet, PendingChanges } from '../index.ts';

interface Row {
  readonly priority: number;
  readonly cpu: number;
  readonly firstSeenMs: number;
  readonly isSetAside: boolean;
}

const row: fc.Arbitrary<Row> = fc.record({
  priority: fc.nat(7),
  cpu: fc.integer({ min: 1, max: 3 }),
  firstSeenMs: fc.integer({ min: 1, max: 2 }),
  isSetAside: fc.boolean(),
});
const rollUps = fc.array(fc.uniqueArray(row, { selector: ({ priority }) => priority }), { maxLength: 12 });

function needOf({ priority, cpu, firstSeenMs, isSetAside }: Row): Need {
  const need = aNeed({ cluster: 'c', priority, aggregate: resources({ cpu }) });
  const seen = { ...need, firstSeenMs };
  return isSetAside ? { ...seen, aggregate: new Map(), minUnit: new Map(), setAside: true } : seen;
}

/** The rows of the cluster in rank order, with every field that a decision reads. */
function rowsIn({ demand, clusters }: Fleet): unknown[] {
  const number = clusters.find('c');
  const { offset, length } = demand.rowsOf(number);
  return Array.from(demand.ranked.subarray(offset, offset + length), (row) => ({
    key: demand.keyOf(row),
    need: demand.needOf(demand.keyOf(row)),
    aggregate: demand.aggregate.at(row),
    firstSeenMs: demand.firstSeenMs[row],
    setAside: demand.setAside[row],
    empty: demand.empty[row],
  }));
}

function loaded(needs: readonly Need[]): Fleet {
  const fleet = new Fleet();
  fleet.demand.apply(wholeRollup('c', needs));
  return fleet;
}

describe('roll-ups as deltas', () => {
  it('given any sequence of deltas, then the rows equal those of a ledger loaded from the last roll-up', () => {
    fc.assert(
      fc.property(rollUps, (reports) => {
        const fleet = new Fleet();
        const source = new DeltaSource('c');
        for (const rows of reports) {
          const needs = rows.map(needOf);
          fleet.demand.apply(source.next(needs));
          expect(rowsIn(fleet)).toEqual(rowsIn(loaded(needs)));
          expect(fleet.demand.needsOf(fleet.clusters.find('c'))).toEqual(needs);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('given several deltas between two commits, then the rows are those of the last one, and the commit reports one delta', () => {
    fc.assert(
      fc.property(fc.array(rollUps, { maxLength: 4 }), (commits) => {
        const fleet = new Fleet();
        const pending = new PendingChanges(fleet);
        const follower = new Fleet();
        const source = new DeltaSource('c');
        let last: readonly Need[] = [];
        for (const reports of commits) {
          for (const rows of reports) {
            last = rows.map(needOf);
            pending.append({ kind: 'demand', delta: source.next(last) });
          }
          const { rollUps: written, refused } = pending.commitMachines().writeRows();
          expect(refused).toEqual([]);
          for (const delta of written.values()) follower.demand.apply(delta);
          expect(rowsIn(fleet)).toEqual(rowsIn(loaded(last)));
          expect(rowsIn(follower)).toEqual(rowsIn(fleet));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('given a delta with another base, then it is refused and the rows stay; a whole roll-up is applied afterwards', () => {
    const fleet = new Fleet();
    const pending = new PendingChanges(fleet);
    const source = new DeltaSource('c');
    const needs = [1, 2, 3].map((priority) =>
      needOf({ priority, cpu: 1, firstSeenMs: 1, isSetAside: false }),
    );
    fleet.demand.apply(source.next(needs.slice(0, 2)));
    source.next(needs);
    pending.append({ kind: 'demand', delta: source.next(needs.slice(1)) });
    const { refused, clusters } = pending.commitMachines().writeRows();
    expect(refused).toMatchObject([{ problems: [{ code: 'BF_ROLLUP_BASE' }] }]);
    expect(clusters).toEqual([]);
    expect(rowsIn(fleet)).toEqual(rowsIn(loaded(needs.slice(0, 2))));
    pending.append({ kind: 'demand', delta: wholeRollup('c', needs.slice(1), 3) });
    pending.append({ kind: 'demand', delta: source.next(needs) });
    expect(pending.commitMachines().writeRows().refused).toEqual([]);
    expect(rowsIn(fleet)).toEqual(rowsIn(loaded(needs)));
  });

  it('given a roll-up with two rows of one key, then it is refused', () => {
    const fleet = new Fleet();
    const need = aNeed({ cluster: 'c' });
    expect(() => fleet.demand.apply(wholeRollup('c', [need, need]))).toThrow('two rows with the same key');
    fleet.demand.apply(wholeRollup('c', [need], 1));
    const twin = { cluster: 'c', base: 1, version: 2, origin: Int32Array.of(0, -1), fresh: [need] };
    expect(() => fleet.demand.apply(twin)).toThrow('two rows with the same key');
  });
});
