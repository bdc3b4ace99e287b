import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareKeys,
  comparePrecedence,
  compareRank,
  keyOf,
  keyText,
  mergeNeeds,
  type Need,
  type NeedKey,
  sameKey,
} from './need.ts';
import { makeProfile, type ProfileParts } from './profile.ts';
import { MAX_UNITS } from './quantity.ts';
import { Operator } from './requirement.ts';
import { add, maximum, NO_RESOURCES } from './resources.ts';
import { compareText } from './text.ts';

function need(parts: ProfileParts, rest: Partial<Omit<Need, 'profile'>> = {}): Need {
  return {
    cluster: 'c',
    profile: makeProfile(parts),
    group: '',
    aggregate: NO_RESOURCES,
    minUnit: NO_RESOURCES,
    firstSeenMs: 1,
    ...rest,
  };
}

function amounts(cpu: number, memory: number): Need['aggregate'] {
  return new Map([
    ['cpu', cpu],
    ['memory', memory],
  ]);
}

const name = fc.constantFrom('', 'a', 'b', 'ab', '1:', '\uffff', '\u{10000}');
const needs: fc.Arbitrary<Need> = fc
  .record({
    parts: fc.record({
      priority: fc.oneof(fc.constantFrom(0, 1), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1)),
      interruptionBucket: fc.constantFrom(0, 1, 27),
      reclamationBucket: fc.constantFrom(0, 1, 27),
      requirements: fc.array(
        fc.record({ key: name, operator: fc.constant(Operator.Exists), values: fc.constant([]) }),
        {
          maxLength: 1,
        },
      ),
    }),
    cluster: name,
    group: name,
    firstSeenMs: fc.constantFrom(0, 1, 2, Number.MAX_SAFE_INTEGER),
    cpu: fc.nat({ max: 9 }),
    memory: fc.nat({ max: 9 }),
  })
  .map(({ parts, cluster, group, firstSeenMs, cpu, memory }) => {
    return need(parts, {
      cluster,
      group,
      firstSeenMs,
      aggregate: amounts(cpu, memory),
      minUnit: amounts(memory, cpu),
    });
  });

describe('comparePrecedence', () => {
  const row = (priority: number, interruptionBucket: number, reclamationBucket: number): Need['profile'] => {
    return makeProfile({ priority, interruptionBucket, reclamationBucket });
  };

  // Case 12 of the specification.
  it('given a higher priority, then it precedes, whatever the penalties', () => {
    expect(comparePrecedence(row(200, 0, 0), row(100, 27, 27))).toBeGreaterThan(0);
    expect(comparePrecedence(row(100, 27, 27), row(200, 0, 0))).toBeLessThan(0);
    expect(comparePrecedence(row(2 ** 31 - 1, 0, 0), row(-(2 ** 31), 27, 27))).toBeGreaterThan(0);
  });

  // Case 12 of the specification.
  it('given equal priority, then the larger interruption bucket precedes, then the larger reclamation bucket', () => {
    expect(comparePrecedence(row(100, 5, 0), row(100, 4, 27))).toBeGreaterThan(0);
    expect(comparePrecedence(row(100, 5, 3), row(100, 5, 2))).toBeGreaterThan(0);
    expect(comparePrecedence(row(100, 27, 0), row(100, 26, 0))).toBeGreaterThan(0);
  });

  // Case 12 of the specification.
  it('given equal priority and buckets, then neither precedes; other parts of a profile are not compared', () => {
    const gpu = makeProfile({
      priority: 1,
      requirements: [{ key: 'gpu', operator: Operator.Exists, values: [] }],
    });
    expect(comparePrecedence(row(1, 2, 3), row(1, 2, 3))).toBe(0);
    expect(comparePrecedence(gpu, row(1, 0, 0))).toBe(0);
  });
});

describe('compareRank', () => {
  it('given rows that differ in one field, then priority, buckets, first-seen and key decide, in this order', () => {
    const gpu = [{ key: 'gpu', operator: Operator.Exists, values: [] }];
    const ranked = [
      need({ priority: 2 }, { cluster: 'z', firstSeenMs: 99 }),
      need({ priority: 1, interruptionBucket: 2 }, { cluster: 'z', firstSeenMs: 99 }),
      need({ priority: 1, interruptionBucket: 1, reclamationBucket: 2 }, { cluster: 'z', firstSeenMs: 99 }),
      need({ priority: 1, interruptionBucket: 1, reclamationBucket: 1 }, { cluster: 'z', firstSeenMs: 5 }),
      need({ priority: 1, interruptionBucket: 1, reclamationBucket: 1 }, { cluster: 'a', firstSeenMs: 6 }),
      need(
        { priority: 1, interruptionBucket: 1, reclamationBucket: 1, requirements: gpu },
        { firstSeenMs: 6 },
      ),
      need({ priority: 1, interruptionBucket: 1, reclamationBucket: 1 }, { firstSeenMs: 6 }),
      need({ priority: 1, interruptionBucket: 1, reclamationBucket: 1 }, { firstSeenMs: 6, group: 'g' }),
    ];
    expect([...ranked].reverse().sort(compareRank)).toEqual(ranked);
    for (let i = 1; i < ranked.length; i++) {
      expect(compareRank(ranked[i - 1]!, ranked[i]!)).toBeLessThan(0);
      expect(compareRank(ranked[i]!, ranked[i - 1]!)).toBeGreaterThan(0);
    }
  });

  it('is a total order: antisymmetric, transitive, zero only for equal key and first-seen', () => {
    fc.assert(
      fc.property(needs, needs, needs, (a, b, c) => {
        expect(Math.sign(compareRank(a, b))).toBe(-Math.sign(compareRank(b, a)) + 0);
        if (compareRank(a, b) <= 0 && compareRank(b, c) <= 0)
          expect(compareRank(a, c)).toBeLessThanOrEqual(0);
        const one = sameKey(keyOf(a), keyOf(b)) && a.firstSeenMs === b.firstSeenMs;
        expect(compareRank(a, b) === 0).toBe(one);
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with precedence, and for equal precedence and first-seen with the order of keys', () => {
    fc.assert(
      fc.property(needs, needs, (a, b) => {
        const ahead = comparePrecedence(a.profile, b.profile);
        if (ahead !== 0) expect(Math.sign(compareRank(a, b))).toBe(-Math.sign(ahead));
        else if (a.firstSeenMs === b.firstSeenMs) {
          expect(Math.sign(compareRank(a, b))).toBe(Math.sign(compareKeys(keyOf(a), keyOf(b))));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('keys', () => {
  const keys: fc.Arbitrary<NeedKey> = fc.record({
    cluster: fc.oneof(name, fc.string()),
    fingerprint: fc.oneof(name, fc.string()),
    group: fc.oneof(name, fc.string()),
  });

  // Case 17 of the specification.
  it('given another group, cluster, first-seen or amount, then the fingerprint is the same', () => {
    const row = need({ priority: 7 });
    const others: Partial<Need>[] = [
      { group: 'g' },
      { cluster: 'other' },
      { firstSeenMs: 99 },
      { aggregate: amounts(1, 2) },
      { minUnit: amounts(1, 2) },
    ];
    for (const other of others)
      expect(keyOf({ ...row, ...other }).fingerprint).toBe('p=7|ipb=0|rpb=0|reqs=|spr=');
  });

  it('given keys whose parts concatenate to one string, then their texts differ', () => {
    const texts = [
      { cluster: 'a', fingerprint: 'b', group: 'c' },
      { cluster: 'ab', fingerprint: '', group: 'c' },
      { cluster: '', fingerprint: 'ab', group: 'c' },
      { cluster: 'a', fingerprint: 'bc', group: '' },
      { cluster: '', fingerprint: '', group: 'abc' },
      { cluster: '1:', fingerprint: '', group: '' },
    ].map(keyText);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('given any two keys, then sameKey, equal keyText and compareKeys of zero agree', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const same = a.cluster === b.cluster && a.fingerprint === b.fingerprint && a.group === b.group;
        expect(sameKey(a, b)).toBe(same);
        expect(keyText(a) === keyText(b)).toBe(same);
        expect(compareKeys(a, b) === 0).toBe(same);
        expect(Math.sign(compareKeys(a, b))).toBe(-Math.sign(compareKeys(b, a)) + 0);
        expect(sameKey(a, { ...a })).toBe(true);
        if (a.cluster !== b.cluster) expect(compareKeys(a, b)).toBe(compareText(a.cluster, b.cluster));
      }),
      { numRuns: 500 },
    );
  });
});

describe('mergeNeeds', () => {
  // Case 24 of the specification.
  it('given rows with one key, then amounts are added, min_unit is the maximum and first-seen the earliest known', () => {
    const merged = mergeNeeds([
      need({}, { aggregate: amounts(10, 40), minUnit: amounts(1, 8), firstSeenMs: 30 }),
      need({}, { aggregate: amounts(5, 60), minUnit: amounts(4, 2), firstSeenMs: 0 }),
      need({}, { aggregate: new Map([['gpu', 8]]), minUnit: new Map([['gpu', 8]]), firstSeenMs: 20 }),
    ]);
    expect(merged).toEqual([
      need(
        {},
        {
          aggregate: add(amounts(15, 100), new Map([['gpu', 8]])),
          minUnit: maximum(amounts(4, 8), new Map([['gpu', 8]])),
          firstSeenMs: 20,
        },
      ),
    ]);
  });

  // Case 24 of the specification.
  it('given different groups, clusters or profiles, then rows are not merged and keep their order', () => {
    const rows = [
      need({}, { group: 'b' }),
      need({}, { group: 'a' }),
      need({}),
      need({}, { cluster: 'd' }),
      need({ priority: 1 }),
    ];
    expect(mergeNeeds(rows)).toEqual(rows);
  });

  // Case 24 of the specification.
  it('given one profile with its values in different orders, then the rows are merged', () => {
    const spelled = (...values: string[]): ProfileParts => ({
      requirements: [{ key: 'k', operator: Operator.In, values }],
    });
    expect(mergeNeeds([need(spelled('x', 'y')), need(spelled('y', 'x', 'y'))])).toHaveLength(1);
  });

  it('given amounts whose sum is beyond the exact range, then the row is set aside, whatever rows follow', () => {
    const huge = need({}, { aggregate: amounts(MAX_UNITS, 1), minUnit: amounts(1, 1), firstSeenMs: 9 });
    const small = need({}, { aggregate: amounts(1, 1), minUnit: amounts(1, 1), firstSeenMs: 5 });
    const aside = need({}, { firstSeenMs: 5, setAside: true });
    expect(mergeNeeds([huge, small])).toEqual([aside]);
    expect(mergeNeeds([small, huge, small])).toEqual([aside]);
    expect(mergeNeeds([huge, need({}, { group: 'g', aggregate: amounts(1, 1) })])).toHaveLength(2);
  });

  it('given a row that is set aside, then the merged row is set aside, in any order', () => {
    const part = need({}, { setAside: true });
    const ordinary = need({}, { aggregate: amounts(1, 1), minUnit: amounts(1, 1) });
    expect(mergeNeeds([part, ordinary])).toEqual([part]);
    expect(mergeNeeds([ordinary, part])).toEqual([part]);
  });

  it('given only unknown first-seen times, then the merged one is unknown', () => {
    expect(mergeNeeds([need({}, { firstSeenMs: 0 }), need({}, { firstSeenMs: 0 })])[0]?.firstSeenMs).toBe(0);
  });

  it('given any rows, then keys are unique, totals are kept, input order does not matter and merging is idempotent', () => {
    fc.assert(
      fc.property(fc.array(needs, { maxLength: 8 }), (rows) => {
        const merged = mergeNeeds(rows);
        const byKey = (list: readonly Need[]): Need[] =>
          [...list].sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
        expect(new Set(merged.map((row) => keyText(keyOf(row)))).size).toBe(merged.length);
        expect(merged.reduce((sum, row) => add(sum, row.aggregate), NO_RESOURCES)).toEqual(
          rows.reduce((sum, row) => add(sum, row.aggregate), NO_RESOURCES),
        );
        expect(byKey(mergeNeeds([...rows].reverse()))).toEqual(byKey(merged));
        expect(mergeNeeds(merged)).toEqual(merged);
      }),
    );
  });
});
