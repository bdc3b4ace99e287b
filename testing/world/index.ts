// Simulated worlds generated from a seed, and the invariants that must hold in them.

export { INVARIANTS } from './invariant-names.ts';
export { drawPlan } from './plan.ts';
export { type Fault, faultOf, faultText, firstFault, smallestPlan } from './soak.ts';
export { runWorld } from './world.ts';
