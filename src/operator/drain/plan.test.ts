import { describe, expect, it } from 'vitest';
import { BudgetRoom, matchesSelector } from './budgets.ts';
import type { DrainPod } from './drain-pods.ts';
import { drainPods } from './drain-pods.ts';
import { type DrainingNode, planEvictions } from './plan.ts';
import type { DrainRecord } from './record.ts';

const NOW = 1_700_000_000_000;

function pod(name: string, more: Partial<DrainPod> = {}): DrainPod {
  const labels: Record<string, string> = name.startsWith('web') ? { app: 'web' } : {};
  const rest = { endsMs: null, isHeld: false, priority: 0, createdMs: 0, graceSeconds: 30 };
  return { namespace: 'a', name, uid: name, labels, health: 'ready', ...rest, ...more };
}

function node(name: string, pods: readonly DrainPod[], more: Partial<DrainRecord> = {}): DrainingNode {
  const record: DrainRecord = {
    instruction: `i-${name}`,
    kind: 'reclaim',
    machine: `m-${name}`,
    deadline: new Date(NOW + 600_000).toISOString(),
    cordoned: true,
    waits: true,
    state: 'draining',
    ...more,
  };
  return { name, record, isProtected: false, pods };
}

function room(allowed: number): BudgetRoom {
  const made = new BudgetRoom();
  made.set('a', [
    {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: allowed },
    },
  ]);
  return made;
}

function planned(nodes: readonly DrainingNode[], allowed: number): readonly string[] {
  return planEvictions(nodes, room(allowed), NOW).flatMap(({ node, evictions }) =>
    evictions.map(({ pod }) => `${node}/${pod.name}`),
  );
}

describe('the plan of a round', () => {
  it('given two nodes and room for one pod, then only one is planned, on the node with the fewest pods left', () => {
    const nodes = [node('n1', [pod('web-1'), pod('web-2')]), node('n2', [pod('web-3')])];
    expect(planned(nodes, 1)).toEqual(['n2/web-3']);
    const [, second] = planEvictions(nodes, room(1), NOW);
    expect(second).toMatchObject({ node: 'n1', blockers: ['pdb/a/web'] });
    expect(planned(nodes, 2)).toEqual(['n2/web-3', 'n1/web-1']);
  });

  it('given a deadline minutes earlier, then that node comes first', () => {
    const soon = { deadline: new Date(NOW + 60_000).toISOString() };
    expect(planned([node('n1', [pod('web-1')]), node('n2', [pod('web-2'), pod('web-3')], soon)], 1)).toEqual([
      'n2/web-2',
    ]);
  });

  it('given a reclaim with budgeted pods, then pods without a budget go only once these have left', () => {
    expect(planned([node('n1', [pod('web-1'), pod('free')])], 1)).toEqual(['n1/web-1']);
    expect(planned([node('n1', [pod('web-1', { endsMs: NOW + 1 }), pod('free')])], 0)).toEqual(['n1/free']);
    expect(planned([node('n1', [pod('web-1'), pod('free')], { kind: 'preemption' })], 0)).toEqual([
      'n1/free',
    ]);
  });

  it('given a reclaim past its deadline, then nothing is planned; given a preemption, then everything, by force', () => {
    const over = { deadline: new Date(NOW).toISOString() };
    expect(planned([node('n1', [pod('web-1'), pod('free')], over)], 5)).toEqual([]);
    const [plan] = planEvictions([node('n1', [pod('web-1')], { ...over, kind: 'preemption' })], room(0), NOW);
    expect(plan?.evictions).toMatchObject([{ isForced: true, budgets: ['pdb/a/web'] }]);
  });

  it('given pods, then the lowest priority leaves first, then the youngest', () => {
    const made = (name: string, priority: number, created: string) => ({
      metadata: { name, namespace: 'a', creationTimestamp: created },
      spec: { containers: [], priority },
    });
    const pods = [made('old', 0, '2024-01-01T00:00:00Z'), made('high', 9, '2024-01-03T00:00:00Z')];
    expect(drainPods([...pods, made('young', 0, '2024-01-02T00:00:00Z')]).map(({ name }) => name)).toEqual([
      'young',
      'old',
      'high',
    ]);
  });
});

describe('selectors of budgets', () => {
  const labels = { app: 'web', tier: 'front' };
  it.each([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { app: 'web' } }, true],
    [{ matchLabels: { app: 'db' } }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
    [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false],
    [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true],
  ])('given selector %j, then it matches: %s', (selector, isMatch) => {
    expect(matchesSelector(selector, labels)).toBe(isMatch);
  });
});
