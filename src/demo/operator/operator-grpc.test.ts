// Simulated operators over real gRPC on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  aNeed,
  anInstruction,
  aQuestion,
  nodeState,
  sessionsBench,
} from '../../../testing/support/demo-operator.ts';
import { MachineState } from '../../model/index.ts';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { addSessions, sessionServerOptions } from '../../shard/index.ts';
import { issueCertificate, makeAuthority } from '../../wire/grpc/certificates.ts';
import { serverCredentials, type TlsFiles } from '../../wire/index.ts';
import { type OperatorEvent, SimOperator } from './operator.ts';
import { grpcDialer } from './operator-grpc.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

async function served(tls: TlsFiles | null = null) {
  const bench = await sessionsBench(systemClock);
  const server = new Server(sessionServerOptions(bench.sessions.limits));
  addSessions(server, bench.sessions, { hasTls: tls !== null });
  const credentials = serverCredentials('127.0.0.1:0', { tls });
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, at) =>
      error === null ? resolve(at) : reject(error),
    ),
  );
  const stop = () => {
    bench.sessions.close();
    server.forceShutdown();
  };
  open.push(stop);
  return { ...bench, port: bound, stop };
}

/** Reports once per connection and never times out waiting for the hello, so that a slow machine changes no count. */
const PATIENT = { reconnect: { baseMs: 20, maxMs: 30_000 }, rollupMs: 3_600_000, helloMs: 3_600_000 };

/** `at` is read on each attempt to connect. */
function started(
  at: { readonly port: number },
  tls: TlsFiles | null = null,
  events: OperatorEvent[] = [],
): SimOperator {
  const operator = new SimOperator({
    cluster: 'web',
    clock: systemClock,
    random: new Random(1),
    dialer: { open: (end) => grpcDialer(`127.0.0.1:${at.port}`, { tls }).open(end) },
    times: PATIENT,
    onEvent: (event) => events.push(event),
  });
  operator.setDemand([aNeed('web', 4)]);
  operator.start();
  open.push(() => operator.stop());
  return operator;
}

const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
const authority = makeAuthority({ name: 'fleet', ...valid });

function files(uri: string): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-operator-'));
  open.unshift(() => rmSync(folder, { recursive: true }));
  const pair = issueCertificate(authority, { name: 'x', uris: [uri], ipAddresses: ['127.0.0.1'], ...valid });
  const paths = { cert: join(folder, 'cert'), key: join(folder, 'key'), ca: join(folder, 'ca') };
  writeFileSync(paths.cert, pair.certificate);
  writeFileSync(paths.key, pair.key);
  writeFileSync(paths.ca, authority.certificate);
  return paths;
}

describe('SimOperator over gRPC', () => {
  it('given a session, then it reports demand, answers bootstrap requests and drains nodes', async () => {
    const { sessions, port, of } = await served();
    const operator = started({ port });
    await vi.waitFor(() => expect(of('demand')).toHaveLength(1));
    sessions.askBootstrap(aQuestion('web', '00000000000000aa'));
    sessions.sendNodeState('web', nodeState('m-1', MachineState.Configured));
    sessions.instructReclaim(anInstruction('web', 'm-1', 1));
    await vi.waitFor(() => {
      expect(of('bootstrap-answered')).toHaveLength(1);
      expect(of('reclaim-acked')).toHaveLength(1);
      expect(operator.nodes.get('m-1')).toMatchObject({ isEmpty: true });
      expect(operator.counts).toMatchObject({ sessions: 1, rollupsSent: 1, rollupsAcked: 1 });
    });
  });

  it('given a shard that restarts, then it connects again', async () => {
    const first = await served();
    const at = { port: first.port };
    const operator = started(at);
    await vi.waitFor(() => expect(operator.isConnected).toBe(true));
    first.stop();
    await vi.waitFor(() => expect(operator.isConnected).toBe(false));
    // Another process may use the old port by now.
    const second = await served();
    at.port = second.port;
    await vi.waitFor(() => expect(second.of('demand')).toHaveLength(1));
    // The shard opens the session before the operator receives the ack.
    await vi.waitFor(() => expect(operator.counts.sessions).toBe(2));
  });

  it('given a session, when the operator stops, then the shard closes the session', async () => {
    const { port, of } = await served();
    const operator = started({ port });
    await vi.waitFor(() => expect(operator.isConnected).toBe(true));
    operator.stop();
    await vi.waitFor(() => expect(of('session-closed')).toHaveLength(1));
  });

  it('given TLS, then the operator is accepted for the cluster of its certificate only', async () => {
    const { port, of } = await served(files('bigfleet://shard/s'));
    const events: OperatorEvent[] = [];
    started({ port }, files('bigfleet://cluster/search'), events);
    await vi.waitFor(() =>
      expect(events.at(-1)).toMatchObject({ why: expect.stringContaining('cluster "search"') }),
    );
    started({ port }, files('bigfleet://cluster/web'));
    await vi.waitFor(() => expect(of('demand')).toHaveLength(1));
  });
});
