// coordinator.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import { entry, expectOnWire, join, len, messageNames, num } from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/coordinator.ts';
import type { MessageType } from './decode.ts';

/** One entry of a map<string, int32>. */
const count = (number: number, key: string, value: number) => len(number, len(1, key), num(2, value));

const domain = {
  bytes: [len(1, 'zone'), len(2, 'a')],
  value: { topologyKey: 'zone', topologyValue: 'a' },
} as const;

const summary = {
  bytes: [num(1, 10), num(2, 4), count(3, 'm6i', 6), count(4, 'eu-1a', 9), len(7, 'provider:9000')],
  value: {
    totalMachines: 10,
    freeMachines: 4,
    perInstanceTypeCounts: new Map([['m6i', 6]]),
    perZoneCounts: new Map([['eu-1a', 9]]),
    providerAddress: 'provider:9000',
  },
} as const;

const shortfall = {
  bytes: [
    len(1, len(1, 'zone'), num(2, 3), len(3, 'b')),
    len(2, entry(1, 'cpu', '5')),
    num(3, -7),
    num(5, 6),
    num(6, 11),
  ],
  value: {
    requirements: [{ key: 'zone', operator: 3, values: ['b'] }],
    deficit: { resources: new Map([['cpu', '5']]) },
    priority: -7,
    ageCycles: 6,
    interruptionPenaltyBucket: 11,
  },
} as const;

const ack = {
  bytes: [len(1, 'ins-1'), num(2, 4), len(3, 'why')],
  value: { instructionId: 'ins-1', outcome: 4, reason: 'why' },
} as const;

const machines = [len(1, 'm-1'), len(1, 'm-2')];
const machineIds = ['m-1', 'm-2'];

const instruction = { coordinatorTerm: 1n, sequenceNumber: 2n, instructionId: 'ins-1' };
const instructionBytes = [num(1, 1), num(2, 2), len(3, 'ins-1')];

function expectEmpty(type: MessageType<object>): void {
  expect(type.decode(new Uint8Array())).toEqual({});
  expect(type.encode({}).finish()).toEqual(new Uint8Array());
}

const cases = {
  JoinRaftClusterRequest: () =>
    expectOnWire(gen.JoinRaftClusterRequest, [len(1, 'n1'), len(2, 'n1:7791')], {
      nodeId: 'n1',
      raftAddress: 'n1:7791',
    }),
  JoinRaftClusterResponse: () => expectEmpty(gen.JoinRaftClusterResponse),
  SnapshotSaveRequest: () => expectEmpty(gen.SnapshotSaveRequest),
  SnapshotSaveChunk: () => {
    expectOnWire(gen.SnapshotSaveChunk, [len(1, '{}')], {
      payload: { $case: 'metaJson', value: new Uint8Array(Buffer.from('{}')) },
    });
    expectOnWire(gen.SnapshotSaveChunk, [len(2, Uint8Array.of(1, 2))], {
      payload: { $case: 'data', value: Uint8Array.of(1, 2) },
    });
  },
  AssignDomainRequest: () =>
    expectOnWire(gen.AssignDomainRequest, [...domain.bytes, len(3, 's-0')], {
      ...domain.value,
      shardId: 's-0',
    }),
  AssignDomainResponse: () => expectEmpty(gen.AssignDomainResponse),
  UnassignDomainRequest: () => expectOnWire(gen.UnassignDomainRequest, domain.bytes, domain.value),
  UnassignDomainResponse: () => expectEmpty(gen.UnassignDomainResponse),
  RemoveShardRequest: () => expectOnWire(gen.RemoveShardRequest, [len(1, 's-0')], { shardId: 's-0' }),
  RemoveShardResponse: () => expectEmpty(gen.RemoveShardResponse),
  ListShardsRequest: () => expectEmpty(gen.ListShardsRequest),
  ListShardsResponse: () =>
    expectOnWire(gen.ListShardsResponse, [len(1, len(1, 's-0'))], {
      shards: [{ shardId: 's-0', address: '', registeredAtUnixNs: 0n, lastHeartbeatUnixNs: 0n }],
    }),
  ShardRegistryEntry: () =>
    expectOnWire(gen.ShardRegistryEntry, [len(1, 's-0'), len(2, 's:7780'), num(3, 11), num(4, 12)], {
      shardId: 's-0',
      address: 's:7780',
      registeredAtUnixNs: 11n,
      lastHeartbeatUnixNs: 12n,
    }),
  ListDomainAssignmentsRequest: () => expectEmpty(gen.ListDomainAssignmentsRequest),
  ListDomainAssignmentsResponse: () =>
    expectOnWire(gen.ListDomainAssignmentsResponse, [len(1, ...domain.bytes)], {
      assignments: [{ ...domain.value, shardId: '' }],
    }),
  DomainAssignment: () =>
    expectOnWire(gen.DomainAssignment, [...domain.bytes, len(3, 's-0')], { ...domain.value, shardId: 's-0' }),
  ShardReport: () =>
    expectOnWire(
      gen.ShardReport,
      [
        len(1, 's-0'),
        num(2, 21),
        num(3, 22),
        num(4, 23),
        len(5, ...summary.bytes),
        len(6, ...shortfall.bytes),
        len(7, ...ack.bytes),
        len(8, 's:7780'),
      ],
      {
        shardId: 's-0',
        cycle: 21n,
        timestampUnixNanos: 22n,
        shardEpoch: 23n,
        summary: summary.value,
        shortfalls: [shortfall.value],
        instructionAcks: [ack.value],
        shardAddress: 's:7780',
      },
    ),
  ShardSummary: () => expectOnWire(gen.ShardSummary, summary.bytes, summary.value),
  Shortfall: () => expectOnWire(gen.Shortfall, shortfall.bytes, shortfall.value),
  ListShardReportsRequest: () =>
    expectOnWire(gen.ListShardReportsRequest, [len(1, 's-0')], { shardId: 's-0' }),
  ListShardReportsResponse: () =>
    expectOnWire(gen.ListShardReportsResponse, [len(1, len(1, 's-0'))], {
      reports: [{ shardId: 's-0', cycle: 0n, receivedAtUnixNs: 0n, summary: undefined, shortfalls: [] }],
    }),
  ShardReportSnapshot: () =>
    expectOnWire(
      gen.ShardReportSnapshot,
      [len(1, 's-0'), num(2, 5), num(3, 6), len(4, ...summary.bytes), len(5, ...shortfall.bytes)],
      {
        shardId: 's-0',
        cycle: 5n,
        receivedAtUnixNs: 6n,
        summary: summary.value,
        shortfalls: [shortfall.value],
      },
    ),
  ReportAck: () =>
    expectOnWire(gen.ReportAck, [num(1, 3), num(2, 1), len(3, ...instructionBytes)], {
      coordinatorTerm: 3n,
      acknowledged: true,
      instructions: [{ ...instruction, payload: undefined }],
    }),
  CoordinatorInstruction: () => {
    expectOnWire(gen.CoordinatorInstruction, [...instructionBytes, len(4, ...domain.bytes)], {
      ...instruction,
      payload: { $case: 'assignDomain', value: domain.value },
    });
    expectOnWire(gen.CoordinatorInstruction, [...instructionBytes, len(5, ...domain.bytes)], {
      ...instruction,
      payload: { $case: 'unassignDomain', value: domain.value },
    });
    expectOnWire(gen.CoordinatorInstruction, [...instructionBytes, len(6, ...machines)], {
      ...instruction,
      payload: { $case: 'reassignSpeculative', value: { machineIds } },
    });
    expectOnWire(gen.CoordinatorInstruction, [...instructionBytes, len(7, ...machines)], {
      ...instruction,
      payload: { $case: 'crossShardDrain', value: { machineIds, preemptorPriority: 0 } },
    });
    expectOnWire(gen.CoordinatorInstruction, [...instructionBytes, len(8, ...machines)], {
      ...instruction,
      payload: { $case: 'transferOwnership', value: { machineIds, fromShardId: '', toShardId: '' } },
    });
  },
  AssignDomain: () => expectOnWire(gen.AssignDomain, domain.bytes, domain.value),
  UnassignDomain: () => expectOnWire(gen.UnassignDomain, domain.bytes, domain.value),
  ReassignSpeculative: () => expectOnWire(gen.ReassignSpeculative, machines, { machineIds }),
  CrossShardDrain: () =>
    expectOnWire(gen.CrossShardDrain, [...machines, num(2, 8)], { machineIds, preemptorPriority: 8 }),
  TransferOwnership: () =>
    expectOnWire(gen.TransferOwnership, [...machines, len(2, 's-0'), len(3, 's-1')], {
      machineIds,
      fromShardId: 's-0',
      toShardId: 's-1',
    }),
  InstructAck: () => expectOnWire(gen.InstructAck, ack.bytes, ack.value),
};

describe('the encoding of coordinator.proto', () => {
  test.each(Object.entries(cases))('given %s, then its fields match the contract', (_name, check) => check());

  test('given all messages, then each has a case above', () => {
    expect(Object.keys(cases).sort()).toEqual(messageNames(gen));
  });

  test('given the retired fields of a summary and a shortfall, then they are skipped', () => {
    const old = join([...summary.bytes, num(5, 1), num(6, 1)]);
    expect(gen.ShardSummary.decode(old)).toEqual(summary.value);
    expect(gen.Shortfall.decode(join([...shortfall.bytes, num(4, 1)]))).toEqual(shortfall.value);
  });

  test('given all enums, then their numbers are those of the contract', () => {
    expect(gen.InstructAck_Outcome).toEqual({
      OUTCOME_UNSPECIFIED: 0,
      OUTCOME_ACCEPTED: 1,
      OUTCOME_REJECTED_STALE: 2,
      OUTCOME_REJECTED_INVALID: 3,
      OUTCOME_FAILED: 4,
    });
  });
});
