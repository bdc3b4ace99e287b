// Twelve mistakes that other implementations of the contract have made, each under its number. Most are also
// behaviours of the suite, with a mutant that shows the suite detects them; here each is tested alone, over real gRPC.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import {
  type Profile,
  runConformance,
  SqliteStore,
  type Store,
  serveProvider,
} from '../../src/provider/index.ts';
import { CapacityNeed, ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import {
  bindService,
  connect,
  machinesFromWire,
  RollupIntake,
  status,
  statusOf,
} from '../../src/wire/index.ts';
import { MUTANTS } from '../../testing/mutants/providers/provider.ts';
import { failedIn, tryMutant } from '../../testing/mutants/providers/try-mutant.ts';
import { openKitProvider } from './kit-provider.ts';
import { QUICK, UNHURRIED_MS } from './timings.ts';

const { Speculative, Idle, Configured } = MachineState;
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const BIN = fileURLToPath(new URL('../../bin/bigfleet', import.meta.url));

const open: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A provider on a port and the calls as a shard makes them. */
async function served(store?: Store) {
  const provider = await openKitProvider({
    machines: 16,
    transitionTimeoutMs: UNHURRIED_MS,
    ...(store === undefined ? {} : { store }),
  });
  const server = await serveProvider(provider, '127.0.0.1:0', { tls: null });
  const connection = connect(bindService(CapacityProviderDefinition), server.address);
  const { rpc } = connection;
  const stop = async () => {
    connection.close();
    await server.stop();
  };
  open.push(stop);
  const create = (machineId: string, fence = token()) => rpc.create({ machineId, ...fence });
  const configure = (machineId: string, shardMetadata = new Map<string, string>()) =>
    rpc.configure({ machineId, clusterId: 'c', bootstrapBlob: new Uint8Array(), shardMetadata, ...token() });
  const drain = (machineId: string) => rpc.drain({ machineId, gracePeriodSeconds: 0n, ...token() });
  const list = (changes: Partial<Parameters<typeof rpc.list>[0]> = {}) =>
    rpc.list({ states: [], maxResults: 0, sinceRevision: new Uint8Array(0), ...changes });
  const settles = (id: string, state: number) =>
    expect.poll(async () => (await rpc.get({ id })).state, { interval: 1 }).toBe(state);
  return { rpc, create, configure, drain, list, settles, stop };
}

function token(shardId = '', shardEpoch = 0n, sequenceNumber = 0n) {
  return { shardId, shardEpoch, sequenceNumber };
}

async function codeOf(call: Promise<unknown>): Promise<number | undefined> {
  return await call.then(
    () => status.OK,
    (error: unknown) => statusOf(error),
  );
}

function mutantNamed(name: string) {
  return MUTANTS.find((mutant) => mutant.name === name)!;
}

describe('a known mistake', () => {
  it('1: given a capped List, then it does not return the same first machine every time', async () => {
    const { list } = await served();
    const first = async () => (await list({ states: [Speculative], maxResults: 1 })).machines[0]!.id;
    const seen = [await first(), await first(), await first()];
    expect(new Set(seen).size).toBe(3);
  });

  it('2: given a cursor, then it is parsed strictly, and an invalid one returns the full list', async () => {
    const { create, list, settles } = await served();
    await create('m-1');
    await settles('m-1', Idle);
    const { machines, revision } = await list();
    const since = async (cursor: string) =>
      (await list({ sinceRevision: Buffer.from(cursor) })).machines.length;
    const cursor = Buffer.from(revision).toString();
    expect(await since(cursor)).toBe(0);
    for (const spoilt of [`${cursor}!`, `0${cursor}`, `${cursor}.0`, ` ${cursor}`, `${cursor}\n`]) {
      expect(await since(spoilt)).toBe(machines.length);
    }
  });

  it('3: given tokens up to 2^63 − 1, then they are compared exactly', async () => {
    const { create } = await served();
    await create('m-1', token('s', MAX, MAX - 1n));
    await create('m-1', token('s', MAX, MAX));
    expect(await codeOf(create('m-1', token('s', MAX, MAX)))).toBe(status.FAILED_PRECONDITION);
    expect(await codeOf(create('m-1', token('s', MAX - 1n, MAX)))).toBe(status.FAILED_PRECONDITION);
  });

  it('3: given tokens down to −2^63, then they fence and are compared exactly', async () => {
    const { create } = await served();
    const ascending = [
      token('s', MIN, MIN),
      token('s', MIN, MIN + 1n),
      token('s', -1n, 0n),
      token('s', 0n, -1n),
    ];
    for (const newer of ascending) {
      await create('m-2', newer);
      expect(await codeOf(create('m-2', newer))).toBe(status.FAILED_PRECONDITION);
    }
    expect(await codeOf(create('m-2', token('s', -1n, MAX)))).toBe(status.FAILED_PRECONDITION);
  });

  // src/provider/kit/fences.test.ts tests that their number is bounded.
  it('4: given machines that do not exist, then their marks are kept', async () => {
    const { create } = await served();
    expect(await codeOf(create('ghost', token('s', 5n, 5n)))).toBe(status.NOT_FOUND);
    expect(await codeOf(create('ghost', token('s', 5n, 4n)))).toBe(status.FAILED_PRECONDITION);
  });

  it('5: given a retry after the end of its operation, then it still matches', async () => {
    const { create, configure, drain, settles } = await served();
    await create('m-1');
    await settles('m-1', Idle);
    await configure('m-1');
    await settles('m-1', Configured);
    const { operationId } = await drain('m-1');
    await settles('m-1', Idle);
    const late = await Promise.all([drain('m-1'), drain('m-1'), drain('m-1')]);
    expect(late.map((ack) => ack.operationId)).toEqual([operationId, operationId, operationId]);
  });

  it('6: given a provider without Delete, then it is certified for core, but not for cloud', async () => {
    const provider = await openKitProvider({
      machines: 64,
      transitionTimeoutMs: UNHURRIED_MS,
      around: (cloud) => ({
        describe: (signal) => cloud.describe(signal),
        create: (machine, operation) => cloud.create(machine, operation),
        configure: (machine, binding, operation) => cloud.configure(machine, binding, operation),
        drain: (machine, graceSeconds, operation) => cloud.drain(machine, graceSeconds, operation),
      }),
    });
    open.push(() => provider.close());
    const certify = (...profiles: readonly Profile[]) =>
      runConformance({
        target: () => ({ rpc: provider, close: () => {} }),
        profiles,
        only: ['FullLifecycle', 'B109', 'B204', 'B215', 'B301', 'B310', 'B409', 'B807'],
        timings: QUICK,
      });
    const skips = ['B109', 'B310', 'B409', 'B807'];
    for (const [report, verdict] of [
      [await certify('core'), 'certified'],
      [await certify('core', 'cloud'), 'incomplete'],
    ] as const) {
      expect(report).toMatchObject({ verdict, totals: { failed: 0 } });
      expect(report.behaviours.filter((result) => result.status === 'skipped').map(({ id }) => id)).toEqual(
        skips,
      );
    }
  });

  it('7: given the first List, then it has a revision, which a durable provider needs', async () => {
    const { list } = await served();
    expect((await list()).revision.length).toBeGreaterThan(0);
    const report = await tryMutant(mutantNamed('no revisions at all'), { only: ['B1005'] });
    expect(failedIn(report)).toEqual(['B1005']);
  });

  it('8: given a Creating machine with a host or cluster, or a Failed one without a reason, then a shard rejects it', async () => {
    const { list } = await served();
    const { machines, revision } = await list({ maxResults: 4 });
    const [good, ...others] = machines;
    const host = { provider: 'p', ref: 'r' };
    const wrong = [
      { ...others[0]!, state: MachineState.Creating, host },
      { ...others[1]!, state: MachineState.Creating, cluster: 'c' },
      { ...others[2]!, state: MachineState.Failed, lastError: '' },
    ];
    const taken = machinesFromWire({ machines: [good!, ...wrong], revision });
    expect(taken.machines.map(({ id }) => id)).toEqual([good!.id]);
    for (const { id } of wrong) expect(taken.problems.some(({ path }) => path.includes(id))).toBe(true);
  });

  it('8: given a Create or its failure, then the kit never shows such a record, from the acknowledgement on', async () => {
    const { rpc, create, settles } = await served();
    expect((await create('m-1')).machine).toMatchObject({ host: undefined, cluster: '' });
    await settles('m-1', Idle);
    await create('f-1');
    await settles('f-1', MachineState.Failed);
    expect((await rpc.get({ id: 'f-1' })).lastError).toBe('BF_BACKEND_FAILED: out of stock');
  });

  it('9: given several machines, then marks are per shard and machine, not per shard', async () => {
    const { create } = await served();
    await create('m-1', token('s', 1n, 30n));
    await create('m-2', token('s', 1n, 7n));
    await create('m-1', token('t', 1n, 1n));
    const report = await tryMutant(mutantNamed('one mark per shard'), { only: ['B302'] });
    expect(failedIn(report)).toEqual(['B302']);
  });

  it('10: given NUL and control characters in keys and values, then they are returned unchanged, also after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-traps-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const metadata = new Map([
      ['a\0b', 'c\0d'],
      ['a', '\u0001\u001f\u007f\u009f'],
      ['\0', ''],
    ]);
    const before = await served(new SqliteStore(join(folder, 'state')));
    await before.create('m-1');
    await before.settles('m-1', Idle);
    await before.configure('m-1', metadata);
    await before.settles('m-1', Configured);
    await before.stop();
    open.pop();
    const after = await served(new SqliteStore(join(folder, 'state')));
    expect((await after.rpc.get({ id: 'm-1' })).shardMetadata).toEqual(metadata);
  });

  it.each([
    ['the certifying runner', ['--use-fake-backend']],
    ['the plain script, which does not know the flag', ['--preset', 'calm']],
  ])('11: given the command of %s, then the fake cloud starts', { timeout: 180_000 }, async (_, flags) => {
    const args = [
      'provider',
      'fake',
      '--addr=127.0.0.1:0',
      '--provider=certify',
      '--seed-count=16',
      ...flags,
    ];
    const child = spawn(BIN, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    open.push(() => void child.kill('SIGKILL'));
    const line = await new Promise<string>((resolve) => {
      child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString()));
    });
    const [target] = /127\.0\.0\.1:\d+/.exec(line) ?? [];
    const report = await runConformance({ target, only: ['FullLifecycle'] });
    expect(report.verdict).toBe('certified');
  });

  // Without a session: the reader that sessions decode roll-ups with.
  it('12: given a refused roll-up, then it changes nothing, and the next one needs no answer to it', () => {
    const rollup = (timestampUnixNanos: bigint, amount: string) => {
      const need = { ...CapacityNeed.decode(new Uint8Array(0)), priority: 1 };
      need.aggregateResources.set('cpu', amount);
      return ClusterCapacityNeeds.encode({
        clusterId: 'c',
        timestampUnixNanos,
        needs: [need],
        nodeFacts: undefined,
      }).finish();
    };
    const intake = new RollupIntake('c');
    const read = (bytes: Uint8Array) => {
      const outcome = intake.read(bytes);
      intake.accept(outcome);
      return outcome.kind;
    };
    expect(read(rollup(1n, '4'))).toBe('changed');
    expect(read(rollup(2n, 'four'))).toBe('refused');
    expect(read(rollup(3n, '4'))).toBe('unchanged');
    expect(read(rollup(4n, '5'))).toBe('changed');
  });
});
