// How far renewal, which replaces machines by cheaper ones, may go. Part of the settings of a shard, so it is here and not with
// engine/renew: printing the settings loads no engine.

export interface RenewalLimits {
  /** Machines that are being replaced at a time, as a part of the Configured ones: of a cluster, and of all clusters. */
  readonly fraction: number;
  /** Between two checks of a cluster. After a renewal that failed it doubles, and so on until one succeeds. */
  readonly waitMs: number;
  readonly longestWaitMs: number;
  /** How long marks last beyond the reclaim hold: replacements have to boot, and a guardrail may spread the drains. */
  readonly markMs: number;
}

/** A tenth, as disruption budgets of Karpenter have it; 10 minutes, a day and half an hour. */
export const DEFAULT_RENEWAL_LIMITS: RenewalLimits = {
  fraction: 0.1,
  waitMs: 600_000,
  longestWaitMs: 86_400_000,
  markMs: 1_800_000,
};
