// Test support: encoded lists, a provider with scripted answers, and a copy of an inventory that a reader keeps up to
// date. Imported by tests of src/provider/client and by provider-calls.test.ts of the shard.

import { status } from '@grpc/grpc-js';
import { type Machine, MachineState } from '../../src/model/index.ts';
import type { Attempt } from '../../src/provider/client/attempts.ts';
import type { CallLimits } from '../../src/provider/client/call-limits.ts';
import { ProviderClient } from '../../src/provider/client/client.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/provider/client/errors.ts';
import type { ListSink } from '../../src/provider/client/intake.ts';
import { InventoryReader } from '../../src/provider/client/inventory-reader.ts';
import { machinesOf } from '../../src/provider/client/machine-list.ts';
import type { ProviderTransport } from '../../src/provider/client/transport.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import {
  type ListFilter,
  MachineList,
  Machine as WireMachine,
} from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError } from '../../src/wire/index.ts';
import { ManualClock } from './provider-kit.ts';

/** A valid Idle machine, with `changes` applied. */
export function wireMachine(id: string, changes: Partial<WireMachine> = {}): WireMachine {
  return {
    ...WireMachine.decode(new Uint8Array()),
    id,
    state: MachineState.Idle,
    host: { provider: 'test', ref: `host-of-${id}` },
    instanceType: 'm5.large',
    zone: 'zone-a',
    capacityType: 3,
    pricePerHour: 0.25,
    resources: { resources: new Map([['cpu', '2']]) },
    labels: new Map([['rack', 'r1']]),
    ...changes,
  };
}

export function listOf(machines: readonly WireMachine[], revision = ''): Uint8Array {
  return MachineList.encode({ machines: [...machines], revision: Buffer.from(revision) }).finish();
}

/** A transport that rejects every call except those in `calls`. */
export function transportOf(calls: Partial<ProviderTransport>): ProviderTransport {
  const refuse = (): Promise<never> => Promise.reject(new RpcError(status.UNIMPLEMENTED, 'not in this test'));
  return {
    create: refuse,
    configure: refuse,
    drain: refuse,
    delete: refuse,
    get: refuse,
    list: refuse,
    close: () => {},
    ...calls,
  };
}

export interface Bench {
  readonly client: ProviderClient;
  readonly attempts: Attempt[];
  /** Sequence numbers issued. */
  readonly sequences: bigint[];
}

export function clientOf(
  transport: ProviderTransport,
  clock: Clock = new ManualClock(),
  limits: Partial<CallLimits> = {},
): Bench {
  const attempts: Attempt[] = [];
  const sequences: bigint[] = [];
  const client = new ProviderClient({
    transport,
    clock,
    random: new Random(1),
    limits,
    fence: {
      shardId: 'shard-0',
      epoch: 1n,
      nextSequence: () => {
        sequences.push(BigInt(sequences.length + 1));
        return sequences.at(-1)!;
      },
    },
    onAttempt: (attempt) => attempts.push(attempt),
  });
  return { client, attempts, sequences };
}

/** The kind of error a call rejects with; throws if the call succeeds. */
export async function kindOf(call: Promise<unknown>): Promise<ProviderErrorKind> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
  throw new Error('the call succeeded');
}

/** A receiver's copy of an inventory. */
export class Copy implements ListSink {
  readonly machines = new Map<string, Machine>();

  changed(batch: Parameters<ListSink['changed']>[0]): void {
    for (const machine of machinesOf(batch)) this.machines.set(machine.id, machine);
  }

  gone(ids: readonly string[]): void {
    for (const id of ids) if (!this.machines.delete(id)) throw new Error(`${id} was never here`);
  }

  get ids(): string[] {
    return [...this.machines.keys()].sort();
  }
}

/** A reader whose List calls get the given answers in turn. */
export function readerOf(...answers: (Uint8Array | Error)[]) {
  const queries: ListFilter[] = [];
  const list = (filter: ListFilter): Promise<Uint8Array> => {
    queries.push(filter);
    const answer = answers.shift() ?? new Error('nothing left to answer');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const { client } = clientOf(transportOf({ list }));
  const reader = new InventoryReader({
    listBytes: (query, signal) => client.listBytes(query, signal),
    seed: 1,
  });
  return { reader, queries, answers, copy: new Copy() };
}
