// End-to-end cases about what goes wrong by itself: lost hosts, an API server that is down, and pods that fragment.

import { expect } from 'vitest';
import { CapacityType } from '../../src/model/index.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const DOWN_MS = 5_000;
/** A tenth of what an operator with its default timers is watched for. */
const REST_MS = 15_000;

export const FAULT_CASES: readonly EndToEndCase[] = [
  {
    title: 'given spot machines, when one is interrupted and another dies, then each is replaced once',
    run: async (target, context) => {
      const spot = { capacityType: CapacityType.Spot, interruptionProbability: 0.05 };
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 8, labels: AMD64, ...spot })],
        // Pods of a node that is gone count for nothing until Kubernetes replaces them, which takes it up to a minute.
        settings: { reclaimHold: '2m' },
      });
      await world.deploy('api', 3, asks('3'));
      await world.until('three pods run', async () => (await world.running('api')) === 3);
      expect(world.bought).toBe(3);
      const { cloud } = world.world.cloud().provider;
      const lost = [
        ...cloud.interrupt({ cluster: 'web', count: 1 }),
        ...cloud.kill({ cluster: 'web', count: 1 }),
      ];
      expect(lost).toHaveLength(2);
      const names = lost.map((machine) => world.hosts.nodeOf(machine));
      await world.until('three pods run on other nodes', async () => {
        const pods = await world.pods(undefined, 'api');
        const isGood = pods.every(({ spec }) => !names.includes(spec.nodeName ?? ''));
        return isGood && (await world.running('api')) === 3;
      });
      await world.stays('three pods run', 3_000, async () => (await world.running('api')) === 3);
      expect(world.bought).toBe(5);
      expect(await world.nodes()).toHaveLength(3);
      expect(await world.cordoned()).toEqual([]);
      expect(world.world.callsOf('drain')).toHaveLength(0);
    },
  },
  {
    title:
      'given pods that run, when the API server is down for a while, then demand stays and nothing is reclaimed',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 6, labels: AMD64 })],
      });
      await world.deploy('api', 4, asks('1500m'));
      await world.until('four pods run', async () => (await world.running('api')) === 4);
      const before = await identities(world, 'api');
      const wanted = async () => (await world.world.needs('web')).map(({ wants }) => wants);
      const demand = await wanted();
      expect(demand).toEqual([{ cpu: '6' }]);
      const { plane } = world.cluster();
      await plane.stopApiServer();
      await world.world.until(
        'the operator sees it',
        () => world.lines.some((line) => line.includes(' watch ')),
        60_000,
      );
      const endMs = Date.now() + DOWN_MS;
      while (Date.now() < endMs) {
        expect(await wanted()).toEqual(demand);
        await world.world.cycles(2);
      }
      await plane.startApiServer();
      await world.deploy('api', 6, asks('1500m'));
      await world.until('six pods run', async () => (await world.running('api')) === 6);
      expect(await identities(world, 'api')).toEqual(expect.arrayContaining([...before]));
      expect(world.world.callsOf('drain')).toHaveLength(0);
      // Pods that came during the outage are ordinary demand, not stuck ones.
      expect(world.bought).toBe(3);
      expect(world.lines.filter((line) => line.includes('episode.opened'))).toEqual([]);
      expect(await world.cordoned()).toEqual([]);
    },
  },
  {
    title: 'given pods that fragment, then all of them run in the end, and at rest nothing moves',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 12, labels: AMD64 })],
        operator: { episodes: { stuckAfter: '5s', emptyFor: '3s' } },
      });
      const apart = {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'lonely' } } },
          ],
        },
      };
      // 9 cores in all would fit on three machines; one of them alone can hold neither a second lonely pod nor both sizes.
      const sizes: readonly (readonly [string, number, object])[] = [
        ['huge', 1, asks('3500m')],
        ['half', 2, asks('2100m')],
        ['lonely', 4, asks('100m', { affinity: apart })],
        ['tiny', 6, asks('100m')],
      ];
      for (const [app, replicas, spec] of sizes) await world.deploy(app, replicas, spec);
      for (const [app, replicas] of sizes)
        await world.until(`${app} runs`, async () => (await world.running(app)) === replicas);
      const scene = async () =>
        JSON.stringify([
          world.world.calls.length,
          (await world.nodes()).map(({ metadata, spec }) => [metadata.name, spec?.unschedulable ?? false]),
          (await world.pods()).map(({ metadata, spec }) => `${metadata.uid} ${spec.nodeName}`).sort(),
        ]);
      // Machines of ended episodes leave first.
      let last = '';
      let sinceMs = 0;
      await world.until(`nothing moves for ${REST_MS / 1000} s`, async () => {
        const now = await scene();
        if (now !== last) sinceMs = Date.now();
        last = now;
        return Date.now() - sinceMs >= REST_MS;
      });
      for (const [app, replicas] of sizes) expect(await world.running(app)).toBe(replicas);
      expect(await world.cordoned()).toEqual([]);
      const machines = (await world.nodes()).length;
      console.info(`fragmented pods: ${machines} machines, where 4 are needed; ${world.bought} were bought`);
      expect(machines).toBeLessThanOrEqual(6);
    },
  },
];
