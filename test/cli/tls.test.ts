// Commands and clients whose TLS settings do not match the other end: each reports the problem and the flag that fixes
// it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ShardClient } from '../../src/cli/remote/client.ts';
import { BigFleetError } from '../../src/model/index.ts';
import { grpcTransport } from '../../src/provider/client/grpc-transport.ts';
import { runConformance } from '../../src/provider/index.ts';
import { type ApiServer, serveApi } from '../../src/shard/index.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import type { TlsFiles } from '../../src/wire/index.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';

const HOUR_MS = 3_600_000;
const ALL = '--tls-ca, --tls-cert and --tls-key';

let folder: string;
let admin: TlsFiles;
let foreign: TlsFiles;
let secured: ApiServer;
let renamed: ApiServer;
let expired: ApiServer;
let plain: ApiServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
  const valid = validity(-HOUR_MS, HOUR_MS);
  const authority = makeAuthority({ name: 'fleet', ...valid });
  const files = (name: string, host: string[], signer = authority, when = valid): TlsFiles => {
    const parts = { uris: [`bigfleet://${name}`], dnsNames: [], ipAddresses: host };
    const leaf = issueCertificate(signer, { name: 'leaf', ...parts, ...when });
    const base = join(mkdtempSync(join(folder, 'files-')), 'x');
    writeFileSync(`${base}.crt`, leaf.certificate);
    writeFileSync(`${base}.key`, leaf.key);
    writeFileSync(`${base}.ca`, signer.certificate);
    return { cert: `${base}.crt`, key: `${base}.key`, ca: `${base}.ca` };
  };
  admin = files('admin', []);
  foreign = files('admin', [], makeAuthority({ name: 'other', ...valid }));
  const serve = (tls: TlsFiles | null) => serveApi(new FakeShard(), '127.0.0.1:0', { tls });
  secured = await serve(files('shard/s', ['127.0.0.1']));
  renamed = await serve(files('shard/s', ['10.0.0.1']));
  expired = await serve(files('shard/s', ['127.0.0.1'], authority, validity(-2 * HOUR_MS, -HOUR_MS)));
  plain = await serve(null);
});

afterAll(async () => {
  await Promise.all([secured, renamed, expired, plain].map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

function validity(fromMs: number, toMs: number) {
  const now = Date.now();
  return { notBefore: new Date(now + fromMs), notAfter: new Date(now + toMs) };
}

const as = (scheme: string, { url }: ApiServer): string => url.replace(/^https?/, scheme);

async function refusal(call: () => Promise<unknown>): Promise<BigFleetError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof BigFleetError) return error;
    throw error;
  }
  throw new Error('it was answered');
}

describe('a client of a shard', () => {
  const asked = (shard: string, tls: TlsFiles | null) =>
    refusal(() => new ShardClient(shard, { tls, tokenFile: null }).get('/v1/status'));

  it('given plain HTTP to a shard with TLS, then the scheme and the flags are named', async () => {
    expect(await asked(as('http', secured), null)).toMatchObject({
      code: 'BF_TLS_FAILED',
      message: expect.stringContaining(`it speaks TLS: give https:// in --shard, and ${ALL}.`) as string,
    });
    const { message } = await asked(as('http', secured), admin);
    expect(message).toContain('it speaks TLS: give https:// in --shard.');
  });

  it('given no certificates, then the flags are named', async () => {
    const { message } = await asked(as('https', secured), null);
    expect(message).toContain(`its certificate is signed by the authority of its fleet: give ${ALL}.`);
  });

  it('given another authority, then --tls-ca is named', async () => {
    const { message } = await asked(as('https', secured), foreign);
    expect(message).toContain('its certificate is not signed by the authority in --tls-ca.');
  });

  it('given TLS to a shard without it, then the scheme and the flags to omit are named', async () => {
    const { message } = await asked(as('https', plain), admin);
    expect(message).toContain(`it does not speak TLS: give http:// in --shard and leave out ${ALL}.`);
  });

  it('given a certificate for another name or an expired one, then the problem is named', async () => {
    expect((await asked(as('https', renamed), admin)).message).toContain(
      'its certificate is for other names (IP: 127.0.0.1 is not in the cert',
    );
    expect((await asked(as('https', expired), admin)).message).toContain('its certificate has expired');
  });

  it('given no shard, then the error is BF_SHARD_UNREACHABLE', async () => {
    expect(await asked('http://127.0.0.1:1', null)).toMatchObject({ code: 'BF_SHARD_UNREACHABLE' });
  });
});

it('given a shard without certificates and a provider with TLS, then its Lists fail with the flags named', async () => {
  const transport = grpcTransport({ address: new URL(secured.url).host, tls: null });
  const limits = { signal: new AbortController().signal, timeoutMs: 30_000 };
  const query = { states: [], maxResults: 1, sinceRevision: new Uint8Array() };
  try {
    await expect(transport.list(query, limits)).rejects.toThrow(`it speaks TLS: give ${ALL} (14 UNAVAILABLE`);
  } finally {
    transport.close();
  }
});

// The server is not a provider, but the TLS handshake fails before a call reaches it.
describe('the conformance suite', () => {
  const target = ({ url }: ApiServer): string => new URL(url).host;

  it('given no certificates and a provider with TLS, then the flags are named', async () => {
    const error = await refusal(() => runConformance({ target: target(secured), only: ['B302'] }));
    expect(error).toMatchObject({ code: 'BF_TARGET_UNREACHABLE' });
    expect(error.message).toContain(`it speaks TLS: give ${ALL}.`);
  });

  it('given certificates and a provider without TLS, then the flags to omit are named', async () => {
    const error = await refusal(() => runConformance({ target: target(plain), only: ['B302'], tls: admin }));
    expect(error.message).toContain(`it does not speak TLS: leave out ${ALL}.`);
  });
});
