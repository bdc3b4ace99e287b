// The ledgers: machines and demand in columns on shared memory, kept by one writer and read by a cycle.

export type { Block } from './blocks.ts';
export { Blocks } from './blocks.ts';
export { ChangeLog } from './changelog.ts';
export type { ClassFacts } from './classes.ts';
export { sharedInt32, sharedUint8, withRoom } from './columns.ts';
export type { ClusterRows } from './demand.ts';
export type { Domains } from './domains.ts';
export { Fleet, fleetOf } from './fleet.ts';
export type { AppliedChanges, Meanwhile, RefusedEntry, RowsSetAside, Seen } from './freeze.ts';
export type { JournalEntry } from './journal.ts';
export { JOURNAL_LIMIT, Journal } from './journal.ts';
export type { BoundRuns, LedgerRecord, MachineLedger, Standing, Supply } from './machines.ts';
export type { Pattern, PatternParts } from './patterns.ts';
export { Serves } from './patterns.ts';
export type { ProfileEntry } from './profiles.ts';
export type { Run } from './runs.ts';
export type { Move } from './standing.ts';
export { afterMove, afterSighting, atFirstSight } from './standing.ts';
export { MAX_DIMENSIONS } from './vectors.ts';
