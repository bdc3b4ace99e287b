// The entry point `bigfleet/provider/testing`: the conformance suite, a fake cloud with a provider over it, and a clock
// that tests advance.

export type { HostRef, MachineState, ResourceVector } from '../../model/index.ts';
export { CapacityType } from '../../model/index.ts';
export type { Clock, MonotonicClock } from '../../runtime/clock.ts';
export { VirtualClock } from '../../runtime/virtual-clock.ts';
/** The messages of the contract, as providers take and return them. */
export type * as messages from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
export type { RpcOptions, TlsFiles } from '../../wire/index.ts';
export type { Backend, Binding, Offering, Operation, Subject } from '../backend.ts';
export { inProcess } from '../client/in-process.ts';
export type { AttemptLimits, ProviderTransport } from '../client/transport.ts';
export type { Area, Profile } from '../conformance/harness/behaviour.ts';
export { AREAS, PROFILES } from '../conformance/harness/behaviour.ts';
export type { ProviderRpc } from '../conformance/harness/calls.ts';
export type { BehaviourResult, ConformanceReport, Status, Verdict } from '../conformance/harness/report.ts';
export { reportJson, reportJunit } from '../conformance/harness/report.ts';
export type { ConformanceOptions, Progress } from '../conformance/harness/run.ts';
export { runConformance } from '../conformance/harness/run.ts';
export type { Connect, Connection } from '../conformance/harness/target-session.ts';
export type { Target } from '../conformance/harness/targets.ts';
export type { Timings } from '../conformance/harness/timings.ts';
export { DEFAULT_TIMINGS } from '../conformance/harness/timings.ts';
export type { CatalogueEntry } from '../fake/catalogue.ts';
export { DEFAULT_CATALOGUE } from '../fake/catalogue.ts';
export type { CloudEvent, FakeCloudOptions, HostSelector, Watcher } from '../fake/cloud.ts';
export { FakeCloud } from '../fake/cloud.ts';
export type { FakeProviderOptions } from '../fake/fake-provider.ts';
export { FakeProvider } from '../fake/fake-provider.ts';
export { withFaultSelectors } from '../fake/fault-selectors.ts';
export type { TransportFault } from '../fake/faulty-calls.ts';
export type { FakeSettings, Latency, PresetName, SettingsPatch } from '../fake/settings.ts';
export { PRESET_NAMES, presetSettings } from '../fake/settings.ts';
export { MemoryStore, NO_STORE } from '../kit/memory-store.ts';
export type { Loss, ProviderCalls, ProviderOptions, ProviderParts, Refreshed } from '../kit/provider.ts';
export { Provider } from '../kit/provider.ts';
/** The rows that a `Store` keeps. */
export type * as storage from '../kit/store.ts';
export type { Store } from '../kit/store.ts';
export type { TransitionKind, TransitionTimeouts } from '../kit/transitions.ts';
