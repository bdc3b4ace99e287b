// The entry point `bigfleet/provider`: what the author of a provider imports. docs/provider/writing-a-provider.md is
// the guide.

export type { ErrorCode, HostRef, MachineState, Problem, ResourceVector, Where } from '../../model/index.ts';
export { BigFleetError, CapacityType } from '../../model/index.ts';
export type { Clock, MonotonicClock } from '../../runtime/clock.ts';
export { systemClock } from '../../runtime/system-clock.ts';
/** The messages of the contract, as `Provider` takes and returns them. */
export type * as messages from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
export type { SecurityOptions, TlsFiles } from '../../wire/index.ts';
export { tlsFiles } from '../../wire/index.ts';
export type { Backend, Binding, Offering, Operation, Subject } from '../backend.ts';
export { MemoryStore, NO_STORE } from '../kit/memory-store.ts';
export { OfferingsError } from '../kit/offering-check.ts';
export type { Loss, ProviderOptions, ProviderParts, Refreshed } from '../kit/provider.ts';
export { Provider } from '../kit/provider.ts';
export type { ProviderServer, ServedProvider, ServeOptions } from '../kit/server.ts';
export { serveProvider } from '../kit/server.ts';
export { SqliteStore } from '../kit/sqlite-store.ts';
/** The rows that a `Store` keeps, for authors of stores. */
export type * as storage from '../kit/store.ts';
export type { Store } from '../kit/store.ts';
export type { TransitionKind, TransitionTimeouts } from '../kit/transitions.ts';
export { OutOfStockError } from '../out-of-stock.ts';
