// A provider over gRPC: equal answers, authorization, and a stop that waits for in-flight calls.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { issueCertificate, makeAuthority } from '../../wire/grpc/certificates.ts';
import { bindService, clientCredentials, connect, status, type TlsFiles } from '../../wire/index.ts';
import { serveProvider } from './server.ts';

const service = bindService(CapacityProviderDefinition);
const open: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function served(tls: TlsFiles | null = null, backend = new HeldBackend(4)) {
  const given = await scene({ backend });
  const server = await serveProvider(given.provider, '127.0.0.1:0', { tls });
  open.push(() => server.stop());
  const client = (files: TlsFiles | null = tls) => {
    const connected = connect(service, server.address, clientCredentials(server.address, { tls: files }));
    open.push(() => connected.close());
    return connected.rpc;
  };
  return { ...given, server, client };
}

describe('a provider on a port', () => {
  it('given each of the six calls, then the answer is that of the provider', async () => {
    const { backend, client, provider } = await served();
    backend.isPrompt = true;
    const rpc = client();
    const settle = () => turns(10);
    const shardMetadata = new Map([['a\0', 'b\0']]);
    expect(await rpc.create(createOf('m-0', token('s', 1n, 2n ** 63n - 1n)))).toMatchObject({
      operationId: 'op-1',
      machine: { state: MachineState.Creating, host: undefined },
    });
    await settle();
    await rpc.configure(configureOf('m-0', token(), { shardMetadata }));
    await settle();
    expect(await rpc.get({ id: 'm-0' })).toMatchObject({
      state: MachineState.Configured,
      host: hostOf('m-0'),
      shardMetadata,
    });
    expect(await rpc.list(filter())).toEqual(await provider.list(filter()));
    await rpc.drain(drainOf('m-0'));
    await settle();
    await rpc.delete(deleteOf('m-0'));
    await settle();
    expect((await rpc.list(filter({ states: [MachineState.Speculative] }))).machines).toHaveLength(4);
    expect(await refusedWith(rpc.create(createOf('m-0', token('s', 1n, 2n ** 63n - 1n))))).toBe(
      status.FAILED_PRECONDITION,
    );
    expect(await refusedWith(rpc.get({ id: 'ghost' }))).toBe(status.NOT_FOUND);
  });

  it('given a List far above the default limit of gRPC, then it is delivered', async () => {
    const { client } = await served(null, new HeldBackend(60_000));
    expect((await client().list(filter())).machines).toHaveLength(60_000);
  });

  it('given no TLS on an address other than loopback, then it starts only with the insecure option', async () => {
    const { provider } = await scene();
    await expect(serveProvider(provider, '0.0.0.0:0', { tls: null })).rejects.toThrow('BF_PLAINTEXT_REFUSED');
    const server = await serveProvider(provider, '0.0.0.0:0', { tls: null, insecure: true });
    await server.stop();
  });

  it('given a stop, then it waits for transitions in progress and refuses further calls', async () => {
    const { backend, client, server } = await served();
    await client().create(createOf('m-0'));
    const stopped = server.stop(1000);
    backend.last.succeed();
    await stopped;
    expect(await refusedWith(client().get({ id: 'm-0' }))).toBe(status.UNAVAILABLE);
  });
});

describe('authorization of callers', () => {
  const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
  const authority = makeAuthority({ name: 'fleet', ...valid });

  function files(uri: string): TlsFiles {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
    open.unshift(() => rmSync(folder, { recursive: true }));
    const pair = issueCertificate(authority, {
      name: 'x',
      uris: [uri],
      ipAddresses: ['127.0.0.1'],
      ...valid,
    });
    const paths = { cert: join(folder, 'cert'), key: join(folder, 'key'), ca: join(folder, 'ca') };
    writeFileSync(paths.cert, pair.certificate);
    writeFileSync(paths.key, pair.key);
    writeFileSync(paths.ca, authority.certificate);
    return paths;
  }

  it('given a shard, then it can change machines under its own id only, and a refused call changes nothing', async () => {
    const { client, provider } = await served(files('bigfleet://shard/provider'));
    const rpc = client(files('bigfleet://shard/s1'));
    for (const fence of [token('s2', 9n, 9n), token()]) {
      for (const call of [
        rpc.create(createOf('m-0', fence)),
        rpc.configure(configureOf('m-0', fence)),
        rpc.drain(drainOf('m-0', fence)),
        rpc.delete(deleteOf('m-0', fence)),
      ]) {
        expect(await refusedWith(call)).toBe(status.PERMISSION_DENIED);
      }
    }
    await rpc.create(createOf('m-0', token('s1', 1n, 1n)));
    await provider.create(createOf('m-1', token('s2', 1n, 1n)));
    expect((await rpc.list(filter())).machines).toHaveLength(4);
  });

  it.each(['bigfleet://admin', 'bigfleet://readonly'])(
    'given %s, then it can read but not change machines',
    async (uri) => {
      const { client } = await served(files('bigfleet://shard/provider'));
      const rpc = client(files(uri));
      expect((await rpc.get({ id: 'm-0' })).id).toBe('m-0');
      expect((await rpc.list(filter())).machines).toHaveLength(4);
      expect(await refusedWith(rpc.create(createOf('m-0', token('s', 1n, 1n))))).toBe(
        status.PERMISSION_DENIED,
      );
    },
  );

  it('given a cluster, then even its reads are refused', async () => {
    const { client } = await served(files('bigfleet://shard/provider'));
    const rpc = client(files('bigfleet://cluster/c1'));
    expect(await refusedWith(rpc.get({ id: 'm-0' }))).toBe(status.PERMISSION_DENIED);
    expect(await refusedWith(rpc.list(filter()))).toBe(status.PERMISSION_DENIED);
  });
});
