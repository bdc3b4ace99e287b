// Which provider each kind of target is: an address that was given, or a provider started by the command that was given
// (launcher.ts). run.ts opens a target when its first behaviour is due and closes all of them at the end of the run.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { BigFleetError, MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { clientCredentials, type TlsFiles, tlsAdvice } from '../../../wire/index.ts';
import { Failure, Skip, type TargetKind } from './behaviour.ts';
import {
  type BeforeKill,
  fillStage,
  hangInConfiguring,
  type Interrupted,
  type InterruptedConfigure,
  inventoryOf,
  killInConfiguring,
} from './durable-stage.ts';
import { Launcher, type ProviderProcess } from './launcher.ts';
import { CREATE_FAULT_LABEL } from './machine-pool.ts';
import { withoutState } from './start-command.ts';
import { type Connect, connectTo, TargetSession } from './target-session.ts';
import type { Trial, TrialSettings } from './trial.ts';

/** An address, or a provider within this process. */
export type Target = string | Connect;

export interface TargetOptions {
  readonly target?: Target | undefined;
  readonly faultTarget?: Target | undefined;
  /** A shell command with {port}, and where wanted {state}, {seed} and {timeout}. */
  readonly start?: string | undefined;
  /** Such a command for the scale target alone. */
  readonly startScale?: string | undefined;
  readonly tls?: TlsFiles | null | undefined;
  readonly settings: TrialSettings;
}

/** Machines a started provider should offer. */
const CORE_SEED = 256;
const FAULT_SEED = 64;
/** Transition timeout of a provider that is killed in the middle of a transition: it must not give up before. */
const LONG_TIMEOUT_MS = 30_000;

export class Targets {
  readonly #options: TargetOptions;
  readonly #credentials: ChannelCredentials | undefined;
  readonly #launcher: Launcher | undefined;
  #scaleLauncher: Launcher | undefined;
  /** By address or connection, so that kinds of target on one provider share its pool. */
  readonly #given = new Map<Target, TargetSession>();
  readonly #started: TargetSession[] = [];

  constructor(options: TargetOptions) {
    this.#options = options;
    const { tls = null } = options;
    this.#credentials = tls === null ? undefined : clientCredentials('', { tls });
    const { start, startScale } = options;
    this.#launcher = start === undefined ? undefined : new Launcher(start);
    this.#scaleLauncher = startScale === undefined ? undefined : new Launcher(startScale);
  }

  /** Checks, before any behaviour runs, that the targets given for these kinds answer. */
  async reach(kinds: ReadonlySet<TargetKind>): Promise<void> {
    const { target, faultTarget, startScale } = this.#options;
    const needsTarget = kinds.has('core') || (kinds.has('scale') && startScale === undefined);
    if (needsTarget && target !== undefined) await this.#sessionOf(target);
    if (kinds.has('fault') && faultTarget !== undefined) await this.#sessionOf(faultTarget);
  }

  /** A session with the target of a kind. Throws `Skip` if there is no such provider. */
  open(targetKind: TargetKind): Promise<TargetSession> {
    switch (targetKind) {
      case 'core':
        return this.#givenOr(CORE_SEED, this.#options.target);
      case 'scale':
        return this.#openScale();
      case 'fault':
        return this.#openFault();
      case 'durable':
        return this.#openDurable();
    }
  }

  get machinesUsed(): number {
    return this.#all().reduce((sum, { pool }) => sum + pool.used, 0);
  }

  /** Drains and deletes the machines used at given providers, and kills the providers that were started. */
  async close(): Promise<void> {
    for (const session of this.#given.values()) await session.tidy();
    for (const session of this.#all()) session.close();
    this.#launcher?.close();
    this.#scaleLauncher?.close();
  }

  #all(): readonly TargetSession[] {
    return [...this.#given.values(), ...this.#started];
  }

  async #givenOr(seedCount: number, target: Target | undefined): Promise<TargetSession> {
    if (target !== undefined) return await this.#sessionOf(target);
    const { session } = await this.#start(this.#launcherOrSkip(), { seedCount });
    return session;
  }

  async #sessionOf(target: Target): Promise<TargetSession> {
    const known = this.#given.get(target);
    if (known !== undefined) return known;
    const session = new TargetSession(
      typeof target === 'string' ? connectTo(target, this.#credentials) : target,
      this.#options.settings,
    );
    this.#given.set(target, session);
    const problem = await session.problem();
    if (problem === undefined) return session;
    session.lost = problem;
    const advice =
      typeof target === 'string'
        ? await tlsAdvice(problem, { address: target, hasFiles: this.#credentials !== undefined })
        : null;
    const why = advice ?? problem;
    throw new BigFleetError('BF_TARGET_UNREACHABLE', `The provider at ${textOfTarget(target)}: ${why}.`);
  }

  async #openFault(): Promise<TargetSession> {
    const { faultTarget, start, target } = this.#options;
    const given = faultTarget ?? (start === undefined ? target : undefined);
    const session = await this.#givenOr(FAULT_SEED, given);
    if (await session.pool.hasFaults(session.calls())) return session;
    throw new Skip(
      `no machine is labelled ${CREATE_FAULT_LABEL}=error, so this is no fault provider: give one with --fault-target`,
    );
  }

  async #openScale(): Promise<TargetSession> {
    const { target, startScale, settings } = this.#options;
    if (startScale === undefined && target !== undefined) return await this.#sessionOf(target);
    this.#scaleLauncher ??= this.#statelessLauncher();
    const { session } = await this.#start(this.#scaleLauncher, { seedCount: settings.scaleSeed });
    return session;
  }

  /** The start command without its state file: the scale target measures the provider, not its writes. */
  #statelessLauncher(): Launcher {
    const { template } = this.#launcherOrSkip();
    const stateless = withoutState(template);
    if (stateless !== null) return new Launcher(stateless);
    throw new Skip('the start command cannot be used without its {state}: name another with --start-scale');
  }

  async #openDurable(): Promise<TargetSession> {
    const launcher = this.#launcherOrSkip();
    if (!launcher.keepsState) throw new Skip('the start command has no place for {state}');
    const state = launcher.newState();
    let before: BeforeKill | undefined;
    await this.#runAndKill(launcher, { state }, async (session) => {
      before = await fillStage(session.trial());
    });
    const { session } = await this.#start(launcher, { state });
    let interrupted: Promise<Interrupted> | undefined;
    session.durable = {
      before: before!,
      inventoryAfter: await inventoryOf(session.trial()),
      interrupted: () => {
        interrupted ??= this.#interrupt(launcher);
        return interrupted;
      },
    };
    return session;
  }

  async #interrupt(launcher: Launcher): Promise<Interrupted> {
    const options = { state: launcher.newState(), transitionTimeoutMs: LONG_TIMEOUT_MS };
    let isHanging = false;
    let interrupted: readonly InterruptedConfigure[] = [];
    await this.#runAndKill(launcher, options, async (session, provider) => {
      isHanging = await session.pool.hasFaults(session.calls());
      const trial = session.trial();
      interrupted = isHanging
        ? [await hangInConfiguring(trial)]
        : await killInConfiguring(trial, () => provider.kill());
    });
    const { session } = await this.#start(launcher, options);
    const trial = session.trial();
    const machines = await Promise.all(
      interrupted.map(async (each) => ({
        ...each,
        after: await (isHanging ? trial.read(each.id) : rests(trial, each.id)),
      })),
    );
    return { isHanging, machines };
  }

  async #runAndKill(
    launcher: Launcher,
    options: StartChoices,
    use: (session: TargetSession, provider: ProviderProcess) => Promise<void>,
  ): Promise<void> {
    const { session, provider } = await this.#start(launcher, options);
    try {
      await use(session, provider);
    } finally {
      await provider.kill();
    }
  }

  async #start(launcher: Launcher, choices: StartChoices): Promise<Started> {
    const { settings } = this.#options;
    const {
      state = launcher.newState(),
      seedCount = CORE_SEED,
      transitionTimeoutMs = settings.transitionTimeoutMs,
    } = choices;
    const provider = await launcher.start({ state, seedCount, transitionTimeoutMs });
    const session = new TargetSession(connectTo(provider.address, this.#credentials), settings);
    this.#started.push(session);
    await isUp(provider, session, settings.timings.startMs);
    return { provider, session };
  }

  #launcherOrSkip(): Launcher {
    if (this.#launcher === undefined)
      throw new Skip('there is no provider for this: name a target, or a command that starts one');
    return this.#launcher;
  }
}

interface StartChoices {
  readonly state?: string;
  readonly seedCount?: number;
  readonly transitionTimeoutMs?: number;
}

interface Started {
  readonly provider: ProviderProcess;
  readonly session: TargetSession;
}

/** The machine once it has left Configuring. */
function rests(trial: Trial, id: string): Promise<Machine> {
  return trial.leaves(id, [MachineState.Configuring], trial.timings.configureMs);
}

async function isUp(provider: ProviderProcess, session: TargetSession, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const problem = await session.problem();
    if (problem === undefined) return;
    const why = provider.ended() ?? (performance.now() > until ? problem : undefined);
    if (why !== undefined) {
      throw new BigFleetError('BF_START_FAILED', `The started provider did not answer: ${why}.`);
    }
    await sleep(50);
  }
}

export function textOfTarget(target: Target): string {
  return typeof target === 'string' ? target : 'this process';
}

/** Whether an error of opening a target speaks about the provider rather than about our own code. */
export function isAboutProvider(error: unknown): error is Error {
  return error instanceof Failure || error instanceof BigFleetError;
}
