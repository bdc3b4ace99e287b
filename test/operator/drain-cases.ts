// End-to-end cases about nodes that must go: budgets that block, and restarts in the middle of a drain.

import { expect } from 'vitest';
import type { Target } from '../../testing/kube/control-plane.ts';
import { offering } from '../e2e/shard-cloud.ts';
import {
  AMD64,
  blockedNode,
  type CaseScope,
  type EndToEndCase,
  excessNode,
  identities,
} from './end-to-end-case.ts';
import { KubeWorld, QUICK } from './kube-world.ts';

function open(target: Target, context: CaseScope, operator = {}): Promise<KubeWorld> {
  const offerings = [offering('m4', { cpu: 4, count: 4, labels: AMD64 })];
  return KubeWorld.open(context, { target, clusters: ['web'], offerings, operator });
}

export const DRAIN_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given a budget that blocks a reclaim, when it gets room, then it was respected and the node leaves',
    run: async (target, context) => {
      const world = await open(target, context);
      await excessNode(world, 'guarded', { minAvailable: 2 });
      const node = await blockedNode(world, 'guarded');
      const before = await identities(world, 'guarded');
      await world.stays('both pods run', 2_000, async () => (await world.running('guarded')) === 2);
      expect(await identities(world, 'guarded')).toEqual(before);
      await world.budget('guarded', { minAvailable: 1 });
      await world.until('the node is given back', async () => (await world.nodes()).length === 1);
      await world.until('both pods run', async () => (await world.running('guarded')) === 2);
      expect((await world.nodes()).map(({ metadata }) => metadata.name)).not.toContain(node);
      expect(await world.cordoned()).toEqual([]);
      // Only the pod on the node that left was evicted.
      expect((await identities(world, 'guarded')).filter((uid) => before.includes(uid))).toHaveLength(1);
    },
  },
  {
    title: 'given a budget that blocks a reclaim to its end, then the node is uncordoned and stays',
    run: async (target, context) => {
      const world = await open(target, context, { nodes: { ...QUICK.nodes, reclaimTimeout: '4s' } });
      const nodes = await excessNode(world, 'guarded', { minAvailable: 2 });
      const before = await identities(world, 'guarded');
      await world.until('an Event on a node names what held it', async () =>
        (await Promise.all(nodes.map((node) => world.events(node))))
          .flat()
          .some((event) => event.startsWith('DrainFailed') && event.includes('pdb/default/guarded')),
      );
      await world.until('the node is uncordoned', async () => (await world.cordoned()).length === 0);
      await world.until('the shard keeps the machine', async () =>
        (await world.world.machines()).some(({ protectedUntilMs }) => protectedUntilMs !== null),
      );
      await world.stays('nothing is cordoned', 3_000, async () => (await world.cordoned()).length === 0);
      expect(await world.nodes()).toHaveLength(2);
      expect(await identities(world, 'guarded')).toEqual(before);
      expect(world.world.callsOf('drain')).toHaveLength(0);
    },
  },
  {
    title:
      'given a drain under way, when operator and shard restart, then it goes on and nothing is left behind',
    run: async (target, context) => {
      const world = await open(target, context);
      await excessNode(world, 'guarded', { minAvailable: 2 });
      const node = await blockedNode(world, 'guarded');
      const before = await identities(world, 'guarded');
      await world.stopOperator('web');
      await world.startOperator('web');
      await world.world.restart();
      await world.stopOperator('web');
      await world.world.restart();
      await world.startOperator('web');
      await world.until('the cluster is connected', async () =>
        (await world.world.clusters()).some(({ cluster, hasSession }) => cluster === 'web' && hasSession),
      );
      await world.stays('both pods run', 2_000, async () => (await world.running('guarded')) === 2);
      expect(await identities(world, 'guarded')).toEqual(before);
      await world.budget('guarded', { minAvailable: 1 });
      await world.until('the node is given back', async () => (await world.nodes()).length === 1);
      await world.until('both pods run', async () => (await world.running('guarded')) === 2);
      expect((await world.nodes()).map(({ metadata }) => metadata.name)).not.toContain(node);
      expect(await world.cordoned()).toEqual([]);
      expect((await identities(world, 'guarded')).filter((uid) => before.includes(uid))).toHaveLength(1);
      await world.until('the shard has one machine', async () => (await bound(world)) === 1);
      expect(world.hosts.nodes.size).toBe(1);
      // A call is repeated if its answer was lost with the shard.
      expect(new Set(world.world.callsOf('drain').map(({ machine }) => machine)).size).toBe(1);
    },
  },
];

async function bound(world: KubeWorld): Promise<number> {
  return (await world.world.machines()).filter(({ cluster }) => cluster === 'web').length;
}
