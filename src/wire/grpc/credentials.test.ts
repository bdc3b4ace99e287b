// Mutual TLS against a real grpc-js server on loopback, with certificates made here.

import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { Server, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CapacityProviderDefinition, Machine } from '../gen/bigfleet/v1alpha1/provider.ts';
import { type Issued, issueCertificate, type LeafSubject, makeAuthority } from './certificates.ts';
import { connect } from './client.ts';
import { clientCredentials, identityOf, serverCredentials } from './credentials.ts';
import { addService } from './server.ts';
import { bindService, RpcError, statusOf } from './service.ts';
import { isLoopback, tlsFiles } from './tls-files.ts';

const VALID = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
const authority = makeAuthority({ name: 'fleet authority', ...VALID });
const service = bindService(CapacityProviderDefinition);
const unimplemented = () => {
  throw new RpcError(status.UNIMPLEMENTED, 'not in this test');
};

let folder: string;
const open: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
});
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
  rmSync(folder, { recursive: true });
});

function leaf(name: string, subject: Partial<LeafSubject> = {}, by: Issued = authority): Issued {
  return issueCertificate(by, {
    name,
    ipAddresses: ['127.0.0.1'],
    dnsNames: ['localhost'],
    ...VALID,
    ...subject,
  });
}

function onDisk(name: string, pair: Issued, ca: Issued = authority) {
  const files = {
    cert: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`),
    ca: join(folder, `${name}.ca`),
  };
  writeFileSync(files.cert, pair.certificate);
  writeFileSync(files.key, pair.key);
  writeFileSync(files.ca, ca.certificate);
  return files;
}

/** A server that answers Get with the identity of the caller. */
async function serve(
  pair = leaf('server'),
): Promise<{ address: string; port: number; files: ReturnType<typeof onDisk> }> {
  const files = onDisk('server', pair);
  const server = new Server();
  const get = (_request: unknown, call: Parameters<typeof identityOf>[0]) =>
    Machine.decode(
      Machine.encode({ ...Machine.decode(new Uint8Array()), id: JSON.stringify(identityOf(call)) }).finish(),
    );
  addService(server, service, {
    create: unimplemented,
    configure: unimplemented,
    drain: unimplemented,
    delete: unimplemented,
    list: unimplemented,
    get,
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', serverCredentials('127.0.0.1:0', { tls: files }), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  open.push(() => server.forceShutdown());
  return { address: `localhost:${port}`, port, files };
}

async function callerIdentity(address: string, files: ReturnType<typeof onDisk>): Promise<unknown> {
  const client = connect(service, address, clientCredentials(address, { tls: files }));
  try {
    return JSON.parse((await client.rpc.get({ id: 'x' }, { deadline: Date.now() + 60_000 })).id);
  } finally {
    client.close();
  }
}

const serialAt = (port: number, ca: string, pair: Issued) =>
  new Promise<string>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      ca,
      cert: pair.certificate,
      key: pair.key,
      ALPNProtocols: ['h2'],
    };
    const socket = tlsConnect(options, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });

describe('a server dialled by its IP address', () => {
  it('given TLS, then the certificate must name that address, and Node emits no warning', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { port } = await serve();
    const files = onDisk('client', leaf('client', { uris: ['bigfleet://admin'] }));
    expect(await callerIdentity(`127.0.0.1:${port}`, files)).toEqual({ kind: 'admin' });
    const { port: elsewhere } = await serve(leaf('server', { ipAddresses: ['10.0.0.1'] }));
    await expect(callerIdentity(`127.0.0.1:${elsewhere}`, files)).rejects.toThrow(
      '127.0.0.1 is not in the cert',
    );
    expect(warnings.mock.calls.map(([text]) => String(text))).toEqual([]);
    warnings.mockRestore();
  });
});

describe('issued certificates', () => {
  it('given an authority, when it issues a leaf, then the leaf has the names, the key usages and a valid signature', () => {
    const issued = new X509Certificate(
      leaf('shard-0', { uris: ['bigfleet://shard/shard-0'], ipAddresses: ['10.0.0.1', '::1', 'fd00::1:2'] })
        .certificate,
    );
    const parent = new X509Certificate(authority.certificate);
    expect(issued.subjectAltName).toBe(
      'DNS:localhost, URI:bigfleet://shard/shard-0, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:1:2',
    );
    expect(issued.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(issued.ca).toBe(false);
    expect(parent.ca).toBe(true);
    expect(issued.checkIssued(parent)).toBe(true);
    expect(issued.verify(parent.publicKey)).toBe(true);
    expect([issued.validFromDate, issued.validToDate]).toEqual([VALID.notBefore, VALID.notAfter]);
  });
});

describe('the three TLS files', () => {
  it('given all, then TLS; given none, then plaintext; given some, then the error names the missing flags', () => {
    expect(tlsFiles({ cert: 'a', key: 'b', ca: 'c' })).toEqual({ cert: 'a', key: 'b', ca: 'c' });
    expect(tlsFiles({})).toBeNull();
    expect(() => tlsFiles({ cert: 'a' })).toThrow('BF_TLS_PARTIAL: Missing: --tls-key, --tls-ca.');
  });

  it('given a key of another certificate or a missing file, then BF_TLS_UNREADABLE at startup', () => {
    const files = onDisk('mixed', { ...leaf('a'), key: leaf('b').key });
    expect(() => serverCredentials('127.0.0.1:0', { tls: files })).toThrow('BF_TLS_UNREADABLE');
    expect(() => clientCredentials('x:1', { tls: { ...files, cert: '/nowhere' } })).toThrow(
      'BF_TLS_UNREADABLE',
    );
  });
});

describe('plaintext connections', () => {
  it.each(['127.0.0.1:9000', 'localhost:0', '[::1]:9000', '127.8.8.8:1', 'unix:/run/x.sock'])(
    'given %s, then they are allowed',
    (address) => {
      expect(isLoopback(address)).toBe(true);
      serverCredentials(address, { tls: null });
      clientCredentials(address, { tls: null });
    },
  );

  it.each([
    '0.0.0.0:9000',
    ':9000',
    '[::]:9000',
    '10.0.0.1:9000',
    '127.evil.example:1',
    'localhost.evil.example:1',
  ])('given %s, then they need the insecure option', (address) => {
    expect(() => serverCredentials(address, { tls: null })).toThrow('BF_PLAINTEXT_REFUSED');
    expect(() => clientCredentials(address, { tls: null })).toThrow('BF_PLAINTEXT_REFUSED');
    serverCredentials(address, { tls: null, insecure: true });
  });
});

describe('mutual TLS', () => {
  it.each([
    [['bigfleet://shard/shard-0'], { kind: 'shard', id: 'shard-0' }],
    [['bigfleet://cluster/c%201'], { kind: 'cluster', id: 'c 1' }],
    [['bigfleet://admin'], { kind: 'admin' }],
    [['https://example.com/x', 'bigfleet://readonly'], { kind: 'readonly' }],
  ] as const)(
    'given a client certificate with %j, then it determines the identity of the caller',
    async (uris, identity) => {
      const { address } = await serve();
      expect(await callerIdentity(address, onDisk('caller', leaf('caller', { uris })))).toEqual(identity);
    },
  );

  it.each([
    [[]],
    [['bigfleet://shard/a', 'bigfleet://shard/b']],
    [['bigfleet://shard/']],
    [['bigfleet://shard/a/b']],
    [['bigfleet://root']],
    [['https://x/", URI:bigfleet://admin']],
    [['https://x/, URI:bigfleet://admin']],
  ])('given a client certificate with %j, then PERMISSION_DENIED', async (uris) => {
    const { address } = await serve();
    const call = callerIdentity(address, onDisk('caller', leaf('caller', { uris })));
    expect(statusOf(await call.catch((error: unknown) => error))).toBe(status.PERMISSION_DENIED);
  });

  it('given a client certificate of another authority, no certificate, or TLS 1.2, then the server refuses the connection', async () => {
    const { address, port } = await serve();
    const other = makeAuthority({ name: 'another authority', ...VALID });
    const foreign = onDisk('foreign', leaf('x', { uris: ['bigfleet://admin'] }, other));
    expect(statusOf(await callerIdentity(address, foreign).catch((error: unknown) => error))).toBe(
      status.UNAVAILABLE,
    );
    const ended = (options: object) =>
      new Promise<boolean>((resolve) => {
        const all = { port, host: '127.0.0.1', ca: authority.certificate, ALPNProtocols: ['h2'], ...options };
        const socket = tlsConnect(all);
        socket.on('error', () => resolve(true));
        socket.on('data', () => resolve(false));
      });
    expect(await ended({})).toBe(true);
    const pair = leaf('y');
    expect(await ended({ cert: pair.certificate, key: pair.key, maxVersion: 'TLSv1.2' })).toBe(true);
  });

  it('given a server certificate of another authority, then the client refuses the connection', async () => {
    const { address } = await serve();
    const other = makeAuthority({ name: 'another authority', ...VALID });
    const caller = onDisk('caller', leaf('caller', { uris: ['bigfleet://admin'] }), other);
    expect(statusOf(await callerIdentity(address, caller).catch((error: unknown) => error))).toBe(
      status.UNAVAILABLE,
    );
  });

  it('given a new certificate on disk, then servers and clients load it, but keep the old one while certificate and key do not match', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const [first, second] = [leaf('server'), leaf('server')];
      const serialOf = (pair: Issued) => new X509Certificate(pair.certificate).serialNumber;
      const { address, port, files } = await serve(first);
      const probe = leaf('probe');
      const seen = () => serialAt(port, authority.certificate, probe);
      expect(await seen()).toBe(serialOf(first));

      const later = new Date(Date.now() + 10_000);
      writeFileSync(files.cert, second.certificate);
      utimesSync(files.cert, later, later);
      vi.advanceTimersByTime(5000);
      expect(await seen()).toBe(serialOf(first));

      writeFileSync(files.key, second.key);
      utimesSync(files.key, later, later);
      vi.advanceTimersByTime(5000);
      expect(await seen()).toBe(serialOf(second));

      const caller = onDisk('caller', leaf('caller', { uris: ['bigfleet://shard/old'] }));
      const client = connect(service, address, clientCredentials(address, { tls: caller }));
      open.push(() => client.close());
      onDisk('caller', leaf('caller', { uris: ['bigfleet://shard/new'] }));
      for (const file of [caller.cert, caller.key]) utimesSync(file, later, later);
      expect(JSON.parse((await client.rpc.get({ id: 'x' })).id)).toEqual({ kind: 'shard', id: 'new' });
    } finally {
      vi.useRealTimers();
    }
  });
});
