// What other rooms may use of providers: the interface a backend implements, the kit that makes a provider of it, its
// stores, the server that puts it on a port, the client that shards call it with, the suite that tells whether any
// provider keeps the contract, and a cloud to run them all against.

// The TLS trio of a command line, for authors who serve a provider and need nothing else of the wire.

export { systemClock } from '../runtime/system-clock.ts';
export { tlsFiles } from '../wire/index.ts';
export type { Backend, Binding, Offering, Operation, Subject } from './backend.ts';
export type { Attempt } from './client/attempts.ts';
export type { CallLimits } from './client/call-limits.ts';
export { DEFAULT_LIMITS as DEFAULT_CALL_LIMITS } from './client/call-limits.ts';
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
export { inProcess } from './client/in-process.ts';
export type { ListSink } from './client/intake.ts';
export type { ListThreadParts } from './client/list-thread.ts';
export { ListThread } from './client/list-thread.ts';
export type { InventoryReaderParts, ListKind, ListReport } from './client/reader.ts';
export { InventoryReader } from './client/reader.ts';
export type { DecodedList, RecordBatch } from './client/records.ts';
export { machinesOf } from './client/records.ts';
export type { AttemptLimits, ProviderTransport } from './client/transport.ts';
export {
  AREAS,
  type Area,
  type Behaviour,
  PROFILES,
  type Profile,
  type TargetKind,
} from './conformance/harness/behaviour.ts';
export type { ProviderRpc } from './conformance/harness/calls.ts';
export { BEHAVIOURS } from './conformance/harness/registry.ts';
export {
  type BehaviourResult,
  type ConformanceReport,
  reportJson,
  reportJunit,
  type Status,
  type Verdict,
} from './conformance/harness/report.ts';
export { type ConformanceOptions, type Progress, runConformance } from './conformance/harness/run.ts';
export type { Connect, Connection } from './conformance/harness/session.ts';
export { DEFAULT_TIMINGS, type Timings } from './conformance/harness/timings.ts';
export { type CatalogueEntry, DEFAULT_CATALOGUE } from './fake/catalogue.ts';
export { type CloudEvent, FakeCloud, type FakeCloudOptions, type HostSelector } from './fake/cloud.ts';
export { serveControl } from './fake/control.ts';
export { FakeProvider, type FakeProviderOptions } from './fake/fake-provider.ts';
export { withFaultSelectors } from './fake/selectors.ts';
export {
  type FakeSettings,
  PRESET_NAMES,
  type PresetName,
  patchOf,
  patchSettings,
  presetSettings,
  type SettingsPatch,
} from './fake/settings.ts';
export { TRANSPORT_FAULTS, type TransportFault } from './fake/transport.ts';

export { MemoryStore, NO_STORE } from './kit/memory-store.ts';
export { OfferingsError } from './kit/offerings.ts';
export type { Loss, ProviderCalls, ProviderOptions, ProviderParts, Refreshed } from './kit/provider.ts';
export { Provider } from './kit/provider.ts';
export type { ProviderServer, ServedProvider, ServeOptions } from './kit/server.ts';
export { serveProvider } from './kit/server.ts';

export { SqliteStore } from './kit/sqlite-store.ts';
export type { Changes, Store, StoredState } from './kit/store.ts';

export type { TransitionKind, TransitionTimeouts } from './kit/transitions.ts';
