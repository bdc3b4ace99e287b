// What drains evict, delete and report as broken, by the rules of the eviction API.

import { describe, expect, it } from 'vitest';
import { DrainScene, KIND_PREEMPTION } from '../../../testing/support/drain-scene.ts';
import { NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';

const { KIND_DRAINED, KIND_DRAIN_BLOCKED } = NodeReport_Kind;
const WEB = { app: 'web' };
const PENDING = { phase: 'Pending' };
const CRASHING = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const HEALTHY = { currentHealthy: 2, desiredHealthy: 2 };

function scene(status: object = READY, budgets: readonly string[] = ['web'], health = {}): DrainScene {
  const s = new DrainScene();
  s.node('n1');
  s.cluster.addPod('a', 'web-1', 'n1', { metadata: { name: '', labels: WEB }, status });
  for (const name of budgets) s.cluster.addBudget('a', name, WEB, 0, health);
  return s;
}

describe('pods that the eviction API releases without room in their budget', () => {
  it.each([
    ['that has not run yet', PENDING, ['web'], {}],
    ['that has not run yet, of two budgets', PENDING, ['web', 'all'], {}],
    [
      'that is not ready, under AlwaysAllow',
      CRASHING,
      ['web'],
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    ],
    ['that is not ready, while enough others are', CRASHING, ['web'], HEALTHY],
  ])('given a pod %s, then a reclaim evicts it', async (_, status, budgets, health) => {
    const s = scene(status, budgets, health);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(10_000);
    expect(s.evicted()).toEqual(['a/web-1']);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED, blockedBy: [] }]);
    expect(s.metrics.values.get('bigfleet_operator_evictions_total budget')).toBeUndefined();
  });

  it.each([
    ['that is ready', READY, ['web'], HEALTHY],
    ['that is not ready, while too few others are', CRASHING, ['web'], { ...HEALTHY, currentHealthy: 1 }],
    ['that is not ready, of two budgets', CRASHING, ['web', 'all'], HEALTHY],
  ])('given a pod %s, then its budget holds the reclaim', async (_, status, budgets, health) => {
    const s = scene(status, budgets, health);
    s.start();
    s.instruct('i1', ['n1'], { gracePeriodSeconds: 60n });
    await s.clock.advance(70_000);
    expect(s.evicted()).toEqual([]);
    const blockedBy = budgets.map((name) => `pdb/a/${name}`).sort();
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy }]);
  });

  it('given a pod that became ready since its node was read, then the refusal names the budget', async () => {
    const s = scene(CRASHING, ['web'], HEALTHY);
    s.start({
      before: ({ verb, path }) => {
        if (verb === 'evict') s.cluster.put(path, { ...s.cluster.get(path)!, status: READY });
      },
    });
    s.instruct('i1', ['n1'], { gracePeriodSeconds: 60n });
    await s.clock.advance(70_000);
    expect(s.evicted()).toEqual([]);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy: ['pdb/a/web'] }]);
  });
});

describe('a preemption past its deadline', () => {
  const START_MS = 1_700_000_000_000;
  const preempt = (s: DrainScene) =>
    s.instruct('i1', ['n1'], { kind: KIND_PREEMPTION, gracePeriodSeconds: 60n });

  it.each([
    ['500', { status: 500, reason: 'InternalError' }],
    ['a timeout', { status: 0, reason: 'Timeout' }],
    ['429 without a budget', { status: 429, reason: 'TooManyRequests', retryAfterMs: 10_000 }],
  ])('given %s, then the eviction is tried again and no budget is broken', async (_, facts) => {
    const s = scene();
    s.cluster.setAllowed('a', 'web', 1);
    const attempts: number[] = [];
    s.start({
      before: ({ verb }) => {
        if (verb !== 'evict') return;
        attempts.push(s.clock.now() - START_MS);
        if (s.clock.now() < START_MS + 54_500) throw new KubeError('not now', facts);
      },
    });
    preempt(s);
    await s.clock.advance(70_000);
    expect(s.cluster.deletions).toEqual([]);
    expect(s.evicted()).toEqual(['a/web-1']);
    expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAINED, blockedBy: [] });
    expect(s.events.reasons()).not.toContain('BudgetBroken');
    // The deadline is at 50 s: the seconds until the provider is called are used.
    expect(attempts.filter((ms) => ms >= 50_000).length).toBeGreaterThanOrEqual(3);
  });

  it('given an API server that fails for good, then nothing is deleted and the drain stays open', async () => {
    const s = scene();
    s.cluster.setAllowed('a', 'web', 1);
    s.start({
      before: ({ verb }) => {
        if (verb === 'evict') throw new KubeError('down', { status: 500 });
      },
    });
    preempt(s);
    await s.clock.advance(300_000);
    expect(s.cluster.deletions).toEqual([]);
    expect(s.drains.draining).toBe(1);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy: ['pod/a/web-1'] }]);
    expect(s.events.reasons()).not.toContain('BudgetBroken');
  });

  it('given two budgets, then only the one that refused is named', async () => {
    const s = scene();
    const db = { app: 'db' };
    s.cluster.addPod('a', 'db-1', 'n1', { metadata: { name: '', labels: db }, status: READY });
    s.cluster.addBudget('a', 'db', db, 1);
    s.start();
    preempt(s);
    await s.clock.advance(70_000);
    expect(s.evicted()).toEqual(['a/db-1']);
    expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAINED, blockedBy: ['pdb/a/web'] });
  });

  it('given budgets that are broken one after the other, then each is counted once', async () => {
    const s = scene();
    const db = { app: 'db' };
    s.cluster.addPod('a', 'db-1', 'n1', { metadata: { name: '', labels: db }, status: READY });
    s.cluster.addBudget('a', 'db', db, 0);
    let failures = 1;
    s.start({
      before: ({ verb, path }) => {
        if (verb !== 'delete' || !path.endsWith('/db-1') || failures-- <= 0) return;
        throw new KubeError('not now', { status: 500 });
      },
    });
    preempt(s);
    await s.clock.advance(70_000);
    expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAINED, blockedBy: ['pdb/a/db', 'pdb/a/web'] });
    expect(s.events.reasons().filter((reason) => reason === 'BudgetBroken')).toHaveLength(2);
    expect(s.metrics.values.get('bigfleet_operator_budgets_broken_total')).toBe(2);
  });

  it('given budgets that the operator may not read, then the refusal of the API server names the one broken', async () => {
    const s = scene();
    s.start({
      before: ({ verb, path }) => {
        if (verb === 'list' && path.includes('poddisruptionbudgets'))
          throw new KubeError('forbidden', { status: 403 });
      },
    });
    preempt(s);
    await s.clock.advance(70_000);
    expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAINED, blockedBy: ['pdb/a/web'] });
  });
});

describe('the metric of what blocks drains', () => {
  it('given many nodes with budgets of their own, then they count by kind, and no longer once they are drained', async () => {
    const s = new DrainScene();
    const names = Array.from({ length: 60 }, (_, i) => `w${i}`);
    for (const name of names) {
      s.node(name);
      s.cluster.addPod('a', name, name, { metadata: { name: '', labels: { app: name } }, status: READY });
      s.cluster.addBudget('a', name, { app: name }, 0);
    }
    s.start();
    s.instruct('i1', names);
    await s.clock.advance(60_000);
    const blocked = () =>
      [...s.metrics.values].filter(([name]) => name.startsWith('bigfleet_operator_drain_blocked_by'));
    expect(blocked()).toEqual([
      ['bigfleet_operator_drain_blocked_by pdb', 60],
      ['bigfleet_operator_drain_blocked_by pod', 0],
      ['bigfleet_operator_drain_blocked_by node', 0],
    ]);
    for (const name of names) s.cluster.setAllowed('a', name, 1);
    await s.clock.advance(60_000);
    expect(blocked()[0]?.[1]).toBe(0);
  });
});
