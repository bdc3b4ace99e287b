// What other rooms may use of providers: the conformance suite.

export {
  AREAS,
  type Area,
  type Behaviour,
  type Lane,
  PROFILES,
  type Profile,
} from './conformance/behaviour.ts';
export type { ProviderRpc } from './conformance/calls.ts';
export { BEHAVIOURS } from './conformance/registry.ts';
export {
  type BehaviourResult,
  type ConformanceReport,
  reportJson,
  reportJunit,
  type Status,
  type Verdict,
} from './conformance/report.ts';
export { type ConformanceOptions, type Progress, runConformance } from './conformance/run.ts';
export type { Connect, Connection } from './conformance/session.ts';
export { DEFAULT_TIMINGS, type Timings } from './conformance/timings.ts';
