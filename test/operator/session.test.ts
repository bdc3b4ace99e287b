// The operator's session against the session server of a shard, over real gRPC on loopback, in plaintext and with TLS.

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { grpcDialer } from '../../src/operator/session/grpc-dialer.ts';
import type { LinkEnd } from '../../src/operator/session/link.ts';
import { type SessionEvent, ShardSession } from '../../src/operator/session/shard-session.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import type { TlsFiles } from '../../src/wire/index.ts';
import { helloFrame, serveSessions } from '../../testing/support/sessions-grpc.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
const authority = makeAuthority({ name: 'fleet', ...valid });

function folderOf(name: string): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), `bigfleet-${name}-`));
  open.push(() => rmSync(folder, { recursive: true }));
  return { cert: join(folder, 'cert'), key: join(folder, 'key'), ca: join(folder, 'ca') };
}

/** Writes a certificate with an identity, valid for localhost. */
function issue(files: TlsFiles, uri: string): TlsFiles {
  const pair = issueCertificate(authority, {
    name: 'x',
    uris: [uri],
    dnsNames: ['localhost'],
    ...valid,
  });
  writeFileSync(files.cert, pair.certificate);
  writeFileSync(files.key, pair.key);
  writeFileSync(files.ca, authority.certificate);
  return files;
}

interface Started {
  readonly session: ShardSession;
  readonly events: readonly SessionEvent[];
  readonly calls: readonly string[];
}

function started(addresses: readonly string[], tls: TlsFiles | null = null): Started {
  const events: SessionEvent[] = [];
  const calls: string[] = [];
  const note = (name: string) => () => void calls.push(name);
  const session = new ShardSession({
    cluster: 'web',
    clock: systemClock,
    random: new Random(1),
    dialer: grpcDialer({ addresses, security: { tls } }),
    limits: { reconnect: { baseMs: 20, maxMs: 200 }, rollupSpacingMs: 10 },
    buildRollup: (timestampUnixNanos) => {
      const rollup = { clusterId: 'web', timestampUnixNanos, needs: [], nodeFacts: undefined };
      return { bytes: ClusterCapacityNeeds.encode(rollup).finish(), timestampUnixNanos, rows: 0 };
    },
    onEvent: (event) => events.push(event),
    handlers: {
      connected: note('connected'),
      disconnected: note('disconnected'),
      bootstrapRequest: ({ requestId }) =>
        Promise.resolve({ requestId, userData: Buffer.from('blob'), ttlSeconds: 1n, error: '' }),
      reclaimInstruction: note('reclaimInstruction'),
      reclaimWithdrawal: note('reclaimWithdrawal'),
      nodeStateUpdate: note('nodeStateUpdate'),
      availableCapacity: note('availableCapacity'),
      needVerdicts: note('needVerdicts'),
      rollupReport: note('rollupReport'),
    },
  });
  session.start();
  open.push(() => session.stop());
  return { session, events, calls };
}

const until = (isTrue: () => boolean) => vi.waitFor(() => expect(isTrue()).toBe(true), { timeout: 20_000 });

describe('the session with a shard over gRPC', () => {
  it('given a shard, then the hello and the first roll-up are acknowledged', async () => {
    const shard = await serveSessions();
    open.push(shard.stop);
    const { session, events } = started([shard.address]);
    await until(() => events.some(({ kind }) => kind === 'rollup-acked'));
    expect(session.isConnected).toBe(true);
    expect(session.features.has('rollup-report')).toBe(true);
    session.stop();
  });

  it('given several addresses of which one answers, then attempts reach it; given a restart, then it reconnects', async () => {
    const shard = await serveSessions();
    const { session, events } = started(['127.0.0.1:1', 'localhost:1', shard.address]);
    const acknowledged = () => events.filter(({ kind }) => kind === 'rollup-acked').length;
    await until(() => acknowledged() > 0);
    await shard.stop();
    await until(() => !session.isConnected);
    expect(session.features.size).toBe(0);
    const before = acknowledged();
    const restarted = await serveSessions({ listen: shard.address });
    open.push(restarted.stop);
    await until(() => acknowledged() > before);
    expect(session.isConnected).toBe(true);
    expect(session.features.has('rollup-report')).toBe(true);
    session.stop();
  });

  it('given TLS, then the name of the address is verified, and a new certificate is used at the next dial', async () => {
    const serverFiles = issue(folderOf('server'), 'bigfleet://shard/shard-0');
    const clientFiles = issue(folderOf('client'), 'bigfleet://cluster/other');
    const shard = await serveSessions({ tls: serverFiles });
    open.push(shard.stop);
    const { session, events } = started([shard.address.replace('127.0.0.1', 'localhost')], clientFiles);
    await until(() => events.some((event) => event.kind === 'disconnected' && /cluster/.test(event.why)));
    issue(clientFiles, 'bigfleet://cluster/web');
    const later = new Date(Date.now() + 10_000);
    for (const file of [clientFiles.cert, clientFiles.key]) utimesSync(file, later, later);
    await until(() => session.isConnected);
    session.stop();
  });

  it('given files that are being replaced, then the certificate read before stays in use', async () => {
    const shard = await serveSessions({ tls: issue(folderOf('server'), 'bigfleet://shard/shard-0') });
    open.push(shard.stop);
    const clientFiles = issue(folderOf('client'), 'bigfleet://cluster/web');
    const dialer = grpcDialer({
      addresses: [shard.address.replace('127.0.0.1', 'localhost')],
      security: { tls: clientFiles },
    });
    writeFileSync(clientFiles.key, 'half of a key');
    const end = { receive: vi.fn<LinkEnd['receive']>(), drained: () => {}, closed: vi.fn() };
    const link = dialer.open(end, 0);
    link.send(helloFrame('web'));
    // The shard accepts no session without a certificate of the cluster.
    await until(() => end.receive.mock.calls.length > 0 || end.closed.mock.calls.length > 0);
    expect(end.closed).not.toHaveBeenCalled();
    expect(end.receive.mock.calls[0]![0].payload).toMatchObject({ $case: 'ack', value: { echo: 'hello' } });
    link.close();
  });

  it('given plaintext to another host, then the dialer refuses it', () => {
    expect(() => grpcDialer({ addresses: ['shard.example:7780'], security: { tls: null } })).toThrow(
      'BF_PLAINTEXT_REFUSED',
    );
  });
});
