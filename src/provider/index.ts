// What other rooms may use of providers: the interface a backend implements, the kit that makes a provider of it, its
// stores, the server that puts it on a port, and the client that shards call it with.

export type { Backend, Binding, Offering, Operation, Subject } from './backend.ts';
export type { Attempt, CallLimits } from './client/attempts.ts';
export type {
  Accepted,
  ClusterBinding,
  Fence,
  ListQuery,
  ProviderClientParts,
} from './client/client.ts';
export { ProviderClient } from './client/client.ts';
export type { CallName, ProviderErrorKind } from './client/errors.ts';
export { ProviderError } from './client/errors.ts';
export type { ProviderAddress } from './client/grpc-transport.ts';
export { grpcTransport } from './client/grpc-transport.ts';
export type { ProviderCalls } from './client/in-process.ts';
export { inProcess } from './client/in-process.ts';
export type { ListSink } from './client/intake.ts';
export type { ListThreadParts } from './client/list-thread.ts';
export { ListThread } from './client/list-thread.ts';
export type { InventoryReaderParts, ListKind, ListReport } from './client/reader.ts';
export { InventoryReader } from './client/reader.ts';
export type { DecodedList, RecordBatch } from './client/records.ts';
export { machinesOf } from './client/records.ts';
export type { AttemptLimits, ProviderTransport } from './client/transport.ts';
export { MemoryStore, NO_STORE } from './kit/memory-store.ts';
export { OfferingsError } from './kit/offerings.ts';
export type { ProviderOptions, ProviderParts, Refreshed } from './kit/provider.ts';
export { Provider } from './kit/provider.ts';
export type { ProviderServer } from './kit/server.ts';
export { serveProvider } from './kit/server.ts';
export { SqliteStore } from './kit/sqlite-store.ts';
export type { Changes, Store, StoredState } from './kit/store.ts';
export { systemClock } from './kit/system-clock.ts';
export type { TransitionKind, TransitionTimeouts } from './kit/transitions.ts';
