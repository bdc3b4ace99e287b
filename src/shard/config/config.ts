// The configuration of a shard. Precedence, lowest first: defaults, one YAML file, the environment, flags. All
// problems are reported at once, each with its source: line, variable or flag. Loaded by cli/shard.ts and cli/up;
// process/shard.ts starts from it.

import { availableParallelism } from 'node:os';
import { CapacityType, MachineState, ok, type Problem, type Result, refused } from '../../model/index.ts';
import type { CallLimits } from '../../provider/index.ts';
import { isLoopback, type TlsFiles } from '../../wire/grpc/tls-files.ts';
import type { JournalLimits } from '../journal/format.ts';
import { type ControllerOptions, DEFAULT_CONTROLLER } from '../planning/options.ts';
import { DEFAULT_RENEWAL } from '../planning/renewal-options.ts';
import type { SessionLimits } from '../sessions/limits.ts';
import { described, type ProviderSpec } from './kinds.ts';
import { KEYS, type SettingKey, settingOf, type Values, variableOf } from './settings.ts';
import { type Flags, fromEnvironment, fromFile, fromFlags, type Given, problem } from './sources.ts';

type Controller = Omit<ControllerOptions, 'shard' | 'epoch' | 'providers' | 'seed'>;

export interface ShardConfig extends Controller {
  readonly id: string;
  /** Sessions of operators, gRPC. */
  readonly listen: string;
  /** Read and control API, metrics and health; HTTP. */
  readonly api: string;
  readonly dataDir: string;
  readonly providers: readonly ProviderSpec[];
  /** null: plaintext. */
  readonly tls: TlsFiles | null;
  /** TLS files of the API; null: plaintext. */
  readonly apiTls: TlsFiles | null;
  /** File with the tokens of API callers. */
  readonly apiTokensFile: string | undefined;
  readonly insecure: boolean;
  /** How long calls to providers may take. */
  readonly calls: Pick<CallLimits, 'callMs' | 'attemptMs' | 'listMs'>;
  /** Lowest epoch to start with; 0: no lower bound. */
  readonly epochAtLeast: bigint;
  /** Limits that are not listed have their defaults. */
  readonly limits: Pick<
    SessionLimits,
    'sessions' | 'rollupRows' | 'rollupIntervalMs' | 'demandRows' | 'demandBytes'
  > &
    Partial<SessionLimits>;
  readonly journal: JournalLimits & { readonly isEnabled: boolean };
  readonly log: { readonly level: Values['log.level']; readonly format: Values['log.format'] };
}

export interface ConfigSources {
  readonly file?: { readonly path: string; readonly text: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
}

export interface LoadedConfig {
  readonly config: ShardConfig;
  readonly values: Values;
  /** The source that each given value was taken from. */
  readonly origins: ReadonlyMap<SettingKey, string>;
}

/** `toStart`: also checks what a shard needs to run, such as a provider. */
export function loadConfig({ file, env, flags }: ConfigSources, toStart: boolean): Result<LoadedConfig> {
  const sources = [
    ...(file === undefined ? [] : [fromFile(file.path, file.text)]),
    fromEnvironment(env),
    fromFlags(flags),
  ];
  const problems: Problem[] = sources.flatMap((source) => source.problems);
  const values: Record<string, unknown> = { ...defaultValues() };
  const origins = new Map<SettingKey, string>();
  for (const given of sources.flatMap((source) => source.given)) {
    const value = valueFrom(given, problems);
    if (value === undefined) continue;
    values[given.key] = value;
    origins.set(given.key, given.where);
  }
  const typed = values as unknown as Values;
  // A file that could not be read may contain what is missing or resolve a contradiction.
  if (!sources.some(({ isUnread }) => isUnread)) {
    problems.push(...contradictions(typed, (key) => origins.get(key) ?? key));
    const given = sources.flatMap((source) => source.given);
    if (toStart && typed.providers.length === 0 && !isTried('providers', given))
      problems.push(problem('providers', NO_PROVIDER));
  }
  return problems.length > 0 ? refused(problems) : ok({ config: configOf(typed), values: typed, origins });
}

const NO_PROVIDER = `At least one is needed: --provider NAME=HOST:PORT, ${variableOf('providers')}, or providers in the file.`;

/** The configuration with every setting at its default; it has no providers. */
export function defaultConfig(): ShardConfig {
  return configOf(defaultValues());
}

export function controllerOptionsOf(config: ShardConfig, epoch: bigint, seed: number): ControllerOptions {
  const { id, providers, cycle, engine, guardrails, spending, weights, releaseHoldSeconds } = config;
  const { economy, renewal, ownedPrices, actuation, scheduler, reconcile, largeFleet } = config;
  return {
    shard: id,
    epoch,
    seed,
    providers: providers.map(({ name }) => name),
    ...{
      cycle,
      engine,
      guardrails,
      spending,
      weights,
      releaseHoldSeconds,
      economy,
      renewal,
      ownedPrices,
      actuation,
      scheduler,
      reconcile,
      largeFleet,
    },
  };
}

function defaultValues(): Values {
  return Object.fromEntries(KEYS.map((key) => [key, settingOf(key).defaultValue])) as unknown as Values;
}

function valueFrom({ key, raw, where }: Given, problems: Problem[]): unknown {
  const { kind } = settingOf(key);
  const { success, data } = kind.type.safeParse(raw);
  if (!success) problems.push(problem(where, `Expected ${kind.what}, found ${described(raw)}.`));
  return data;
}

/** Whether a value was given, even if it was refused: the problem is then the value, not its absence. */
function isTried(key: SettingKey, given: readonly Given[]): boolean {
  return given.some((each) => each.key === key && !(Array.isArray(each.raw) && each.raw.length === 0));
}

/** Problems of settings in combination. `where` returns the source of a setting, or its key if it has its default. */
function contradictions(values: Values, where: (key: SettingKey) => string): Problem[] {
  return [
    ...tlsProblems(values, where),
    ...plaintextProblems(values, where),
    ...identityProblems(values, where),
    ...providerProblems(values, where),
    ...orderProblems(values, where),
  ];
}

function tlsProblems(values: Values, where: (key: SettingKey) => string): Problem[] {
  const keys = ['tls.cert', 'tls.key', 'tls.ca'] as const;
  const given = keys.filter((key) => values[key] !== undefined);
  if (given.length === 0 || given.length === keys.length) return [];
  const missing = keys.filter((key) => values[key] === undefined);
  return [
    problem(where(given[0]!), `All three TLS files are needed or none; missing: ${missing.join(', ')}.`),
  ];
}

function plaintextProblems(values: Values, where: (key: SettingKey) => string): Problem[] {
  if (values.insecure) return [];
  const refusal = (place: string, address: string, remedy: string): Problem[] =>
    isLoopback(address)
      ? []
      : [problem(place, `${address} is not on loopback and would be plaintext; ${remedy}`)];
  const isPlain = values['tls.cert'] === undefined;
  const grpcRemedy = 'give the TLS files, or use --insecure if the network is trusted.';
  return [
    ...(isPlain ? refusal(where('listen'), values.listen, grpcRemedy) : []),
    ...(isPlain
      ? values.providers.flatMap(({ address }) => refusal(where('providers'), address, grpcRemedy))
      : []),
    ...(isPlain || !values['tls.api']
      ? refusal(
          where('api'),
          values.api,
          'keep it on loopback, give the TLS files and leave tls.api true, or use --insecure if the network is trusted.',
        )
      : []),
  ];
}

/** `insecure` is about plaintext only: off loopback the API needs to know its callers in any case. */
function identityProblems(values: Values, where: (key: SettingKey) => string): Problem[] {
  const { api, apiTokensFile, insecure } = values;
  const isPlain = values['tls.cert'] === undefined || !values['tls.api'];
  if (!insecure || !isPlain || apiTokensFile !== undefined || isLoopback(api)) return [];
  const message = `${api} is not on loopback, and callers would be unknown; keep it on loopback, serve it with the TLS files, or set apiTokensFile.`;
  return [problem(where('api'), message)];
}

function providerProblems({ providers, listen, api }: Values, where: (key: SettingKey) => string): Problem[] {
  const names = providers.map(({ name }) => name);
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  const problems = [...twice].map((name) => problem(where('providers'), `Two providers are named ${name}.`));
  if (listen === api && !listen.endsWith(':0'))
    problems.push(problem(where('api'), 'The address is the same as listen.'));
  return problems;
}

/** Pairs whose first value must not be larger than the second. */
const ORDERED: readonly (readonly [SettingKey, SettingKey])[] = [
  ...KEYS.filter((key) => key.endsWith('.base')).map((key) => [key, key.replace('.base', '.max')] as const),
  ['reconcile.interval', 'reconcile.fullInterval'],
  // A comparison with "auto" is always false.
  ['limits.frameBytes', 'limits.waitingBytes'],
] as [SettingKey, SettingKey][];

function orderProblems(values: Values, where: (key: SettingKey) => string): Problem[] {
  return ORDERED.filter(([low, high]) => (values[low] as number) > (values[high] as number)).map(
    ([low, high]) => problem(where(low), `${low} is more than ${high}.`),
  );
}

function configOf(values: Values): ShardConfig {
  const { id, listen, api, dataDir, providers, insecure, epochAtLeast } = values;
  const [cert, key, ca] = [values['tls.cert'], values['tls.key'], values['tls.ca']];
  const tls = cert !== undefined && key !== undefined && ca !== undefined ? { cert, key, ca } : null;
  return {
    ...{ id, listen, api, dataDir, providers, insecure, epochAtLeast, tls },
    calls: {
      callMs: values['calls.timeout'],
      attemptMs: values['calls.attemptTimeout'],
      listMs: values['calls.listTimeout'],
    },
    apiTls: values['tls.api'] ? tls : null,
    apiTokensFile: values.apiTokensFile,
    limits: sessionLimitsOf(values),
    journal: {
      isEnabled: values['journal.enabled'],
      maxBytes: values['journal.maxBytes'],
      maxAgeMs: values['journal.maxAge'],
    },
    log: { level: values['log.level'], format: values['log.format'] },
    ...controllerOf(values),
  };
}

function sessionLimitsOf(values: Values): ShardConfig['limits'] {
  const waitingBytes = values['limits.waitingBytes'];
  return {
    sessions: values['limits.sessions'],
    greetingPerPeer: values['limits.greetingPerPeer'],
    frameBytes: values['limits.frameBytes'],
    ...(waitingBytes === 'auto' ? {} : { waitingBytes }),
    rollupRows: values['limits.rollupRows'],
    rollupIntervalMs: values['limits.rollupInterval'],
    demandRows: values['limits.demandRows'],
    demandBytes: values['limits.demandMebibytes'] * 1024 * 1024,
  };
}

function controllerOf(values: Values): Controller {
  const workers = values['phase1.workers'];
  return {
    // No setting: it depends on the engine only.
    largeFleet: DEFAULT_CONTROLLER.largeFleet,
    cycle: {
      intervalMs: values['cycle.interval'],
      spacingMs: values['cycle.spacing'],
      readyWaitMs: values['cycle.readyWait'],
    },
    engine: {
      workers: workers === 'auto' ? Math.max(1, availableParallelism() - 1) : workers,
      lanes: values['phase1.lanes'],
      retries: values['phase1.retries'],
      incremental: values['phase1.incremental'],
      checkEvery: values['phase1.checkEvery'],
    },
    guardrails: {
      reclaimFraction: values['guardrails.reclaimCapFraction'],
      maxActionsPerCycle: values['guardrails.maxActionsPerCycle'],
      dryRun: values['guardrails.dryRun'],
    },
    spending: {
      maxPurchasedPerHour: values['guardrails.maxPurchasedPerHour'],
      maxPurchasedPerHourOf: values['guardrails.maxPurchasedPerHourOf'],
    },
    weights: {
      priority: values['victimWeights.priority'],
      drainSpeed: values['victimWeights.drainSpeed'],
      interruption: values['victimWeights.interruption'],
      reclamation: values['victimWeights.reclamation'],
    },
    releaseHoldSeconds: new Map([
      [CapacityType.BareMetal, values['releaseHold.bareMetal']],
      [CapacityType.Reserved, values['releaseHold.reserved']],
      [CapacityType.OnDemand, values['releaseHold.onDemand']],
      [CapacityType.Spot, values['releaseHold.spot']],
    ]),
    economy: {
      sharing: values.sharing,
      reclaimHoldSeconds: values.reclaimHold,
      poolOrder: values.poolOrder,
      accelerators: values.accelerators.order,
      ignoredAccelerators: new Set(values.accelerators.ignore),
    },
    renewal: {
      ...DEFAULT_RENEWAL,
      isOn: values.renewal === 'on',
      fraction: values['guardrails.renewalFraction'],
    },
    ownedPrices: values.ownedPrices,
    ...limitsOf(values),
  };
}

function limitsOf(values: Values): Pick<Controller, 'actuation' | 'scheduler' | 'reconcile'> {
  const backoff = <K extends string>(key: K & BackoffKey) => ({
    baseMs: values[`${key}.base`],
    maxMs: values[`${key}.max`],
  });
  return {
    actuation: {
      bootstrapMs: values['actuation.bootstrapTimeout'],
      protectedMs: values['actuation.protection'],
      attempts: values['actuation.attempts'],
      retry: backoff('actuation.retry'),
      machine: backoff('actuation.machineBackoff'),
      offering: backoff('actuation.offeringBackoff'),
      cluster: backoff('actuation.clusterBackoff'),
      queuePerProvider: values['actuation.queuePerProvider'],
      deadlineMs: {
        [MachineState.Creating]: values['actuation.deadlines.creating'],
        [MachineState.Configuring]: values['actuation.deadlines.configuring'],
        [MachineState.Draining]: values['actuation.deadlines.draining'],
        [MachineState.Deleting]: values['actuation.deadlines.deleting'],
      },
      records: values['actuation.records'],
    },
    scheduler: {
      mutations: values['actuation.concurrency'],
      mutationsPerProvider: values['actuation.concurrencyPerProvider'],
      getsPerProvider: values['actuation.getsPerProvider'],
      breakerFailures: values['breaker.failures'],
      breaker: backoff('breaker'),
    },
    reconcile: {
      changesMs: values['reconcile.interval'],
      fullMs: values['reconcile.fullInterval'],
      retry: backoff('reconcile.retry'),
    },
  };
}

type BackoffKey = SettingKey extends infer K ? (K extends `${infer Start}.base` ? Start : never) : never;
