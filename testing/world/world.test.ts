// 20 whole worlds; `npm run verify:seeds` runs more. A fault names the seed and the command that replays it.

import { describe, expect, it } from 'vitest';
import { drawPlan } from './plan.ts';
import { shrinkPlan } from './shrink.ts';
import { faultText, firstFault } from './soak.ts';
import { runWorld } from './world.ts';

const SEEDS = Number(process.env['BIGFLEET_WORLDS'] ?? 20);
const LOT = 10;

describe('whatever befalls a fleet', () => {
  const lots = Array.from({ length: Math.ceil(SEEDS / LOT) }, (_, i) => i * LOT + 1);

  it.each(lots)('every invariant holds, seeds %i and up', { timeout: 600_000 }, async (first) => {
    const seeds = Array.from({ length: Math.min(LOT, SEEDS - first + 1) }, (_, i) => first + i);
    const fault = await firstFault(seeds);
    expect(fault === null ? '' : faultText(fault)).toBe('');
  });
});

describe('a world', () => {
  it('is the same every time', async () => {
    const [once, again] = [await runWorld(drawPlan(7)), await runWorld(drawPlan(7))];
    expect(again).toEqual(once);
    expect((await runWorld(drawPlan(8))).digest).not.toBe(once.digest);
  });
});

describe('the ledger of a world', () => {
  it('given prices that move at two providers in turn, then each is looked for in it for as long as it may take', async () => {
    // Here some machine has a new price at each of five looks, and none for longer than a List and a cycle take.
    const { violations } = await runWorld(drawPlan(1171));
    expect(violations).toEqual([]);
  });
});

describe('strains of a world', () => {
  const plans = Array.from({ length: 40 }, (_, i) => drawPlan(i + 1));
  const lines = async (seed: number): Promise<readonly string[]> => {
    const all: string[] = [];
    await runWorld(drawPlan(seed), { onLine: (line) => all.push(line) });
    return all;
  };

  it('given a shard that is asked to end, then it has ended before the next one starts', async () => {
    const { seed } = plans.find(({ events }) => events.some(({ kind }) => kind === 'stop'))!;
    const told = await lines(seed);
    expect(told.filter((line) => line.endsWith('shard has stopped')).length).toBeGreaterThan(0);
  });

  it('come with the other events, and those are what they were without', () => {
    const kinds = new Set(plans.flatMap(({ events }) => events.map(({ kind }) => kind)));
    expect(kinds).toContain('stop');
    expect(kinds).toContain('controller-behind');
    const strains: readonly string[] = ['stop', 'controller-behind'];
    const others = plans[0]!.events.filter(({ kind }) => !strains.includes(kind));
    expect(others.map(({ kind }) => kind)).toEqual(
      'freeze demand malformed no-blobs demand demand demand'.split(' '),
    );
  });
});

describe('the plan of a fault', () => {
  it('shrinks to what it takes', async () => {
    const plan = drawPlan(1);
    const crashes = plan.events.filter(({ kind }) => kind === 'demand');
    const small = await shrinkPlan(plan, async ({ events }) => events.some(({ kind }) => kind === 'demand'));
    expect(crashes.length).toBeGreaterThan(0);
    expect(small.events).toHaveLength(1);
    expect(small.clusters).toHaveLength(2);
    expect(small.weather).toMatchObject({ lostCalls: 0, lostAnswers: 0 });
  });
});
