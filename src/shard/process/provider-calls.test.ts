import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { kindOf, transportOf } from '../../../testing/support/provider-client.ts';
import type { Machine } from '../../model/index.ts';
import { type ListReport, ProviderError, type ProviderErrorKind } from '../../provider/index.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { RpcError } from '../../wire/index.ts';
import type { ActuationEvent, ListEvent } from '../events.ts';
import { outcomeOf, ProviderCalls, type ProviderEnd, shardClient } from './provider-calls.ts';

const failed = (kind: ProviderErrorKind, detail = 'so it is') => new ProviderError(kind, 'create', detail);

describe('the outcome of a failed call', () => {
  it.each([
    ['fenced', 'fenced'],
    ['not-found', 'unknown-machine'],
    ['unimplemented', 'permanent'],
    ['invalid', 'permanent'],
    ['throttled', 'transient'],
    ['unavailable', 'transient'],
    ['deadline', 'transient'],
    ['malformed', 'transient'],
    ['internal', 'transient'],
  ] as const)('%s is %s', (kind, outcome) => {
    expect(outcomeOf(failed(kind), 'create').kind).toBe(outcome);
  });

  it('given a denied identity, then the outcome does not blame the machine', () => {
    expect(outcomeOf(failed('denied'), 'drain').kind).toBe('denied');
  });

  it.each([
    'InsufficientInstanceCapacity: We currently do not have sufficient m5 capacity',
    'insufficient capacity: no big in za at the moment',
    'ZONE_RESOURCE_POOL_EXHAUSTED: out of capacity',
    'sold out',
    'BF_OUT_OF_STOCK: error 4711',
    '8 RESOURCE_EXHAUSTED: BF_OUT_OF_STOCK: error 4711',
  ])('a Create refused with "%s" is a stock-out, other calls are not', (detail) => {
    expect(outcomeOf(failed('throttled', detail), 'create').kind).toBe('stock-out');
    expect(outcomeOf(failed('throttled', detail), 'configure').kind).toBe('transient');
  });

  it('given a refusal of the kit that mentions "no capacity", then a Create is not taken for a stock-out', () => {
    const detail = 'BF_MOVE_ILLEGAL: no capacity-1: Cannot create a Failed machine.';
    expect(outcomeOf(failed('internal', detail), 'create').kind).toBe('transient');
  });

  it('given any other error, then the outcome is transient', () => {
    expect(outcomeOf(new TypeError('oh'), 'get')).toEqual({ kind: 'transient', message: 'TypeError: oh' });
  });
});

describe('a reading of an inventory', () => {
  const effect = { kind: 'list', provider: 'p', reading: 7, wanted: 'full' } as const;
  const about = { provider: 'p', reading: 7 };

  async function eventsOf(inventory: ProviderEnd['inventory']): Promise<(ActuationEvent | ListEvent)[]> {
    const events: (ActuationEvent | ListEvent)[] = [];
    const end = { client: {} as ProviderEnd['client'], inventory };
    await new ProviderCalls(new Map([['p', end]]), (event) => events.push(event)).carryOut(effect);
    return events;
  }

  it('given batches, then they are posted to the controller without decoding', async () => {
    const report = { kind: 'full' } as ListReport;
    const batch = { bytes: Uint8Array.of(0xff, 0xff), count: 1 };
    const events = await eventsOf({
      read: async (_, sink) => {
        await sink.changed(batch);
        await sink.gone(['a']);
        return report;
      },
    });
    expect(events).toEqual([
      { kind: 'list-changed', ...about, batch },
      { kind: 'list-gone', ...about, ids: ['a'] },
      { kind: 'list-ended', ...about, report, error: '' },
    ]);
    const [changed] = events as [Extract<ListEvent, { readonly kind: 'list-changed' }>];
    expect(changed.batch.bytes).toBe(batch.bytes);
    const { buffer } = changed.batch.bytes;
    expect(structuredClone(changed, { transfer: [buffer] }).batch.bytes).toEqual(Uint8Array.of(0xff, 0xff));
    expect(batch.bytes).toHaveLength(0);
  });

  it('given a failure, then the event has its text', async () => {
    const events = await eventsOf({ read: () => Promise.reject(new Error('no route')) });
    expect(events).toEqual([{ kind: 'list-ended', ...about, report: null, error: 'no route' }]);
  });
});

describe('provider calls of a superseded shard', () => {
  const machine = { id: 'm' } as unknown as Machine;

  function sessionsOf(calls: string[]) {
    const client = {
      create: (id: string) => {
        calls.push(`create ${id}`);
        return Promise.resolve({ operationId: 'op', machine });
      },
      get: (id: string) => {
        calls.push(`get ${id}`);
        return Promise.resolve(machine);
      },
    };
    const end = { client, inventory: {} } as unknown as ProviderEnd;
    const events: unknown[] = [];
    return { events, sessions: new ProviderCalls(new Map([['p', end]]), (event) => events.push(event)) };
  }

  it('given mutations and a Get, then only the Get is made', async () => {
    const calls: string[] = [];
    const { sessions, events } = sessionsOf(calls);
    sessions.giveWay();
    const call = { kind: 'call', provider: 'p', machine: 'm' } as const;
    await sessions.carryOut({ ...call, call: 1, request: { command: 'create' } });
    await sessions.carryOut({ ...call, call: 2, request: { command: 'get' } });

    expect(calls).toEqual(['get m']);
    expect(events).toMatchObject([
      { kind: 'call-ended', call: 1, outcome: { kind: 'fenced' } },
      { kind: 'call-ended', call: 2, outcome: { kind: 'found' } },
    ]);
  });

  it('given an unknown provider, then the outcome is permanent and nothing is thrown', async () => {
    const { sessions, events } = sessionsOf([]);
    await sessions.carryOut({
      ...{ kind: 'call', provider: 'q', machine: 'm', call: 1 },
      request: { command: 'create' },
    });

    expect(events).toMatchObject([{ kind: 'call-ended', call: 1, outcome: { kind: 'permanent' } }]);
  });
});

describe('the client of a shard', () => {
  const binding = { cluster: 'c', bootstrapBlob: new Uint8Array(), metadata: new Map() };

  it.each([
    ['create', 1, (client) => client.create('m')],
    ['configure', 1, (client) => client.configure('m', binding)],
    ['drain', 1, (client) => client.drain('m', 0)],
    ['delete', 1, (client) => client.delete('m')],
    ['get', 4, (client) => client.get('m')],
  ] as readonly [keyof ProviderEnd['client'], number, (client: ProviderEnd['client']) => Promise<unknown>][])(
    'given a provider that is unavailable, then %s is sent %i times',
    async (call, times, make) => {
      let sent = 0;
      const lost = (): Promise<never> => {
        sent++;
        return Promise.reject(new RpcError(status.UNAVAILABLE, 'connection dropped'));
      };
      const clock = new VirtualClock();
      const client = shardClient({
        ...{ transport: transportOf({ [call]: lost }), clock, random: new Random(1) },
        fence: { shardId: 's', epoch: 1n, nextSequence: () => 1n },
      });
      const kind = kindOf(make(client));
      await clock.advance(60_000);
      expect(await kind).toBe('unavailable');
      expect(sent).toBe(times);
    },
  );
});
