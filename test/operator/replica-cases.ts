// End-to-end cases about the operators of a cluster as a whole: two replicas of which one leads, as the manifests install
// them, and a cluster whose operator is gone for good.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import {
  type KubeObject,
  type ObjectConsumer,
  type Pod,
  pathOf,
  RESOURCES,
  Reflector,
} from '../../src/operator/kube/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { bigfleet } from './command.ts';
import {
  AMD64,
  blockedNode,
  type CaseScope,
  type EndToEndCase,
  excessNode,
  identities,
} from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const OFFERINGS = [offering('m4', { cpu: 4, count: 4, labels: AMD64 })];
const REPLICAS = ['a', 'b'];
const LEASE = pathOf(RESOURCES.leases, { namespace: 'bigfleet-system', name: 'bigfleet-operator' });

/** Kills the replica that leads; returns it when the other one leads and has its session. */
async function killLeader(world: KubeWorld): Promise<string> {
  const killed = await world.leader();
  const demand = await wants(world);
  await world.killOperator('web', killed);
  await world.until('the other replica leads', async () => {
    // Nothing is forgotten meanwhile.
    expect(await wants(world)).toEqual(demand);
    return (await world.leader()) !== killed;
  });
  const leader = await world.leader();
  await world.until(
    'it has a session',
    async () => (await world.operatorMetric('bigfleet_operator_session_connected', 'web', leader)) === 1,
  );
  expect(await wants(world)).toEqual(demand);
  return killed;
}

async function wants(world: KubeWorld): Promise<readonly unknown[]> {
  return (await world.world.needs('web')).map((need) => need.wants);
}

/** Uids of all pods of an app that existed since the call. */
async function uidsOf(world: KubeWorld, context: CaseScope, app: string): Promise<ReadonlySet<string>> {
  const uids = new Set<string>();
  const consumer: ObjectConsumer<Pod> = {
    listing: () => {},
    set: ({ metadata }) => void uids.add(metadata.uid ?? ''),
    remove: () => {},
    listed: () => {},
  };
  const reflector = new Reflector<Pod>({
    client: world.cluster().plane.admin,
    path: pathOf(RESOURCES.pods),
    consumer,
    selector: { labelSelector: `app=${app}` },
    random: new Random(1),
    clock: systemClock,
  });
  context.onTestFinished(() => reflector.stop());
  reflector.start();
  await world.until(`the pods of ${app} are followed`, () => reflector.hasListed);
  return uids;
}

export const REPLICA_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given two replicas, when the leader is killed during a scale-up and the next one during a drain, then the other one finishes both',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: OFFERINGS,
        replicas: REPLICAS,
      });
      await world.until('one replica leads', async () => REPLICAS.includes(await world.leader()));
      const { promise: after, resolve: boot } = Promise.withResolvers<void>();
      context.onTestFinished(() => boot());
      world.hosts.boot = { after };
      await world.deploy('large', 2, asks('2200m'));
      await world.until('two machines boot', () => world.hosts.userData.size === 2);
      const first = await killLeader(world);
      boot();
      world.hosts.boot = {};
      await world.runs('large', 2);
      expect(world.bought).toBe(2);
      await world.startOperator('web', {}, first);

      await excessNode(world, 'guarded', { minAvailable: 2 });
      const node = await blockedNode(world, 'guarded');
      const before = await identities(world, 'guarded');
      const uids = await uidsOf(world, context, 'guarded');
      const second = await killLeader(world);
      expect(second).not.toBe(first);
      await world.stays('both pods run', 2_000, async () => (await world.running('guarded')) === 2);
      expect(await identities(world, 'guarded')).toEqual(before);
      await world.budget('guarded', { minAvailable: 1 });
      await world.until('the node is given back', async () => (await world.nodes()).length === 1);
      await world.runs('guarded', 2);
      expect((await world.nodes()).map(({ metadata }) => metadata.name)).not.toContain(node);
      expect(await world.cordoned()).toEqual([]);
      // The pod on the node that left was evicted once, and the other one never.
      expect(uids.size).toBe(3);
      expect((await identities(world, 'guarded')).filter((uid) => before.includes(uid))).toHaveLength(1);
      await world.until('no machine is left over', async () =>
        isDeepStrictEqual(await world.held(), [1, 1, 1]),
      );
      expect(world.bought).toBe(2);
      const lease = await world
        .cluster()
        .plane.admin.get<KubeObject & { readonly spec: { readonly leaseTransitions: number } }>(LEASE);
      expect(lease.spec.leaseTransitions).toBe(2);
    },
  },
  {
    title:
      'given a cluster whose operator is gone, when it is retired, then all its machines are drained and given back',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      await world.budget('api', { minAvailable: '100%' });
      await world.deploy('api', 4, asks('1500m'));
      await world.runs('api', 4);
      const machines = [...world.hosts.nodes.keys()].sort();
      expect(machines).toHaveLength(2);
      await world.stopOperator('web');
      await world.until('it has no session', async () =>
        (await world.world.clusters()).every(({ hasSession }) => !hasSession),
      );
      const shard = ['--shard', world.world.api];
      await bigfleet('cluster', 'retire', 'web', '--why', 'shut down', ...shard);
      await world.until('nothing is left', async () => isDeepStrictEqual(await world.held(), [0, 0, 0]));
      expect([...new Set(world.world.callsOf('drain').map(({ machine }) => machine))].sort()).toEqual(
        machines,
      );
      // It does not count again by itself.
      await world.startOperator('web');
      await world.until(
        'the shard says so',
        () => world.world.logged('retired-cluster-connected').length > 0,
      );
      await world.stays('it gets nothing', 2_000, async () => (await world.nodes()).length === 0);
      expect(await bigfleet('describe', 'cluster', 'web', ...shard)).toMatch(/Retired by .*: shut down/);
      await bigfleet('cluster', 'unretire', 'web', ...shard);
      await world.runs('api', 4);
    },
  },
];
