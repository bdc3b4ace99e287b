// The decision engine: pure decisions over a frozen fleet.

export type { Decision } from './decide.ts';
export { decide, Engine } from './decide.ts';
