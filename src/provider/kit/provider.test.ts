// The six calls: life cycle, order of the checks, idempotency, failures, timeouts. Fences, Lists and restarts have their
// own test files.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configureOf,
  createOf,
  deleteOf,
  drainOf,
  filter,
  HeldBackend,
  hostOf,
  refusedWith,
  scene,
  token,
  turns,
  walk,
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { status } from '../../wire/index.ts';
import { MAX_BLOB_BYTES, MAX_METADATA_KEYS } from './limits.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

describe('the life cycle of a machine', () => {
  it('given a quota slot, when created, then it has a host once it is Idle and not before', async () => {
    const { provider, backend } = await scene();
    const ack = await provider.create(createOf('m-0'));
    expect(ack).toMatchObject({ operationId: 'op-1', machine: { state: Creating, host: undefined } });
    expect(await provider.get({ id: 'm-0' })).toMatchObject({ state: Creating, host: undefined });
    backend.last.succeed();
    await turns();
    expect(await provider.get({ id: 'm-0' })).toMatchObject({ state: Idle, host: hostOf('m-0') });
  });

  it('given an Idle machine, when configured, then it has cluster and metadata from acceptance on', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Idle');
    const shardMetadata = new Map([['k\0ey', 'v\0alue']]);
    await given.provider.configure(configureOf('m-0', token(), { shardMetadata }));
    shardMetadata.set('k\0ey', 'changed by the caller');
    const binding = { cluster: 'cluster-1', shardMetadata: new Map([['k\0ey', 'v\0alue']]) };
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({ state: Configuring, ...binding });
    expect(given.backend.last).toMatchObject({
      machine: { cluster: 'cluster-1', host: hostOf('m-0') },
      binding: { cluster: 'cluster-1', bootstrapBlob: Buffer.from('join') },
      operation: { id: 'op-2' },
    });
    given.backend.last.succeed();
    await turns();
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({ state: Configured, ...binding });
  });

  it('given a Configured machine, when drained, then cluster and metadata are cleared together at Idle', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Configured');
    await given.provider.drain(drainOf('m-0', token(), 7n));
    expect(given.backend.last.graceSeconds).toBe(7);
    const bound = { cluster: 'cluster-1', shardMetadata: new Map([['why', 'need-7']]) };
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({ state: Draining, ...bound });
    given.backend.last.succeed();
    await turns();
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({
      state: Idle,
      host: hostOf('m-0'),
      cluster: '',
      shardMetadata: new Map(),
    });
  });

  it('given an Idle machine, when deleted, then its id remains as a quota slot', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Idle');
    expect(await given.provider.delete(deleteOf('m-0'))).toMatchObject({ machine: { state: Deleting } });
    given.backend.last.succeed();
    await turns();
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({ state: Speculative, host: undefined });
  });

  it('given an offering with a host, then it starts Idle', async () => {
    const backend = new HeldBackend(1);
    backend.offerings = [{ ...backend.offerings[0]!, host: hostOf('metal') }];
    const { provider } = await scene({ backend });
    expect(await provider.get({ id: 'm-0' })).toMatchObject({ state: Idle, host: hostOf('metal') });
  });
});

describe('idempotency of calls', () => {
  it('given a transition, when its call is repeated during and after it, then the operation is the same and runs once', async () => {
    const { provider, backend } = await scene();
    const first = await provider.create(createOf('m-0'));
    const again = await Promise.all(Array.from({ length: 16 }, () => provider.create(createOf('m-0'))));
    backend.last.succeed();
    await turns();
    const later = await provider.create(createOf('m-0'));
    expect(new Set([...again, later].map((ack) => ack.operationId))).toEqual(new Set([first.operationId]));
    expect(later.machine?.state).toBe(Idle);
    expect(backend.calls).toHaveLength(1);
  });

  it('given a bound machine, when configured for another cluster, then nothing changes', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Configured');
    const ack = await given.provider.configure(configureOf('m-0', token(), { clusterId: 'other' }));
    expect(ack).toMatchObject({ operationId: 'op-2', machine: { state: Configured, cluster: 'cluster-1' } });
  });

  it('given five transitions, then each has its own operation id; given a repeated Drain, then it returns the last id', async () => {
    const given = await scene();
    given.backend.isPrompt = true;
    const { provider } = given;
    const ids: string[] = [];
    for (const call of [
      () => provider.create(createOf('m-0')),
      () => provider.configure(configureOf('m-0')),
      () => provider.drain(drainOf('m-0')),
      () => provider.configure(configureOf('m-0')),
      () => provider.drain(drainOf('m-0')),
      () => provider.drain(drainOf('m-0')),
    ]) {
      ids.push((await call()).operationId);
      await turns();
    }
    expect(ids).toEqual(['op-1', 'op-2', 'op-3', 'op-4', 'op-5', 'op-5']);
  });
});

describe('refusals of calls', () => {
  it('given an empty id, then INVALID_ARGUMENT for every call', async () => {
    const { provider } = await scene();
    for (const call of [
      provider.create(createOf('')),
      provider.configure(configureOf('')),
      provider.drain(drainOf('')),
      provider.delete(deleteOf('')),
      provider.get({ id: '' }),
    ]) {
      expect(await refusedWith(call)).toBe(status.INVALID_ARGUMENT);
    }
  });

  it('given an unknown id, then NOT_FOUND for every call', async () => {
    const { provider } = await scene();
    for (const call of [
      provider.create(createOf('ghost')),
      provider.configure(configureOf('ghost')),
      provider.drain(drainOf('ghost')),
      provider.delete(deleteOf('ghost')),
      provider.get({ id: 'ghost' }),
    ]) {
      expect(await refusedWith(call)).toBe(status.NOT_FOUND);
    }
  });

  it('given a backend without delete, then UNIMPLEMENTED, and the token raises no mark', async () => {
    const backend = new HeldBackend(1);
    Object.defineProperty(backend, 'delete', { value: undefined });
    const { provider } = await scene({ backend });
    const call = provider.delete(deleteOf('m-0', token('s', 5n, 5n)));
    expect(await refusedWith(call)).toBe(status.UNIMPLEMENTED);
    await provider.create(createOf('m-0', token('s', 1n, 1n)));
  });

  const longIds = {
    'a very long shard id': [status.INVALID_ARGUMENT, createOf('m-0', token('s'.repeat(5000), 1n, 1n))],
    'a very long machine id': [status.INVALID_ARGUMENT, createOf('m'.repeat(5000), token('s', 9n, 9n))],
  } as const;
  it.each(Object.entries(longIds))(
    'given Create with %s, then it is refused and raises no mark',
    async (_name, [code, request]) => {
      const { provider } = await scene();
      expect(await refusedWith(provider.create(request))).toBe(code);
      expect((await provider.get({ id: 'm-0' })).state).toBe(Speculative);
      await provider.create(createOf('m-0', token('s', 0n, 1n)));
    },
  );

  const tooMany = new Map(Array.from({ length: MAX_METADATA_KEYS + 1 }, (_, i) => [`key-${i}`, '']));
  const badBindings = {
    'no cluster': [status.INVALID_ARGUMENT, { clusterId: '' }],
    'too many metadata keys': [status.INVALID_ARGUMENT, { shardMetadata: tooMany }],
    'too much metadata': [status.INVALID_ARGUMENT, { shardMetadata: new Map([['k', 'x'.repeat(4 << 20)]]) }],
    'an oversized blob': [status.RESOURCE_EXHAUSTED, { bootstrapBlob: Buffer.alloc(MAX_BLOB_BYTES + 1) }],
  } as const;
  it.each(Object.entries(badBindings))(
    'given Configure with %s, then it is refused, raises no mark and changes nothing',
    async (_name, [code, changes]) => {
      const given = await scene();
      const before = await walk(given, 'm-0', 'Idle');
      const call = given.provider.configure(configureOf('m-0', token('s', 5n, 5n), changes));
      expect(await refusedWith(call)).toBe(code);
      expect(await given.provider.get({ id: 'm-0' })).toEqual(before);
      await given.provider.configure(configureOf('m-0', token('s', 1n, 1n)));
    },
  );

  it('given large metadata and blobs within the limits, then they are accepted unchanged', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Idle');
    const shardMetadata = new Map(
      Array.from({ length: 256 }, (_, i) => [`k${i}`, `${i}`.padEnd(8192, '\u0001')]),
    );
    const bootstrapBlob = Buffer.alloc(3 << 20, 7);
    await given.provider.configure(configureOf('m-0', token(), { shardMetadata, bootstrapBlob }));
    expect((await given.provider.get({ id: 'm-0' })).shardMetadata).toEqual(shardMetadata);
    expect(given.backend.last.binding?.bootstrapBlob.length).toBe(3 << 20);
  });

  it('given a negative grace period, then INVALID_ARGUMENT and the machine is unchanged', async () => {
    const given = await scene();
    const before = await walk(given, 'm-0', 'Configured');
    const call = given.provider.drain(drainOf('m-0', token('s', 5n, 5n), -5n));
    expect(await refusedWith(call)).toBe(status.INVALID_ARGUMENT);
    expect(await given.provider.get({ id: 'm-0' })).toEqual(before);
    await given.provider.drain(drainOf('m-0', token('s', 1n, 1n)));
  });
});

describe('failures of transitions', () => {
  it('given a backend error, then the machine is Failed with a code and the message, and stays Failed', async () => {
    const { provider, backend } = await scene();
    await provider.create(createOf('m-0'));
    backend.last.fail('no stock in zone-a');
    await turns();
    const failed = await provider.get({ id: 'm-0' });
    expect(failed).toMatchObject({
      state: Failed,
      lastError: 'BF_BACKEND_FAILED: no stock in zone-a',
      host: undefined,
    });
    for (const call of [
      provider.create(createOf('m-0')),
      provider.configure(configureOf('m-0')),
      provider.drain(drainOf('m-0')),
      provider.delete(deleteOf('m-0')),
    ]) {
      expect(await refusedWith(call)).toBe(status.INTERNAL);
    }
    expect(await provider.get({ id: 'm-0' })).toEqual(failed);
  });

  it('given an error without a message, then the last error is not empty', async () => {
    const { provider, backend } = await scene();
    await provider.create(createOf('m-0'));
    backend.last.fail('');
    await turns();
    expect((await provider.get({ id: 'm-0' })).lastError).not.toBe('');
  });

  it('given a backend that returns a host without a name, then the machine is Failed', async () => {
    const { provider, backend } = await scene();
    await provider.create(createOf('m-0'));
    backend.last.succeed({ provider: '', ref: '' });
    await turns();
    expect((await provider.get({ id: 'm-0' })).state).toBe(Failed);
  });

  it('given a transition past its timeout, then the machine is Failed, the signal is aborted, and a late success is ignored', async () => {
    const { provider, backend, clock } = await scene({ options: { timeoutsMs: { create: 2000 } } });
    await provider.create(createOf('m-0'));
    await clock.advance(1999);
    expect((await provider.get({ id: 'm-0' })).state).toBe(Creating);
    expect(backend.last.operation.signal.aborted).toBe(false);
    await clock.advance(1);
    const failed = await provider.get({ id: 'm-0' });
    expect(failed).toMatchObject({ state: Failed, lastError: 'create did not end within 2 s' });
    expect(backend.last.operation.signal.aborted).toBe(true);
    backend.last.succeed();
    await turns();
    expect(await provider.get({ id: 'm-0' })).toEqual(failed);
  });

  it('given a drain, then its timeout is added to the grace period', async () => {
    const given = await scene({ options: { timeoutsMs: { drain: 1000 } } });
    await walk(given, 'm-0', 'Configured');
    await given.provider.drain(drainOf('m-0', token(), 10n));
    await given.clock.advance(10_999);
    expect((await given.provider.get({ id: 'm-0' })).state).toBe(Draining);
    await given.clock.advance(1);
    expect((await given.provider.get({ id: 'm-0' })).state).toBe(Failed);
  });

  it('given a bound machine that the backend lost, then it is Failed until the backend recovers it', async () => {
    const given = await scene();
    await walk(given, 'm-0', 'Configured');
    expect(await given.provider.lose('m-0', 'spot interruption')).toBe(true);
    expect(await given.provider.lose('m-0', 'again')).toBe(false);
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({
      state: Failed,
      lastError: 'spot interruption',
    });
    expect(await given.provider.recover('m-0', null)).toBe(true);
    expect(await given.provider.recover('m-0', null)).toBe(false);
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({
      state: Speculative,
      host: undefined,
      cluster: '',
      lastError: '',
    });
  });

  it.each([
    ['that may still be there', {}, true],
    ['that is gone', { hostIsGone: true }, false],
  ])(
    'given a lost machine with a host %s, then the record shows whether it has a host',
    async (_, loss, isThere) => {
      const given = await scene();
      await walk(given, 'm-0', 'Configured');
      const before = (await given.provider.get({ id: 'm-0' })).host;
      await given.provider.lose('m-0', 'the host died', loss);
      expect((await given.provider.get({ id: 'm-0' })).host).toEqual(isThere ? before : undefined);
      expect(before).toBeDefined();
    },
  );

  it('given a machine lost during Create, then the signal is aborted and a late success is ignored', async () => {
    const { provider, backend } = await scene();
    await provider.create(createOf('m-0'));
    await provider.lose('m-0', 'gone');
    expect(backend.last.operation.signal.aborted).toBe(true);
    backend.last.succeed();
    await turns();
    expect((await provider.get({ id: 'm-0' })).state).toBe(Failed);
  });
});

describe('random sequences of calls', () => {
  const LEGAL = { create: Speculative, configure: Idle, drain: Configured, delete: Idle } as const;
  const VIA = { create: Creating, configure: Configuring, drain: Draining, delete: Deleting } as const;
  const TO = { create: Idle, configure: Configured, drain: Idle, delete: Speculative } as const;

  it('given any calls and outcomes, then legal transitions are accepted and illegal ones change nothing', async () => {
    const step = fc.record({
      kind: fc.constantFrom('create', 'configure', 'drain', 'delete'),
      ending: fc.constantFrom('succeed', 'hold', 'hold', 'fail'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { provider, backend } = await scene({ backend: new HeldBackend(1) });
        const calls = {
          create: () => provider.create(createOf('m-0')),
          configure: () => provider.configure(configureOf('m-0')),
          drain: () => provider.drain(drainOf('m-0')),
          delete: () => provider.delete(deleteOf('m-0')),
        };
        const operations = new Map<string, string>();
        for (const { kind, ending } of steps) {
          const before = await provider.get({ id: 'm-0' });
          const revision = (await provider.list(filter())).revision;
          const known = operations.get(kind);
          const isReplay = known !== undefined && (before.state === VIA[kind] || before.state === TO[kind]);
          if (isReplay) {
            expect(await calls[kind]()).toEqual({ operationId: known, machine: before });
          } else if (before.state === LEGAL[kind]) {
            const ack = await calls[kind]();
            expect([...operations.values()]).not.toContain(ack.operationId);
            operations.set(kind, ack.operationId);
            expect(ack.machine?.state).toBe(VIA[kind]);
          } else {
            expect(await refusedWith(calls[kind]())).toBe(status.INTERNAL);
          }
          if (isReplay || before.state !== LEGAL[kind]) {
            expect(await provider.get({ id: 'm-0' })).toEqual(before);
            expect((await provider.list(filter())).revision).toEqual(revision);
          }
          if (ending === 'succeed') backend.calls.at(-1)?.succeed();
          if (ending === 'fail') backend.calls.at(-1)?.fail('no');
          await turns(1);
        }
      }),
      { numRuns: 60 },
    );
  });
});
