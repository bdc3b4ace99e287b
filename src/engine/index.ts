// The decision engine: pure decisions over a frozen fleet.

export { decide } from './decide.ts';
