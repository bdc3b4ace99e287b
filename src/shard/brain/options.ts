// How a brain is set up, and what of it must outlive the process. Plain data: it crosses to the brain's thread as it is.

import { CapacityType, DEFAULT_SCORE_WEIGHTS, type ScoreWeights } from '../../model/index.ts';
import { ACTUATION_LIMITS, type ActuationLimits } from './actuation/limits.ts';
import { CALL_SCHEDULER_LIMITS, type CallSchedulerLimits } from './call-scheduler.ts';
import type { FreezeStore } from './freezes.ts';
import { DEFAULT_GUARDRAILS, type GuardrailOptions } from './guardrails.ts';
import type { MachineStore } from './machine-facts-store.ts';
import { RECONCILE_LIMITS, type ReconcileLimits } from './reconcile/limits.ts';

export interface CycleTimes {
  /** A cycle comes at least so often. */
  readonly intervalMs: number;
  /** From the end of one cycle to the next that changed demand asks for. Shorter serves a burst sooner and sums up less. */
  readonly spacingMs: number;
  /**
   * How long after the start decisions wait for providers that do not answer. Machines of a provider that was never
   * read are not known, so what they do would be bought again elsewhere; waiting for ever would stop the whole shard.
   */
  readonly readyWaitMs: number;
}

/** How the engine runs; none of it changes a decision. */
export interface EngineSetup {
  readonly workers: number;
  readonly lanes: number | 'auto';
  readonly retries: number;
  readonly incremental: boolean;
  readonly checkEvery: number;
}

export interface BrainOptions {
  readonly shard: string;
  /** Which start of the shard this is. */
  readonly epoch: bigint;
  /** Names; everything else about providers is the hands' business. */
  readonly providers: readonly string[];
  /** Of everything drawn by chance; another one at every start. */
  readonly seed: number;
  readonly cycle: CycleTimes;
  readonly engine: EngineSetup;
  readonly guardrails: Pick<GuardrailOptions, 'reclaimFraction' | 'maxActionsPerCycle' | 'dryRun'>;
  readonly weights: ScoreWeights;
  /** Seconds an Idle machine that nobody wants is kept; none or 0: for ever. */
  readonly releaseHoldSeconds: ReadonlyMap<CapacityType, number>;
  /** Dollars per hour that owned machines are shown at, by instance type and by kind of capacity. Enters no decision. */
  readonly ownedPrices: ReadonlyMap<string, number>;
  readonly actuation: ActuationLimits;
  readonly scheduler: CallSchedulerLimits;
  readonly reconcile: ReconcileLimits;
}

/** What the brain must remember. Writes are durable when the call returns. */
export interface BrainStore {
  readonly machines: MachineStore;
  readonly freezes: FreezeStore;
}

export const DEFAULT_BRAIN: Omit<BrainOptions, 'shard' | 'epoch' | 'providers' | 'seed'> = {
  cycle: { intervalMs: 1000, spacingMs: 200, readyWaitMs: 30_000 },
  engine: { workers: 1, lanes: 'auto', retries: 10, incremental: true, checkEvery: 100 },
  guardrails: DEFAULT_GUARDRAILS,
  weights: DEFAULT_SCORE_WEIGHTS,
  releaseHoldSeconds: new Map([
    [CapacityType.OnDemand, 600],
    [CapacityType.Spot, 60],
  ]),
  ownedPrices: new Map(),
  actuation: ACTUATION_LIMITS,
  scheduler: CALL_SCHEDULER_LIMITS,
  reconcile: RECONCILE_LIMITS,
};
