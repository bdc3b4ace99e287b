// What other folders may import of providers: the interface that a backend implements, the kit that makes a provider of
// it (with its stores and its server), the client that shards call it with, the conformance suite, and the fake cloud.
// Packages outside import the entry points in public/.

export type { Backend, Offering, Subject } from './backend.ts';

export type { CallLimits } from './client/call-limits.ts';

export type { Accepted, ProviderClientParts } from './client/client.ts';
export { ProviderClient } from './client/client.ts';
export type { CallName, ProviderErrorKind } from './client/errors.ts';
export { ProviderError } from './client/errors.ts';

export { grpcTransport } from './client/grpc-transport.ts';
export { inProcess } from './client/in-process.ts';
export type { ListSink } from './client/intake.ts';
export type { ListKind, ListReport } from './client/inventory-reader.ts';
export { InventoryReader } from './client/inventory-reader.ts';
export { ListThread } from './client/list-thread.ts';
export type { RecordBatch } from './client/machine-list.ts';
export { machinesOf } from './client/machine-list.ts';
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
export { FakeProvider, type FakeProviderOptions } from './fake/fake-provider.ts';

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
