// The entry point `bigfleet/model`: the vocabulary that the other entry points share.

export type { Action, ActionKind, ActionReason } from './action.ts';
export { ACTION_KINDS } from './action.ts';
export type { ScoreWeights } from './cost.ts';
export { DEFAULT_DRAIN_SECONDS, DEFAULT_SCORE_WEIGHTS, effectiveCost } from './cost.ts';
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
  PurchaseBudget,
  RemainderCounts,
  Share,
  UnmetDetail,
  UnmetReason,
  Verdict,
} from './decision.ts';
export { CLAIMED_CAUSES, OBSTACLE_CAUSES, SHARED_OPTIONS, UNSHARED_OPTIONS } from './decision.ts';
export type { ErrorCode, Problem, Where } from './errors.ts';
export { BigFleetError, ERRORS, isErrorCode } from './errors.ts';
export type { CommandMove } from './lifecycle.ts';
export { COMMANDS, Command, commandTarget } from './lifecycle.ts';
export type { HostRef, Machine, Stamp } from './machine.ts';
export {
  CapacityType,
  effectiveAllocatable,
  hasHost,
  isBound,
  MachineState,
  machineProblems,
  stateName,
} from './machine.ts';
export type { Need, NeedKey } from './need.ts';
export { compareRank, keyOf, keyText, mergeNeeds, sameKey } from './need.ts';
export type { NodeUse } from './node-facts.ts';
export type { PenaltyBucket } from './penalty.ts';
export {
  BUCKET_PINNED,
  BUCKET_UNSPECIFIED,
  BUCKET_ZERO,
  bucketOfDollars,
  dollarsOfBucket,
} from './penalty.ts';
export type { Profile, ProfileParts, Spread } from './profile.ts';
export { makeProfile, WhenUnsatisfiable } from './profile.ts';
export type { Rounding } from './quantity.ts';
export { formatQuantity, MAX_UNITS, parseQuantity } from './quantity.ts';
export type { Attributes, Requirement } from './requirement.ts';
export { INSTANCE_TYPE_KEY, meets, meetsAll, Operator, ZONE_KEY } from './requirement.ts';
export type { ResourceVector } from './resources.ts';
export { add, covers, formatResources, isZero, maximum, NO_RESOURCES, scale, subtract } from './resources.ts';
export { UNMET_REASONS, unmetText } from './unmet-text.ts';
