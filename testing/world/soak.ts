// Runs worlds one after the other until one shows a fault, then shrinks it. Used by world.test.ts and, for
// `npm run soak`, scripts/soak.ts.

import type { Violation } from './invariants.ts';
import { drawPlan, type WorldPlan } from './plan.ts';
import { shrinkPlan } from './shrink.ts';
import { runWorld } from './world.ts';

export interface Fault {
  readonly seed: number;
  readonly violation: Violation;
}

export async function faultOf(plan: WorldPlan): Promise<Fault | null> {
  const { violations } = await runWorld(plan);
  const [violation] = violations;
  return violation === undefined ? null : { seed: plan.seed, violation };
}

export async function firstFault(
  seeds: Iterable<number>,
  onSeed: (seed: number) => void = () => {},
): Promise<Fault | null> {
  for (const seed of seeds) {
    const fault = await faultOf(drawPlan(seed));
    if (fault !== null) return fault;
    onSeed(seed);
  }
  return null;
}

export function smallestPlan({ seed, violation }: Fault): Promise<WorldPlan> {
  return shrinkPlan(drawPlan(seed), async (plan) => (await faultOf(plan))?.violation.name === violation.name);
}

/** The violation, and the command that replays it. */
export function faultText({ seed, violation: { name, atMs, text } }: Fault): string {
  return `seed ${seed}, ${atMs} ms: ${name}: ${text}\nReplay it: npm run soak -- --seed ${seed} --verbose`;
}
