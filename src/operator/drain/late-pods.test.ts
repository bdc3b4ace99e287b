// Pods that reach a node after its cordon: the scheduler had chosen the node before it saw the cordon.

import { describe, expect, it } from 'vitest';
import { DrainScene } from '../../../testing/support/drain-scene.ts';
import { NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

const { KIND_DRAINED } = NodeReport_Kind;

function scene(): DrainScene {
  const made = new DrainScene();
  made.node('n1');
  return made;
}

describe('a pod that is bound right after the cordon', () => {
  it('given an empty node, then the pod is evicted before the node is reported as drained', async () => {
    const s = scene();
    const evictedBefore: (readonly string[])[] = [];
    s.link.sendNodeReport = () => void evictedBefore.push([...s.evicted()]);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(500);
    expect(s.isCordoned('n1')).toBe(true);
    s.cluster.addPod('a', 'late', 'n1');
    await s.clock.advance(20_000);
    expect(evictedBefore).toEqual([['a/late']]);
  });

  it('given a restart of the operator in between, then the same holds', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(500);
    s.drains.stop();
    s.start();
    s.drains.connected();
    s.instruct('i1', ['n1']);
    await s.clock.advance(500);
    expect(s.link.reports).toEqual([]);
    s.cluster.addPod('a', 'late', 'n1');
    await s.clock.advance(20_000);
    expect(s.evicted()).toEqual(['a/late']);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });

  it('given a node that was uncordoned by hand, then the time begins again with the new cordon', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    s.cluster.addBudget('a', 'all', {}, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(60_000);
    s.cluster.put('/api/v1/nodes/n1', { ...s.getNode('n1'), spec: {} });
    s.cluster.setAllowed('a', 'all', 2);
    s.cluster.objects.delete('/api/v1/namespaces/a/pods/p1');
    while (!s.isCordoned('n1')) await s.clock.advance(100);
    expect(s.link.reports).toEqual([]);
    s.cluster.addPod('a', 'late', 'n1');
    await s.clock.advance(20_000);
    expect(s.evicted()).toEqual(['a/late']);
  });

  it('given a node whose pods leave long after the cordon, then the first look without pods is enough', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    const lists: number[] = [];
    const reports: number[] = [];
    s.link.sendNodeReport = () => void reports.push(s.clock.now());
    s.start({
      after: ({ verb, path }) => {
        if (verb === 'list' && path.endsWith('/pods') && s.evicted().length > 0) lists.push(s.clock.now());
      },
    });
    s.cluster.addBudget('a', 'all', {}, 0);
    s.instruct('i1', ['n1']);
    await s.clock.advance(60_000);
    s.cluster.setAllowed('a', 'all', 1);
    await s.clock.advance(60_000);
    expect(s.evicted()).toEqual(['a/p1']);
    expect(lists).toHaveLength(1);
    expect(reports).toEqual(lists);
  });
});
