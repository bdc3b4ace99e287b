// End-to-end cases about pods that fragment: heavy-tailed sizes from a seeded generator, and pods that must not share a
// node. All of them run in the end, on more machines than a perfect packing needs, and at rest nothing moves.

import { expect } from 'vitest';
import { Random } from '../../src/runtime/random.ts';
import type { Target } from '../../testing/kube/control-plane.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type CaseScope, type EndToEndCase } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const MACHINE_MILLICORES = 4_000;
const LARGEST_MILLICORES = 3_500;
const SIZED_PODS = 34;
const LONELY_PODS = 6;
/** Of the Pareto distribution of the sizes: a few pods ask for most of the cores. */
const TAIL = 0.9;
const SEED = Number(process.env['BIGFLEET_SEED'] ?? 7);
/** Minutes of rest with default timers, as `npm run verify:k8s` sets them. */
const REST_MINUTES = Number(process.env['BIGFLEET_REST_MINUTES'] ?? 0);
/** How long nothing has moved before the rest begins. Longer than machines of an episode are empty before it ends. */
const SETTLED_MS = 10_000;
const REST_MS = 60_000;
const MINUTE_MS = 60_000;

interface PodGroup {
  readonly app: string;
  readonly count: number;
  readonly millicores: number;
  readonly isLonely?: true;
}

/** Pods by size; sizes are multiples of 100 millicores. */
function heavyTailed(seed: number): readonly PodGroup[] {
  const random = new Random(seed, 0x66);
  const counts = new Map<number, number>();
  for (let i = 0; i < SIZED_PODS; i++) {
    const uniform = random.between(1, 1_000_000) / 1_000_000;
    const size = Math.min(LARGEST_MILLICORES, 100 * Math.ceil(uniform ** (-1 / TAIL)));
    counts.set(size, (counts.get(size) ?? 0) + 1);
  }
  const sized = [...counts].map(([millicores, count]) => ({ app: `size-${millicores}`, count, millicores }));
  return [...sized, { app: 'lonely', count: LONELY_PODS, millicores: 100, isLonely: true }];
}

/** No packing needs fewer: the sum of the sizes, pods of which no two fit on a machine, and pods that must be alone. */
function leastMachines(groups: readonly PodGroup[]): number {
  const sum = groups.reduce((total, { count, millicores }) => total + count * millicores, 0);
  const half = groups.filter(({ millicores }) => 2 * millicores > MACHINE_MILLICORES);
  const large = half.reduce((total, { count }) => total + count, 0);
  return Math.max(Math.ceil(sum / MACHINE_MILLICORES), large, LONELY_PODS);
}

const APART = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'lonely' } } },
    ],
  },
};

/** What must not change at rest: calls of the cloud, nodes, and pods with their places. */
async function scene(world: KubeWorld): Promise<string> {
  return JSON.stringify([
    world.world.calls.length,
    (await world.nodes()).map(({ metadata, spec }) => [metadata.name, spec?.unschedulable ?? false]),
    (await world.pods()).map(({ metadata, spec }) => `${metadata.uid} ${spec.nodeName}`).sort(),
  ]);
}

interface Times {
  /** How long the pods and their machines may take to come to rest. */
  readonly patienceMs: number;
  readonly settledMs: number;
  readonly restMs: number;
}

async function fragment(world: KubeWorld, times: Times): Promise<void> {
  const groups = heavyTailed(SEED);
  for (const { app, count, millicores, isLonely } of groups)
    await world.deploy(app, count, asks(`${millicores}m`, isLonely === true ? { affinity: APART } : {}));
  for (const { app, count } of groups)
    await world.until(
      `${count} pods of ${app} run`,
      async () => (await world.running(app)) === count,
      times.patienceMs,
    );
  const least = leastMachines(groups);
  const say = async (when: string): Promise<void> => {
    const machines = (await world.nodes()).length;
    console.info(
      `fragmented pods (seed ${SEED}) ${when}: ${machines} machines, at least ${least} are needed: ${machines - least} more; ${world.bought} were bought`,
    );
  };
  await say('when all run');
  // Machines of ended episodes and of a generous start leave first.
  let last = '';
  let sinceMs = 0;
  await world.until(
    `nothing moves for ${times.settledMs / 1000} s`,
    async () => {
      const now = await scene(world);
      // A machine that no Need counts on leaves when its hold ends.
      const leaving = (await world.world.machines()).some(({ unclaimed }) => unclaimed !== null);
      if (now !== last || leaving) sinceMs = Date.now();
      last = now;
      return Date.now() - sinceMs >= times.settledMs;
    },
    times.patienceMs,
  );
  await say('at rest');
  let saidMs = Date.now();
  const endMs = saidMs + times.restMs;
  await world.stays('nothing moves', times.restMs, async () => {
    if (Date.now() - saidMs >= MINUTE_MS) {
      saidMs = Date.now();
      console.info(`at rest: nothing has moved, ${Math.round((endMs - saidMs) / 1000)} s to go`);
    }
    return (await scene(world)) === last;
  });
  for (const { app, count } of groups) expect(await world.running(app)).toBe(count);
  expect(await world.cordoned()).toEqual([]);
  const [nodes, machines, hosts] = await world.held();
  expect([machines, hosts]).toEqual([nodes, nodes]);
  // Half as many again: beyond that, machines are bought that no pod uses.
  expect(nodes).toBeLessThanOrEqual(Math.ceil(1.5 * least));
}

const OFFERINGS = [offering('m4', { cpu: MACHINE_MILLICORES / 1_000, count: 30, labels: AMD64 })];

export const FRAGMENT_CASES: readonly EndToEndCase[] = [
  {
    title: 'given pods that fragment, then all of them run in the end, and at rest nothing moves for 60 s',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: OFFERINGS,
        // Longer than the longest backoff of kube-scheduler, 10 s, which is no reason to buy a machine.
        operator: { episodes: { stuckAfter: '20s', emptyFor: '3s' } },
      });
      const patienceMs = 5 * MINUTE_MS;
      await fragment(world, { patienceMs, settledMs: SETTLED_MS, restMs: REST_MS });
    },
  },
];

/** How long pods and machines may take to come to rest with default timers: twice, until all pods run and until nothing moves. */
const DEFAULT_TIMERS_MS = 80 * MINUTE_MS;

/** Only where minutes are given. */
export const REST_CASES: readonly EndToEndCase[] =
  REST_MINUTES === 0
    ? []
    : [
        {
          title: `given pods that fragment and default timers, then at rest nothing moves for ${REST_MINUTES} min`,
          run: (target, context) => restWithDefaults(target, context),
          // An episode alone begins after five minutes.
          timeoutMs: DEFAULT_TIMERS_MS + REST_MINUTES * MINUTE_MS,
        },
      ];

async function restWithDefaults(target: Target, context: CaseScope): Promise<void> {
  const world = await KubeWorld.open(context, {
    target,
    clusters: ['web'],
    offerings: OFFERINGS,
    hasDefaultTimes: true,
  });
  await fragment(world, {
    patienceMs: DEFAULT_TIMERS_MS / 2,
    settledMs: 3 * MINUTE_MS,
    restMs: REST_MINUTES * MINUTE_MS,
  });
}
