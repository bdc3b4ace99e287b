// The fake cloud and the template for authors against the suite: every behaviour passes, none is skipped. And the
// process as its operator uses it: it ends on a signal, and loses nothing when it is killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ConformanceReport,
  FakeProvider,
  MemoryStore,
  presetSettings,
  runConformance,
  serveProvider,
} from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, connect, statusOf } from '../../src/wire/index.ts';
import { GIVEN_UP_MS, QUICK } from './timings.ts';

const PATIENT = { timeout: 180_000 };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const unpassed = ({ behaviours }: ConformanceReport) =>
  behaviours.filter(({ status }) => status !== 'passed').map(({ id, detail }) => `${id}: ${detail}`);

async function calmProvider(machines: number): Promise<FakeProvider> {
  const timeoutsMs = { create: GIVEN_UP_MS, configure: GIVEN_UP_MS, drain: GIVEN_UP_MS, delete: GIVEN_UP_MS };
  return await FakeProvider.open({
    seed: 1,
    clock: systemClock,
    machines,
    settings: presetSettings('calm'),
    store: new MemoryStore(),
    faultSelectors: true,
    kit: { timeoutsMs },
  });
}

const bigfleet = `"${process.execPath}" "${resolve('src/cli/main.ts')}"`;
const template = `"${process.execPath}" -C bigfleet-source "${resolve('examples/provider/main.ts')}"`;
const flags =
  '--faults --addr 127.0.0.1:{port} --state {state} --seed-count {seed} --transition-timeout {timeout}';

describe('the calm fake cloud', () => {
  it('given this process, then it is certified for core', PATIENT, async () => {
    const fake = await calmProvider(256);
    cleanups.push(() => fake.close());
    const report = await runConformance({ target: () => ({ rpc: fake, close: () => {} }), timings: QUICK });
    expect(unpassed(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94, skipped: 0 } });
  });

  it('given an address, then it is certified for faults and scale', PATIENT, async () => {
    const fake = await calmProvider(1000);
    const server = await serveProvider(fake, '127.0.0.1:0', { tls: null });
    cleanups.push(() => server.stop());
    const report = await runConformance({
      target: server.address,
      profiles: ['fault', 'scale'],
      transitionTimeoutMs: GIVEN_UP_MS,
      scaleSeed: 1000,
      soakMs: 200,
      timings: QUICK,
    });
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(8 + 9);
  });
});

// Side by side: each waits most of the time, above all for the timeouts of faults.
describe.concurrent.each([
  ['bigfleet provider fake', `exec ${bigfleet} provider fake ${flags}`],
  ['the template', `exec ${template} ${flags}`],
])('%s', (_name, start) => {
  it('given its start command, then it is certified for core, faults and durability', PATIENT, async () => {
    const report = await runConformance({
      start,
      profiles: ['core', 'cloud', 'spot', 'fault', 'durable'],
      transitionTimeoutMs: GIVEN_UP_MS,
      timings: QUICK,
    });
    expect(unpassed(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94 + 8 + 7, skipped: 0 } });
  });
});

/** Starts the command and waits for its first line. */
async function started(...args: readonly string[]): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [
    'src/cli/main.ts',
    'provider',
    'fake',
    '--addr',
    '127.0.0.1:0',
    ...args,
  ]);
  // It writes until it ends.
  cleanups.push(async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit');
  });
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, line: chunk.toString() };
}

describe('the process of a fake cloud', PATIENT, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'given %s, then it exits with 0, even while calls hang',
    async (signal) => {
      const { child, line } = await started(
        '--preset',
        'hostile',
        '--set',
        'transport.hang=1',
        '--control',
        '127.0.0.1:0',
      );
      const client = connect(bindService(CapacityProviderDefinition), / at (\S+:\d+)/.exec(line)![1]!);
      cleanups.push(() => client.close());
      const hanging = client.rpc.get({ id: 'any' }).catch(statusOf);
      await client.rpc.get({ id: 'any' }, { deadline: Date.now() + 300 }).catch(() => {});
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(await hanging).toBe(status.UNAVAILABLE);
    },
  );

  it('given a state file in use, then a second process does not start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-fake-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const state = ['--state', join(folder, 'state.db')];
    await started(...state);
    const second = spawn(process.execPath, [
      'src/cli/main.ts',
      'provider',
      'fake',
      '--addr',
      '127.0.0.1:0',
      ...state,
    ]);
    expect(await once(second, 'exit')).toEqual([2, null]);
  });
});
