// capacity.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import { entry, expectOnWire, join, len, messageNames, num } from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/capacity.ts';

const need = {
  bytes: [
    len(1, len(1, 'zone'), num(2, 1), len(3, 'a')),
    entry(2, 'cpu', '100'),
    num(3, 7),
    len(5, len(1, 'rack'), num(2, 2), num(3, 1)),
    num(6, 12),
    num(7, 27),
    entry(8, 'cpu', '4'),
    len(9, 'gang\0x'),
  ],
  value: {
    requirements: [{ key: 'zone', operator: 1, values: ['a'] }],
    aggregateResources: new Map([['cpu', '100']]),
    priority: 7,
    spread: [{ topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 1 }],
    interruptionPenaltyBucket: 12,
    reclamationPenaltyBucket: 27,
    minUnit: new Map([['cpu', '4']]),
    group: 'gang\0x',
  },
} as const;

const cases = {
  ClusterCapacityNeeds: () =>
    expectOnWire(
      gen.ClusterCapacityNeeds,
      [len(1, 'c1'), num(2, 2n ** 63n - 1n), len(3, ...need.bytes), len(1000, len(1, 'm-1'))],
      {
        clusterId: 'c1',
        timestampUnixNanos: 9223372036854775807n,
        needs: [need.value],
        nodeFacts: { empty: ['m-1'], inUse: [], protected: [] },
      },
    ),
  NodeFacts: () =>
    expectOnWire(gen.NodeFacts, [len(1, 'm-1'), len(2, 'm-2'), len(2, 'm-3'), len(3, len(1, 'm-4'))], {
      empty: ['m-1'],
      inUse: ['m-2', 'm-3'],
      protected: [{ machineId: 'm-4', reason: 0 }],
    }),
  NodeFacts_Protected: () =>
    expectOnWire(gen.NodeFacts_Protected, [len(1, 'm-4'), num(2, 3)], { machineId: 'm-4', reason: 3 }),
  CapacityNeed: () => expectOnWire(gen.CapacityNeed, need.bytes, need.value),
  NodeSelectorRequirement: () =>
    expectOnWire(gen.NodeSelectorRequirement, [len(1, 'key'), num(2, 5), len(3, 'v1'), len(3, 'v2')], {
      key: 'key',
      operator: 5,
      values: ['v1', 'v2'],
    }),
  TopologySpread: () =>
    expectOnWire(gen.TopologySpread, [len(1, 'topology'), num(2, 3), num(3, 2)], {
      topologyKey: 'topology',
      maxSkew: 3,
      whenUnsatisfiable: 2,
    }),
};

describe('the encoding of capacity.proto', () => {
  test.each(Object.entries(cases))('given %s, then its fields match the contract', (_name, check) => check());

  test('given all messages, then each has a case above', () => {
    expect(Object.keys(cases).sort()).toEqual(messageNames(gen));
  });

  test('given all enums, then their numbers are those of the contract', () => {
    expect(gen.NodeSelectorRequirement_Operator).toEqual({
      OPERATOR_UNSPECIFIED: 0,
      OPERATOR_IN: 1,
      OPERATOR_NOT_IN: 2,
      OPERATOR_EXISTS: 3,
      OPERATOR_DOES_NOT_EXIST: 4,
      OPERATOR_SAME: 5,
    });
    expect(gen.NodeFacts_Protected_Reason).toEqual({
      REASON_UNSPECIFIED: 0,
      REASON_PDB: 1,
      REASON_ANNOTATION: 2,
      REASON_DRAIN_FAILED: 3,
    });
    expect(gen.TopologySpread_WhenUnsatisfiable).toEqual({
      WHEN_UNSATISFIABLE_UNSPECIFIED: 0,
      WHEN_UNSATISFIABLE_DO_NOT_SCHEDULE: 1,
      WHEN_UNSATISFIABLE_SCHEDULE_ANYWAY: 2,
    });
    expect(gen.PenaltyBucket).toEqual({
      PENALTY_BUCKET_UNSPECIFIED: 0,
      PENALTY_BUCKET_ZERO: 1,
      PENALTY_BUCKET_HALF_DOLLAR: 2,
      PENALTY_BUCKET_1: 3,
      PENALTY_BUCKET_2: 4,
      PENALTY_BUCKET_4: 5,
      PENALTY_BUCKET_8: 6,
      PENALTY_BUCKET_16: 7,
      PENALTY_BUCKET_32: 8,
      PENALTY_BUCKET_64: 9,
      PENALTY_BUCKET_128: 10,
      PENALTY_BUCKET_256: 11,
      PENALTY_BUCKET_512: 12,
      PENALTY_BUCKET_1024: 13,
      PENALTY_BUCKET_2048: 14,
      PENALTY_BUCKET_4096: 15,
      PENALTY_BUCKET_8192: 16,
      PENALTY_BUCKET_16384: 17,
      PENALTY_BUCKET_32768: 18,
      PENALTY_BUCKET_65536: 19,
      PENALTY_BUCKET_131072: 20,
      PENALTY_BUCKET_262144: 21,
      PENALTY_BUCKET_524288: 22,
      PENALTY_BUCKET_1048576: 23,
      PENALTY_BUCKET_2097152: 24,
      PENALTY_BUCKET_4194304: 25,
      PENALTY_BUCKET_8388608: 26,
      PENALTY_BUCKET_PINNED: 27,
    });
  });
});

describe('the generated decoder of capacity.proto', () => {
  test.each([2n ** 63n - 1n, -(2n ** 63n), -1n, 2n ** 53n + 1n, 1n])(
    'given the int64 %s, when decoded and encoded, then it is unchanged',
    (stamp) => {
      const decoded = gen.ClusterCapacityNeeds.decode(num(2, stamp));
      expect(decoded.timestampUnixNanos).toBe(stamp);
      expect(gen.ClusterCapacityNeeds.encode(decoded).finish()).toEqual(num(2, stamp));
    },
  );

  test.each([2 ** 31 - 1, -(2 ** 31), -1])(
    'given the int32 %s, when decoded and encoded, then it is unchanged',
    (priority) => {
      const decoded = gen.CapacityNeed.decode(num(3, priority));
      expect(decoded.priority).toBe(priority);
      expect(gen.CapacityNeed.encode(decoded).finish()).toEqual(num(3, priority));
    },
  );

  test.each([28, 2 ** 31 - 1, -1])(
    'given the unknown enum number %s, when decoded and encoded, then it is unchanged',
    (bucket) => {
      const decoded = gen.CapacityNeed.decode(num(6, bucket));
      expect(decoded.interruptionPenaltyBucket).toBe(bucket);
      expect(gen.CapacityNeed.encode(decoded).finish()).toEqual(num(6, bucket));
    },
  );

  test('given the map key __proto__, then it is decoded like any other key', () => {
    const decoded = gen.CapacityNeed.decode(entry(2, '__proto__', '1'));
    expect([...decoded.aggregateResources]).toEqual([['__proto__', '1']]);
  });

  test('given a map entry without key or value, then both are empty; given a repeated key, then its last value is used', () => {
    const bytes = join([len(2), entry(2, 'cpu', '1'), entry(2, 'cpu', '2')]);
    expect([...gen.CapacityNeed.decode(bytes).aggregateResources]).toEqual([
      ['', ''],
      ['cpu', '2'],
    ]);
  });

  test('given a reserved or unknown field, then it is skipped', () => {
    const bytes = join([num(4, 9), len(100, 'x'), num(3, 1)]);
    expect(gen.CapacityNeed.decode(bytes)).toEqual(gen.CapacityNeed.decode(num(3, 1)));
  });
});
