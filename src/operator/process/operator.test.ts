// The operator process with a shard and an API server in memory.

import { afterEach, describe, expect, it } from 'vitest';
import { MemoryKube } from '../../../testing/operator/memory-kube.ts';
import { bootstrapRequest, MemoryShard } from '../../../testing/operator/memory-shard.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { makeAuthority } from '../../wire/grpc/certificates.ts';
import { KubeError } from '../kube/client.ts';
import { loadSettings } from './load-settings.ts';
import { type RunningOperator, startOperator } from './operator.ts';
import type { PartContext } from './parts.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ops/leases/bigfleet-operator';

/** Answers nothing: as many requests are in flight as the client allows. */
class BusyKube extends MemoryKube {
  override get(): Promise<never> {
    return new Promise(() => {});
  }
}

const open: RunningOperator[] = [];
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.stop();
});

async function started(
  given: { kube?: MemoryKube; clock?: VirtualClock; name?: string; isSlow?: boolean; isBusy?: boolean } = {},
) {
  const { kube = new MemoryKube(), clock = new VirtualClock(1_000_000), name = 'a' } = given;
  const { isSlow = false, isBusy = false } = given;
  const shard = new MemoryShard();
  const calls: string[] = [];
  const readies: (() => void)[] = [];
  const lines: string[] = [];
  const state = { isCurrent: false, hasListed: false, problem: 'listing' as string | null };
  let context: PartContext | null = null;
  const settings = loadSettings({
    file: { path: 'x', text: 'bootstrap: { mode: tokens, endpoint: "api:6443" }' },
    flags: {
      cluster: 'web',
      'shard.addresses': '127.0.0.1:1',
      listen: '127.0.0.1:0',
      'kubernetes.namespace': 'ops',
    },
  });
  if (!settings.ok) throw new Error(JSON.stringify(settings.problems));
  const note = (call: string) => () => void calls.push(call);
  const operator = await startOperator(settings.value, {
    log: (level, event, fields) =>
      lines.push(
        `${level} ${event} ${JSON.stringify(fields ?? {}, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))}`,
      ),
    clock,
    dialer: shard,
    env: { POD_NAME: name },
    seed: name.charCodeAt(0),
    factories: {
      connect: () => ({
        client: isBusy ? new BusyKube() : kube,
        urgentClient: kube,
        leaseClient: kube,
        server: 'https://10.0.0.1:443',
        caBundle: CA,
        isInCluster: true,
        origin: 'memory',
        close: note('closed'),
      }),
      parts: (made) => {
        context = made;
        return {
          start: note('start'),
          lead: (ready) => {
            calls.push('lead');
            readies.push(ready);
            if (!isSlow) ready();
          },
          rest: note('rest'),
          stop: note('stop'),
          pendingWrites: 2,
          watches: [{ resource: 'pods', state }],
          buildRollup: (timestampUnixNanos) =>
            state.hasListed ? { bytes: new Uint8Array(), timestampUnixNanos, rows: 3, listMs: 0 } : null,
          bootstrapRequested: note('bootstrapRequested'),
          handlers: {
            connected: note('connected'),
            disconnected: note('disconnected'),
            reclaimInstruction: note('reclaimInstruction'),
            reclaimWithdrawal: note('reclaimWithdrawal'),
            nodeStateUpdate: note('nodeStateUpdate'),
            availableCapacity: note('availableCapacity'),
            needVerdicts: note('needVerdicts'),
            rollupReport: note('rollupReport'),
          },
        };
      },
    },
  });
  open.push(operator);
  await clock.advance(0);
  const get = async (path: string) => {
    const response = await fetch(`http://${operator.address}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return {
    operator,
    kube,
    clock,
    shard,
    calls,
    lines,
    state,
    get,
    readies,
    context: context! as PartContext,
  };
}

const CA = makeAuthority({
  name: 'example',
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2060-01-01'),
}).certificate;

describe('a replica that leads', () => {
  it('given its Lease, then it follows objects first, then opens the session, and is ready when both are complete', async () => {
    const { calls, shard, get, state, operator } = await started();
    expect(calls).toEqual(['start', 'lead']);
    expect(operator.isLeader).toBe(true);
    expect(await get('/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get('/readyz')).toEqual({ status: 503, text: 'Not listed yet: pods: listing.\n' });
    Object.assign(state, { isCurrent: true, hasListed: true, problem: null });
    expect(await get('/readyz')).toEqual({ status: 503, text: 'No session with the shard.\n' });
    shard.last.ackHello();
    expect((await get('/readyz')).status).toBe(200);
    expect(shard.last.sent.at(-1)?.$case).toBe('rollup');
    expect((await get('/nothing')).status).toBe(404);
    expect((await fetch(`http://${operator.address}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('given an API server that answers nothing but Leases, then it stays the leader', async () => {
    const { operator, clock } = await started({ isBusy: true });
    await clock.advance(60_000);
    expect(operator.isLeader).toBe(true);
  });

  it('given objects of an earlier leader that are not read yet, then no session is opened until they are', async () => {
    const { shard, readies, clock } = await started({ isSlow: true });
    await clock.advance(10_000);
    expect(shard.connections).toHaveLength(0);
    readies[0]!();
    expect(shard.connections).toHaveLength(1);
  });

  it('given metrics, then they tell session, leadership, roll-ups, watches, and what other parts count', async () => {
    const { shard, get, state, context } = await started();
    Object.assign(state, { isCurrent: true, hasListed: true });
    shard.last.ackHello();
    shard.last.ackRollup();
    context.metrics.count('bigfleet_operator_drains_total', { kind: 'reclaim', outcome: 'drained' });
    context.metrics.gauge('bigfleet_operator_drains_open', 2);
    const { text } = await get('/metrics');
    for (const line of [
      'bigfleet_operator_session_connected 1',
      'bigfleet_operator_leader 1',
      'bigfleet_operator_rollup_rows 3',
      'bigfleet_operator_rollup_phase_duration_seconds_count{phase="list"} 1',
      'bigfleet_operator_rollup_phase_duration_seconds_count{phase="build"} 1',
      'bigfleet_operator_dispatch_inflight 2',
      'bigfleet_operator_rollups_total{outcome="acknowledged"} 1',
      'bigfleet_operator_watch_current{resource="pods"} 1',
      'bigfleet_operator_drains_total{kind="reclaim",outcome="drained"} 1',
      'bigfleet_operator_drains_open 2',
    ])
      expect(text).toContain(`${line}\n`);
  });

  it('given a bootstrap request, then a token is made, and neither log nor metrics have it', async () => {
    const { shard, clock, kube, lines, get, context } = await started();
    shard.last.ackHello();
    shard.last.tell({ $case: 'bootstrapRequest', value: bootstrapRequest() });
    await clock.advance(1);
    const secret = [...kube.objects].find(([path]) => path.includes('/secrets/'))?.[1] as unknown as {
      stringData: Record<string, string>;
    };
    const { userData, error } = shard.last.of('bootstrapResponse')[0]!;
    expect(error).toBe('');
    expect(Buffer.from(userData).toString()).toContain(secret.stringData['token-secret']);
    expect(lines.join('\n')).toContain('bootstrap-answered');
    expect(lines.join('\n')).not.toContain(secret.stringData['token-secret']);
    expect((await get('/metrics')).text).toContain('bootstrap_requests_total{outcome="answered"} 1');
    expect((await get('/metrics')).text).toContain('bigfleet_operator_bootstrap_tokens 1');
    context.joined('m-1');
    await clock.advance(1);
    expect([...kube.objects.keys()].filter((path) => path.includes('/secrets/'))).toEqual([]);
  });

  it('given the loss of the Lease, then session and writes end at once, and reads go on', async () => {
    const { kube, clock, shard, calls, context, operator, get } = await started();
    shard.last.ackHello();
    kube.before = (_verb, path) => {
      if (path.includes('/leases')) throw new KubeError('down', { status: 0 });
    };
    await context.writer.create('/x', { metadata: { name: 'y' } });
    await clock.advance(10_000);
    expect(operator.isLeader).toBe(false);
    expect(shard.last.isClosed).toBe(true);
    expect(calls).toContain('rest');
    await expect(context.writer.delete('/x/y')).rejects.toThrow('does not lead');
    expect((await context.client.get('/x/y')).metadata.name).toBe('y');
    kube.before = () => {};
    await clock.advance(5_000);
    expect(operator.isLeader).toBe(true);
    expect(shard.connections.length).toBe(2);
    expect((await get('/metrics')).text).toContain('bigfleet_operator_leader 1');
  });
});

describe('two replicas', () => {
  it('given a leader, then the standby opens no session, writes nothing and is ready; given its end, then it takes over', async () => {
    const first = await started();
    const second = await started({ kube: first.kube, clock: first.clock, name: 'b' });
    await first.clock.advance(30_000);
    expect(second.shard.connections).toEqual([]);
    expect(second.calls).toEqual(['start']);
    Object.assign(second.state, { isCurrent: true, hasListed: true });
    expect((await second.get('/readyz')).status).toBe(200);
    await first.clock.until(first.operator.stop());
    expect(first.calls.slice(-3)).toEqual(['rest', 'stop', 'closed']);
    expect(first.kube.objects.get(LEASE)).toMatchObject({ spec: { holderIdentity: '' } });
    await first.clock.advance(3_000);
    expect(second.calls).toEqual(['start', 'lead']);
    expect(second.shard.connections).toHaveLength(1);
  });
});
