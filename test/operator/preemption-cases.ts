// End-to-end cases about machines that a cluster takes from another one whose pods are all under a budget.

import { expect } from 'vitest';
import type { KubeObject } from '../../src/operator/kube/index.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const POOL = 'example.com/pool';
/** More than half a machine: no two pods fit on one. */
const CPU = '3';
const BUDGET = 'pdb/default/guarded';

/** The priority of pods of the cluster that takes; the grace of a preemption follows from it. */
async function urgent(world: KubeWorld, value: number, replicas: number, more: object): Promise<void> {
  await world.cluster('first').plane.apply([
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'urgent' },
      value,
    } as unknown as KubeObject,
  ]);
  await world.deploy('urgent', replicas, asks(CPU, { priorityClassName: 'urgent', ...more }), 'first');
}

async function eventsOn(world: KubeWorld, nodes: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(nodes.map((node) => world.events(node, 'second')))).flat();
}

export const PREEMPTION_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given pods that are all under a budget, when another cluster takes their machines, then they leave one after the other',
    run: async (target, context) => {
      const pool = (name: string) => new Map([...AMD64, [POOL, name]]);
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['first', 'second'],
        offerings: [
          offering('plain', { cpu: 4, count: 2, pricePerHour: 1, labels: pool('plain') }),
          // Where the pods go that had to leave.
          offering('reserve', { cpu: 4, count: 2, pricePerHour: 2, labels: pool('reserve') }),
        ],
      });
      await world.budget('guarded', { maxUnavailable: 1 }, 'second');
      await world.deploy('guarded', 2, asks(CPU), 'second');
      await world.runs('guarded', 2, 'second');
      const before = await identities(world, 'guarded', 'second');
      const nodes = (await world.nodes('second')).map(({ metadata }) => metadata.name);
      await urgent(world, 100_000, 2, { nodeSelector: { [POOL]: 'plain' } });
      let least = 2;
      await world.until('the urgent pods run', async () => {
        least = Math.min(least, await world.running('guarded', 'second'));
        return (await world.running('urgent', 'first')) === 2;
      });
      expect(least).toBeGreaterThanOrEqual(1);
      await world.runs('guarded', 2, 'second');
      const after = await identities(world, 'guarded', 'second');
      expect(after.filter((uid) => before.includes(uid))).toEqual([]);
      const events = await eventsOn(world, nodes);
      expect(events.filter((event) => event.startsWith('Drained'))).toHaveLength(2);
      expect(events.filter((event) => event.startsWith('BudgetBroken'))).toEqual([]);
      expect([(await world.nodes('first')).length, (await world.nodes('second')).length]).toEqual([2, 2]);
      expect([...(await world.cordoned('first')), ...(await world.cordoned('second'))]).toEqual([]);
      expect(world.bought).toBe(4);
    },
  },
  {
    title:
      'given a budget without room, when another cluster takes the machine, then its deadline breaks the budget, and Event and action name it',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['first', 'second'],
        offerings: [offering('m4', { cpu: 4, count: 1, labels: AMD64 })],
      });
      await world.budget('guarded', { minAvailable: 1 }, 'second');
      await world.deploy('guarded', 1, asks(CPU), 'second');
      await world.runs('guarded', 1, 'second');
      const nodes = (await world.nodes('second')).map(({ metadata }) => metadata.name);
      // The largest gap, whose grace is the shortest: 10 s.
      await urgent(world, 1_000_000, 1, {});
      await world.runs('urgent', 1, 'first');
      expect(await world.running('guarded', 'second')).toBe(0);
      const events = await eventsOn(world, nodes);
      for (const reason of ['DrainBlocked', 'BudgetBroken'])
        expect(events.filter((event) => event.startsWith(reason) && event.includes(BUDGET))).toHaveLength(1);
      const { begun } = await world.world.actions();
      const preempts = begun.filter(({ kind }) => kind === 'Preempt');
      expect(preempts.map(({ outcome, message }) => [outcome, message.includes(BUDGET)])).toEqual([
        ['success', true],
      ]);
      expect(world.bought).toBe(1);
    },
  },
];
