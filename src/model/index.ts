// The vocabulary of BigFleet: what every room means by a quantity, a requirement, a machine, a Need, an action.

export type { Action, ActionKind, ActionReason } from './action.ts';
export { ACTION_KINDS, ACTION_WORDS, actionKindOf } from './action.ts';

export type { ScoreWeights } from './cost.ts';
export {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  drainGraceSeconds,
  effectiveCost,
  RECLAIM_GRACE_SECONDS,
  victimScore,
} from './cost.ts';
export type {
  Claimant,
  ClaimedCause,
  DecisionInput,
  DecisionOptions,
  DomainCandidate,
  EconomyOptions,
  Explanation,
  FittingSupply,
  LedgerMachine,
  ObstacleCause,
  Obstacles,
  Plan,
  RemainderCounts,
  Share,
  UnmetDetail,
  UnmetReason,
  Verdict,
} from './decision.ts';
export {
  CLAIMED_CAUSES,
  MAX_CLAIMANTS,
  NO_REMAINDERS,
  OBSTACLE_CAUSES,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
  WIRE_UNMET_REASON,
} from './decision.ts';
export type { ErrorCode, Problem, Where } from './errors.ts';
export { BigFleetError, ERRORS, revivedError } from './errors.ts';

export { codedText, withCode } from './last-error.ts';
export type { Leaving } from './leaving.ts';
export { leavingOfRow } from './leaving.ts';
export type { Sighting } from './lifecycle.ts';
export { COMMANDS, Command, commandTarget, GONE, Meaning, meaningOf } from './lifecycle.ts';
export type { HostRef, Machine, Stamp } from './machine.ts';
export {
  CapacityType,
  effectiveAllocatable,
  hasHost,
  isBound,
  isCapacityType,
  isMachineState,
  MachineState,
  machineProblems,
  machineShapeProblems,
  stateName,
} from './machine.ts';
export { MachineLimits, machineSizeProblems } from './machine-limits.ts';
export { NameLimits } from './name-limits.ts';
export type { Need, NeedKey } from './need.ts';
export {
  compareKeys,
  comparePrecedence,
  compareRank,
  keyOf,
  keyText,
  mergeNeeds,
  sameKey,
  setAside,
} from './need.ts';
export type { BlockedCause, Obstacle } from './obstacle-text.ts';
export { adviceFor, BLOCKED_CAUSES, obstacleText, sortedObstacles, whyUnused } from './obstacle-text.ts';
export type { PenaltyBucket } from './penalty.ts';
export {
  BUCKET_LARGEST,
  BUCKET_ONE_DOLLAR,
  BUCKET_PINNED,
  BUCKET_UNSPECIFIED,
  bucketOfDollars,
  dollarsOfBucket,
  isPenaltyBucket,
} from './penalty.ts';
export type { Profile, ProfileParts, Spread } from './profile.ts';
export { makeProfile, sameTermOf, strictSpreadOf, WhenUnsatisfiable, withoutSame } from './profile.ts';
export type { Rounding } from './quantity.ts';
export { formatQuantity, MAX_UNITS, parseDemand, parseQuantity } from './quantity.ts';

export type { Attributes, Requirement } from './requirement.ts';
export {
  attributeOf,
  INSTANCE_TYPE_KEY,
  isOperator,
  meetsAll,
  Operator,
  ZONE_KEY,
} from './requirement.ts';
export type { ResourceVector } from './resources.ts';
export {
  canonicalResources,
  covers,
  formatResources,
  hasForeignAccelerator,
  isAccelerator,
  isZero,
  NO_RESOURCES,
  scale,
  subtract,
} from './resources.ts';
export type { Result } from './result.ts';
export { ok, refused } from './result.ts';
export type { RollupBase, RollupDelta } from './rollup-delta.ts';
export {
  composed,
  FRESH,
  keptRows,
  NO_BASE,
  NO_ROLLUP,
  rowsAfter,
  wholeRollup,
} from './rollup-delta.ts';
export {
  compareText,
  excerpt,
  isLongerThan,
  MAX_EXCERPT_BYTES,
  printable,
  rankOfUnit,
  unitOfRank,
} from './text.ts';
export { UNMET_REASONS, unmetAdvice, unmetText } from './unmet-text.ts';
