// provider.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import {
  dbl,
  entry,
  expectOnWire,
  join,
  len,
  messageNames,
  num,
} from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/provider.ts';

const LARGEST = 2n ** 63n - 1n;

const machine = {
  bytes: [
    len(1, 'm-1'),
    num(2, 5),
    len(3, len(1, 'aws/eu'), len(2, 'i-123')),
    len(4, 'm6i.large'),
    len(5, 'eu-1a'),
    num(6, 4),
    dbl(7, 0.25),
    dbl(8, 0.125),
    len(9, entry(1, 'cpu', '8')),
    entry(10, 'rack', 'r7'),
    len(12, 'boom'),
    len(13, entry(1, 'cpu', '7')),
    len(14, 'c1'),
    entry(15, 'note\0', 'n\0'),
  ],
  value: {
    id: 'm-1',
    state: 5,
    host: { provider: 'aws/eu', ref: 'i-123' },
    instanceType: 'm6i.large',
    zone: 'eu-1a',
    capacityType: 4,
    pricePerHour: 0.25,
    interruptionProbability: 0.125,
    resources: { resources: new Map([['cpu', '8']]) },
    labels: new Map([['rack', 'r7']]),
    lastError: 'boom',
    allocatable: { resources: new Map([['cpu', '7']]) },
    cluster: 'c1',
    shardMetadata: new Map([['note\0', 'n\0']]),
  },
} as const;

const cases = {
  HostRef: () =>
    expectOnWire(gen.HostRef, [len(1, 'aws/eu'), len(2, 'i-123')], { provider: 'aws/eu', ref: 'i-123' }),
  Resources: () =>
    expectOnWire(gen.Resources, [entry(1, 'cpu', '8'), entry(1, 'memory', '16Gi')], {
      resources: new Map([
        ['cpu', '8'],
        ['memory', '16Gi'],
      ]),
    }),
  Machine: () => expectOnWire(gen.Machine, machine.bytes, machine.value),
  MachineRef: () => expectOnWire(gen.MachineRef, [len(1, 'm-1')], { id: 'm-1' }),
  MachineList: () =>
    expectOnWire(gen.MachineList, [len(1, ...machine.bytes), len(2, 'rev')], {
      machines: [machine.value],
      revision: new Uint8Array(Buffer.from('rev')),
    }),
  ListFilter: () =>
    expectOnWire(gen.ListFilter, [len(1, Uint8Array.of(1, 3)), num(4, 500), len(5, 'since')], {
      states: [1, 3],
      maxResults: 500,
      sinceRevision: new Uint8Array(Buffer.from('since')),
    }),
  CreateRequest: () =>
    expectOnWire(gen.CreateRequest, [len(1, 'm-1'), len(3, 's-0'), num(4, LARGEST - 1n), num(5, LARGEST)], {
      machineId: 'm-1',
      shardId: 's-0',
      shardEpoch: 9223372036854775806n,
      sequenceNumber: 9223372036854775807n,
    }),
  ConfigureRequest: () =>
    expectOnWire(
      gen.ConfigureRequest,
      [
        len(1, 'm-1'),
        len(2, 'c1'),
        len(3, Uint8Array.of(0, 255)),
        len(4, 's-0'),
        num(5, 3),
        num(6, LARGEST),
        entry(7, 'k', 'v'),
      ],
      {
        machineId: 'm-1',
        clusterId: 'c1',
        bootstrapBlob: Uint8Array.of(0, 255),
        shardId: 's-0',
        shardEpoch: 3n,
        sequenceNumber: LARGEST,
        shardMetadata: new Map([['k', 'v']]),
      },
    ),
  DrainRequest: () =>
    expectOnWire(gen.DrainRequest, [len(1, 'm-1'), num(2, -5), len(3, 's-0'), num(4, 3), num(5, 4)], {
      machineId: 'm-1',
      gracePeriodSeconds: -5n,
      shardId: 's-0',
      shardEpoch: 3n,
      sequenceNumber: 4n,
    }),
  DeleteRequest: () =>
    expectOnWire(gen.DeleteRequest, [len(1, 'm-1'), len(2, 's-0'), num(3, 5), num(4, 6)], {
      machineId: 'm-1',
      shardId: 's-0',
      shardEpoch: 5n,
      sequenceNumber: 6n,
    }),
  TransitionAck: () =>
    expectOnWire(gen.TransitionAck, [len(1, 'op-1'), len(2, ...machine.bytes)], {
      operationId: 'op-1',
      machine: machine.value,
    }),
};

describe('the encoding of provider.proto', () => {
  test.each(Object.entries(cases))('given %s, then its fields match the contract', (_name, check) => check());

  test('given all messages, then each has a case above', () => {
    expect(Object.keys(cases).sort()).toEqual(messageNames(gen));
  });

  test('given states that are not packed, then they are decoded', () => {
    expect(gen.ListFilter.decode(join([num(1, 1), num(1, 3)])).states).toEqual([1, 3]);
  });

  test('given an absent message, then it differs from an empty one', () => {
    expect(gen.Machine.decode(len(1, 'm-1')).host).toBeUndefined();
    expect(gen.Machine.decode(len(3)).host).toEqual({ provider: '', ref: '' });
  });

  test('given all enums, then their numbers are those of the contract', () => {
    expect(gen.MachineState).toEqual({
      MACHINE_STATE_UNSPECIFIED: 0,
      MACHINE_STATE_SPECULATIVE: 1,
      MACHINE_STATE_CREATING: 2,
      MACHINE_STATE_IDLE: 3,
      MACHINE_STATE_CONFIGURING: 4,
      MACHINE_STATE_CONFIGURED: 5,
      MACHINE_STATE_DRAINING: 6,
      MACHINE_STATE_DELETING: 7,
      MACHINE_STATE_FAILED: 8,
    });
    expect(gen.CapacityType).toEqual({
      CAPACITY_TYPE_UNSPECIFIED: 0,
      CAPACITY_TYPE_BARE_METAL: 1,
      CAPACITY_TYPE_RESERVED: 2,
      CAPACITY_TYPE_ON_DEMAND: 3,
      CAPACITY_TYPE_SPOT: 4,
    });
  });
});
