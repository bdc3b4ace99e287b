// Operators, API servers and the shard killed at random moments, while Deployments with budgets scale up and down and while
// one cluster takes machines of another. The seed is printed; BIGFLEET_SEED=N repeats its moments.

import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { KubeObject } from '../../src/operator/kube/index.ts';
import { Random } from '../../src/runtime/random.ts';
import type { Target } from '../../testing/kube/control-plane.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

interface Victim {
  readonly what: 'operator' | 'shard' | 'api';
  /** Of operators and API servers. */
  readonly cluster: string;
}

/** The shard, and what each cluster has. */
function victimsOf(...clusters: readonly string[]): readonly Victim[] {
  const own = clusters.flatMap((cluster): readonly Victim[] => [
    { what: 'operator', cluster },
    { what: 'api', cluster },
  ]);
  return [...own, { what: 'shard', cluster: '' }];
}

/** Two pods that scale fill a machine, so that what the shard sums up is what the scheduler can place. */
const PER_MACHINE = 2;
/** Each kind of pod has machines of its own: together they would fragment, which fragment-cases.ts is about. */
const POOL = 'example.com/pool';
const STEADY = asks('3', { nodeSelector: { [POOL]: 'steady' } });
const ELASTIC = asks('2', { nodeSelector: { [POOL]: 'elastic' } });
const OFFERINGS = ['steady', 'elastic'].map((pool) =>
  offering(pool, { cpu: 4, count: 6, labels: new Map([...AMD64, [POOL, pool]]) }),
);

function priorityClass(name: string, value: number): KubeObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
  } as KubeObject;
}

/** Each is killed as often as this in one cluster. */
const ROUNDS = 2;
const STEADY_PODS = 2;
const MOST_PODS = 6;
const LAST_PODS = 4;
const LONGEST_PAUSE_MS = 3_000;
const LONGEST_OUTAGE_MS = 2_000;

async function kill(world: KubeWorld, { what, cluster }: Victim): Promise<void> {
  if (what === 'operator') await world.killOperator(cluster);
  else if (what === 'shard') await world.world.kill();
  else await world.cluster(cluster).plane.stopApiServer();
}

async function revive(world: KubeWorld, { what, cluster }: Victim): Promise<void> {
  if (what === 'operator') await world.startOperator(cluster);
  else if (what === 'shard') await world.world.start();
  else await world.cluster(cluster).plane.startApiServer();
}

/** Each victim as often as `rounds`, in a random order. */
function schedule(random: Random, victims: readonly Victim[], rounds: number): readonly Victim[] {
  const all = Array.from({ length: rounds }, () => [...victims]).flat();
  return random.distinct(all.length, all.length).map((index) => all[index]!);
}

/** Scales a Deployment to random sizes, and kills a victim at a random moment after each change. */
async function killAll(
  world: KubeWorld,
  random: Random,
  victims: readonly Victim[],
  scale: () => Promise<void>,
): Promise<void> {
  for (const victim of victims) {
    await scale();
    await wait(random.below(LONGEST_PAUSE_MS));
    await kill(world, victim);
    await wait(random.below(LONGEST_OUTAGE_MS));
    await revive(world, victim);
  }
}

/** Prints the seed. */
function randomOf(target: Target): Random {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now() % 1_000_000);
  console.info(`kills (${target}): BIGFLEET_SEED=${seed}`);
  return new Random(seed, 0x6b);
}

async function placesOf(world: KubeWorld, app: string, cluster: string): Promise<readonly string[]> {
  return (await world.pods(cluster, app)).map(({ spec }) => spec.nodeName ?? '').sort();
}

export const CHAOS_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given operator, shard and API server killed at random moments, then no pod moves needlessly and nothing is left',
    run: async (target, context) => {
      const random = randomOf(target);
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: OFFERINGS,
        // The shard and the operator are processes of the program that is shipped.
        isProcess: true,
        // Longer than any of them is away, with the time until all watches are open again on a busy machine: what is not reported
        // meanwhile is no reason to take a machine.
        settings: { reclaimHold: '10s' },
      });
      // Its demand never changes: there is no reason to touch these pods, although their budget would allow it.
      await world.budget('steady', { maxUnavailable: 1 });
      await world.budget('elastic', { maxUnavailable: 1 });
      await world.deploy('steady', STEADY_PODS, STEADY);
      await world.deploy('elastic', 2, ELASTIC);
      await world.runs('steady', STEADY_PODS);
      await world.runs('elastic', 2);
      const steady = await identities(world, 'steady');
      const places = await placesOf(world, 'steady', 'web');
      const victims = schedule(random, victimsOf('web'), ROUNDS);
      await killAll(world, random, victims, () =>
        world.deploy('elastic', random.between(0, MOST_PODS), ELASTIC),
      );
      await world.deploy('elastic', LAST_PODS, ELASTIC);
      await world.runs('elastic', LAST_PODS);
      await world.runs('steady', STEADY_PODS);
      const least = STEADY_PODS + LAST_PODS / PER_MACHINE;
      await world.until('no machine is left over', async () =>
        (await world.held()).every((count) => count === least),
      );
      await world.until('no node is cordoned', async () => (await world.cordoned()).length === 0);
      await world.stays('nothing is left over', 3_000, async () => {
        const isHeld = (await world.held()).every((count) => count === least);
        return isHeld && (await world.cordoned()).length === 0;
      });
      await world.runs('elastic', LAST_PODS);
      expect(await identities(world, 'steady')).toEqual(steady);
      expect(await placesOf(world, 'steady', 'web')).toEqual(places);
      const evictions = await Promise.all(places.map((node) => world.events(node)));
      expect(evictions.flat().filter((event) => event.startsWith('Drain'))).toEqual([]);
    },
  },
  {
    title:
      'given a cluster that takes machines of another one, when operators, API servers and the shard are killed meanwhile, then it gets them, and pods of a higher priority stay',
    run: async (target, context) => {
      const random = randomOf(target);
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['first', 'second'],
        offerings: [offering('m4', { cpu: 4, count: 4, labels: AMD64 })],
        isProcess: true,
        // As above.
        settings: { reclaimHold: '10s' },
      });
      await world.cluster('second').plane.apply([priorityClass('vital', 200_000)]);
      await world.cluster('first').plane.apply([priorityClass('urgent', 100_000)]);
      // A protected machine would only be taken after others, such as one that is just on its way back.
      await world.deploy('vital', 2, asks('3', { priorityClassName: 'vital' }), 'second');
      // Before the others: the shard takes machines of the lower row, and does not know which pods of a cluster run on them.
      await world.runs('vital', 2, 'second');
      await world.deploy('free', 2, asks('3'), 'second');
      await world.runs('free', 2, 'second');
      const before = await identities(world, 'vital', 'second');
      const places = await placesOf(world, 'vital', 'second');
      const urgent = (replicas: number) =>
        world.deploy('urgent', replicas, asks('3', { priorityClassName: 'urgent' }), 'first');
      const victims = schedule(random, victimsOf('first', 'second'), 1);
      await killAll(world, random, victims, () => urgent(random.between(0, 2)));

      await urgent(2);
      await world.runs('urgent', 2, 'first');
      await world.until('each cluster has two machines', async () =>
        [...(await world.held('first')), ...(await world.held('second'))].every((count) => count === 2),
      );
      await world.until('no node is cordoned', () => isNoneCordoned(world));
      // A pod that was bound while its node left runs on paper until Kubernetes collects it.
      await world.until('no other pod runs', async () => (await world.running('free', 'second')) === 0);
      expect(await identities(world, 'vital', 'second')).toEqual(before);
      expect(await placesOf(world, 'vital', 'second')).toEqual(places);
      // What was taken comes back when it is no longer needed.
      await urgent(0);
      await world.runs('free', 2, 'second');
      await world.until('nothing is left over', async () =>
        isDeepStrictEqual(
          [await world.held('first'), await world.held('second')],
          [
            [0, 0, 0],
            [4, 4, 4],
          ],
        ),
      );
      await world.until('no node is cordoned', () => isNoneCordoned(world));
      expect(await identities(world, 'vital', 'second')).toEqual(before);
    },
  },
];

async function isNoneCordoned(world: KubeWorld): Promise<boolean> {
  return (await world.cordoned('first')).length + (await world.cordoned('second')).length === 0;
}
