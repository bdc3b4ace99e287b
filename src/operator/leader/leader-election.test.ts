// Replicas that compete for a Lease, on virtual time.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryKube } from '../../../testing/operator/memory-kube.ts';
import type { MonotonicClock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { KubeError } from '../kube/client.ts';
import type { Lease } from '../kube/writes.ts';
import { GatedKubeClient } from './gated-client.ts';
import { LeaderElection } from './leader-election.ts';

const PATH = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/operator';

/** How wrong the time of a replica is; a correction of its system's time changes it. */
interface Skew {
  ms: number;
}

function skewed(clock: MonotonicClock, by: Skew): MonotonicClock {
  return {
    now: () => clock.now() + by.ms,
    monotonic: () => clock.monotonic(),
    after: (ms, run) => clock.after(ms, run),
  };
}

function scene() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const kube = new MemoryKube();
  const log: string[] = [];
  const replica = (identity: string, client = kube, by: Skew = { ms: 0 }) => {
    const election = new LeaderElection({
      client,
      clock: skewed(clock, by),
      random: new Random(identity.length, identity.charCodeAt(0)),
      namespace: 'ns',
      name: 'operator',
      identity,
      onElected: () => log.push(`${identity} elected`),
      onLost: (why) => log.push(`${identity} lost: ${why}`),
    });
    election.start();
    return election;
  };
  const lease = () => kube.objects.get(PATH) as unknown as Lease;
  return { clock, kube, log, replica, lease };
}

function down(): never {
  throw new KubeError('connection refused', { status: 0 });
}

describe('leader election', () => {
  it('given no Lease, then it is created with the times that the API server accepts, and renewed', async () => {
    const { clock, replica, lease, log } = scene();
    const a = replica('a');
    await clock.advance(0);
    expect(lease().spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(a.isLeader).toBe(true);
    expect(lease().spec?.renewTime).toBe('2026-01-01T00:01:00.000000Z');
    expect(log).toEqual(['a elected']);
  });

  it('given a leader, then a second replica waits and writes nothing', async () => {
    const { clock, replica, kube } = scene();
    const a = replica('a');
    await clock.advance(0);
    const b = replica('b');
    await clock.advance(120_000);
    expect([a.isLeader, b.isLeader]).toEqual([true, false]);
    expect(b.holder).toBe('a');
    expect(kube.writes.length).toBeLessThan(65);
  });

  it('given a stop, then the Lease is released and the second takes over at its next attempt', async () => {
    const { clock, replica, lease, log } = scene();
    const a = replica('a');
    await clock.advance(0);
    replica('b');
    await clock.advance(5_000);
    await clock.until(a.stop());
    expect(a.isLeader).toBe(false);
    expect(lease().spec?.holderIdentity).toBe('');
    await clock.advance(2_500);
    expect(log).toEqual(['a elected', 'a lost: the operator stops', 'b elected']);
    expect(lease().spec?.leaseTransitions).toBe(1);
  });

  it('given a leader that is cut off, then it gives up before another takes over', async () => {
    const { clock, kube, replica, log } = scene();
    const reached = new MemoryKube();
    Object.defineProperty(reached, 'objects', { value: kube.objects });
    replica('a', reached);
    await clock.advance(0);
    replica('b');
    await clock.advance(5_000);
    reached.before = down;
    await clock.advance(9_000);
    expect(log).toEqual(['a elected', 'a lost: the Lease could not be renewed in time']);
    await clock.advance(10_000);
    expect(log.at(-1)).toBe('b elected');
    reached.before = () => {};
    await clock.advance(60_000);
    expect(log).toHaveLength(3);
  });

  it('given a leader whose requests hang, then it stops acting by its own clock, also without a timer', async () => {
    const { clock, kube, replica } = scene();
    const a = replica('a');
    await clock.advance(0);
    kube.before = () => new Promise(() => {});
    await clock.advance(9_999);
    expect(a.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.isLeader).toBe(false);
  });

  it('given a Lease of a replica that is gone, then it is taken only after its whole duration was seen', async () => {
    const { clock, kube, replica, log } = scene();
    await kube.create('/apis/coordination.k8s.io/v1/namespaces/ns/leases', {
      metadata: { name: 'operator', namespace: 'ns' },
      // An hour ago by its own text, which says nothing about the clock of its holder.
      spec: { holderIdentity: 'old', leaseDurationSeconds: 15, renewTime: '2025-12-31T23:00:00.000000Z' },
    });
    replica('a');
    await clock.advance(14_900);
    expect(log).toEqual([]);
    await clock.advance(3_000);
    expect(log).toEqual(['a elected']);
  });

  it('given a candidate whose time steps forward between two renewals, then it does not take a live Lease', async () => {
    const { clock, kube, replica, log } = scene();
    const reached = new MemoryKube();
    Object.defineProperty(reached, 'objects', { value: kube.objects });
    const a = replica('a', reached);
    await clock.advance(0);
    const by = { ms: 0 };
    const b = replica('b', undefined, by);
    await clock.advance(1_000);
    // Renewals are late, but the leader may still act.
    reached.before = down;
    await clock.advance(4_000);
    by.ms = 20_000;
    await clock.advance(2_500);
    expect([a.isLeader, b.isLeader]).toEqual([true, false]);
    reached.before = () => {};
    await clock.advance(60_000);
    expect(log).toEqual(['a elected']);
  });

  it('given a candidate whose time steps back, then it takes the Lease of a replica that is gone all the same', async () => {
    const { clock, kube, replica, log } = scene();
    const reached = new MemoryKube();
    Object.defineProperty(reached, 'objects', { value: kube.objects });
    replica('a', reached);
    await clock.advance(0);
    const by = { ms: 0 };
    const b = replica('b', undefined, by);
    await clock.advance(5_000);
    reached.before = down;
    by.ms = -3_600_000;
    await clock.advance(20_000);
    expect(b.isLeader).toBe(true);
    expect(log.at(-1)).toBe('b elected');
  });

  it('given a leader whose time steps, then it neither gives up early nor acts for longer', async () => {
    const { clock, kube, replica, log } = scene();
    const by = { ms: 0 };
    const a = replica('a', undefined, by);
    await clock.advance(1_000);
    by.ms = 3_600_000;
    expect(a.isLeader).toBe(true);
    await clock.advance(60_000);
    expect(log).toEqual(['a elected']);
    kube.before = () => new Promise(() => {});
    await clock.advance(0);
    by.ms = 0;
    await clock.advance(10_000);
    expect(a.isLeader).toBe(false);
    expect(log).toHaveLength(2);
  });

  it('given any skew, steps of time, outages and restarts, then never two leaders at the same time', async () => {
    const step = fc.record({
      who: fc.nat(2),
      what: fc.constantFrom('cut', 'heal', 'stop', 'start', 'step'),
      stepMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
      waitMs: fc.integer({ min: 0, max: 20_000 }),
    });
    const skews = fc.array(fc.integer({ min: -3_600_000, max: 3_600_000 }), { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(skews, fc.array(step, { maxLength: 25 }), async (byMs, steps) => {
        const { clock, kube, replica } = scene();
        const clients = [0, 1, 2].map(() => {
          const client = new MemoryKube();
          Object.defineProperty(client, 'objects', { value: kube.objects });
          return client;
        });
        const names = ['a', 'b', 'c'];
        const by = byMs.map((ms) => ({ ms }));
        const replicas = names.map((name, i) => replica(name, clients[i], by[i]));
        for (const { who, what, waitMs, stepMs } of steps) {
          if (what === 'step') by[who]!.ms = stepMs;
          if (what === 'cut') clients[who]!.before = down;
          if (what === 'heal') clients[who]!.before = () => {};
          if (what === 'stop') void replicas[who]!.stop();
          if (what === 'start') replicas[who]!.start();
          for (let waited = 0; waited <= waitMs; waited += 500) {
            await clock.advance(500);
            expect(replicas.filter(({ isLeader }) => isLeader).length).toBeLessThanOrEqual(1);
          }
        }
        for (const client of clients) client.before = () => {};
        for (const each of replicas) each.start();
        await clock.advance(60_000);
        expect(replicas.filter(({ isLeader }) => isLeader)).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a client that writes only for the leader', () => {
  it('given a standby, then reads pass and writes are refused before they are sent', async () => {
    const { kube } = scene();
    await kube.create('/x', { metadata: { name: 'y' } });
    const gated = new GatedKubeClient(kube, () => false);
    expect((await gated.get('/x/y')).metadata.name).toBe('y');
    await expect(gated.create('/x', { metadata: { name: 'z' } })).rejects.toThrow('does not lead');
    await expect(gated.update('/x/y', {})).rejects.toThrow(KubeError);
    await expect(gated.patch('/x/y', 'merge', {})).rejects.toThrow(KubeError);
    await expect(gated.delete('/x/y')).rejects.toThrow(KubeError);
    expect(kube.writes).toEqual(['create /x/y']);
  });

  it('given a write under way when the Lease is lost, then its signal is aborted; later ones have another', async () => {
    const signals: AbortSignal[] = [];
    const kube = new MemoryKube();
    kube.create = (_path: string, _object: unknown, options?: { signal?: AbortSignal }) => {
      signals.push(options!.signal!);
      return new Promise(() => {});
    };
    const gated = new GatedKubeClient(kube, () => true);
    void gated.create('/x', {}, { signal: new AbortController().signal });
    gated.close();
    void gated.create('/x', {});
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });
});
