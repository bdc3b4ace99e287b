// The vocabulary of BigFleet: what every room means by a quantity, a requirement, a machine, a Need, an action. All of
// the entry point `bigfleet/model` (public.ts), and what only the rooms use.

export { ACTION_WORDS, actionKindOf } from './action.ts';
export { dollarsOfMicros, drainGraceSeconds, microsOf, RECLAIM_GRACE_SECONDS, victimScore } from './cost.ts';
export type { CostPart, CostView } from './cost-parts.ts';
export { COST_PARTS, costView, noCost, ON_HOLD, PART_OF_STATE, SERVING } from './cost-parts.ts';
export type { MachineUser } from './decision.ts';
export { DEFAULT_ECONOMY_OPTIONS, MAX_CLAIMANTS, NO_REMAINDERS, WIRE_UNMET_REASON } from './decision.ts';
export { revivedError } from './errors.ts';
export { codedText, withCode } from './last-error.ts';
export type { Leaving } from './leaving.ts';
export { leavingOfRow } from './leaving.ts';
export type { Sighting } from './lifecycle.ts';
export { GONE, Meaning, meaningOf } from './lifecycle.ts';
export { isCapacityType, isMachineState, isPurchased, machineShapeProblems } from './machine.ts';
export { MachineLimits, machineSizeProblems } from './machine-limits.ts';
export { NameLimits } from './name-limits.ts';
export { compareKeys, comparePrecedence, setAside } from './need.ts';
export type { NodeFacts } from './node-facts.ts';
export { NODE_USES, nodeUseAt, nodeUseNumber, nodeUseText, protectedVictimText } from './node-facts.ts';
export type { BlockedCause, Obstacle } from './obstacle-text.ts';
export { adviceFor, BLOCKED_CAUSES, obstacleText, sortedObstacles, whyUnused } from './obstacle-text.ts';
export { BUCKET_LARGEST, BUCKET_ONE_DOLLAR, isPenaltyBucket } from './penalty.ts';
export { sameTermOf, strictSpreadOf, withoutSame } from './profile.ts';
export * from './public.ts';
export { parseDemand } from './quantity.ts';
export type { RenewalLimits } from './renewal-limits.ts';
export { DEFAULT_RENEWAL_LIMITS } from './renewal-limits.ts';
export { attributeOf, isOperator } from './requirement.ts';
export { canonicalResources, hasForeignAccelerator, isAccelerator } from './resources.ts';
export type { Result } from './result.ts';
export { ok, refused } from './result.ts';
export type { RollupBase, RollupDelta } from './rollup-delta.ts';
export {
  composed,
  composedOrigin,
  FRESH,
  keptRows,
  NO_BASE,
  NO_ROLLUP,
  rowsAfter,
  wholeRollup,
} from './rollup-delta.ts';
export type { UnclaimedWait } from './sharing-text.ts';
export {
  drainOrderText,
  leftOver,
  remaindersText,
  renewalText,
  sharesText,
  UNCLAIMED_WAITS,
  unclaimedText,
  usersText,
  verdictText,
} from './sharing-text.ts';
export {
  compareText,
  excerpt,
  isLongerThan,
  MAX_EXCERPT_BYTES,
  printable,
  rankOfUnit,
  unitOfRank,
} from './text.ts';
export { unmetAdvice } from './unmet-text.ts';
