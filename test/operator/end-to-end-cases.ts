// From a pending pod to a running one and back: cases for a fake and for a real control plane, declared by the tests
// beside this file.

import { expect } from 'vitest';
import { offering } from '../e2e/shard-cloud.ts';
import { DRAIN_CASES } from './drain-cases.ts';
import { AMD64, type EndToEndCase } from './end-to-end-case.ts';
import { FAULT_CASES } from './fault-cases.ts';
import { asks, KubeWorld } from './kube-world.ts';
import { PLACEMENT_CASES } from './placement-cases.ts';
import { SHAPE_CASES } from './shape-cases.ts';

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
      expect(await world.running('api')).toBe(2);
      expect((await world.nodes()).filter(({ spec }) => spec?.unschedulable === true)).toHaveLength(0);
    },
  },
  ...DRAIN_CASES,
  ...PLACEMENT_CASES,
  ...FAULT_CASES,
  ...SHAPE_CASES,
];
