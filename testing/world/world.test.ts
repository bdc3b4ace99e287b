// 20 whole worlds; `npm run verify:seeds` runs more. A fault names the seed and the command that replays it.

import { describe, expect, it } from 'vitest';
import { drawPlan } from './plan.ts';
import { shrinkPlan } from './shrink.ts';
import { faultText, firstFault } from './soak.ts';
import { runWorld } from './world.ts';

const SEEDS = Number(process.env['BIGFLEET_WORLDS'] ?? 20);
const LOT = 10;

describe('a fleet under any faults', () => {
  const lots = Array.from({ length: Math.ceil(SEEDS / LOT) }, (_, i) => i * LOT + 1);

  it.each(lots)('given seeds from %i on, then every invariant holds', { timeout: 600_000 }, async (first) => {
    const seeds = Array.from({ length: Math.min(LOT, SEEDS - first + 1) }, (_, i) => first + i);
    const fault = await firstFault(seeds);
    expect(fault === null ? '' : faultText(fault)).toBe('');
  });
});

describe('a world', () => {
  it('given the same seed, then it has the same trace', async () => {
    const [once, again] = [await runWorld(drawPlan(7)), await runWorld(drawPlan(7))];
    expect(again).toEqual(once);
    expect((await runWorld(drawPlan(8))).digest).not.toBe(once.digest);
  });
});

describe('the ledger of a world', () => {
  it('given prices that change at two providers in turn, then each is awaited for as long as a List and a cycle take', async () => {
    // Here some machine has a new price at each of five reads, and none for longer than a List and a cycle take.
    const { violations } = await runWorld(drawPlan(1171));
    expect(violations).toEqual([]);
  });
});

describe('the watch of a world', () => {
  it('given a collapse soon after another, before a whole roll-up was sent, then the shard counts them as one', async () => {
    const { violations } = await runWorld(drawPlan(704));
    expect(violations).toEqual([]);
  });
});

describe('stops and lags of a world', () => {
  const plans = Array.from({ length: 40 }, (_, i) => drawPlan(i + 1));
  const lines = async (seed: number): Promise<readonly string[]> => {
    const all: string[] = [];
    await runWorld(drawPlan(seed), { onLine: (line) => all.push(line) });
    return all;
  };

  it('given a graceful stop of the shard, then it has ended before the next process starts', async () => {
    const { seed } = plans.find(({ events }) => events.some(({ kind }) => kind === 'stop'))!;
    const trace = await lines(seed);
    expect(trace.filter((line) => line.endsWith('shard has stopped')).length).toBeGreaterThan(0);
  });

  it('given plans with them, then the other events of a seed are unchanged', () => {
    const kinds = new Set(plans.flatMap(({ events }) => events.map(({ kind }) => kind)));
    expect(kinds).toContain('stop');
    expect(kinds).toContain('controller-behind');
    const added: readonly string[] = ['stop', 'controller-behind'];
    const others = plans[0]!.events.filter(({ kind }) => !added.includes(kind));
    expect(others.map(({ kind }) => kind)).toEqual(
      'freeze demand malformed no-blobs demand demand demand'.split(' '),
    );
  });
});

describe('shared machines of a world', () => {
  const plans = Array.from({ length: 40 }, (_, i) => drawPlan(i + 1));

  it('given many seeds, then about half of the plans have them, with a hold of some tens of seconds', () => {
    const shared = plans.filter((plan) => plan.shared !== null);
    expect(shared.length).toBeGreaterThan(12);
    expect(shared.length).toBeLessThan(28);
    for (const plan of plans) {
      const rows = plan.clusters.flatMap((cluster) => cluster.rows);
      expect(rows.some(({ canBorrow, slackCpu }) => canBorrow || slackCpu > 0)).toBe(plan.shared !== null);
    }
    const holds = shared.map((plan) => plan.shared!.reclaimHoldSeconds);
    expect(Math.min(...holds)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...holds)).toBeLessThanOrEqual(40);
  });

  it('given a machine on hold when all else is at rest, then the world waits until it is given back', async () => {
    // Here the last action before the Reclaim is longer ago than a world at rest without holds has to wait.
    const { violations } = await runWorld(drawPlan(112));
    expect(violations).toEqual([]);
  });

  it('given a fault that does not need them, then it shrinks to a plan without them', async () => {
    const plan = plans.find(({ shared }) => shared !== null)!;
    expect((await shrinkPlan(plan, async () => true)).shared).toBeNull();
    const needed = await shrinkPlan(plan, async ({ shared }) => shared !== null);
    expect(needed.shared).toEqual(plan.shared);
  });
});

describe('machines of a world that are replaced by cheaper ones', () => {
  it('given a plan with it, then renewals begin and finish during the storm, and every invariant holds', async () => {
    const drawn = drawPlan(21);
    expect(drawn.renewal).not.toBeNull();
    // Drains that wait for their cluster slow renewals down.
    const plan = { ...drawn, clusters: drawn.clusters.map(({ name, rows }) => ({ name, rows })) };
    const { renewals, violations } = await runWorld(plan);
    expect(violations).toEqual([]);
    expect(renewals.begun).toBeGreaterThan(0);
    expect(renewals.finished).toBeGreaterThan(0);
  });

  it('given a plan without it, then the waits of production are longer than the world', async () => {
    const plan = { ...drawPlan(21), renewal: null };
    expect((await runWorld(plan)).renewals.begun).toBe(0);
  });
});

describe('the plan of a fault', () => {
  it('given a plan in which one event suffices, then it shrinks to that event', async () => {
    const plan = drawPlan(1);
    const crashes = plan.events.filter(({ kind }) => kind === 'demand');
    const small = await shrinkPlan(plan, async ({ events }) => events.some(({ kind }) => kind === 'demand'));
    expect(crashes.length).toBeGreaterThan(0);
    expect(small.events).toHaveLength(1);
    expect(small.clusters).toHaveLength(2);
    expect(small.weather).toMatchObject({ lostCalls: 0, lostAnswers: 0 });
  });
});
