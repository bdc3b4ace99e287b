import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigFleetError, compareRank, MAX_UNITS, makeProfile, type Need } from '../model/index.ts';
import { DemandTable } from './index.ts';

function need(cluster: string, priority: number, firstSeenMs: number, group = ''): Need {
  const cpu = new Map([['cpu', 1000]]);
  return { cluster, profile: makeProfile({ priority }), group, aggregate: cpu, minUnit: cpu, firstSeenMs };
}

function rows(cluster: string, count: number): Need[] {
  return Array.from({ length: count }, (_, priority) => need(cluster, priority, 1));
}

function refusalOf(act: () => void): BigFleetError {
  try {
    act();
  } catch (error) {
    if (error instanceof BigFleetError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('DemandTable', () => {
  it('case 22: given 5 rows, when the cluster reports 2, then 2 are left; when it reports none, the cluster is gone', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 5));
    expect(table.size).toBe(5);
    table.replace('a', rows('a', 2));
    expect(table.size).toBe(2);
    expect(table.clusters()).toEqual(['a']);
    table.replace('a', []);
    expect(table.size).toBe(0);
    expect(table.clusters()).toEqual([]);
    expect(table.inRankOrder()).toEqual([]);
  });

  it('case 22: given two clusters, when one reports, then the rows of the other stay', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 3));
    table.replace('b', rows('b', 4));
    table.replace('a', []);
    expect(table.clusters()).toEqual(['b']);
    expect(table.size).toBe(4);
  });

  it('case 23: rows come by priority, then first sighting', () => {
    const table = new DemandTable();
    table.replace('a', [need('a', 0, 30), need('a', 1_000_000, 20)]);
    table.replace('b', [need('b', 500_000, 10), need('b', 1_000_000, 5)]);
    const served = table.inRankOrder().map((row) => [row.cluster, row.profile.priority, row.firstSeenMs]);
    expect(served).toEqual([
      ['b', 1_000_000, 5],
      ['a', 1_000_000, 20],
      ['b', 500_000, 10],
      ['a', 0, 30],
    ]);
  });

  it('case 23: given equal priority and time, then cluster names decide, by bytes and not by arrival', () => {
    const table = new DemandTable();
    for (const cluster of ['b', 'a', 'B', '\u{1f600}', '\uffff'])
      table.replace(cluster, [need(cluster, 7, 7)]);
    expect(table.inRankOrder().map((row) => row.cluster)).toEqual(['B', 'a', 'b', '\uffff', '\u{1f600}']);
    expect(table.clusters()).toEqual(['B', 'a', 'b', '\uffff', '\u{1f600}']);
  });

  it('case 23: given a list that was handed out, when the caller empties it, then the table keeps its rows', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 2));
    table.inRankOrder().length = 0;
    table.clusters().length = 0;
    expect(table.inRankOrder()).toHaveLength(2);
    expect(table.clusters()).toEqual(['a']);
  });

  it('given the reported array, when the reporter changes it afterwards, then the table does not', () => {
    const table = new DemandTable();
    const reported = rows('a', 2);
    table.replace('a', reported);
    reported.pop();
    expect(table.size).toBe(2);
  });

  it('given rows with one key, when reported, then they are one row; other groups stay apart', () => {
    const table = new DemandTable();
    table.replace('a', [need('a', 1, 9), need('a', 1, 4), need('a', 1, 4, 'g')]);
    expect(table.size).toBe(2);
    const merged = table.inRankOrder().find((row) => row.group === '');
    expect(merged?.aggregate.get('cpu')).toBe(2000);
    expect(merged?.firstSeenMs).toBe(4);
  });

  it('given a row of another cluster, when reported, then all is refused and nothing changes', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 3));
    const before = table.inRankOrder();
    const error = refusalOf(() => table.replace('a', [need('a', 5, 5), need('b\n', 5, 5)]));
    expect(error.code).toBe('BF_CLUSTER_MISMATCH');
    expect(error.problems[0]?.path).toBe('needs[1].cluster');
    expect(error.message).toContain('"b\\u000a"');
    expect(table.inRankOrder()).toEqual(before);
    expect(table.clusters()).toEqual(['a']);
  });

  it('given rows whose sum leaves the exact range, when reported, then all is refused and nothing changes', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 1));
    const huge: Need = { ...need('a', 3, 3), aggregate: new Map([['cpu', MAX_UNITS]]) };
    expect(refusalOf(() => table.replace('a', [huge, huge])).code).toBe('BF_QUANTITY_OVERFLOW');
    expect(table.inRankOrder()).toEqual(rows('a', 1));
  });

  it('given a cluster, when removed, then it is gone; removing an unknown one is nothing', () => {
    const table = new DemandTable();
    table.replace('a', rows('a', 1));
    table.remove('b');
    expect(table.size).toBe(1);
    table.remove('a');
    expect(table.clusters()).toEqual([]);
  });

  it('the order of reports never shows: any history with the same last roll-ups gives the same list', () => {
    const report = fc.record({
      cluster: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
      priorities: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        const table = new DemandTable();
        const last = new Map<string, number[]>();
        for (const { cluster, priorities } of reports) {
          table.replace(
            cluster,
            priorities.map((p) => need(cluster, p, 1)),
          );
          last.set(cluster, priorities);
        }
        const fresh = new DemandTable();
        for (const [cluster, priorities] of [...last].reverse()) {
          fresh.replace(
            cluster,
            priorities.map((p) => need(cluster, p, 1)),
          );
        }
        expect(table.inRankOrder()).toEqual(fresh.inRankOrder());
        expect(table.clusters()).toEqual(fresh.clusters());
        expect(table.size).toBe(table.inRankOrder().length);
        const listed = table.inRankOrder();
        for (let i = 1; i < listed.length; i++) {
          expect(compareRank(listed[i - 1]!, listed[i]!)).toBeLessThan(0);
        }
      }),
    );
  });
});
