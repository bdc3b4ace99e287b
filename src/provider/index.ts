// What other rooms may use of providers: the interface a backend implements, the kit that makes a provider of it, its
// stores, the server that puts it on a port, the client that shards call it with, the suite that tells whether any
// provider keeps the contract, and a cloud to run them all against.

// The TLS trio of a command line, for authors who serve a provider and need nothing else of the wire.

export type { Backend, Offering, Subject } from './backend.ts';

export type { CallLimits } from './client/call-limits.ts';

export type { Accepted, ProviderClientParts } from './client/client.ts';
export { ProviderClient } from './client/client.ts';
export type { CallName, ProviderErrorKind } from './client/errors.ts';
export { ProviderError } from './client/errors.ts';

export { grpcTransport } from './client/grpc-transport.ts';
export { inProcess } from './client/in-process.ts';
export type { ListSink } from './client/intake.ts';

export { ListThread } from './client/list-thread.ts';
export type { ListKind, ListReport } from './client/reader.ts';
export { InventoryReader } from './client/reader.ts';
export type { RecordBatch } from './client/records.ts';
export { machinesOf } from './client/records.ts';
export type { ProviderTransport } from './client/transport.ts';
export {
  type Area,
  PROFILES,
  type Profile,
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

export type { Timings } from './conformance/harness/timings.ts';
export type { CatalogueEntry } from './fake/catalogue.ts';
export { type CloudEvent, FakeCloud } from './fake/cloud.ts';
export { serveControl } from './fake/control.ts';
export { FakeProvider } from './fake/fake-provider.ts';

export {
  type FakeSettings,
  type PresetName,
  presetSettings,
  type SettingsPatch,
} from './fake/settings.ts';
export { patchOf, patchSettings } from './fake/settings-patch.ts';

export { MemoryStore, NO_STORE } from './kit/memory-store.ts';

export type { ProviderCalls } from './kit/provider.ts';
export { Provider } from './kit/provider.ts';
export type { ProviderServer, ServedProvider, ServeOptions } from './kit/server.ts';
export { serveProvider } from './kit/server.ts';

export { SqliteStore } from './kit/sqlite-store.ts';
export type { Changes, Store, StoredState } from './kit/store.ts';

export type { TransitionKind } from './kit/transitions.ts';
export { OutOfStockError } from './out-of-stock.ts';
