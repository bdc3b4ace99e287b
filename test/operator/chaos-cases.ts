// Operator, shard and API server killed at random moments while Deployments with budgets scale up and down. The seed is
// printed; BIGFLEET_SEED=N repeats its moments.

import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { Random } from '../../src/runtime/random.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const VICTIMS = ['operator', 'shard', 'api'] as const;
type Victim = (typeof VICTIMS)[number];

/** Two pods that scale fill a machine, so that what the shard sums up is what the scheduler can place. */
const PER_MACHINE = 2;
/** Each kind of pod has machines of its own: together they would fragment, which fragment-cases.ts is about. */
const POOL = 'example.com/pool';
const STEADY = asks('3', { nodeSelector: { [POOL]: 'steady' } });
const ELASTIC = asks('2', { nodeSelector: { [POOL]: 'elastic' } });
const OFFERINGS = ['steady', 'elastic'].map((pool) =>
  offering(pool, { cpu: 4, count: 6, labels: new Map([...AMD64, [POOL, pool]]) }),
);
/** Each is killed as often as this. */
const ROUNDS = 2;
const STEADY_PODS = 2;
const MOST_PODS = 6;
const LAST_PODS = 4;
const LONGEST_PAUSE_MS = 3_000;
const LONGEST_OUTAGE_MS = 2_000;

async function kill(world: KubeWorld, victim: Victim): Promise<void> {
  if (victim === 'operator') await world.killOperator('web');
  else if (victim === 'shard') await world.world.kill();
  else await world.cluster().plane.stopApiServer();
}

async function revive(world: KubeWorld, victim: Victim): Promise<void> {
  if (victim === 'operator') await world.startOperator('web');
  else if (victim === 'shard') await world.world.start();
  else await world.cluster().plane.startApiServer();
}

function schedule(random: Random): readonly Victim[] {
  const all = Array.from({ length: ROUNDS }, () => [...VICTIMS]).flat();
  return random.distinct(all.length, all.length).map((index) => all[index]!);
}

export const CHAOS_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given operator, shard and API server killed at random moments, then no pod moves needlessly and nothing is left',
    run: async (target, context) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now() % 1_000_000);
      console.info(`kills (${target}): BIGFLEET_SEED=${seed}`);
      const random = new Random(seed, 0x6b);
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: OFFERINGS,
        // The shard and the operator are processes of the program that is shipped.
        isProcess: true,
        // Longer than any of them is away: what is not reported meanwhile is no reason to take a machine.
        settings: { reclaimHold: '3s' },
      });
      // Its demand never changes: there is no reason to touch these pods, although their budget would allow it.
      await world.budget('steady', { maxUnavailable: 1 });
      await world.budget('elastic', { maxUnavailable: 1 });
      await world.deploy('steady', STEADY_PODS, STEADY);
      await world.deploy('elastic', 2, ELASTIC);
      await world.runs('steady', STEADY_PODS);
      await world.runs('elastic', 2);
      const steady = await identities(world, 'steady');
      const nodeOf = async () =>
        (await world.pods(undefined, 'steady')).map(({ spec }) => spec.nodeName ?? '').sort();
      const places = await nodeOf();
      for (const victim of schedule(random)) {
        const replicas = random.between(0, MOST_PODS);
        const [pauseMs, outageMs] = [random.below(LONGEST_PAUSE_MS), random.below(LONGEST_OUTAGE_MS)];
        await world.deploy('elastic', replicas, ELASTIC);
        await wait(pauseMs);
        await kill(world, victim);
        await wait(outageMs);
        await revive(world, victim);
      }
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
      expect(await nodeOf()).toEqual(places);
      const evictions = await Promise.all(places.map((node) => world.events(node)));
      expect(evictions.flat().filter((event) => event.startsWith('Drain'))).toEqual([]);
    },
  },
];
