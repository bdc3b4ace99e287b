// From a pending pod to a running one and back: cases for a fake and for a real control plane, declared by the tests
// beside this file.

import { expect } from 'vitest';
import { offering } from '../e2e/shard-cloud.ts';
import { DRAIN_CASES } from './drain-cases.ts';
import { AMD64, type EndToEndCase } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';
import { PLACEMENT_CASES } from './placement-cases.ts';
import { PREEMPTION_CASES } from './preemption-cases.ts';

export const END_TO_END: readonly EndToEndCase[] = [
  {
    title: 'given a Deployment, when it scales up and down, then nodes join for its pods and are given back',
    run: async (target, context) => {
      const offerings = [offering('m4', { cpu: 4, count: 6, labels: AMD64 })];
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings });
      await world.deploy('api', 6, asks('1500m'));
      await world.until('six pods run', async () => (await world.running('api')) === 6);
      const nodes = await world.nodes();
      // Two pods fit on a machine of 4 cores.
      expect(nodes).toHaveLength(3);
      for (const { metadata } of nodes) expect(metadata.labels).toHaveProperty('bigfleet.lucy.sh/machine');
      await world.deploy('api', 2, asks('1500m'));
      await world.until('one node is left', async () => (await world.nodes()).length === 1);
      // A pod of the node that left may have to be replaced first.
      await world.runs('api', 2);
      expect(await world.cordoned()).toEqual([]);
    },
  },
  {
    title:
      'given a Deployment, when its template changes, then all pods of the new one run on no more machines than needed',
    run: async (target, context) => {
      const offerings = [offering('m4', { cpu: 4, count: 6, labels: AMD64 })];
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings });
      await world.budget('api', { maxUnavailable: 1 });
      await world.deploy('api', 6, asks('1'), undefined, { version: '1' });
      await world.runs('api', 6);
      await world.deploy('api', 6, asks('1'), undefined, { version: '2' });
      await world.until('all pods are of the new version', async () => {
        const pods = await world.pods(undefined, 'api');
        return (
          pods.length === 6 &&
          pods.every(
            ({ metadata, status }) => metadata.labels?.['version'] === '2' && status?.phase === 'Running',
          )
        );
      });
      // Pods that come in addition during the roll-out fit as well.
      await world.until('two machines are left', async () => (await world.nodes()).length === 2);
      await world.runs('api', 6);
      await world.stays('two machines are enough', 3_000, async () => (await world.nodes()).length === 2);
      expect(await world.held()).toEqual([2, 2, 2]);
      expect(world.bought).toBe(2);
      expect(await world.cordoned()).toEqual([]);
    },
  },
  ...DRAIN_CASES,
  ...PLACEMENT_CASES,
  ...PREEMPTION_CASES,
];
