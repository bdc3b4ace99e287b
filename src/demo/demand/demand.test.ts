// The changing demand of the demo, and what the engine decides for it with the supply that it is sized for.

import { describe, expect, it } from 'vitest';
import { incrementalDecider } from '../../../testing/loop/incremental-decider.ts';
import { countIn, type LoopRun, runUntilQuiet, startLoop, withEvent } from '../../../testing/loop/loop.ts';
import { coldInput, START_MS } from '../../../testing/support/demo-demand.ts';
import { CapacityType, MachineState, type Need } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { supplyOf } from '../clouds/offerings.ts';
import { clusterNames, planDemand } from './average-demand.ts';
import { LivingDemand } from './living-demand.ts';

const HOUR_MS = 3_600_000;

interface Report {
  readonly cluster: string;
  readonly needs: readonly Need[];
}

function living({ machines = 240, clusters = 6, seed = 1, speed = 1, startMs = START_MS } = {}) {
  const supply = supplyOf(machines);
  const plan = planDemand(supply, clusters, seed);
  const clock = new VirtualClock(startMs);
  const reports: Report[] = [];
  const onChange = (cluster: string, needs: readonly Need[]) => reports.push({ cluster, needs });
  const demand = new LivingDemand({ plan, clock, seed, speed, onChange });
  const all = () => plan.clusters.flatMap((cluster) => demand.needsOf(cluster));
  return { supply, plan, clock, demand, reports, all };
}

/** A fleet from which nothing has been bought yet, run until no cycle acts any more. */
async function served(stage: ReturnType<typeof living>) {
  const rules = { decide: incrementalDecider().decide, delays: 0 };
  let run: LoopRun = runUntilQuiet(startLoop(await coldInput(stage.supply, stage.all())), rules, 50);
  return {
    get run() {
      return run;
    },
    again: () => {
      run = runUntilQuiet(withEvent(run.end, { needs: stage.all() }), rules, 50);
      return run;
    },
  };
}

const verdictsOf = ({ steps }: LoopRun) => steps.at(-1)!.plan.verdicts;
const unmetIn = (run: LoopRun) => verdictsOf(run).filter(({ satisfied }) => !satisfied);
const boundIn = ({ end }: LoopRun) =>
  end.input.machines.filter(({ state }) => state === MachineState.Configured);

describe('LivingDemand', () => {
  it.each([
    [60, 6, 1],
    [240, 6, 1],
    [240, 6, 2],
    [240, 6, 3],
    [240, 1, 4],
    [1000, 20, 5],
  ])(
    'given %i machines, %i clusters and seed %i, then nearly all rows are met, and machines stay free',
    async (machines, clusters, seed) => {
      const stage = living({ machines, clusters, seed });
      const { run } = await served(stage);
      expect(new Set(verdictsOf(run).map(({ key }) => key.cluster)).size).toBe(clusters);
      expect(unmetIn(run).length).toBeLessThanOrEqual(Math.max(3, verdictsOf(run).length * 0.05));
      const share = boundIn(run).length / run.end.input.machines.length;
      expect(share).toBeGreaterThan(0.5);
      expect(share).toBeLessThan(0.8);
      const used = new Set(boundIn(run).map(({ capacityType }) => capacityType));
      const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;
      expect(used).toEqual(new Set([BareMetal, Reserved, OnDemand, Spot]));
    },
  );

  it('given equal seeds and times, then the demand is equal, whenever it was started', async () => {
    const early = living({ seed: 9 });
    early.demand.start();
    await early.clock.advance(5 * HOUR_MS);
    const late = living({ seed: 9, startMs: START_MS + 5 * HOUR_MS });
    expect(late.all()).toEqual(early.all());
    expect(living({ seed: 8, startMs: START_MS + 5 * HOUR_MS }).all()).not.toEqual(early.all());
  });

  it('given a start, then it reports every cluster once, then only clusters that changed, by at most one row each', async () => {
    const { demand, clock, reports, plan } = living();
    demand.start();
    expect(reports.map(({ cluster }) => cluster)).toEqual(plan.clusters);
    const last = new Map(reports.map(({ cluster, needs }) => [cluster, needs]));
    for (const tick of [1, 2, 3]) {
      const before = reports.length;
      await clock.advance(HOUR_MS * tick);
      expect(reports.length).toBeGreaterThan(before);
      for (const { cluster, needs } of reports.slice(before)) {
        expect(needs).not.toEqual(last.get(cluster));
        expect(Math.abs(needs.length - last.get(cluster)!.length)).toBeLessThanOrEqual(1);
        last.set(cluster, needs);
      }
    }
    demand.stop();
    expect(clock.waiting).toBe(0);
  });

  it('given a number of clusters, then their names are unique', () => {
    expect(clusterNames(3)).toEqual(['web', 'search', 'payments']);
    expect(new Set(clusterNames(100)).size).toBe(100);
  });

  it('given fewer machines than it needs, then the fleet is refused', () => {
    expect(() => supplyOf(59)).toThrow('60 machines or more');
  });
});

describe('demo scenarios of the demand', () => {
  it('given deployBurst, then one cluster adds high-priority rows for three times its services, and drops them after 90 s', async () => {
    const { demand, clock, reports } = living({ speed: 10 });
    demand.start();
    const usual = demand.needsOf('search');
    const text = demand.deployBurst('search');
    expect(text).toContain('search wants 3 times its services for 90 s');
    expect(demand.scenarios).toEqual([text]);
    const burst = reports.at(-1)!;
    expect(burst).toEqual({ cluster: 'search', needs: demand.needsOf('search') });
    const added = burst.needs.slice(usual.length);
    expect(added.length).toBeGreaterThan(2);
    expect(added.every(({ profile }) => profile.priority >= 5000)).toBe(true);
    await clock.advance(89_000);
    expect(demand.needsOf('search').length).toBeGreaterThan(usual.length);
    await clock.advance(1001);
    expect(demand.scenarios).toEqual([]);
    expect(reports.filter(({ cluster }) => cluster === 'search').at(-1)!.needs.length).toBe(usual.length);
  });

  it('given deployBurst on two clusters, then machines are preempted, and more rows are unmet', async () => {
    const stage = living({ seed: 2 });
    const fleet = await served(stage);
    const before = unmetIn(fleet.run).length;
    for (const cluster of stage.plan.clusters.slice(0, 2)) stage.demand.deployBurst(cluster);
    const run = fleet.again();
    expect(countIn(run.steps, 'Preempt')).toBeGreaterThan(0);
    expect(unmetIn(run).length).toBeGreaterThan(before);
  });

  it('given gpuGang, then the gang gets machines of one rack, mostly by preemption', async () => {
    const preempts: number[] = [];
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const stage = living({ seed });
      const fleet = await served(stage);
      const text = stage.demand.gpuGang();
      expect(text).toMatch(/^GPU gang: \w+ wants 4 machines of 8 GPUs in one rack/);
      const run = fleet.again();
      const gang = verdictsOf(run).find(({ key }) => key.group.endsWith('rush-1'))!;
      expect(gang).toMatchObject({ satisfied: true, domain: expect.stringContaining('-rack-') });
      expect(gang.claimed).toHaveLength(4);
      preempts.push(countIn(run.steps, 'Preempt'));
    }
    expect(preempts.filter((count) => count > 0).length).toBeGreaterThan(3);
  });

  it('given several gpuGangs, then each goes to another cluster, and lower-priority jobs are preempted', async () => {
    const stage = living({ machines: 300, clusters: 12 });
    const fleet = await served(stage);
    const texts = Array.from({ length: 3 }, () => stage.demand.gpuGang());
    expect(new Set(texts.map((text) => text.split(' ')[2])).size).toBe(3);
    expect(countIn(fleet.again().steps, 'Preempt')).toBeGreaterThan(0);
  });
});
