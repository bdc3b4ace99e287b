// shard.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import { dbl, entry, expectOnWire, len, messageNames, num } from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/shard.ts';

const requirement = {
  bytes: [len(1, 'zone'), num(2, 2), len(3, 'a')],
  value: { key: 'zone', operator: 2, values: ['a'] },
} as const;

const cases = {
  OperatorMessage: () => {
    const nothing = { requestId: '', userData: new Uint8Array(), ttlSeconds: 0n, error: '' };
    expectOnWire(gen.OperatorMessage, [len(1, len(1, 'c1'))], {
      payload: { $case: 'hello', value: { clusterId: 'c1', protocolVersion: '', features: [] } },
    });
    expectOnWire(gen.OperatorMessage, [len(2, len(1, 'c1'))], {
      payload: { $case: 'rollup', value: { clusterId: 'c1', timestampUnixNanos: 0n, needs: [] } },
    });
    expectOnWire(gen.OperatorMessage, [len(3, len(1, 'r1'))], {
      payload: { $case: 'bootstrapResponse', value: { ...nothing, requestId: 'r1' } },
    });
    expectOnWire(gen.OperatorMessage, [len(4, len(1, 'i1'))], {
      payload: { $case: 'reclaimAck', value: { instructionId: 'i1', nodesStarted: 0 } },
    });
  },
  ShardMessage: () => {
    const nodes = { nodes: [], gracePeriodSeconds: 0n, preemptorPriority: 0 };
    const node = gen.NodeStateUpdate.decode(new Uint8Array());
    const available = gen.AvailableCapacityUpdate.decode(new Uint8Array());
    expectOnWire(gen.ShardMessage, [len(1, len(1, 'hello'))], {
      payload: { $case: 'ack', value: { echo: 'hello', coordinatorTerm: 0n, shardEpoch: 0n, features: [] } },
    });
    expectOnWire(gen.ShardMessage, [len(2, len(1, 'r1'))], {
      payload: { $case: 'bootstrapRequest', value: { requestId: 'r1', requirements: [], clusterId: '' } },
    });
    expectOnWire(gen.ShardMessage, [len(3, len(1, 'i1'))], {
      payload: { $case: 'reclaimInstruction', value: { instructionId: 'i1', ...nodes } },
    });
    expectOnWire(gen.ShardMessage, [len(4, len(1, 'node:m'))], {
      payload: { $case: 'nodeStateUpdate', value: { ...node, supersedesKey: 'node:m' } },
    });
    expectOnWire(gen.ShardMessage, [len(5, len(1, 'available:p'))], {
      payload: { $case: 'availableCapacity', value: { ...available, supersedesKey: 'available:p' } },
    });
    expectOnWire(gen.ShardMessage, [len(1000, num(1, 7))], {
      payload: {
        $case: 'rollupReport',
        value: { timestampUnixNanos: 7n, outcome: 0, total: 0, problems: [] },
      },
    });
  },
  RollupReport: () =>
    expectOnWire(gen.RollupReport, [num(1, 7), num(2, 3), num(3, 60), len(4, num(1, 2))], {
      timestampUnixNanos: 7n,
      outcome: 3,
      total: 60,
      problems: [{ needIndex: 2, code: '', path: '', message: '', effect: 0 }],
    }),
  RollupReport_Problem: () =>
    expectOnWire(
      gen.RollupReport_Problem,
      [num(1, -1), len(2, 'BF_X'), len(3, 'needs[0]'), len(4, 'why'), num(5, 4)],
      { needIndex: -1, code: 'BF_X', path: 'needs[0]', message: 'why', effect: 4 },
    ),
  Hello: () =>
    expectOnWire(gen.Hello, [len(1, 'c1'), len(3, 'v1alpha1'), len(1000, 'rollup-report')], {
      clusterId: 'c1',
      protocolVersion: 'v1alpha1',
      features: ['rollup-report'],
    }),
  Acknowledgement: () =>
    expectOnWire(gen.Acknowledgement, [len(1, 'rollup'), num(2, 8), num(3, 9), len(1000, 'rollup-report')], {
      echo: 'rollup',
      coordinatorTerm: 8n,
      shardEpoch: 9n,
      features: ['rollup-report'],
    }),
  BootstrapRequest: () =>
    expectOnWire(gen.BootstrapRequest, [len(1, 'r1'), len(2, ...requirement.bytes), len(3, 'c1')], {
      requestId: 'r1',
      requirements: [requirement.value],
      clusterId: 'c1',
    }),
  BootstrapBlobResponse: () =>
    expectOnWire(
      gen.BootstrapBlobResponse,
      [len(1, 'r1'), len(2, Uint8Array.of(1, 0)), num(3, 600), len(4, 'no')],
      { requestId: 'r1', userData: Uint8Array.of(1, 0), ttlSeconds: 600n, error: 'no' },
    ),
  ReclaimInstruction: () =>
    expectOnWire(gen.ReclaimInstruction, [len(1, 'i1'), len(2, 'n1'), len(2, 'n2'), num(3, 30), num(4, 7)], {
      instructionId: 'i1',
      nodes: ['n1', 'n2'],
      gracePeriodSeconds: 30n,
      preemptorPriority: 7,
    }),
  ReclaimAck: () =>
    expectOnWire(gen.ReclaimAck, [len(1, 'i1'), num(2, 2)], { instructionId: 'i1', nodesStarted: 2 }),
  NodeStateUpdate: () =>
    expectOnWire(
      gen.NodeStateUpdate,
      [
        len(1, 'node:m-1'),
        len(2, 'm-1'),
        len(3, 'c1'),
        num(4, 8),
        len(5, 'node-name'),
        len(6, 'provider-id'),
        len(8, 'boom'),
        entry(9, 'rack', 'r7'),
        len(10, entry(1, 'cpu', '8')),
        len(11, len(1, 'taint'), len(2, 'v'), len(3, 'NoExecute')),
      ],
      {
        supersedesKey: 'node:m-1',
        machineId: 'm-1',
        clusterId: 'c1',
        state: 8,
        nodeName: 'node-name',
        providerId: 'provider-id',
        lastError: 'boom',
        labels: new Map([['rack', 'r7']]),
        resources: { resources: new Map([['cpu', '8']]) },
        taints: [{ key: 'taint', value: 'v', effect: 'NoExecute' }],
      },
    ),
  Taint: () =>
    expectOnWire(gen.Taint, [len(1, 'k'), len(2, 'v'), len(3, 'NoSchedule')], {
      key: 'k',
      value: 'v',
      effect: 'NoSchedule',
    }),
  AvailableCapacityUpdate: () =>
    expectOnWire(
      gen.AvailableCapacityUpdate,
      [
        len(1, 'available:p'),
        len(2, ...requirement.bytes),
        len(3, entry(1, 'cpu', '8')),
        num(4, 40),
        num(5, 3),
        dbl(6, 1.5),
      ],
      {
        supersedesKey: 'available:p',
        requirements: [requirement.value],
        resources: { resources: new Map([['cpu', '8']]) },
        availableCount: 40,
        confidence: 3,
        costPerHour: 1.5,
      },
    ),
};

describe('the encoding of shard.proto', () => {
  test.each(Object.entries(cases))('given %s, then its fields match the contract', (_name, check) => check());

  test('given all messages, then each has a case above', () => {
    expect(Object.keys(cases).sort()).toEqual(messageNames(gen));
  });

  test('given all enums, then their numbers are those of the contract', () => {
    expect(gen.AvailableCapacityUpdate_Confidence).toEqual({
      CONFIDENCE_UNSPECIFIED: 0,
      CONFIDENCE_NONE: 1,
      CONFIDENCE_LOW: 2,
      CONFIDENCE_MEDIUM: 3,
      CONFIDENCE_HIGH: 4,
    });
  });
});
