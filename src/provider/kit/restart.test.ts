// Durability: a provider reopened on its store after a clean close or a kill.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  configureOf,
  createOf,
  drainOf,
  filter,
  HeldBackend,
  offering,
  refusedWith,
  type Scene,
  scene,
  token,
  turns,
  walk,
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { status } from '../../wire/index.ts';
import { MemoryStore } from './memory-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-store-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Closes the provider and opens another one on its store. */
async function restart(given: Scene, backend = given.backend): Promise<Scene> {
  await given.provider.close();
  const store = given.store instanceof SqliteStore ? new SqliteStore(join(folder, 'state')) : given.store;
  return scene({ backend, clock: given.clock, store });
}

const stores: Record<string, () => Store> = {
  'in memory': () => new MemoryStore(),
  'in SQLite': () => new SqliteStore(join(folder, 'state')),
};

describe.each(Object.entries(stores))('a provider with a store %s', (_name, newStore) => {
  it('given bound and Idle machines, when restarted, then inventory, bindings, metadata and revision are unchanged', async () => {
    const given = await scene({ store: newStore() });
    await walk(given, 'm-0', 'Configured');
    await walk(given, 'm-1', 'Idle');
    const before = await given.provider.list(filter());
    const after = await (await restart(given)).provider.list(filter());
    expect(after).toEqual(before);
    expect(after.revision.length).toBeGreaterThan(0);
  });

  it('given older cursors, when restarted, then each delta still has the machines that changed after its cursor', async () => {
    const given = await scene({ store: newStore() });
    const cursors = [(await given.provider.list(filter())).revision];
    for (const id of ['m-3', 'm-0', 'm-2']) {
      await given.provider.lose(id, 'gone');
      cursors.push((await given.provider.list(filter())).revision);
    }
    const { provider } = await restart(given);
    const deltas = await Promise.all(
      cursors.map((sinceRevision) => provider.list(filter({ sinceRevision }))),
    );
    expect(deltas.map(({ machines }) => machines.map(({ id }) => id).sort())).toEqual([
      ['m-0', 'm-2', 'm-3'],
      ['m-0', 'm-2'],
      ['m-2'],
      [],
    ]);
  });

  it('given metadata with NUL in its keys, when restarted, then it is unchanged byte for byte', async () => {
    const given = await scene({ store: newStore(), backend: new HeldBackend([offering('m\0-0')]) });
    await walk(given, 'm\0-0', 'Idle');
    const shardMetadata = new Map([
      ['a\0b', '\0\u0001\u0085\ud7ff\u{1f600}'],
      ['', ''],
      ['__proto__', 'x'],
    ]);
    given.backend.isPrompt = true;
    await given.provider.configure(configureOf('m\0-0', token('s\0', 1n, 1n), { shardMetadata }));
    await turns();
    const { provider } = await restart(given);
    expect((await provider.get({ id: 'm\0-0' })).shardMetadata).toEqual(shardMetadata);
    const replay = provider.configure(configureOf('m\0-0', token('s\0', 1n, 1n)));
    expect(await refusedWith(replay)).toBe(status.FAILED_PRECONDITION);
  });

  it('given a completed operation, when restarted, then its token is fenced, a repeated call returns it, and a new call has a new id', async () => {
    const given = await scene({ store: newStore() });
    given.backend.isPrompt = true;
    const { operationId } = await given.provider.create(createOf('m-0', token('s', 3n, 2n ** 63n - 1n)));
    await turns();
    const { provider } = await restart(given);
    const stale = provider.create(createOf('m-0', token('s', 3n, 2n ** 63n - 1n)));
    expect(await refusedWith(stale)).toBe(status.FAILED_PRECONDITION);
    expect(await provider.create(createOf('m-0', token('s', 4n, 1n)))).toMatchObject({
      operationId,
      machine: { state: MachineState.Idle },
    });
    expect((await provider.create(createOf('m-1'))).operationId).not.toBe(operationId);
  });

  it('given marks below zero and at both limits of int64, when restarted, then they are exact', async () => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    const counters = [min, min + 1n, -1n, 0n, 1n, max - 1n, max];
    const given = await scene({ store: newStore() });
    given.backend.isPrompt = true;
    for (const epoch of counters) {
      for (const sequence of counters) {
        await given.provider.create(createOf('m-0', token(`s(${epoch},${sequence})`, epoch, sequence)));
      }
    }
    await turns();
    const { provider } = await restart(given);
    for (const epoch of counters) {
      for (const sequence of counters) {
        const at = (fence: readonly [bigint, bigint]) =>
          provider.create(createOf('m-0', token(`s(${epoch},${sequence})`, ...fence)));
        expect(await refusedWith(at([epoch, sequence]))).toBe(status.FAILED_PRECONDITION);
        if (sequence < max) await at([epoch, sequence + 1n]);
        else if (epoch < max) await at([epoch + 1n, min]);
      }
    }
  });

  it('given marks of unknown machines and of failed calls, when restarted, then they are kept', async () => {
    const given = await scene({ store: newStore() });
    await refusedWith(given.provider.create(createOf('ghost', token('s', 5n, 5n))));
    await refusedWith(given.provider.drain(drainOf('m-0', token('s', 5n, 5n))));
    const { provider } = await restart(given);
    for (const id of ['ghost', 'm-0']) {
      const stale = provider.create(createOf(id, token('s', 1n, 1n)));
      expect(await refusedWith(stale)).toBe(status.FAILED_PRECONDITION);
    }
  });

  it('given a transition in progress, when restarted, then the machine is Failed with a reason, and a late success is ignored', async () => {
    const given = await scene({ store: newStore() });
    await walk(given, 'm-0', 'Idle');
    await given.provider.configure(configureOf('m-0'));
    const { revision } = await given.provider.list(filter());
    const late = given.backend.last;
    const { provider } = await restart(given);
    late.succeed();
    await turns();
    expect(await provider.get({ id: 'm-0' })).toMatchObject({
      state: MachineState.Failed,
      lastError: 'the provider was restarted in the middle of configure',
    });
    expect(late.operation.signal.aborted).toBe(true);
    const delta = await provider.list(filter({ sinceRevision: revision }));
    expect(delta.machines.map(({ id }) => id)).toEqual(['m-0']);
  });

  it('given a resumable backend, when restarted, then the call is repeated with the same operation id and arguments', async () => {
    const backend = new HeldBackend(2);
    backend.resumable = true;
    const given = await scene({ store: newStore(), backend });
    await walk(given, 'm-0', 'Idle');
    await walk(given, 'm-1', 'Configured');
    const { operationId } = await given.provider.configure(configureOf('m-0'));
    await given.provider.drain(drainOf('m-1', token(), 30n));
    const { provider } = await restart(given);
    await turns();
    const [configure, drain] = backend.calls.slice(-2);
    expect(configure).toMatchObject({ kind: 'configure', operation: { id: operationId } });
    expect(Buffer.from(configure!.binding!.bootstrapBlob).toString()).toBe('join');
    expect(drain).toMatchObject({ kind: 'drain', graceSeconds: 30, machine: { cluster: 'cluster-1' } });
    expect((await provider.get({ id: 'm-0' })).state).toBe(MachineState.Configuring);
    configure!.succeed();
    drain!.succeed();
    await turns();
    expect((await provider.get({ id: 'm-0' })).state).toBe(MachineState.Configured);
    expect((await provider.get({ id: 'm-1' })).state).toBe(MachineState.Idle);
  });

  it('given a transition in progress, when closed with a timeout, then it can complete', async () => {
    const given = await scene({ store: newStore() });
    await given.provider.create(createOf('m-0'));
    const closed = given.provider.close(1000);
    expect(await refusedWith(given.provider.create(createOf('m-1')))).toBe(status.UNAVAILABLE);
    given.backend.last.succeed();
    await closed;
    const store = given.store instanceof SqliteStore ? new SqliteStore(join(folder, 'state')) : given.store;
    const { provider } = await scene({ store, backend: given.backend });
    expect((await provider.get({ id: 'm-0' })).state).toBe(MachineState.Idle);
  });
});

describe('closing a provider', () => {
  it('given a call that was just accepted, then its transition still starts, and close waits for it', async () => {
    const { provider, backend } = await scene();
    const ack = provider.create(createOf('m-0'));
    const closed = provider.close(1000);
    await ack;
    backend.last.succeed();
    await closed;
    expect(provider.runningCount).toBe(0);
  });
});

describe('a store that fails', () => {
  it('given a write that fails, then its call and all later calls are refused', async () => {
    const store = new MemoryStore();
    let seen: unknown;
    const options = { onStoreFailure: (error: unknown) => (seen = error) };
    const { provider, backend } = await scene({ store, options });
    store.write = () => Promise.reject(new Error('disk full'));
    expect(await refusedWith(provider.create(createOf('m-0')))).toBe(status.UNAVAILABLE);
    expect(seen).toEqual(new Error('disk full'));
    expect(backend.calls).toEqual([]);
    expect(await refusedWith(provider.get({ id: 'm-0' }))).toBe(status.UNAVAILABLE);
    expect(await refusedWith(provider.list(filter()))).toBe(status.UNAVAILABLE);
  });

  it('given a write in progress, then acknowledgements and reads wait until it is durable', async () => {
    const store = new MemoryStore();
    const { provider, backend } = await scene({ store });
    const { promise, resolve } = Promise.withResolvers<void>();
    store.write = () => promise;
    const done: string[] = [];
    const calls = [
      provider.create(createOf('m-0')).then(() => done.push('ack')),
      provider.get({ id: 'm-0' }).then(() => done.push('get')),
      provider.list(filter()).then(() => done.push('list')),
    ];
    await turns();
    expect([done, backend.calls]).toEqual([[], []]);
    resolve();
    await Promise.all(calls);
    expect(done.sort()).toEqual(['ack', 'get', 'list']);
    expect(backend.calls).toHaveLength(1);
  });
});

describe('the SQLite store', () => {
  it('given a file that is already open, then BF_STORE_LOCKED', async () => {
    const store = new SqliteStore(join(folder, 'state'));
    expect(() => new SqliteStore(join(folder, 'state'))).toThrow('BF_STORE_LOCKED');
    await store.close();
    await new SqliteStore(join(folder, 'state')).close();
  });

  it('given a file of another format or a missing folder, then BF_STORE_UNREADABLE', () => {
    writeFileSync(
      join(folder, 'text'),
      'not a database at all, but long enough to have a header. '.repeat(99),
    );
    const other = new DatabaseSync(join(folder, 'other'));
    other.exec('CREATE TABLE t (x)');
    other.close();
    for (const name of ['text', 'other', 'no/such/folder']) {
      expect(() => new SqliteStore(join(folder, name))).toThrow('BF_STORE_UNREADABLE');
    }
  });

  it('given a provider killed during a burst of calls, then no acknowledged call is lost', async () => {
    for (const acknowledgements of [1, 40, 300]) {
      const path = join(folder, `burst-${acknowledgements}`);
      const acked = await killedAfter(acknowledgements, path);
      const given = await scene({ store: new SqliteStore(path), backend: new HeldBackend(BURST_MACHINES) });
      expect(acked.length).toBeGreaterThanOrEqual(acknowledgements);
      for (const { id, operationId } of acked) {
        const machine = await given.provider.get({ id });
        expect([MachineState.Idle, MachineState.Failed]).toContain(machine.state);
        const stale = given.provider.create(createOf(id, token('s', 1n, 1n)));
        expect(await refusedWith(stale)).toBe(status.FAILED_PRECONDITION);
        if (machine.state !== MachineState.Idle) continue;
        expect((await given.provider.create(createOf(id))).operationId).toBe(operationId);
      }
      await given.provider.close();
    }
  }, 300_000);
});

const BURST_MACHINES = 2000;

/** Creates machines concurrently in another process, and kills it when `count` are acknowledged. */
async function killedAfter(
  count: number,
  path: string,
): Promise<readonly { id: string; operationId: string }[]> {
  const code = `
    import { writeSync } from 'node:fs';
    import { Provider } from ${JSON.stringify(import.meta.resolve('./provider.ts'))};
    import { SqliteStore } from ${JSON.stringify(import.meta.resolve('./sqlite-store.ts'))};
    import { systemClock } from ${JSON.stringify(import.meta.resolve('../../runtime/system-clock.ts'))};
    import { HeldBackend, createOf, token } from ${JSON.stringify(import.meta.resolve('../../../testing/support/provider-kit.ts'))};
    const backend = new HeldBackend(${BURST_MACHINES});
    backend.isPrompt = true;
    const provider = await Provider.open({ backend, store: new SqliteStore(${JSON.stringify(path)}), clock: systemClock });
    let next = 0;
    const worker = async () => {
      while (next < ${BURST_MACHINES}) {
        const id = 'm-' + next++;
        const { operationId } = await provider.create(createOf(id, token('s', 1n, 1n)));
        writeSync(1, JSON.stringify({ id, operationId }) + '\\n');
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    setInterval(() => {}, 1000);
  `;
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acked: { id: string; operationId: string }[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    // The last line may be truncated; then no caller received that acknowledgement.
    if (line.endsWith('}')) acked.push(JSON.parse(line) as { id: string; operationId: string });
    if (acked.length === count) child.kill('SIGKILL');
  }
  return acked;
}
