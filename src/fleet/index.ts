// The ledgers: machines and demand in columns on shared memory, kept by one writer and read by a cycle.

export { DemandTable } from './demand.ts';
export type { Domains } from './domains.ts';
export { Fleet, fleetOf } from './fleet.ts';
export type { BoundRuns, MachineLedger } from './machines.ts';
export type { ClusterRows } from './needs.ts';
export type { Pattern } from './patterns.ts';
export type { ProfileEntry } from './profiles.ts';
export type { Run } from './runs.ts';
export { MAX_DIMENSIONS } from './vectors.ts';
