// The suite over mutual TLS. It acts as several shards, so a provider has to be configured to allow that. Otherwise the
// provider binds every caller to the shard in its certificate, and the suite reports this before it runs anything.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { runConformance, type ServeOptions, serveProvider } from '../../src/provider/index.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import type { TlsFiles } from '../../src/wire/index.ts';
import { openKitProvider } from './kit-provider.ts';
import { QUICK, UNHURRIED_MS } from './timings.ts';

const folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BIN = fileURLToPath(new URL('../../bin/bigfleet', import.meta.url));
const PATIENT = { timeout: 180_000 };

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

const CERTIFIER = 'bigfleet://shard/conformance';
const tls = certificateFor(CERTIFIER);

async function served(options: Partial<ServeOptions>) {
  const provider = await openKitProvider({ machines: 256, transitionTimeoutMs: UNHURRIED_MS });
  const server = await serveProvider(provider, '127.0.0.1:0', { tls, ...options });
  return { provider, server };
}

describe('the suite over TLS', () => {
  it(
    'given a provider that lets it act for every shard, then the provider is certified',
    PATIENT,
    async () => {
      const { server } = await served({ actsForAnyShard: CERTIFIER });
      const report = await runConformance({ target: server.address, tls, timings: QUICK });
      expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94 } });
      await server.stop();
    },
  );

  it('given the command line, then the provider is certified', PATIENT, async () => {
    const { server } = await served({ actsForAnyShard: CERTIFIER });
    const words = ['--tls-cert', tls.cert, '--tls-key', tls.key, '--tls-ca', tls.ca, '--only', 'B302,B406'];
    const command = ['provider', 'conformance', '--target', server.address, ...words];
    const { stdout } = await promisify(execFile)(BIN, command);
    expect(stdout).toContain('CERTIFIED: 2 passed, 0 failed, 0 skipped of 2');
    await server.stop();
  });

  it.each(['bigfleet://shard/other', 'bigfleet://admin', undefined])(
    'given a provider that lets %s do so, then the suite is refused',
    async (actsForAnyShard) => {
      const { server } = await served(actsForAnyShard === undefined ? {} : { actsForAnyShard });
      await expect(runConformance({ target: server.address, tls })).rejects.toThrow(
        'does not let us act for several shards',
      );
      await expect(runConformance({ target: server.address })).rejects.toThrow('BF_TARGET_UNREACHABLE');
      await server.stop();
    },
  );

  it.each([
    [{ actsForAnyShard: 'conformance' }, 'is no identity'],
    [{ actsForAnyShard: CERTIFIER, tls: null }, 'Without TLS there are no identities'],
  ])('given the options %j, then the provider does not start', async (options, why) => {
    const provider = await openKitProvider({ machines: 1, transitionTimeoutMs: 300 });
    await expect(serveProvider(provider, '127.0.0.1:0', { tls, ...options })).rejects.toThrow(why);
    await provider.close();
  });
});
