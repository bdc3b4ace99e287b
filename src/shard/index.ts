// What other rooms may use of a shard: its hands towards clusters, and the events and effects between them and its brain.

export type { BrainEvent, CallOutcome, Effect, ProviderRequest, SessionRef } from './events.ts';
export type { HeldRollup, ReportView } from './hands/cluster-demand.ts';
export { HandsCounters } from './hands/counters.ts';
export type { BaselineRow, DemandChanges, DemandStore, FirstSeenRow } from './hands/demand-store.ts';
export { MemoryDemandStore } from './hands/demand-store.ts';
export { SqliteDemandStore } from './hands/demand-store-sqlite.ts';
export type { Extent } from './hands/guard.ts';
export type { Brain, HandsParts, SessionView } from './hands/hands.ts';
export { Hands } from './hands/hands.ts';
export type { HandsEvent, HandsLog, LogLevel } from './hands/log.ts';
export type { Identify, SessionLink, SessionPort, SessionStatus } from './hands/port.ts';
export { addSessions, SESSION_SERVER_OPTIONS } from './hands/session-grpc.ts';
