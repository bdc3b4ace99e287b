// The ledgers: machines and demand in columns on shared memory, kept by one writer and read by a cycle.

export type { AppliedChanges, Commit } from './commit.ts';
export type { ClusterRows } from './demand/demand-ledger.ts';
export { NeedProfiles } from './demand/need-profiles.ts';
export type { RowsSetAside } from './demand/pending-roll-ups.ts';
export { Fleet, fleetOf } from './fleet.ts';
export type { FreeRun } from './machines/free-runs.ts';
export type { MachineChange, WrittenMachines } from './machines/machine-drafts.ts';
export type { Move } from './machines/machine-status.ts';
export type { LedgerRecord, MachineStatus, MachineTable } from './machines/machine-table.ts';
export { SupplyPublisher, type SupplyUpdate } from './machines/supply.ts';
export type { PendingChange } from './pending-changes.ts';
export { PendingChanges } from './pending-changes.ts';
export { type ClassFacts, classText } from './tables/classes.ts';
export type { Domains } from './tables/domains.ts';
export type { Pattern, PatternParts } from './tables/patterns.ts';
export { Serves } from './tables/patterns.ts';
export type { ProfileEntry } from './tables/profiles.ts';
export type { StampedLoss } from './tables/stamps.ts';
export { MAX_DIMENSIONS } from './tables/vectors.ts';
export type { FleetView, SliceView } from './view.ts';
