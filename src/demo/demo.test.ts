// The demo environment over real gRPC, connected to the sessions of a shard.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SessionsBench, sessionsBench } from '../../testing/support/demo-operator.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { addSessions, sessionServerOptions } from '../shard/index.ts';
import {
  DEMO_SCENARIO_NAMES,
  type DemoEnvironment,
  type DemoEnvironmentEvent,
  demoSizeIn,
  startDemoEnvironment,
} from './demo.ts';

let dir: string;
const open: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-demo-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  rmSync(dir, { recursive: true });
});

async function started(happened: DemoEnvironmentEvent[] = []): Promise<DemoEnvironment> {
  const environment = await startDemoEnvironment({
    dir: join(dir, 'state'),
    clusters: 6,
    machines: 120,
    seed: 1,
    speed: 100,
    onEvent: (event) => happened.push(event),
  });
  open.push(() => environment.stop());
  return environment;
}

async function shard(): Promise<SessionsBench & { readonly address: string }> {
  const bench = await sessionsBench(systemClock);
  const server = new Server(sessionServerOptions(bench.sessions.limits));
  addSessions(server, bench.sessions, { hasTls: false });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  open.push(() => {
    bench.sessions.close();
    server.forceShutdown();
  });
  return { ...bench, address: `127.0.0.1:${port}` };
}

/** At this speed clusters report repeatedly, so a fast one may send several reports before a slow one sends its first. */
const allReported = (of: SessionsBench['of']) =>
  vi.waitFor(() => expect(new Set(of('demand').map(({ delta }) => delta.cluster)).size).toBe(6));

describe('demo environment', () => {
  it('given a shard, when connected, then all clusters open sessions and report demand; two clouds are open before that', async () => {
    const happened: DemoEnvironmentEvent[] = [];
    const environment = await started(happened);
    expect(environment.providers.map(({ name }) => name)).toEqual(['metal', 'cloud']);
    expect(environment.status().clusters.every(({ isConnected }) => !isConnected)).toBe(true);
    const { address, of } = await shard();
    environment.connect(address);
    await allReported(of);
    for (const { delta } of of('demand')) expect(delta.origin.length).toBeGreaterThan(0);
    // The shard receives a report before the cluster receives the ack of its hello.
    await vi.waitFor(() => {
      const { clusters } = environment.status();
      expect(clusters.map(({ isConnected }) => isConnected)).toEqual(Array(6).fill(true));
    });
    expect(environment.status().clouds.every(({ machines, hosts }) => hosts <= machines)).toBe(true);
    expect(happened).toContainEqual({ source: 'web', text: 'connected to its shard' });
  });

  it('given all clusters connected, when each demo scenario runs, then it returns a text, and its demand is reported', async () => {
    const environment = await started();
    const { address, of } = await shard();
    environment.connect(address);
    await allReported(of);
    for (const name of DEMO_SCENARIO_NAMES) expect(await environment.scenarios[name]()).not.toBe('');
    expect(environment.status().scenarios).toHaveLength(2);
    await vi.waitFor(() => {
      const wanted = of('demand').flatMap(({ delta }) => delta.fresh);
      expect(wanted.some(({ profile }) => profile.priority === 5000)).toBe(true);
      expect(wanted.some(({ group }) => group.endsWith('rush-1'))).toBe(true);
    });
  });

  it('given a running environment, when stopped, then all sessions close, and a second start can open the folder', async () => {
    const environment = await started();
    const { address, of } = await shard();
    environment.connect(address);
    await allReported(of);
    await Promise.all([environment.stop(), environment.stop()]);
    // A slow cluster may have opened more than one session.
    await vi.waitFor(() => expect(of('session-closed')).toHaveLength(of('session-opened').length));
    expect((await started()).providers).toHaveLength(2);
  });

  it('given a folder with state, when started with another size, then the error names the size in the folder', async () => {
    expect(await demoSizeIn(dir)).toBeNull();
    const options = { dir, clusters: 6, machines: 120, seed: 1, speed: 10 };
    await (await startDemoEnvironment(options)).stop();
    expect(await demoSizeIn(dir)).toEqual({ clusters: 6, machines: 120, seed: 1 });
    await expect(startDemoEnvironment({ ...options, machines: 60 })).rejects.toThrow(
      'has the state of 6 clusters, 120 machines and seed 1, not of 6 clusters, 60 machines and seed 1',
    );
    await (await startDemoEnvironment({ ...options, speed: 100 })).stop();
  });

  it.each([
    [{ clusters: 0 }, 'clusters must be a whole number from 1 to 1000, not 0'],
    [{ speed: 0 }, 'speed must be a number from 0.01 to 1000, not 0'],
    [{ machines: 10 }, '60 machines or more'],
  ])('given the option %o, then the start is refused', async (given, message) => {
    const options = { dir, clusters: 6, machines: 120, seed: 1, speed: 10, ...given };
    await expect(startDemoEnvironment(options)).rejects.toThrow(message);
  });
});
