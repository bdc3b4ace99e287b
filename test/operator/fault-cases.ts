// End-to-end cases about what goes wrong by itself: lost hosts, and an API server that is down.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { CapacityType } from '../../src/model/index.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const DOWN_MS = 5_000;
/** Before a Node of a lost machine is removed it is NotReady for five minutes, and looked at once a minute. */
const SPEED = 20;
const HEARTBEAT_MS = 1_000;
const GRACE_SECONDS = 12;
/**
 * The new pods of a Deployment count once the scheduler has found no node for them, which takes seconds on a busy machine.
 * Machines that replace a lost one must last until then.
 */
const PATIENT_HOLDS = { reclaimHold: '2m', 'releaseHold.onDemand': '2m', 'releaseHold.spot': '2m' };

async function readyNodes(world: KubeWorld): Promise<readonly string[]> {
  const ready = (await world.nodes()).filter(({ status }) =>
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True'),
  );
  return ready.map(({ metadata }) => metadata.name);
}

export const FAULT_CASES: readonly EndToEndCase[] = [
  {
    title: 'given spot machines, when one is interrupted and another dies, then each is replaced once',
    run: async (target, context) => {
      const spot = { capacityType: CapacityType.Spot, interruptionProbability: 0.05 };
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 8, labels: AMD64, ...spot })],
        settings: PATIENT_HOLDS,
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
      'given hosts that leave their Nodes, when one is lost while no operator runs, then its Node goes after the restart and its pods run elsewhere',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 6, labels: AMD64 })],
        settings: PATIENT_HOLDS,
        plane: { nodeMonitorGraceSeconds: GRACE_SECONDS },
        heartbeatMs: HEARTBEAT_MS,
        speed: SPEED,
        // The time for the hello runs on the fast clock as well.
        operator: { session: { helloTimeout: '5m' } },
      });
      world.hosts.leavesNodes = true;
      await world.deploy('api', 2, asks('3'));
      await world.runs('api', 2);
      expect(world.bought).toBe(2);
      const before = await identities(world, 'api');
      await world.stopOperator('web');
      const [lost] = world.world.cloud().provider.cloud.kill({ cluster: 'web', count: 1 });
      const stale = world.hosts.nodeOf(lost!);
      await world.until('the shard has lost the machine', async () =>
        (await world.world.machines()).every(({ id, state }) => id !== lost || state !== 'CONFIGURED'),
      );
      await world.until('its Node is not ready', async () => !(await readyNodes(world)).includes(stale));
      expect(await world.nodes()).toHaveLength(2);
      await world.startOperator('web');
      await world.until('its Node is removed', async () =>
        (await world.nodes()).every(({ metadata }) => metadata.name !== stale),
      );
      expect((await world.events(stale)).filter((event) => event.startsWith('NodeRemoved'))).toHaveLength(1);
      // Kubernetes deletes pods whose Node is gone up to a minute later.
      await world.until('no pod is on it', async () =>
        (await world.pods(undefined, 'api')).every(({ spec }) => spec.nodeName !== stale),
      );
      await world.runs('api', 2);
      // The pod on the other node was left alone.
      expect((await identities(world, 'api')).filter((uid) => before.includes(uid))).toHaveLength(1);
      await world.until('one machine replaces it', async () => (await readyNodes(world)).length === 2);
      expect(world.bought).toBe(3);
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
      const demand = [{ cpu: '6' }];
      // The roll-up of the moment in which the pods were bound may still be on its way.
      await world.until('the shard knows all of it', async () => isDeepStrictEqual(await wanted(), demand));
      const { plane } = world.cluster();
      await plane.stopApiServer();
      await world.world.until('the operator sees it', () =>
        world.lines.some((line) => line.includes(' watch ')),
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
];
