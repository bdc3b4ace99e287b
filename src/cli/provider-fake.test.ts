// Every flag of `bigfleet provider fake`, over real gRPC on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MachineState } from '../model/index.ts';
import { CapacityProviderDefinition } from '../wire/gen/bigfleet/v1alpha1/provider.ts';
import { issueCertificate, makeAuthority } from '../wire/grpc/certificates.ts';
import { bindService, clientCredentials, connect, type SecurityOptions, statusOf } from '../wire/index.ts';
import { fakeCommand } from './provider-fake.ts';

const service = bindService(CapacityProviderDefinition);
const EVERYTHING = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };
const UNFENCED = { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-fake-'));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  rmSync(folder, { recursive: true });
});

async function start(...args: readonly string[]) {
  const errors: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: started, resolve: print } = Promise.withResolvers<string>();
  const io = { out: print, err: (text: string) => errors.push(text), ended: () => ended };
  const command = fakeCommand(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const running = command.parseAsync(['--addr', '127.0.0.1:0', ...args], { from: 'user' });
  let isOver = false;
  const stop = async () => {
    if (isOver) return;
    isOver = true;
    end();
    await running;
  };
  const text = await Promise.race([started, running.then(() => 'nothing')]);
  cleanups.push(stop);
  const address = / at (\S+:\d+)/.exec(text)?.[1] ?? '';
  const control = /http:\/\/(\S+:\d+)/.exec(text)?.[1] ?? '';
  return { text, errors, address, control, stop };
}

function rpcOf(address: string, security: SecurityOptions = { tls: null }) {
  const client = connect(service, address, clientCredentials(address, security));
  cleanups.push(() => client.close());
  return client.rpc;
}

async function served(...args: readonly string[]) {
  const running = await start(...args);
  return { ...running, rpc: rpcOf(running.address) };
}

async function until(rpc: ReturnType<typeof rpcOf>, id: string, state: MachineState): Promise<void> {
  while ((await rpc.get({ id })).state !== state) await sleep(5);
}

describe('bigfleet provider fake', () => {
  it('given no flags, then it serves 256 machines with the realistic preset, in memory', async () => {
    const { text, rpc } = await served();
    expect(text).toMatch(/^Serving 256 machines at 127\.0\.0\.1:\d+ \(preset realistic, seed 1\)\.\n/);
    expect(text).toContain('in memory only');
    const { machines } = await rpc.list(EVERYTHING);
    expect(machines.every(({ id }) => id.startsWith('fake-'))).toBe(true);
  });

  it('given the flags of the public runner, then the preset is calm', async () => {
    const state = join(folder, 'state.db');
    const flags = ['--provider=certify', '--use-fake-backend', '--seed-count=40', `--state=${state}`];
    const { text, rpc } = await served(...flags);
    expect(text).toContain('Serving 40 machines');
    expect(text).toContain('preset calm');
    expect(text).toContain(`State is in ${state}.`);
    const { machines } = await rpc.list(EVERYTHING);
    expect(machines.map(({ id }) => id)).toContain('certify-general-zone-a-0');
    await rpc.create({ machineId: 'certify-general-zone-a-0', ...UNFENCED });
    await until(rpc, 'certify-general-zone-a-0', MachineState.Idle);
    expect((await rpc.get({ id: 'certify-general-zone-a-0' })).host?.provider).toBe('certify');
  });

  it('given a state file, when it is started again, then the state is the same', async () => {
    const flags = ['--preset', 'calm', '--seed-count', '30', '--state', join(folder, 'state.db')];
    const first = await served(...flags);
    const { operationId } = await first.rpc.create({ machineId: 'fake-general-zone-a-0', ...UNFENCED });
    await until(first.rpc, 'fake-general-zone-a-0', MachineState.Idle);
    await first.stop();
    const second = await served(...flags);
    const again = await second.rpc.create({ machineId: 'fake-general-zone-a-0', ...UNFENCED });
    expect(again).toMatchObject({ operationId, machine: { state: MachineState.Idle } });
  });

  it('given --faults, then labelled machines and clusters fail within the timeout', async () => {
    const { text, rpc } = await served('--faults', '--seed-count', '30', '--transition-timeout', '100ms');
    expect(text).toContain('Serving 38 machines');
    expect(text).toContain('preset calm, seed 1, failing on request');
    const { machines } = await rpc.list(EVERYTHING);
    expect(machines.filter(({ labels }) => labels.get('conformance.fault/create') === 'error')).toHaveLength(
      8,
    );
    await rpc.create({ machineId: 'fake-fault-0', ...UNFENCED });
    await until(rpc, 'fake-fault-0', MachineState.Failed);
    await rpc.create({ machineId: 'fake-general-zone-a-0', ...UNFENCED });
    await until(rpc, 'fake-general-zone-a-0', MachineState.Idle);
    const binding = { clusterId: 'fault-timeout', bootstrapBlob: new Uint8Array(), shardMetadata: new Map() };
    await rpc.configure({ machineId: 'fake-general-zone-a-0', ...binding, ...UNFENCED });
    await until(rpc, 'fake-general-zone-a-0', MachineState.Failed);
    expect((await rpc.get({ id: 'fake-general-zone-a-0' })).lastError).toContain('within 0.1 s');
  });

  it('given --set, --preset and --seed, then they are in force', async () => {
    const settings = ['--set', 'transport.throttle=1', '--set', 'quotas.gpu=1'];
    const { text, rpc } = await served(
      '--preset',
      'hostile',
      '--seed',
      '42',
      ...settings,
      '--set',
      'transport.reorder=0',
    );
    expect(text).toContain('preset hostile, seed 42');
    const code = await rpc.list(EVERYTHING).catch(statusOf);
    expect(code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('given offerings in a file, then it offers those', async () => {
    const file = join(folder, 'offerings.yaml');
    writeFileSync(
      file,
      'offerings:\n  - { name: tiny, instanceType: t1, capacityType: on_demand, resources: { cpu: 1 } }\n',
    );
    const { rpc } = await served('--preset', 'calm', '--seed-count', '3', '--offerings', file);
    const { machines } = await rpc.list(EVERYTHING);
    expect(machines.map(({ id, instanceType }) => [id, instanceType])).toEqual(
      expect.arrayContaining([['fake-tiny-zone-a-2', 't1']]),
    );
  });

  it('given --control and --verbose, then injected faults happen and are printed', async () => {
    const { control, errors, rpc } = await served('--preset', 'calm', '--control', '127.0.0.1:0', '-v');
    const killed = await fetch(`http://${control}/kill`, {
      method: 'POST',
      body: '{"offering":"metal","count":1}',
    });
    const { machines } = (await killed.json()) as { machines: [string] };
    expect(await rpc.get({ id: machines[0] })).toMatchObject({ state: MachineState.Failed });
    expect(errors.join('')).toMatch(/died +fake-metal-zone-a-0 +while idle/);
  });

  it('given TLS files, then shards of that authority may call and others may not', async () => {
    const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
    const authority = makeAuthority({ name: 'fleet', ...valid });
    const filesOf = (name: string, uri?: string) => {
      const uris = uri === undefined ? {} : { uris: [uri] };
      const pair = issueCertificate(authority, { name, ipAddresses: ['127.0.0.1'], ...uris, ...valid });
      const [cert, key, ca] = ['crt', 'key', 'ca'].map((end) => join(folder, `${name}.${end}`)) as [
        string,
        string,
        string,
      ];
      writeFileSync(cert, pair.certificate);
      writeFileSync(key, pair.key);
      writeFileSync(ca, authority.certificate);
      return { cert, key, ca };
    };
    const server = filesOf('server');
    const tlsFlags = ['--tls-cert', server.cert, '--tls-key', server.key, '--tls-ca', server.ca];
    const { address } = await start('--preset', 'calm', '--seed-count', '30', ...tlsFlags);
    const shard = rpcOf(address, { tls: filesOf('shard', 'bigfleet://shard/shard-0') });
    expect((await shard.list(EVERYTHING)).machines).toHaveLength(30);
    expect(await rpcOf(address).list(EVERYTHING).catch(statusOf)).toBe(status.UNAVAILABLE);
  });

  it.each([
    [['--addr', '0.0.0.0:0'], 'BF_PLAINTEXT_REFUSED'],
    [['--addr', ':0'], 'BF_PLAINTEXT_REFUSED'],
    [['--addr', 'nowhere'], 'BF_USAGE'],
    [['--addr', '192.0.2.1:1', '--insecure'], 'BF_LISTEN_FAILED'],
    [['--tls-cert', 'x'], 'BF_TLS_PARTIAL'],
    [['--set', 'transport.lost=1'], 'BF_INPUT_INVALID'],
    [['--set', 'nonsense'], 'BF_USAGE'],
    [['--control', '0.0.0.0:0'], 'BF_USAGE'],
    [['--offerings', '/does/not/exist'], 'BF_INPUT_UNREADABLE'],
    [['--offerings', '/dev/null'], 'BF_INPUT_INVALID'],
    [['--preset', 'nice'], 'Allowed choices'],
    [['--seed-count', 'many'], 'whole number'],
    [['--transition-timeout', '5'], 'duration'],
    [['--state', '/does/not/exist/state.db'], 'BF_STORE_UNREADABLE'],
  ])('refuses %j', async (args, why) => {
    await expect(start(...args)).rejects.toThrow(why);
  });

  it('given --insecure, then it listens on any address', async () => {
    const { text } = await start('--addr', ':0', '--insecure', '--seed-count', '1');
    expect(text).toContain(' at 0.0.0.0:');
  });
});
