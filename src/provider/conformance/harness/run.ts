// Runs the conformance suite: the chosen behaviours one after another, each on machines of its own, and a report with
// the outcome of each. Called by `bigfleet provider conformance` and, through `bigfleet/provider/testing`, by the tests
// of a provider.

import { BigFleetError } from '../../../model/index.ts';
import { Random } from '../../../runtime/random.ts';
import type { TlsFiles } from '../../../wire/index.ts';
import { type Behaviour, ExcusedSkip, Failure, NoAnswer, type Profile, Skip } from './behaviour.ts';
import { selectBehaviours } from './registry.ts';
import { type BehaviourResult, type ConformanceReport, type Status, totalsOf, verdictOf } from './report.ts';
import type { TargetSession } from './target-session.ts';
import { isAboutProvider, type Target, Targets, textOfTarget } from './targets.ts';
import { DEFAULT_TIMINGS, type Timings } from './timings.ts';
import type { Trial, TrialSettings } from './trial.ts';

/** What to run, and against which provider. */
export interface ConformanceOptions {
  /** The provider: an address, or one within this process. */
  readonly target?: Target | undefined;
  /** A provider that fails on purpose, for the fault target. */
  readonly faultTarget?: Target | undefined;
  /** A shell command that starts the provider, with {port}, and where wanted {state}, {seed} and {timeout}. */
  readonly start?: string | undefined;
  /** Such a command for the scale target alone; without it, `start` without the words that name the state file. */
  readonly startScale?: string | undefined;
  /** Default: core; with `only`, all. */
  readonly profiles?: readonly Profile[] | undefined;
  /** Ids, patterns such as B3xx, or areas; default: whole profiles. */
  readonly only?: readonly string[] | undefined;
  /** Of the random behaviours; default 1. */
  readonly seed?: number | undefined;
  /** Machines the scale target must find; default 8000. */
  readonly scaleSeed?: number | undefined;
  /** Length of each soak of the scale target; default 10 s. */
  readonly soakMs?: number | undefined;
  /** When the fault provider gives up a transition; default 2 s. */
  readonly transitionTimeoutMs?: number | undefined;
  readonly timings?: Partial<Timings> | undefined;
  /** Default: plaintext, to any address, since the suite sends nothing that is secret. */
  readonly tls?: TlsFiles | null | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** How far a run is. */
export interface Progress {
  /** Behaviours that are done, of all that are to run. */
  readonly done: number;
  readonly total: number;
  /** The id of the one that runs now. */
  readonly id: string;
}

/** Throws a BigFleetError if nothing can be run: invalid arguments, or no provider at the target. */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const started = performance.now();
  const { only = [], seed = 1 } = options;
  const profiles = options.profiles ?? (only.length > 0 ? [] : ['core' as const]);
  const behaviours = selectBehaviours({ profiles, only });
  const target = options.target ?? options.start ?? options.startScale ?? options.faultTarget;
  if (target === undefined) {
    throw new BigFleetError(
      'BF_USAGE',
      'There is no provider to run against: name a target or a start command.',
    );
  }
  const targets = new Targets({ ...options, settings: settingsOf(options) });
  try {
    await targets.reach(new Set(behaviours.map(({ targetKind }) => targetKind)));
    const runner = new Runner(targets, seed, profiles);
    for (const [done, behaviour] of behaviours.entries()) {
      options.onProgress?.({ done, total: behaviours.length, id: behaviour.id });
      await runner.run(behaviour);
    }
    return {
      verdict: verdictOf(runner.results),
      target: textOfTarget(target),
      profiles,
      only,
      seed,
      durationMs: Math.round(performance.now() - started),
      machinesUsed: targets.machinesUsed,
      totals: totalsOf(runner.results),
      behaviours: runner.results,
    };
  } finally {
    await targets.close();
  }
}

function settingsOf(options: ConformanceOptions): TrialSettings {
  return {
    timings: { ...DEFAULT_TIMINGS, ...options.timings },
    scaleSeed: options.scaleSeed ?? 8_000,
    soakMs: options.soakMs ?? 10_000,
    transitionTimeoutMs: options.transitionTimeoutMs ?? 2_000,
  };
}

/** Result of opening a target: a session, or the outcome of all its behaviours. */
type Opened = { readonly session: TargetSession } | Outcome;

class Runner {
  readonly results: BehaviourResult[] = [];
  readonly #targets: Targets;
  readonly #seed: number;
  /** Profiles that the provider claims; empty: all of them. */
  readonly #claims: readonly Profile[];
  readonly #opened = new Map<Behaviour['targetKind'], Opened>();

  constructor(targets: Targets, seed: number, claims: readonly Profile[]) {
    this.#targets = targets;
    this.#seed = seed;
    this.#claims = claims;
  }

  async run(behaviour: Behaviour): Promise<void> {
    const opened = await this.#open(behaviour.targetKind);
    const started = performance.now();
    const outcome = 'session' in opened ? await this.#try(behaviour, opened.session) : opened;
    const { status, detail, skip } = outcome;
    const { id, area, title } = behaviour;
    this.results.push({
      id,
      area,
      title,
      status,
      detail,
      durationMs: Math.round(performance.now() - started),
      ...(this.#isExcused(skip) ? { isExcused: true } : {}),
    });
  }

  #isExcused(skip: Skip | undefined): boolean {
    if (!(skip instanceof ExcusedSkip)) return false;
    const { claimedBy } = skip;
    return claimedBy === undefined || (this.#claims.length > 0 && !this.#claims.includes(claimedBy));
  }

  async #open(targetKind: Behaviour['targetKind']): Promise<Opened> {
    const known = this.#opened.get(targetKind);
    if (known !== undefined) return known;
    const opened = await this.#reach(targetKind);
    this.#opened.set(targetKind, opened);
    return opened;
  }

  async #reach(targetKind: Behaviour['targetKind']): Promise<Opened> {
    try {
      return { session: await this.#targets.open(targetKind) };
    } catch (error) {
      if (error instanceof Skip) return { status: 'skipped', detail: error.message };
      // Before the first result, an error about the provider is a usage error of the caller; later it is a finding.
      if (!isAboutProvider(error) || this.results.length === 0) throw error;
      return { status: 'failed', detail: error.message };
    }
  }

  async #try(behaviour: Behaviour, session: TargetSession): Promise<Outcome> {
    if (session.lost !== undefined) return { status: 'skipped', detail: session.lost };
    const trial = session.trial(new Random(this.#seed, ...Buffer.from(behaviour.id)));
    const outcome = await outcomeOf(behaviour, trial);
    trial.end();
    try {
      await session.rest(trial.used, outcome.status === 'passed');
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    if (outcome.isUnanswered && (await session.problem()) !== undefined) {
      session.lost = `the target stopped answering during ${behaviour.id}`;
    }
    return outcome;
  }
}

interface Outcome {
  readonly status: Status;
  readonly detail: string;
  /** The `Skip` that the behaviour threw. */
  readonly skip?: Skip;
  /** A call got no answer. */
  readonly isUnanswered?: boolean;
}

async function outcomeOf(behaviour: Behaviour, trial: Trial): Promise<Outcome> {
  try {
    await behaviour.run(trial);
    return { status: 'passed', detail: '' };
  } catch (error) {
    if (error instanceof Skip) return { status: 'skipped', detail: error.message, skip: error };
    if (!(error instanceof Failure)) throw error;
    const calls = trial.callLogText === '' ? '' : ` · after ${trial.callLogText}`;
    return { status: 'failed', detail: error.message + calls, isUnanswered: error instanceof NoAnswer };
  }
}
