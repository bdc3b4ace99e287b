// The decision engine: pure decisions over a frozen fleet.

export type { CycleOptions, Decision, EngineOptions } from './decide.ts';
export { decide, Engine, explain } from './decide.ts';
export type { Phase, Probe } from './solve.ts';
