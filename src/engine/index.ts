// The decision engine: pure decisions over an unchanging fleet.

export { ClaimWatch } from './claim-watch.ts';
export type { Decision, EngineOptions, PlanDifference } from './engine.ts';
export { decide, Engine, examine, explain } from './engine.ts';
export { acceleratorsOf, HARDWARE, hardwareOf } from './hardware.ts';

export type { EndedRenewal, Renewal } from './renew/renewals.ts';
export { RENEWAL_ENDS, Renewals } from './renew/renewals.ts';
export type { ServedHardware } from './served-tally.ts';
export { ServedTally } from './served-tally.ts';
export type { CycleStats, Mode, ModeStats, Path } from './stats.ts';
export { conflictFraction, EngineMetrics, MODES, retriesOf } from './stats.ts';
