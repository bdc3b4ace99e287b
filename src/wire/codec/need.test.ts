import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeProfile, type Need, Operator, WhenUnsatisfiable } from '../../model/index.ts';
import { CapacityNeed, ClusterCapacityNeeds } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { type IntakeResult, RollupIntake } from './intake.ts';
import { needToWire, rowFromWire } from './need.ts';

const OPERATORS = Object.values(Operator).filter((operator) => operator !== Operator.Unspecified);

function wireNeed(parts: Partial<CapacityNeed> = {}): CapacityNeed {
  return {
    requirements: [],
    aggregateResources: new Map([['cpu', '10']]),
    priority: 100,
    spread: [],
    interruptionPenaltyBucket: 0,
    reclamationPenaltyBucket: 0,
    minUnit: new Map([['cpu', '500m']]),
    group: '',
    ...parts,
  };
}

function rollup(needs: readonly CapacityNeed[], clusterId = 'c1'): ClusterCapacityNeeds {
  return { clusterId, timestampUnixNanos: 1n, needs, nodeFacts: undefined };
}

function read(message: ClusterCapacityNeeds): IntakeResult {
  return new RollupIntake('c1').read(ClusterCapacityNeeds.encode(message).finish());
}

function needsOf(message: ClusterCapacityNeeds): readonly Need[] {
  const intake = read(message);
  return intake.kind === 'changed' ? intake.needs : expect.fail('not accepted');
}

/** The problems of a refused roll-up, as `code at path` lines. */
function refusals(message: ClusterCapacityNeeds): string[] {
  const intake = read(message);
  return intake.kind === 'refused' ? intake.problems.first.map(({ code, path }) => `${code} at ${path}`) : [];
}

/** The remarks on an accepted roll-up, as `effect: code at path` lines. */
function remarks(message: ClusterCapacityNeeds): string[] {
  const intake = read(message);
  if (intake.kind !== 'changed') expect.fail('not accepted');
  return intake.remarks.first.map(({ effect, code, path }) => `${effect}: ${code} at ${path}`);
}

describe('decoding of a roll-up', () => {
  it('given a valid row, then amounts are whole units and the fingerprint is canonical', () => {
    const needs = needsOf(
      rollup([
        wireNeed({
          requirements: [{ key: 'zone', operator: 1, values: ['b', 'a', 'b'] }],
          aggregateResources: new Map([
            ['cpu', '1.5'],
            ['memory', '2Gi'],
          ]),
          spread: [{ topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 1 }],
          interruptionPenaltyBucket: 6,
        }),
      ]),
    );
    expect(needs[0]).toMatchObject({
      cluster: 'c1',
      aggregate: new Map([
        ['cpu', 1500],
        ['memory', 2 ** 31],
      ]),
      minUnit: new Map([['cpu', 500]]),
      profile: { fingerprint: 'p=100|ipb=6|rpb=0|reqs=zone:1:a,b;|spr=rack:2:1;' },
    });
  });

  it('given no rows, then the cluster has no needs', () => {
    expect(needsOf(rollup([]))).toEqual([]);
  });

  it('given one invalid row among valid ones, then the whole roll-up is refused with the path of the field', () => {
    const bad = wireNeed({ requirements: [{ key: 'zone', operator: 9 as 1, values: [] }] });
    expect(refusals(rollup([wireNeed(), bad, wireNeed()]))).toEqual([
      'BF_OPERATOR_UNKNOWN at needs[1].requirements[0].operator',
    ]);
  });

  it('given several invalid fields, then each is listed', () => {
    const bad = wireNeed({
      interruptionPenaltyBucket: 28 as 0,
      reclamationPenaltyBucket: -1 as 0,
      aggregateResources: new Map([['cpu', 'ten']]),
      minUnit: new Map([['example.com/gpu\u0000', '1x']]),
    });
    expect(refusals(rollup([bad]))).toEqual([
      'BF_BUCKET_RANGE at needs[0].interruption_penalty_bucket',
      'BF_BUCKET_RANGE at needs[0].reclamation_penalty_bucket',
      'BF_QUANTITY_SYNTAX at needs[0].aggregate_resources["cpu"]',
      'BF_QUANTITY_SYNTAX at needs[0].min_unit["example.com/gpu\\u0000"]',
    ]);
  });

  it('given many remarks on one row, then the first four are listed and all are counted', () => {
    const negative = new Map(Array.from({ length: 16 }, (_, i) => [`r${i}`, '-1']));
    const intake = read(rollup([wireNeed({ aggregateResources: negative, minUnit: negative })]));
    expect(intake.kind === 'changed' && intake.remarks).toMatchObject({
      total: 32,
      first: [0, 1, 2, 3].map((i) => ({ path: `needs[0].aggregate_resources["r${i}"]`, effect: 'zeroed' })),
    });
  });

  it('given an invalid field after many fields with remarks, then only the invalid field is reported', () => {
    const negative = new Map(Array.from({ length: 16 }, (_, i) => [`r${i}`, '-1']));
    const bad = wireNeed({ aggregateResources: negative, minUnit: new Map([['cpu', 'ten']]) });
    expect(refusals(rollup([bad]))).toEqual(['BF_QUANTITY_SYNTAX at needs[0].min_unit["cpu"]']);
  });

  it('given 5000 invalid rows, then 50 problems are listed and all are counted', () => {
    const bad = wireNeed({ aggregateResources: new Map([['cpu', 'x']]) });
    const intake = read(rollup(Array.from({ length: 5_000 }, () => bad)));
    expect(intake.kind === 'refused' && intake.problems.first.length).toBe(50);
    expect(intake.kind === 'refused' && intake.problems.total).toBe(5_000);
  });

  it('given a cluster id that is empty or not that of the session, then it is refused', () => {
    expect(refusals(rollup([wireNeed()], 'c2'))).toEqual(['BF_CLUSTER_MISMATCH at cluster_id']);
    expect(refusals(rollup([wireNeed()], ''))).toEqual(['BF_CLUSTER_EMPTY at cluster_id']);
  });

  it('given an unspecified operator, then it is refused', () => {
    const odd = wireNeed({ requirements: [{ key: 'zone', operator: 0, values: ['a'] }] });
    expect(refusals(rollup([odd]))).toEqual(['BF_OPERATOR_UNKNOWN at needs[0].requirements[0].operator']);
  });

  it('given an unknown spread policy, then the row is accepted and the policy is unspecified', () => {
    const odd = wireNeed({
      spread: [{ topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 7 as 1 }],
    });
    expect(needsOf(rollup([odd]))[0]?.profile).toMatchObject({
      spread: [{ whenUnsatisfiable: WhenUnsatisfiable.Unspecified }],
    });
  });

  it('given two rows with the same key, then they are merged into one', () => {
    const needs = needsOf(rollup([wireNeed(), wireNeed({ minUnit: new Map([['cpu', '2']]) })]));
    expect(needs).toMatchObject([
      { aggregate: new Map([['cpu', 20_000]]), minUnit: new Map([['cpu', 2_000]]) },
    ]);
  });

  it('given resource names with control characters or such as __proto__, then all are kept', () => {
    const names = ['__proto__', 'constructor', 'with\u0000nul', 'tab\t'];
    const needs = needsOf(
      rollup([wireNeed({ aggregateResources: new Map(names.map((name) => [name, '3'])) })]),
    );
    expect([...needs[0]!.aggregate.keys()]).toEqual(names);
  });

  it('given any need, when encoded and decoded, then it is unchanged', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6 });
    const amounts = fc
      .array(
        fc.tuple(fc.constantFrom('cpu', 'memory', 'example.com/gpu'), fc.integer({ min: 1, max: 2 ** 40 })),
      )
      .map((entries) => new Map(entries));
    const need: fc.Arbitrary<Need> = fc
      .record({
        requirements: fc.array(
          fc.record({
            key: text,
            operator: fc.constantFrom(...OPERATORS),
            values: fc.array(text),
          }),
        ),
        spread: fc.array(
          fc.record({
            topologyKey: text,
            maxSkew: fc.integer({ min: -3, max: 5 }),
            whenUnsatisfiable: fc.constantFrom(...Object.values(WhenUnsatisfiable)),
          }),
        ),
        priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        interruptionBucket: fc.integer({ min: 0, max: 27 }),
        reclamationBucket: fc.integer({ min: 0, max: 27 }),
        group: text,
        aggregate: amounts,
        minUnit: amounts,
      })
      .map(({ group, aggregate, minUnit, ...profile }) => {
        return { cluster: 'c1', profile: makeProfile(profile), group, aggregate, minUnit, firstSeenMs: 0 };
      });
    fc.assert(
      fc.property(need, (given) => {
        const decoded = CapacityNeed.decode(CapacityNeed.encode(needToWire(given)).finish());
        expect(rowFromWire(decoded, 'c1')).toEqual({ kind: 'need', need: given, remarks: [] });
      }),
    );
  });
});

describe('rows beyond the limits of a shard', () => {
  const good = wireNeed({ priority: 7 });
  const key = (length: number) => [{ key: 'k'.repeat(length), operator: 3 as const, values: [] }];
  const value = (length: number) => [{ key: 'k', operator: 1 as const, values: ['v'.repeat(length)] }];
  const values = (count: number) => [
    { key: 'k', operator: 1 as const, values: Array.from({ length: count }, (_, i) => `v${i}`) },
  ];
  const terms = (count: number) => Array.from({ length: count }, (_, i) => key(1 + (i % 9))[0]!);
  const amounts = (names: readonly string[]) => new Map(names.map((name) => [name, '1']));
  const names = (count: number, prefix = 'r') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  const spread = (length: number) => [
    { topologyKey: 'z'.repeat(length), maxSkew: 1, whenUnsatisfiable: 1 as const },
  ];

  it.each<[string, (length: number) => Partial<CapacityNeed>, number, string]>([
    [
      'requirement key',
      (n) => ({ requirements: key(n) }),
      317,
      'BF_NAME_LENGTH at needs[0].requirements[0].key',
    ],
    ['value', (n) => ({ requirements: value(n) }), 63, 'BF_NAME_LENGTH at needs[0].requirements[0].values'],
    ['spread key', (n) => ({ spread: spread(n) }), 317, 'BF_NAME_LENGTH at needs[0].spread[0].topology_key'],
    ['group', (n) => ({ group: 'g'.repeat(n) }), 1_024, 'BF_NAME_LENGTH at needs[0].group'],
    ['number of terms', (n) => ({ requirements: terms(n) }), 64, 'BF_ROLLUP_LIMIT at needs[0]'],
    ['number of values', (n) => ({ requirements: values(n) }), 4_096, 'BF_ROLLUP_LIMIT at needs[0]'],
  ])(
    'given a %s at its limit, then the row is accepted; given one more, then the row is hidden',
    (_what, parts, limit, remark) => {
      expect(needsOf(rollup([wireNeed(parts(limit)), good]))).toHaveLength(2);
      const intake = read(rollup([wireNeed(parts(limit + 1)), good]));
      expect(intake).toMatchObject({
        kind: 'changed',
        rowsSetAside: 1,
        needs: [{ profile: { priority: 7 } }],
      });
      expect(remarks(rollup([wireNeed(parts(limit + 1)), good]))).toEqual([`set-aside: ${remark}`]);
    },
  );

  it.each<[string, (limit: number) => Partial<CapacityNeed>, number, string]>([
    [
      'a resource name',
      (n) => ({ aggregateResources: amounts(['r'.repeat(n)]) }),
      317,
      'BF_NAME_LENGTH at needs[0].aggregate_resources',
    ],
    [
      'the number of resources',
      (n) => ({ aggregateResources: amounts(names(n)), minUnit: new Map() }),
      16,
      'BF_ROLLUP_LIMIT at needs[0]',
    ],
  ])(
    'given %s at its limit, then the row is accepted; given one more, then it is set aside with its key',
    (_what, parts, limit, remark) => {
      expect(needsOf(rollup([wireNeed(parts(limit))]))[0]?.setAside).toBeUndefined();
      const message = rollup([wireNeed(parts(limit + 1)), good]);
      expect(needsOf(message)).toMatchObject([
        { setAside: true, profile: { priority: 100 }, aggregate: new Map(), minUnit: new Map() },
        { profile: { priority: 7 } },
      ]);
      expect(remarks(message)).toEqual([`set-aside: ${remark}`]);
    },
  );

  it('given an aggregate above the exact range, then the row is set aside and the others are accepted', () => {
    const message = rollup([wireNeed({ aggregateResources: new Map([['memory', '1e30']]) }), good]);
    expect(needsOf(message)).toMatchObject([{ setAside: true }, { aggregate: new Map([['cpu', 10_000]]) }]);
    expect(remarks(message)).toEqual([
      'set-aside: BF_QUANTITY_OVERFLOW at needs[0].aggregate_resources["memory"]',
    ]);
  });

  it('given a min_unit above the exact range, then it saturates and the row is accepted', () => {
    const message = rollup([wireNeed({ minUnit: new Map([['memory', '1e30']]) })]);
    expect(needsOf(message)).toMatchObject([{ minUnit: new Map([['memory', 2 ** 53 - 1]]) }]);
    expect(needsOf(message)[0]?.setAside).toBeUndefined();
    expect(remarks(message)).toEqual(['saturated: BF_QUANTITY_OVERFLOW at needs[0].min_unit["memory"]']);
  });

  it('given amounts below zero, then they count as 0, with a remark', () => {
    const message = rollup([
      wireNeed({ aggregateResources: new Map([['cpu', '-5']]), minUnit: new Map([['cpu', '-1e99']]) }),
    ]);
    expect(needsOf(message)).toMatchObject([
      { aggregate: new Map([['cpu', 0]]), minUnit: new Map([['cpu', 0]]) },
    ]);
    expect(remarks(message)).toEqual([
      'zeroed: BF_QUANTITY_NEGATIVE at needs[0].aggregate_resources["cpu"]',
      'zeroed: BF_QUANTITY_NEGATIVE at needs[0].min_unit["cpu"]',
    ]);
  });

  it('given rows of one key whose sum overflows, then they are set aside as one row', () => {
    const huge = wireNeed({ aggregateResources: new Map([['memory', '8191Ti']]) });
    expect(needsOf(rollup([huge, good, huge]))).toMatchObject([
      { setAside: true },
      { profile: { priority: 7 } },
    ]);
    expect(remarks(rollup([huge, good, huge]))).toEqual(['set-aside: BF_QUANTITY_OVERFLOW at needs[2]']);
  });

  it('given more resource names in a roll-up than the limit, then the rows that exceed it are set aside', () => {
    const rows = [names(10, 'a'), names(6, 'b'), ['c'], ['a1', 'b1']].map((some, priority) =>
      wireNeed({ priority, aggregateResources: amounts(some), minUnit: new Map() }),
    );
    expect(needsOf(rollup(rows)).map(({ setAside }) => setAside === true)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(remarks(rollup(rows))).toEqual(['set-aside: BF_ROLLUP_LIMIT at needs[2]']);
  });

  it('given 1200 rows to set aside, then 1000 of them are kept, 200 are hidden and all are counted', () => {
    const huge = { aggregateResources: new Map([['memory', '1e30']]) };
    const rows = Array.from({ length: 1_200 }, (_, priority) => wireNeed({ priority, ...huge }));
    const intake = read(rollup([...rows, wireNeed({ priority: 5_000 })]));
    if (intake.kind !== 'changed') expect.fail('not accepted');
    expect(intake).toMatchObject({ rowsSetAside: 1_200, hiddenRows: 200, remarks: { total: 1_200 } });
    expect(intake.needs).toHaveLength(1_001);
  });

  it('given a row set aside that also violates the contract, then the roll-up is refused', () => {
    const bad = wireNeed({ aggregateResources: amounts(names(17)), reclamationPenaltyBucket: 28 as 0 });
    expect(refusals(rollup([bad, good]))).toEqual(['BF_BUCKET_RANGE at needs[0].reclamation_penalty_bucket']);
  });

  it('given a row of 16 MB, then nothing of it is decoded or kept, and the next roll-up is read as usual', () => {
    const intake = new RollupIntake('c1');
    const bytes = ClusterCapacityNeeds.encode(
      rollup([wireNeed({ requirements: key(16_000_000) }), good]),
    ).finish();
    const first = intake.read(bytes);
    expect(first).toMatchObject({ kind: 'changed', rowsSetAside: 1 });
    expect(first.kind === 'changed' && first.size.keptBytes).toBeLessThan(1_000);
    intake.accept(first);
    const second = intake.read(bytes);
    if (first.kind !== 'changed' || second.kind !== 'changed') expect.fail('not accepted');
    expect(second.needs[0]).toBe(first.needs[0]);
    expect(JSON.stringify(second.remarks).length).toBeLessThan(500);
  });
});
