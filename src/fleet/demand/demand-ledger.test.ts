import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aNeed, RACK_KEY, resources, same } from '../../../testing/support/fleets.ts';
import { BigFleetError, compareRank, keyOf, MAX_UNITS, type Need } from '../../model/index.ts';
import { Fleet } from '../index.ts';

function need(cluster: string, priority: number, firstSeenMs: number, group = ''): Need {
  return aNeed({ cluster, priority, firstSeenMs, group });
}

function rows(cluster: string, count: number): Need[] {
  return Array.from({ length: count }, (_, i) => need(cluster, count - i, 1));
}

/** A cluster's rows in rank order, read from the columns. */
function rowsOf(fleet: Fleet, cluster: string): Need[] {
  const { demand } = fleet;
  const { offset, length } = demand.rowsOf(fleet.clusters.find(cluster));
  return Array.from({ length }, (_, i) => demand.needAt(demand.ranked[offset + i]!));
}

/**
 * For each row of a cluster its pattern; where rows tie, also the text order of keys and fold keys that breaks the tie, and
 * the fold of the row.
 */
function placesOf({ demand, clusters, keys, patterns }: Fleet, cluster: string) {
  const { offset, length } = demand.rowsOf(clusters.find(cluster));
  const all = [...demand.ranked.subarray(offset, offset + length)];
  const isTie = (a: number, b: number): boolean =>
    demand.precedence[a] === demand.precedence[b] && demand.firstSeenMs[a] === demand.firstSeenMs[b];
  return all.map((row) => {
    const tied = all.filter((other) => isTie(row, other));
    const folding = tied.filter((other) => demand.same[other] === 1);
    const wanted = { minUnit: patterns.patternOf(demand.pattern[row]!).minUnit };
    if (folding.length === 0) return wanted;
    const texts = [
      ...tied.map((it) => demand.keyPlace[it]!),
      ...folding.map((it) => demand.foldKeyPlace[it]!),
    ];
    const order = [...new Set(texts)].sort((a, b) => a - b);
    const text = order.indexOf(demand.keyPlace[row]!);
    if (demand.same[row] === 0) return { ...wanted, text };
    const whole = patterns.patternOf(demand.wholePattern[row]!).minUnit;
    const foldKeyPlace = order.indexOf(demand.foldKeyPlace[row]!);
    return { ...wanted, text, foldKeyPlace, fold: keys.keyOf(demand.foldKey[row]!), whole };
  });
}

function tableCounts({ demand, keys, patterns }: Fleet): number[] {
  return [demand.count, keys.count, demand.profiles.count, patterns.count];
}

/** Clusters with rows, in name order. */
function clustersOf(fleet: Fleet): string[] {
  const wanting = fleet.clusters.sorted().filter((number) => fleet.demand.rowsOf(number).length > 0);
  return wanting.map((number) => fleet.clusters.nameOf(number));
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

describe('DemandLedger', () => {
  // Case 22 of the specification.
  it('given 5 rows, when the cluster reports 2, then 2 remain; when it reports none, then the cluster is removed', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', rows('a', 5));
    expect(fleet.demand.count).toBe(5);
    fleet.demand.replace('a', rows('a', 2));
    expect(fleet.demand.count).toBe(2);
    expect(rowsOf(fleet, 'a')).toEqual(rows('a', 2));
    fleet.demand.replace('a', []);
    expect(fleet.demand.count).toBe(0);
    expect(clustersOf(fleet)).toEqual([]);
    expect(rowsOf(fleet, 'a')).toEqual([]);
  });

  // Case 22 of the specification.
  it('given two clusters, when one reports, then the rows of the other stay', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', rows('a', 3));
    fleet.demand.replace('b', rows('b', 4));
    fleet.demand.replace('a', []);
    expect(clustersOf(fleet)).toEqual(['b']);
    expect(rowsOf(fleet, 'b')).toEqual(rows('b', 4));
  });

  // Case 23 of the specification.
  it('given rows of a cluster, then they are sorted by priority, then by first-seen', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', [need('a', 0, 30), need('a', 1_000_000, 20), need('a', 1_000_000, 5, 'g')]);
    const order = rowsOf(fleet, 'a').map((row) => [row.profile.priority, row.firstSeenMs]);
    expect(order).toEqual([
      [1_000_000, 5],
      [1_000_000, 20],
      [0, 30],
    ]);
  });

  // Case 23 of the specification.
  it('given clusters with rows of equal rank, then the clusters are sorted by the bytes of their names, not by arrival', () => {
    const fleet = new Fleet();
    for (const cluster of ['b', 'a', 'B', '\u{1f600}', '\uffff'])
      fleet.demand.replace(cluster, [need(cluster, 7, 7)]);
    expect(clustersOf(fleet)).toEqual(['B', 'a', 'b', '\uffff', '\u{1f600}']);
  });

  it('given a reported array, when the caller changes it afterwards, then the ledger is not affected', () => {
    const fleet = new Fleet();
    const reported = rows('a', 2);
    fleet.demand.replace('a', reported);
    reported.pop();
    expect(rowsOf(fleet, 'a')).toEqual(rows('a', 2));
  });

  it('given a reported array, when the caller changes it and reports it again, then the ledger has the change', () => {
    const fleet = new Fleet();
    const reported = rows('a', 3);
    fleet.demand.replace('a', reported);
    reported[1] = need('a', 9, 9);
    expect(fleet.demand.replace('a', reported)).toBe(true);
    expect(rowsOf(fleet, 'a')).toEqual([need('a', 9, 9), need('a', 3, 1), need('a', 1, 1)]);
  });

  it('given many rows, when most of them end, then the others stay in order and the freed rows are reused', () => {
    const fleet = new Fleet();
    const many = rows('a', 60);
    fleet.demand.replace('a', many);
    const few = [3, 20, 59].map((i) => many[i]!);
    fleet.demand.replace('a', few);
    expect(rowsOf(fleet, 'a')).toEqual(few);
    const { size } = fleet.demand;
    fleet.demand.replace('b', rows('b', 60));
    expect(fleet.demand.size).toBe(size);
    expect(rowsOf(fleet, 'a')).toEqual(few);
    expect(rowsOf(fleet, 'b')).toEqual(rows('b', 60));
  });

  it('given rows with one key, when reported, then they are merged; rows of other groups are not', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', [need('a', 1, 9), need('a', 1, 4), need('a', 1, 4, 'g')]);
    expect(fleet.demand.count).toBe(2);
    const merged = rowsOf(fleet, 'a').find((row) => row.group === '');
    expect(merged).toMatchObject({ aggregate: resources({ cpu: 8 }), firstSeenMs: 4 });
  });

  it('given equal rows, when reported again, then nothing changes; a new first-seen, aggregate or min_unit is a change', () => {
    const { demand } = new Fleet();
    expect(demand.replace('a', rows('a', 2))).toBe(true);
    expect(demand.replace('a', rows('a', 2).reverse())).toBe(false);
    expect(demand.replace('a', [need('a', 2, 1), need('a', 1, 2)])).toBe(true);
    expect(demand.replace('a', [need('a', 2, 1), { ...need('a', 1, 2), minUnit: new Map() }])).toBe(true);
    expect(demand.replace('a', [need('a', 2, 1), { ...need('a', 1, 2), aggregate: new Map() }])).toBe(true);
    expect(demand.replace('a', [need('a', 2, 1)])).toBe(true);
    expect(demand.replace('b', [])).toBe(false);
  });

  it('given a known row, when it requests a resource with a new name, then the aggregate includes it', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', [need('a', 1, 1)]);
    const wanted: Need = { ...need('a', 1, 1), aggregate: resources({ cpu: 4, gpu: 1 }) };
    expect(fleet.demand.replace('a', [wanted])).toBe(true);
    expect(rowsOf(fleet, 'a')).toEqual([wanted]);
  });

  it('given a row of another cluster, when reported, then the whole report is refused and nothing changes', () => {
    const fleet = new Fleet();
    fleet.demand.replace('a', rows('a', 3));
    const error = refusalOf(() => fleet.demand.replace('a', [need('a', 5, 5), need('b\n', 5, 5)]));
    expect(error.code).toBe('BF_CLUSTER_MISMATCH');
    expect(error.problems[0]?.path).toBe('needs[1].cluster');
    expect(error.message).toContain('"b\\u000a"');
    expect(rowsOf(fleet, 'a')).toEqual(rows('a', 3));
    expect(clustersOf(fleet)).toEqual(['a']);
  });

  it('given rows whose sum exceeds the exact range, when reported, then the merged row is set aside and others are not', () => {
    const fleet = new Fleet();
    const huge: Need = { ...need('a', 3, 3), aggregate: resources({ cpu: MAX_UNITS }) };
    fleet.demand.replace('a', [huge, ...rows('a', 1), huge]);
    const aside: Need = { ...huge, aggregate: new Map(), minUnit: new Map(), setAside: true };
    expect(rowsOf(fleet, 'a')).toEqual([aside, ...rows('a', 1)]);
    expect(fleet.demand.setAsideIn[fleet.clusters.find('a')]).toBe(1);
  });

  it('given a gang, when it alternates between set aside and not, then each time it is a new row with its own references', () => {
    const fleet = new Fleet();
    const gang = aNeed({ cluster: 'a', group: 'g', requirements: [same(RACK_KEY)] });
    const aside: Need = { ...gang, aggregate: new Map(), minUnit: new Map(), setAside: true };
    for (let round = 0; round < 3; round++) {
      expect(fleet.demand.replace('a', [gang])).toBe(true);
      expect([fleet.keys.count, fleet.demand.setAsideIn[fleet.clusters.find('a')]]).toEqual([2, 0]);
      expect(fleet.demand.replace('a', [aside])).toBe(true);
      expect(rowsOf(fleet, 'a')).toEqual([aside]);
      // A reference to its own key, but to no fold key; and to a pattern of its requirements without amounts.
      expect([fleet.keys.count, fleet.patterns.count]).toEqual([1, 1]);
      expect(fleet.demand.setAsideIn[fleet.clusters.find('a')]).toBe(1);
      expect(fleet.demand.replace('a', [{ ...gang, setAside: true }])).toBe(false);
    }
    fleet.demand.replace('a', []);
    expect([fleet.keys.count, fleet.demand.profiles.count, fleet.patterns.count]).toEqual([0, 0, 0]);
  });

  it('given a row that ends, when an equal one that is set aside begins, then it does not reuse the former row', () => {
    const fleet = new Fleet();
    const before = aNeed({ cluster: 'a', group: 'g', aggregate: new Map(), minUnit: new Map() });
    fleet.demand.replace('a', [before]);
    fleet.demand.replace('a', [{ ...before, group: 'h', setAside: true }]);
    const { offset } = fleet.demand.rowsOf(fleet.clusters.find('a'));
    expect(fleet.demand.setAside[offset]).toBe(1);
  });

  it('given gangs and plain rows, when all of them end, then keys, profiles and patterns are released', () => {
    const fleet = new Fleet();
    const gang = aNeed({ cluster: 'a', group: 'g', requirements: [same(RACK_KEY)] });
    for (let round = 0; round < 3; round++) {
      fleet.demand.replace('a', [gang, ...rows('a', 9)]);
      fleet.demand.replace('b', rows('b', 2));
      expect(fleet.keys.count).toBe(13); // the gang's key and its fold's
      fleet.demand.replace('a', []);
      fleet.demand.replace('b', []);
      expect([fleet.keys.count, fleet.demand.profiles.count, fleet.patterns.count]).toEqual([0, 0, 0]);
    }
    expect(fleet.demand.size).toBeLessThanOrEqual(20);
  });

  it('given a job that ends, when a similar one begins, then its row reuses the former row, with fewer or more rows in total', () => {
    const gang = (group: string, firstSeenMs: number, cpu: number): Need => {
      const amounts = { aggregate: resources({ cpu }), minUnit: resources({ cpu: 1 }) };
      return { ...aNeed({ cluster: 'a', group, requirements: [same(RACK_KEY)], firstSeenMs }), ...amounts };
    };
    const [small, large, other] = [gang('small', 1, 4), gang('large', 1, 8), gang('other', 1, 2)];
    const reports = [
      [gang('next-large', 2, 8), other],
      [gang('a-small', 2, 4), other, gang('b-large', 2, 8)],
      [
        gang('next-large', 2, 8),
        gang('one-more', 2, 8),
        gang('next-small', 3, 4),
        small,
        gang('larger', 1, 9),
      ],
    ];
    for (const next of reports) {
      const fleet = new Fleet();
      fleet.demand.replace('a', [small, large, other]);
      const place = fleet.demand.rowOf(keyOf(large));
      fleet.demand.replace('a', next);
      const fresh = new Fleet();
      fresh.demand.replace('a', next);
      expect(rowsOf(fleet, 'a')).toEqual(rowsOf(fresh, 'a'));
      expect(placesOf(fleet, 'a')).toEqual(placesOf(fresh, 'a'));
      expect(tableCounts(fleet)).toEqual(tableCounts(fresh));
      expect(fleet.demand.rowOf(keyOf(large))).toBeUndefined();
      if (next.length === 3) expect(fleet.demand.rowOf(keyOf(next[2]!))).toBe(place);
    }
  });

  it('given any history of reports, then the rows equal those loaded from the last roll-up of each cluster', () => {
    const report = fc.record({
      cluster: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
      priorities: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        const fleet = new Fleet();
        const last = new Map<string, Need[]>();
        for (const { cluster, priorities } of reports) {
          const needs = priorities.map((p) => need(cluster, p, 1));
          fleet.demand.replace(cluster, needs);
          last.set(cluster, needs);
        }
        const fresh = new Fleet();
        for (const [cluster, needs] of [...last].reverse()) fresh.demand.replace(cluster, needs);
        expect(clustersOf(fleet)).toEqual(clustersOf(fresh));
        expect(fleet.demand.count).toBe(fresh.demand.count);
        for (const cluster of last.keys()) {
          const listed = rowsOf(fleet, cluster);
          expect(listed).toEqual(rowsOf(fresh, cluster));
          for (let i = 1; i < listed.length; i++) {
            expect(compareRank(listed[i - 1]!, listed[i]!)).toBeLessThan(0);
          }
        }
      }),
    );
  });

  it('given rows that are identical, equal, moved, duplicated or new, then the ledger equals one loaded from scratch', () => {
    const pool = [1, 2].flatMap((priority) =>
      ['', 'g1', 'g2', 'h'].flatMap((group) =>
        [1, 2].map((cpu): Need => {
          const requirements = group.startsWith('g') ? [same(RACK_KEY)] : [];
          const amounts = { aggregate: resources({ cpu: 4 * cpu }), minUnit: resources({ cpu }) };
          return { ...aNeed({ cluster: 'a', priority, group, requirements, firstSeenMs: cpu }), ...amounts };
        }),
      ),
    );
    const row = fc.record({ which: fc.nat(pool.length - 1), copied: fc.nat(4).map((n) => n === 0) });
    const report = fc.array(row, { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 5 }), (reports) => {
        const fleet = new Fleet();
        for (const chosen of reports) {
          const needs = chosen.map(({ which, copied }) => (copied ? { ...pool[which]! } : pool[which]!));
          const before = rowsOf(fleet, 'a');
          const changed = fleet.demand.replace('a', needs);
          const fresh = new Fleet();
          fresh.demand.replace('a', needs);
          expect(rowsOf(fleet, 'a')).toEqual(rowsOf(fresh, 'a'));
          expect(placesOf(fleet, 'a')).toEqual(placesOf(fresh, 'a'));
          expect(tableCounts(fleet)).toEqual(tableCounts(fresh));
          expect(changed).toBe(!isDeepStrictEqual(before, rowsOf(fleet, 'a')));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('DemandLedger.needOf', () => {
  it('given a key, then it returns the Need reported last, and undefined once the row has ended', () => {
    const { demand } = new Fleet();
    const [low, high] = [need('c1', 1, 1), need('c1', 2, 1)];
    const grown = { ...low, aggregate: resources({ cpu: 9 }) };
    demand.replace('c1', [low, high]);
    demand.replace('c1', [high, grown]);
    expect(demand.needOf(keyOf(low))).toEqual(grown);

    demand.replace('c1', [high]);

    expect(demand.needOf(keyOf(low))).toBeUndefined();
    expect(demand.needOf(keyOf(high))).toEqual(high);
    expect(demand.needOf({ ...keyOf(high), cluster: 'c2' })).toBeUndefined();
  });
});
