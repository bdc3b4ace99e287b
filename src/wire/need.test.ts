import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeProfile, type Need, Operator, WhenUnsatisfiable } from '../model/index.ts';
import { CapacityNeed, type ClusterCapacityNeeds } from './gen/bigfleet/v1alpha1/capacity.ts';
import { needFromWire, needsFromWire, needToWire } from './need.ts';

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
  return { clusterId, timestampUnixNanos: 1n, needs };
}

/** What was refused, as `code at path` lines. */
function refusals(message: ClusterCapacityNeeds): string[] {
  const result = needsFromWire(message, 'c1');
  return result.ok ? [] : result.problems.map(({ code, path }) => `${code} at ${path}`);
}

describe('roll-up from the wire', () => {
  it('given a sound row, then amounts are whole units and the fingerprint is canonical', () => {
    const result = needsFromWire(
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
      'c1',
    );
    expect(result.ok && result.value[0]).toMatchObject({
      cluster: 'c1',
      aggregate: new Map([
        ['cpu', 1500],
        ['memory', 2 ** 31],
      ]),
      minUnit: new Map([['cpu', 500]]),
      profile: { fingerprint: 'p=100|ipb=6|rpb=0|reqs=zone:1:a,b;|spr=rack:2:1;' },
    });
  });

  it('given an empty list, then the cluster wants nothing', () => {
    expect(needsFromWire(rollup([]), 'c1')).toEqual({ ok: true, value: [] });
  });

  it('given one bad row among good ones, then the whole roll-up is refused and the row and field are named', () => {
    const bad = wireNeed({ requirements: [{ key: 'zone', operator: 9 as 1, values: [] }] });
    expect(refusals(rollup([wireNeed(), bad, wireNeed()]))).toEqual([
      'BF_OPERATOR_UNKNOWN at needs[1].requirements[0].operator',
    ]);
  });

  it('given several bad fields, then each is listed', () => {
    const bad = wireNeed({
      interruptionPenaltyBucket: 28 as 0,
      reclamationPenaltyBucket: -1 as 0,
      aggregateResources: new Map([
        ['cpu', 'ten'],
        ['memory', '-1'],
      ]),
      minUnit: new Map([['example.com/gpu\u0000', '1e30']]),
    });
    expect(refusals(rollup([bad]))).toEqual([
      'BF_BUCKET_RANGE at needs[0].interruption_penalty_bucket',
      'BF_BUCKET_RANGE at needs[0].reclamation_penalty_bucket',
      'BF_QUANTITY_SYNTAX at needs[0].aggregate_resources["cpu"]',
      'BF_QUANTITY_NEGATIVE at needs[0].aggregate_resources["memory"]',
      'BF_QUANTITY_OVERFLOW at needs[0].min_unit["example.com/gpu\\u0000"]',
    ]);
  });

  it('given thousands of bad rows, then the list of problems stays short', () => {
    const bad = wireNeed({ aggregateResources: new Map([['cpu', 'x']]) });
    expect(refusals(rollup(Array.from({ length: 5_000 }, () => bad)))).toHaveLength(20);
  });

  it('given another cluster id inside than the session has, then it is refused', () => {
    expect(refusals(rollup([wireNeed()], 'c2'))).toEqual(['BF_CLUSTER_MISMATCH at cluster_id']);
    expect(refusals(rollup([wireNeed()], ''))).toEqual(['BF_CLUSTER_EMPTY at cluster_id']);
  });

  it('given an unspecified operator, then it is refused', () => {
    const odd = wireNeed({ requirements: [{ key: 'zone', operator: 0, values: ['a'] }] });
    expect(refusals(rollup([odd]))).toEqual(['BF_OPERATOR_UNKNOWN at needs[0].requirements[0].operator']);
  });

  it('given rows of one key whose sum cannot be counted, then it is refused', () => {
    const huge = wireNeed({ aggregateResources: new Map([['memory', '8191Ti']]) });
    expect(refusals(rollup([huge, huge]))).toEqual(['BF_QUANTITY_OVERFLOW at ']);
  });

  it('given an unknown spread policy, then the row is taken and the policy binds nothing', () => {
    const odd = wireNeed({
      spread: [{ topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 7 as 1 }],
    });
    const result = needsFromWire(rollup([odd]), 'c1');
    expect(result.ok && result.value[0]?.profile).toMatchObject({
      spread: [{ whenUnsatisfiable: WhenUnsatisfiable.Unspecified }],
    });
  });

  it('given two rows with one key, then they are one row', () => {
    const result = needsFromWire(rollup([wireNeed(), wireNeed({ minUnit: new Map([['cpu', '2']]) })]), 'c1');
    expect(result.ok && result.value).toMatchObject([
      { aggregate: new Map([['cpu', 20_000]]), minUnit: new Map([['cpu', 2_000]]) },
    ]);
  });

  it('given 10,000 resource names, control characters and a name like __proto__, then none is lost', () => {
    const names = [
      '__proto__',
      'constructor',
      'with\u0000nul',
      'tab\t',
      ...Array.from({ length: 10_000 }, (_, i) => `r${i}`),
    ];
    const result = needFromWire(
      wireNeed({ aggregateResources: new Map(names.map((name) => [name, '3'])) }),
      'c1',
      '',
    );
    expect(result.ok && [...result.value.aggregate.keys()]).toEqual(names);
  });

  it('given any need, when it goes over the wire and back, then it is the same need', () => {
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
        expect(needFromWire(decoded, 'c1', '')).toEqual({ ok: true, value: given });
      }),
    );
  });
});
