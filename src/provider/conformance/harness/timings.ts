// How long the suite waits, in milliseconds (read by calls.ts, trial.ts and the behaviours). The defaults suit any
// provider; tests of the suite itself, whose providers settle at once, use shorter ones.

/** How long the suite waits for a provider, in ms. */
export interface Timings {
  /** Deadline of one call. A provider acknowledges and works afterwards, so this is about the network. */
  readonly callMs: number;
  /** Deadline of one List, which may carry a whole fleet. */
  readonly listMs: number;
  /** How long each transition may take to settle. */
  readonly createMs: number;
  readonly configureMs: number;
  readonly drainMs: number;
  readonly deleteMs: number;
  /** Interval between two Gets of a machine. A shorter one observes more transitional states. */
  readonly pollMs: number;
  /** How long a machine is watched to see that it stays where it is. */
  readonly staysMs: number;
  /** How long an untouched fleet is watched for changes. */
  readonly quietMs: number;
  /** How long a transition is watched from its first moment. */
  readonly observeMs: number;
  /** How long a provider may take to answer after it was started. */
  readonly startMs: number;
  /** How long after its transition timeout a provider may take to give up; also how long a late success is awaited. */
  readonly giveUpMs: number;
  /** Limits of the scale target. */
  readonly getP99Ms: number;
  readonly createP99Ms: number;
  readonly listP99Ms: number;
  readonly warmListMs: number;
  readonly parallelCreateMs: number;
}

/** Timings that suit a fake cloud or a fast provider. */
export const DEFAULT_TIMINGS: Timings = {
  callMs: 10_000,
  listMs: 60_000,
  createMs: 10_000,
  configureMs: 10_000,
  drainMs: 30_000,
  deleteMs: 10_000,
  pollMs: 5,
  staysMs: 300,
  quietMs: 750,
  observeMs: 1_000,
  startMs: 20_000,
  giveUpMs: 3_000,
  getP99Ms: 250,
  createP99Ms: 250,
  listP99Ms: 2_000,
  warmListMs: 3_000,
  parallelCreateMs: 30_000,
};
