// Records of roll-ups, also those of earlier versions and damaged ones. replay.property.test.ts covers whole journals.

import { describe, expect, it } from 'vitest';
import { aNeed } from '../../../testing/support/fleets.ts';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import { Fleet, PendingChanges } from '../../fleet/index.ts';
import { type Need, rowsAfter } from '../../model/index.ts';
import { RollupRecorder, RollupRecordReader } from './rollup-records.ts';

const NEEDS = [1, 2, 3].map((priority) => aNeed({ cluster: 'c', priority }));

/** A ledger with a recorder of its roll-ups. */
function aJournal() {
  const fleet = new Fleet();
  const pending = new PendingChanges(fleet);
  const recorder = new RollupRecorder(fleet);
  const source = new DeltaSource('c');
  const report = (...needs: readonly Need[]) => {
    pending.append({ kind: 'demand', delta: source.next(needs) });
    const { rollUps, clusters } = pending.commitMachines().writeRows();
    recorder.note(rollUps.values());
    return recorder.records(clusters).map((record) => structuredClone(record));
  };
  return { fleet, recorder, report };
}

describe('records of roll-ups', () => {
  it('given a change, then the record has the fresh row, and reading gives back all rows', () => {
    const { report } = aJournal();
    const reader = new RollupRecordReader();
    const [first] = report(NEEDS[0]!, NEEDS[1]!);
    expect(first).toMatchObject({ cluster: 'c', before: 0, order: Int32Array.of(0, 1) });
    const [second] = report(NEEDS[2]!, NEEDS[1]!);
    expect(second).toMatchObject({ before: 2, order: Int32Array.of(2, 1), fresh: { groups: [''] } });
    const rows = rowsAfter([], reader.read(first!));
    expect(rowsAfter(rows, reader.read(second!))).toEqual([NEEDS[2], NEEDS[1]]);
  });

  it('given another order of the same rows, then there is no record of it, and the next one is right', () => {
    const { report } = aJournal();
    const reader = new RollupRecordReader();
    const rows = rowsAfter([], reader.read(report(NEEDS[0]!, NEEDS[1]!)[0]!));
    expect(report(NEEDS[1]!, NEEDS[0]!)).toEqual([]);
    expect(rowsAfter(rows, reader.read(report(NEEDS[1]!)[0]!))).toEqual([NEEDS[1]]);
  });

  it('given rows that were written past the recorder, then the next record replaces all rows', () => {
    const { report, fleet, recorder } = aJournal();
    const reader = new RollupRecordReader();
    const rows = rowsAfter([], reader.read(report(NEEDS[0]!, NEEDS[1]!)[0]!));
    fleet.demand.apply({ cluster: 'c', base: 1, version: 8, origin: Int32Array.of(0), fresh: [] });
    const next = { cluster: 'c', base: 8, version: 9, origin: Int32Array.of(-1), fresh: [NEEDS[2]!] };
    fleet.demand.apply(next);
    recorder.note([next]);
    const [record] = recorder.records([fleet.clusters.find('c')]);
    expect(rowsAfter(rows, reader.read(record!))).toEqual([NEEDS[2]]);
  });

  it('given a record of an earlier version that says that nothing changed, then the rows stay', () => {
    const [first] = aJournal().report(...NEEDS);
    const reader = new RollupRecordReader();
    const rows = rowsAfter([], reader.read(first!));
    const fresh = { groups: [], names: [], numbers: new Float64Array(0) };
    const same = { cluster: 'c', before: 3, order: null, fresh, profiles: [], dropped: [] };
    expect(rowsAfter(rows, reader.read(same))).toEqual(NEEDS);
    const empty = { ...same, cluster: 'other', before: 0 };
    expect(rowsAfter([], reader.read(empty))).toEqual([]);
  });

  it('given a record of which the one before is missing, or that contradicts itself, then it is refused', () => {
    const { report } = aJournal();
    const [first] = report(NEEDS[0]!, NEEDS[1]!);
    const [second] = report(NEEDS[1]!, NEEDS[2]!);
    expect(() => new RollupRecordReader().read(second!)).toThrow('0 rows are known, not 2');
    const reader = new RollupRecordReader();
    reader.read(first!);
    expect(() => reader.read({ ...second!, order: Int32Array.of(1, 1) })).toThrow('Origin 1 appears twice');
    expect(() => reader.read({ ...second!, order: Int32Array.of(-2, 1) })).toThrow('has origin -2');
  });
});
