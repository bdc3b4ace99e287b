// 200 whole worlds. A fault names the seed and the command that replays it.

import { describe, expect, it } from 'vitest';
import { drawPlan } from './plan.ts';
import { shrinkPlan } from './shrink.ts';
import { faultText, firstFault } from './soak.ts';
import { runWorld } from './world.ts';

const SEEDS = Number(process.env['BIGFLEET_WORLDS'] ?? 200);
const LOT = 20;

describe('whatever befalls a fleet', () => {
  const lots = Array.from({ length: Math.ceil(SEEDS / LOT) }, (_, i) => i * LOT + 1);

  it.each(lots)('every invariant holds, seeds %i and up', { timeout: 300_000 }, async (first) => {
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
