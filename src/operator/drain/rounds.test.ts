// Many drains at once on a slow API server: preemptions come first, and rounds that overlap share the room of budgets.

import { describe, expect, it } from 'vitest';
import { DrainScene, KIND_PREEMPTION } from '../../../testing/support/drain-scene.ts';
import { NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';

const WEB = { app: 'web' };
const EVICTION_MS = 200;
const LIST_MS = 500;
/** As the shard counts it; the drain is over a quarter earlier. */
const SHORT = { kind: KIND_PREEMPTION, gracePeriodSeconds: 10n };

function webPod(s: DrainScene, name: string, node: string): void {
  s.cluster.addPod('a', name, node, { metadata: { name: '', labels: WEB } });
}

describe('a preemption of 10 s beside many drains on a slow API server', () => {
  it.each([
    ['reclaims', {}],
    ['preemptions', { kind: KIND_PREEMPTION }],
  ])('given 200 nodes with %s, then its pod is evicted before its deadline', async (_, others) => {
    const s = new DrainScene();
    s.cluster.addBudget('a', 'web', WEB, 10_000);
    const names = Array.from({ length: 200 }, (_, n) => `n${n}`);
    for (const name of names) {
      s.node(name);
      webPod(s, `web-${name}`, name);
    }
    s.node('urgent');
    s.cluster.addPod('a', 'victim', 'urgent');
    const delays: Readonly<Record<string, number>> = { list: LIST_MS, evict: EVICTION_MS };
    s.start({
      before: async ({ verb }) => {
        const ms = delays[verb] ?? 0;
        if (ms > 0) await new Promise<void>((resolve) => s.clock.after(ms, resolve));
      },
    });
    s.instruct('many', names, { ...others, gracePeriodSeconds: 3600n });
    await s.clock.advance(4_000);
    const beganMs = s.clock.now();
    s.instruct('now', ['urgent'], SHORT);
    await s.clock.advance(8_000);
    const eviction = s.cluster.evictions.find(({ pod }) => pod === 'a/victim');
    expect(eviction?.atMs).toBeLessThan(beganMs + 7_500);
    // The others are served as well.
    await s.clock.advance(300_000);
    expect(s.cluster.evictions).toHaveLength(201);
    expect(s.drains.draining).toBe(0);
  });

  it('given an eviction of a reclaim without an answer, then the preemption does not wait for it', async () => {
    const s = new DrainScene();
    for (const name of ['n1', 'n2']) {
      s.node(name);
      s.cluster.addPod('a', `pod-${name}`, name);
    }
    s.start({
      before: ({ verb, path }) =>
        verb === 'evict' && path.endsWith('pod-n1') ? new Promise<void>(() => {}) : undefined,
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(1_000);
    s.instruct('i2', ['n2'], SHORT);
    await s.clock.advance(5_000);
    expect(s.evicted()).toEqual(['a/pod-n2']);
  });

  it('given evictions, then the client does not repeat them itself', async () => {
    const s = new DrainScene();
    s.node('n1');
    s.cluster.addPod('a', 'p1', 'n1');
    const retries: unknown[] = [];
    s.start({
      before: ({ verb, maxRetries }) => {
        if (verb !== 'evict') return;
        retries.push(maxRetries);
        if (retries.length < 3) throw new KubeError('busy', { status: 429, retryAfterMs: 10_000 });
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(60_000);
    expect(retries).toEqual([0, 0, 0]);
    expect(s.link.reports).toMatchObject([{ kind: NodeReport_Kind.KIND_DRAINED }]);
  });

  it('given an instruction whose first node cannot be cordoned, then the other nodes drain meanwhile', async () => {
    const s = new DrainScene();
    for (const name of ['n1', 'n2']) s.node(name);
    s.cluster.addPod('a', 'p2', 'n2');
    s.start({
      before: ({ verb, path }) => {
        if (verb === 'patch' && path.endsWith('/n1')) throw new KubeError('busy', { status: 429 });
      },
    });
    s.instruct('i1', ['n1', 'n2'], { kind: KIND_PREEMPTION, gracePeriodSeconds: 60n });
    await s.clock.advance(5_000);
    expect(s.evicted()).toEqual(['a/p2']);
  });
});

describe('a clock that is set back by an hour', () => {
  it('given drains that wait for a budget, then they go on as before', async () => {
    const s = new DrainScene();
    s.cluster.addBudget('a', 'web', WEB, 0);
    for (const name of ['n1', 'n2']) {
      s.node(name);
      webPod(s, `web-${name}`, name);
    }
    s.start();
    s.instruct('i1', ['n1']);
    s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
    await s.clock.advance(20_000);
    s.clock.step(-3_600_000);
    s.cluster.setAllowed('a', 'web', 2);
    await s.clock.advance(60_000);
    expect([...s.evicted()].sort()).toEqual(['a/web-n1', 'a/web-n2']);
    expect(s.drains.draining).toBe(0);
  });

  it('given a budget that has refused, then it is asked again as before', async () => {
    const s = new DrainScene();
    s.cluster.addBudget('a', 'web', WEB, 1);
    s.node('n1');
    webPod(s, 'web-n1', 'n1');
    let isRefused = true;
    s.start({
      before: ({ verb }) => {
        if (verb === 'evict' && isRefused)
          throw new KubeError('no', { status: 429, causes: [{ reason: 'DisruptionBudget' }] });
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(5_000);
    s.clock.step(-3_600_000);
    isRefused = false;
    await s.clock.advance(60_000);
    expect(s.evicted()).toEqual(['a/web-n1']);
  });
});

describe('the room of a budget between rounds', () => {
  function shared(room: number): DrainScene {
    const s = new DrainScene();
    s.cluster.addBudget('a', 'web', WEB, room);
    for (const name of ['n1', 'n2']) {
      s.node(name);
      webPod(s, `web-${name}`, name);
    }
    return s;
  }

  it('given an eviction of a reclaim under way, then a preemption does not spend the same room', async () => {
    const s = shared(1);
    const attempts: string[] = [];
    s.start({
      before: async ({ verb, path }) => {
        if (verb !== 'evict') return;
        attempts.push(path.slice(path.lastIndexOf('/') + 1));
        if (attempts.length === 1) await new Promise<void>((resolve) => s.clock.after(9_000, resolve));
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(1_000);
    s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
    await s.clock.advance(60_000);
    expect(attempts).toEqual(['web-n1']);
    expect(s.metrics.values.get('bigfleet_operator_evictions_total budget')).toBeUndefined();
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(60_000);
    expect(attempts).toEqual(['web-n1', 'web-n2']);
  });

  it.each([
    ['of the preemption', 2, 'a/web-n1'],
    ['of the reclaim', 1, 'a/web-n2'],
  ])(
    'given a read %s during an eviction of the other, then its room is not spent again',
    async (_, late, first) => {
      const s = shared(1);
      let lists = 0;
      s.start({
        before: async ({ verb }) => {
          if (verb === 'evict') await new Promise<void>((resolve) => s.clock.after(2_000, resolve));
        },
        // One list shows the room as it was before the eviction, and arrives after it.
        after: async ({ verb, path }) => {
          if (verb === 'list' && path.includes('poddisruptionbudgets') && ++lists === late)
            await new Promise<void>((resolve) => s.clock.after(3_000, resolve));
        },
      });
      s.instruct('i1', ['n1']);
      await s.clock.advance(500);
      s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
      await s.clock.advance(60_000);
      expect(s.evicted()).toEqual([first]);
      expect(s.metrics.values.get('bigfleet_operator_evictions_total budget')).toBeUndefined();
    },
  );

  it('given a preemption that waits for a budget, then no reclaim uses the room that comes up', async () => {
    const s = shared(0);
    let isSlow = false;
    s.start({
      before: async ({ verb, path }) => {
        if (isSlow && verb === 'get' && path.endsWith('/n2'))
          await new Promise<void>((resolve) => s.clock.after(5_000, resolve));
      },
    });
    s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
    await s.clock.advance(10_000);
    // The reclaim is looked at first, and finds the room.
    isSlow = true;
    s.cluster.setAllowed('a', 'web', 1);
    s.instruct('i1', ['n1']);
    await s.clock.advance(4_000);
    expect(s.evicted()).toEqual([]);
    await s.clock.advance(30_000);
    expect(s.evicted()).toEqual(['a/web-n2']);
  });
});
