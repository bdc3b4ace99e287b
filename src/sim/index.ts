// The public API of the simulation: scenario files in and out, a plan as JSON, generated fleets, and the closed loop.

export { catalogueOf } from './catalogues/index.ts';
export { type CloudStatus, Clouds, type CloudsOptions } from './clouds/clouds.ts';
export { type CloudSupply, MIN_MACHINES, OWNED_PRICES, type Supply, supplyOf } from './clouds/supply.ts';
export { LivingDemand, type LivingDemandParts } from './demand/living-demand.ts';
export { clusterNames, type DemandPlan, type PlannedRow, planDemand } from './demand/plan.ts';
export type {
  ClusterStatus,
  DemoEnvironment,
  DemoEnvironmentEvent,
  DemoEnvironmentOptions,
  DemoEnvironmentSize,
  DemoEnvironmentStatus,
  StoryName,
} from './demo.ts';
export { demoSizeIn, isDemoFile, STORY_NAMES, startDemoEnvironment } from './demo.ts';
export type { IncrementalDecider } from './incremental-decider.ts';
export { incrementalDecider } from './incremental-decider.ts';
export type { Decider, Delays, LoopEvent, LoopRules, LoopRun, LoopState, LoopStep } from './loop.ts';
export {
  acquiredIn,
  countIn,
  isQuiet,
  isSettled,
  runLoop,
  runUntilQuiet,
  startLoop,
  stepLoop,
  withEvent,
} from './loop.ts';
export { parseOfferingsFile } from './offerings-file.ts';
export type {
  BootstrapHabit,
  Dialer,
  Link,
  LinkEnd,
  MemoryDialerParts,
  OperatorCounts,
  OperatorEvent,
  OperatorParts,
  OperatorTimes,
  SimNode,
} from './operator/index.ts';
export { grpcDialer, memoryDialer, OPERATOR_TIMES, SimOperator } from './operator/index.ts';
export type { CostJson, DecidedJson, NeedJson, PlanJson } from './plan-json.ts';
export { canonicalJson, decidedJson, planJson } from './plan-json.ts';
export type { Regime } from './regimes.ts';
export { beginningOf, changeOf, isRegime, REGIMES } from './regimes.ts';
export { saveDifference } from './save-difference.ts';
export type { Change, ScaleProfile, Threshold } from './scale-profile.ts';
export { parseScaleProfile } from './scale-profile.ts';
export type { EngineOptions, Scenario } from './scenario.ts';
export {
  DEFAULT_ENGINE_OPTIONS,
  DEFAULT_RELEASE_HOLD_SECONDS,
  parseScenario,
  readScenario,
} from './scenario.ts';
export { writeScenario } from './scenario-write.ts';
export type { Beginning } from './workload.ts';
export { Workload } from './workload.ts';
export type { ChurnStep, RollUp } from './workload-churn.ts';
export { Churn, changeRows } from './workload-churn.ts';
export { hostOf } from './workload-machines.ts';
export type { ExpectedActions } from './workload-planted.ts';
export type { Row } from './workload-rows.ts';
export { WORKLOAD_NOW_MS } from './workload-rows.ts';
