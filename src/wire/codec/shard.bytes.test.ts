// shard.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import { dbl, entry, expectOnWire, len, messageNames, num } from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/shard.ts';

const requirement = {
  bytes: [len(1, 'zone'), num(2, 2), len(3, 'a')],
  value: { key: 'zone', operator: 2, values: ['a'] },
} as const;

const emptyReport = gen.NodeReport.decode(new Uint8Array());

const cases = {
  OperatorMessage: () => {
    const nothing = { requestId: '', userData: new Uint8Array(), ttlSeconds: 0n, error: '' };
    expectOnWire(gen.OperatorMessage, [len(1, len(1, 'c1'))], {
      payload: { $case: 'hello', value: { clusterId: 'c1', protocolVersion: '', features: [] } },
    });
    expectOnWire(gen.OperatorMessage, [len(2, len(1, 'c1'))], {
      payload: {
        $case: 'rollup',
        value: { clusterId: 'c1', timestampUnixNanos: 0n, needs: [], nodeFacts: undefined },
      },
    });
    expectOnWire(gen.OperatorMessage, [len(3, len(1, 'r1'))], {
      payload: { $case: 'bootstrapResponse', value: { ...nothing, requestId: 'r1' } },
    });
    expectOnWire(gen.OperatorMessage, [len(4, len(1, 'i1'))], {
      payload: { $case: 'reclaimAck', value: { instructionId: 'i1', nodesStarted: 0 } },
    });
    expectOnWire(gen.OperatorMessage, [len(1000, len(1, 'm-1'))], {
      payload: { $case: 'nodeReport', value: { ...emptyReport, machineId: 'm-1' } },
    });
  },
  ShardMessage: () => {
    const nodes = { nodes: [], gracePeriodSeconds: 0n, preemptorPriority: 0, kind: 0 } as const;
    const request = gen.BootstrapRequest.decode(new Uint8Array());
    const ack = gen.Acknowledgement.decode(new Uint8Array());
    const node = gen.NodeStateUpdate.decode(new Uint8Array());
    const available = gen.AvailableCapacityUpdate.decode(new Uint8Array());
    expectOnWire(gen.ShardMessage, [len(1, len(1, 'hello'))], {
      payload: { $case: 'ack', value: { ...ack, echo: 'hello' } },
    });
    expectOnWire(gen.ShardMessage, [len(2, len(1, 'r1'))], {
      payload: { $case: 'bootstrapRequest', value: { ...request, requestId: 'r1' } },
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
    expectOnWire(gen.ShardMessage, [len(1001, num(1, 7))], {
      payload: { $case: 'needVerdicts', value: { cycle: 7n, full: false, verdicts: [] } },
    });
    expectOnWire(gen.ShardMessage, [len(1002, len(1, 'i1'))], {
      payload: { $case: 'reclaimWithdrawal', value: { instructionId: 'i1', nodes: [], reason: '' } },
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
    expectOnWire(
      gen.Acknowledgement,
      [len(1, 'rollup'), num(2, 8), num(3, 9), len(1000, 'rollup-report'), num(1001, 10)],
      {
        echo: 'rollup',
        coordinatorTerm: 8n,
        shardEpoch: 9n,
        features: ['rollup-report'],
        rollupTimestampUnixNanos: 10n,
      },
    ),
  BootstrapRequest: () =>
    expectOnWire(
      gen.BootstrapRequest,
      [
        len(1, 'r1'),
        len(2, ...requirement.bytes),
        len(3, 'c1'),
        len(1000, 'm-1'),
        entry(1001, 'rack', 'r7'),
        len(1002, len(1, 'taint'), len(2, 'v'), len(3, 'NoExecute')),
        len(1003, 'm5.large'),
        len(1004, 'a'),
        num(1005, 4),
        len(1006, 'provider-id'),
      ],
      {
        requestId: 'r1',
        requirements: [requirement.value],
        clusterId: 'c1',
        machineId: 'm-1',
        labels: new Map([['rack', 'r7']]),
        taints: [{ key: 'taint', value: 'v', effect: 'NoExecute' }],
        instanceType: 'm5.large',
        zone: 'a',
        capacityType: 4,
        providerId: 'provider-id',
      },
    ),
  BootstrapBlobResponse: () =>
    expectOnWire(
      gen.BootstrapBlobResponse,
      [len(1, 'r1'), len(2, Uint8Array.of(1, 0)), num(3, 600), len(4, 'no')],
      { requestId: 'r1', userData: Uint8Array.of(1, 0), ttlSeconds: 600n, error: 'no' },
    ),
  ReclaimInstruction: () =>
    expectOnWire(
      gen.ReclaimInstruction,
      [len(1, 'i1'), len(2, 'n1'), len(2, 'n2'), num(3, 30), num(4, 7), num(1000, 2)],
      {
        instructionId: 'i1',
        nodes: ['n1', 'n2'],
        gracePeriodSeconds: 30n,
        preemptorPriority: 7,
        kind: 2,
      },
    ),
  ReclaimAck: () =>
    expectOnWire(gen.ReclaimAck, [len(1, 'i1'), num(2, 2)], { instructionId: 'i1', nodesStarted: 2 }),
  ReclaimWithdrawal: () =>
    expectOnWire(gen.ReclaimWithdrawal, [len(1, 'i1'), len(2, 'n1'), len(2, 'n2'), len(3, 'why')], {
      instructionId: 'i1',
      nodes: ['n1', 'n2'],
      reason: 'why',
    }),
  NodeReport: () =>
    expectOnWire(
      gen.NodeReport,
      [
        len(1, 'm-1'),
        num(2, 4),
        len(3, 'i1'),
        len(4, 'node-name'),
        len(5, 'provider-id'),
        len(6, 'why'),
        len(7, 'pdb/ns/a'),
        len(7, 'pod/ns/b'),
      ],
      {
        machineId: 'm-1',
        kind: 4,
        instructionId: 'i1',
        nodeName: 'node-name',
        providerId: 'provider-id',
        reason: 'why',
        blockedBy: ['pdb/ns/a', 'pod/ns/b'],
      },
    ),
  NeedVerdicts: () =>
    expectOnWire(gen.NeedVerdicts, [num(1, 7), num(2, 1), len(3, len(1, 'p1'))], {
      cycle: 7n,
      full: true,
      verdicts: [{ ...gen.NeedVerdicts_Verdict.decode(new Uint8Array()), profileFingerprint: 'p1' }],
    }),
  NeedVerdicts_Verdict: () =>
    expectOnWire(
      gen.NeedVerdicts_Verdict,
      [
        len(1, 'p1'),
        len(2, 'g1'),
        num(3, 1),
        len(4, 'NO_CAPACITY'),
        len(5, 'no-capacity'),
        len(6, 'A sentence.'),
        num(7, 14),
        len(8, 'm-1'),
        len(8, 'm-2'),
        len(9, 'm-3'),
        num(10, 60),
        num(11, 2),
        num(12, 1),
      ],
      {
        profileFingerprint: 'p1',
        group: 'g1',
        satisfied: true,
        unmetReason: 'NO_CAPACITY',
        cause: 'no-capacity',
        sentence: 'A sentence.',
        rowsAhead: 14,
        machines: ['m-1', 'm-2'],
        sharedMachines: ['m-3'],
        machineTotal: 60,
        notConfigured: 2,
        removed: true,
      },
    ),
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
    expect(gen.ReclaimInstruction_Kind).toEqual({
      KIND_UNSPECIFIED: 0,
      KIND_RECLAIM: 1,
      KIND_PREEMPTION: 2,
      KIND_EXCESS: 3,
    });
    expect(gen.NodeReport_Kind).toEqual({
      KIND_UNSPECIFIED: 0,
      KIND_JOINED: 1,
      KIND_JOIN_TIMEOUT: 2,
      KIND_DRAINED: 3,
      KIND_DRAIN_BLOCKED: 4,
    });
    expect(gen.AvailableCapacityUpdate_Confidence).toEqual({
      CONFIDENCE_UNSPECIFIED: 0,
      CONFIDENCE_NONE: 1,
      CONFIDENCE_LOW: 2,
      CONFIDENCE_MEDIUM: 3,
      CONFIDENCE_HIGH: 4,
    });
  });
});
