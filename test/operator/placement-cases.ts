// End-to-end cases about where pods may run: gangs in one zone, hard spreads, taints, and machines of another cluster.

import { expect } from 'vitest';
import type { KubeObject } from '../../src/operator/kube/index.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, factsKnown, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** How many pods of an app run in each zone. */
async function perZone(world: KubeWorld, app: string): Promise<ReadonlyMap<string, number>> {
  const zones = new Map(
    (await world.nodes()).map(({ metadata }) => [metadata.name, metadata.labels?.[ZONE] ?? '']),
  );
  const counts = new Map<string, number>();
  for (const { spec } of await world.pods(undefined, app)) {
    const zone = zones.get(spec.nodeName ?? '') ?? '';
    counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  return counts;
}

const GPU_TAINT = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' };

export const PLACEMENT_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given pods that must share a zone and pods that must be spread over zones, then both get what they ask',
    run: async (target, context) => {
      const zones = ['za', 'zb', 'zc'];
      // The scheduler may put pods that are spread where a pod of the gang would fit, so that the zone needs a machine more.
      const offerings = [offering('m4', { cpu: 4, count: 6, zones, labels: AMD64 })];
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings });
      const together = {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'gang' } } },
          ],
        },
      };
      const spread = {
        maxSkew: 1,
        topologyKey: ZONE,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'spread' } },
      };
      await world.deploy('gang', 3, asks('3', { affinity: together }));
      await world.deploy('spread', 6, asks('1500m', { topologySpreadConstraints: [spread] }));
      await world.until('all pods run', async () => (await world.running('gang')) === 3);
      await world.until('all pods run', async () => (await world.running('spread')) === 6);
      expect([...(await perZone(world, 'gang')).values()]).toEqual([3]);
      const counts = [...(await perZone(world, 'spread')).values()];
      expect(counts).toHaveLength(3);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    },
  },
  {
    title:
      'given taints in the settings, then nodes register with them and only pods that tolerate them ask for such',
    run: async (target, context) => {
      const gpu = new Map([...AMD64, ['pool', 'gpu']]);
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        // The tainted machines are cheaper: without the rule every pod would ask for them.
        offerings: [
          offering('plain', { cpu: 4, count: 4, pricePerHour: 2, labels: AMD64 }),
          offering('gpu', { cpu: 4, count: 4, pricePerHour: 1, labels: gpu }),
        ],
        operator: {
          demand: { taints: [{ selector: { matchLabels: { pool: 'gpu' } }, taints: [GPU_TAINT] }] },
        },
      });
      const tolerations = [{ key: 'dedicated', operator: 'Exists' }];
      await world.deploy('other', 2, asks('1500m'));
      await world.deploy('learner', 2, asks('1500m', { tolerations, nodeSelector: { pool: 'gpu' } }));
      await world.until('the pods run', async () => (await world.running('other')) === 2);
      await world.until('the tolerating pods run', async () => (await world.running('learner')) === 2);
      const nodes = await world.nodes();
      expect(nodes.map(({ metadata }) => metadata.labels?.['pool'] ?? '').sort()).toEqual(['', 'gpu']);
      const tainted = nodes.find(({ metadata }) => metadata.labels?.['pool'] === 'gpu')!;
      expect(tainted.spec?.taints).toMatchObject([GPU_TAINT]);
      const on = async (app: string) =>
        new Set((await world.pods(undefined, app)).map(({ spec }) => spec.nodeName));
      expect(await on('learner')).toEqual(new Set([tainted.metadata.name]));
      expect(await on('other')).not.toContain(tainted.metadata.name);
    },
  },
  {
    title:
      'given a DaemonSet, then a machine that is bought for a pod has room for the pod of the DaemonSet as well',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [
          // Exactly the pod, and exactly both.
          offering('small', { cpu: 3, count: 4, pricePerHour: 1, labels: AMD64 }),
          offering('exact', { cpu: 3.5, count: 4, pricePerHour: 2, labels: AMD64 }),
        ],
      });
      const labels = { app: 'agent' };
      await world.cluster().plane.apply([
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name: 'agent', namespace: 'default' },
          spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: asks('500m') } },
        } as unknown as KubeObject,
      ]);
      await world.deploy('api', 2, asks('3'));
      await world.runs('api', 2);
      await world.runs('agent', 2);
      const types = (await world.nodes()).map(
        ({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'],
      );
      expect(types).toEqual(['exact', 'exact']);
      expect(world.bought).toBe(2);
    },
  },
  {
    title:
      'given machines for one cluster, when another asks with a higher priority, then it gets those without budgets',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['first', 'second'],
        offerings: [offering('m4', { cpu: 4, count: 4, labels: AMD64 })],
      });
      // Four of them are more than three machines have, so each pod gets a machine at once.
      await world.deploy('free', 2, asks('3500m'), 'second');
      await world.budget('guarded', { minAvailable: 2 }, 'second');
      await world.deploy('guarded', 2, asks('3500m'), 'second');
      for (const app of ['free', 'guarded'])
        await world.until(`${app} runs`, async () => (await world.running(app, 'second')) === 2);
      const before = await identities(world, 'guarded', 'second');
      await factsKnown(world, 'second', 2);
      await world.cluster('first').plane.apply([
        {
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name: 'urgent' },
          value: 100_000,
        } as unknown as KubeObject,
      ]);
      await world.deploy('urgent', 2, asks('3500m', { priorityClassName: 'urgent' }), 'first');
      await world.until('the urgent pods run', async () => (await world.running('urgent', 'first')) === 2);
      expect(await world.running('guarded', 'second')).toBe(2);
      expect(await identities(world, 'guarded', 'second')).toEqual(before);
      expect(await world.running('free', 'second')).toBe(0);
      expect([(await world.nodes('first')).length, (await world.nodes('second')).length]).toEqual([2, 2]);
      expect([...(await world.cordoned('first')), ...(await world.cordoned('second'))]).toEqual([]);
      expect(world.bought).toBe(4);
    },
  },
];
