// The suite over mutual TLS. It speaks as many shards, so it needs a provider that does not hold a caller to the one
// shard in its certificate; the kit's server does, and says so before anything is run.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from '@grpc/grpc-js';
import { afterAll, describe, expect, it } from 'vitest';
import { type Provider, runConformance, serveProvider } from '../../src/provider/index.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import {
  addService,
  bindService,
  clientCredentials,
  issueCertificate,
  makeAuthority,
  serverCredentials,
  type TlsFiles,
} from '../../src/wire/index.ts';
import { openKitProvider } from './kit-provider.ts';

const folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tls = certificateFor('bigfleet://shard/conformance');
const QUICK = { pollMs: 1, staysMs: 20 };

function certificateFor(uri: string): TlsFiles {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = makeAuthority({ name: 'test authority', ...validity });
  const leaf = issueCertificate(authority, {
    name: 'test',
    uris: [uri],
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), ca: join(folder, 'ca.pem') };
  writeFileSync(files.cert, leaf.certificate);
  writeFileSync(files.key, leaf.key);
  writeFileSync(files.ca, authority.certificate);
  return files;
}

/** TLS without a look at who calls. */
async function serveToAnybody(provider: Provider): Promise<{ address: string; stop: () => void }> {
  const server = new Server();
  addService(server, bindService(CapacityProviderDefinition), {
    create: (request) => provider.create(request),
    configure: (request) => provider.configure(request),
    drain: (request) => provider.drain(request),
    delete: (request) => provider.delete(request),
    get: (request) => provider.get(request),
    list: (request) => provider.list(request),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', serverCredentials('127.0.0.1:0', { tls }), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { address: `127.0.0.1:${port}`, stop: () => server.forceShutdown() };
}

describe('the suite over TLS', () => {
  it('runs against a provider that takes its certificate', async () => {
    const provider = await openKitProvider({ machines: 64, transitionTimeoutMs: 300 });
    const { address, stop } = await serveToAnybody(provider);
    const credentials = clientCredentials(address, { tls });
    const report = await runConformance({
      target: address,
      credentials,
      only: ['FullLifecycle', 'B302', 'B406'],
      timings: QUICK,
    });
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 3 } });
    stop();
    await provider.close();
  });

  it('is refused by one that holds callers to their shard, and without a certificate', async () => {
    const provider = await openKitProvider({ machines: 64, transitionTimeoutMs: 300 });
    const server = await serveProvider(provider, '127.0.0.1:0', { tls });
    const credentials = clientCredentials(server.address, { tls });
    await expect(runConformance({ target: server.address, credentials })).rejects.toThrow(
      'does not let us act for several shards',
    );
    await expect(runConformance({ target: server.address })).rejects.toThrow('BF_TARGET_UNREACHABLE');
    await server.stop();
  });
});
