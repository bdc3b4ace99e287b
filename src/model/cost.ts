// The fixed formulas: effective cost, victim score, drain grace, money in whole numbers. They are part of the documented
// contract and not pluggable; only the four weights of the score are configuration. Used by engine, oracle, the shard's
// costs and capacity hints.

/**
 * Expected dollars per hour: `price + probability × penalty`.
 * Probability 0 costs the price whatever the penalty (0 × ∞ is not a number); a pinned workload on a machine
 * that can be interrupted costs +∞ and sorts last.
 */
export function effectiveCost(
  pricePerHour: number,
  interruptionProbability: number,
  penaltyDollars: number,
): number {
  if (interruptionProbability === 0 || penaltyDollars <= 0) return pricePerHour;
  return pricePerHour + interruptionProbability * penaltyDollars;
}

const MICROS = 1_000_000;

/** Micro-dollars per hour; a price beyond what a double counts exactly is taken for the largest that it does. */
export function microsOf(dollarsPerHour: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.round(dollarsPerHour * MICROS));
}

/** The reverse of `microsOf`. */
export function dollarsOfMicros(microsPerHour: number): number {
  return microsPerHour / MICROS;
}

/** Weights of the four terms of a victim's score; see `victimScore`. */
export interface ScoreWeights {
  readonly priority: number;
  readonly drainSpeed: number;
  readonly interruption: number;
  readonly reclamation: number;
}

/** The weights that a shard uses unless it is configured otherwise. */
export const DEFAULT_SCORE_WEIGHTS: ScoreWeights = {
  priority: 1,
  drainSpeed: 0.1,
  interruption: 0.1,
  reclamation: 0.1,
};

/** Used until drains of a machine class have been measured. */
export const DEFAULT_DRAIN_SECONDS = 30;

/** The inputs of the score: the row that would lose the machine, and the cost of that. */
export interface Victim {
  readonly priority: number;
  readonly drainSeconds: number;
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
}

/**
 * Score of a victim; the highest is preempted first:
 * `w₁·max(0, gap) + w₂/max(1 s, drain) + w₃/max($0.01, interruption) + w₄/max($0.01, reclamation)`.
 * The floors keep free and instant victims finite; a pinned penalty adds 0.
 */
export function victimScore(preemptorPriority: number, victim: Victim, weights: ScoreWeights): number {
  return (
    weights.priority * Math.max(0, preemptorPriority - victim.priority) +
    weights.drainSpeed / Math.max(1, victim.drainSeconds) +
    weights.interruption / Math.max(0.01, victim.interruptionDollars) +
    weights.reclamation / Math.max(0.01, victim.reclamationDollars)
  );
}

/** Drain grace of a Reclaim, which no other row waits for. */
export const RECLAIM_GRACE_SECONDS = 600;

/** Drain grace of a Preempt, by the priority gap between preemptor and victim. A double holds any gap of two int32. */
export function drainGraceSeconds(preemptorPriority: number, victimPriority: number): number {
  const gap = preemptorPriority - victimPriority;
  if (gap > 900_000) return 10;
  if (gap > 500_000) return 30;
  return gap > 100_000 ? 120 : RECLAIM_GRACE_SECONDS;
}
