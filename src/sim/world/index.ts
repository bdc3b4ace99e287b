// Whole worlds from a seed, and what must hold in them.

export type { InvariantName, Violation } from './invariants.ts';
export { INVARIANTS } from './invariants.ts';
export type { WorldEvent, WorldPlan } from './plan.ts';
export { drawPlan } from './plan.ts';
export { type Fault, faultOf, faultText, firstFault, smallestPlan } from './soak.ts';
export { runWorld, type WorldOptions, type WorldResult } from './world.ts';
