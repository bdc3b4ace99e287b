// What other rooms may use of providers: the interface a backend implements, the kit that makes a provider of it, its
// stores, and the server that puts it on a port.

export type { Backend, Binding, Offering, Operation, Subject } from './backend.ts';
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
