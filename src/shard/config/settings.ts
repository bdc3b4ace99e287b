// All settings of a shard in one table: key in the YAML file, kind of value, default and description. The names of
// variables and flags, the output of --print-config and docs/reference/configuration.md are derived from it.

import { CapacityType, MachineState } from '../../model/index.ts';
import { DEFAULT_LIMITS as DEFAULT_CALL_LIMITS } from '../../provider/client/call-limits.ts';
import type { BackoffLimits } from '../../runtime/backoff.ts';
import { JOURNAL_LIMITS } from '../journal/format.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import { DEFAULT_SESSION_LIMITS, FRAME_BYTES_RANGE } from '../sessions/limits.ts';
import {
  ACCELERATORS,
  ADDRESS,
  autoOr,
  COUNTER,
  DOLLAR_LIMIT,
  duration,
  HOLD,
  type Kind,
  NAME,
  number,
  OPTIONAL_PATH,
  oneOf,
  PATH,
  PRICES,
  PROVIDERS,
  type ProviderSpec,
  RECLAIM_HOLD,
  SWITCH,
  whole,
} from './kinds.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly defaultValue: T;
  /** What the setting does, and what goes wrong if the value is too small or too large. */
  readonly about: string;
  /** The flag without the dashes; undefined if only the file and the environment have the setting. */
  readonly flag: string | undefined;
}

const {
  cycle,
  engine,
  guardrails,
  spending,
  weights,
  releaseHoldSeconds,
  economy,
  renewal,
  actuation,
  scheduler,
  reconcile,
} = DEFAULT_CONTROLLER;

function setting<T>(kind: Kind<T>, defaultValue: T, about: string, flag?: string): Setting<T> {
  return { kind, defaultValue, about, flag };
}

/** Base and maximum of an exponential backoff. */
function backoff<const K extends string>(key: K, { baseMs, maxMs }: BackoffLimits, about: string) {
  return {
    [`${key}.base`]: setting(
      duration('1ms'),
      baseMs,
      `${about}: delay after the first failure; it doubles with each further one.`,
    ),
    [`${key}.max`]: setting(duration('1ms'), maxMs, `${about}: maximum delay.`),
  } as Record<`${K}.base` | `${K}.max`, Setting<number>>;
}

function hold(type: CapacityType, name: string, flag?: string): Setting<number> {
  const about = `How long an Idle ${name} machine without a claim is kept before it is released.`;
  return setting(HOLD, releaseHoldSeconds.get(type) ?? 0, about, flag);
}

function deadline(state: keyof typeof actuation.deadlineMs, about: string): Setting<number> {
  return setting(duration('1s'), actuation.deadlineMs[state], about);
}

const MIB = 1024 * 1024;
const POSITIVE = whole(1, 1_000_000);

const SETTINGS = {
  id: setting(
    NAME,
    'shard-0',
    'Name of the shard, by which providers and the coordinator identify it; must be unique among shards.',
    'id',
  ),
  listen: setting(ADDRESS, '127.0.0.1:7780', 'Address for sessions of operators (gRPC).', 'listen'),
  api: setting(
    ADDRESS,
    '127.0.0.1:8780',
    'Address of the read and control API, metrics and health checks: HTTP, or HTTPS if the TLS files are given.',
    'api',
  ),
  dataDir: setting(
    PATH,
    'bigfleet-data',
    'Directory of the durable state. Only one process may use it at a time; it must be on persistent storage.',
    'data-dir',
  ),
  providers: setting<readonly ProviderSpec[]>(
    PROVIDERS,
    [],
    'Capacity providers, at least one. Metrics, logs and commands use their names. The flag may be repeated; flags replace the list of the file.',
    'provider',
  ),
  epochAtLeast: setting(
    COUNTER,
    0n,
    'Start with this epoch if the next one is lower. For a shard that has lost its data directory; remove it after the start.',
    'epoch-at-least',
  ),
  'tls.cert': setting(
    OPTIONAL_PATH,
    undefined,
    'Certificate of this shard in PEM, presented to operators and providers. Give all three TLS files, or none for plaintext.',
    'tls-cert',
  ),
  'tls.key': setting(OPTIONAL_PATH, undefined, 'Private key of the certificate in PEM.', 'tls-key'),
  'tls.ca': setting(
    OPTIONAL_PATH,
    undefined,
    'Certificate authority that verifies operators, providers and API callers, in PEM.',
    'tls-ca',
  ),
  'tls.api': setting(
    SWITCH,
    true,
    'Serve the API with TLS if the TLS files are given. false: plaintext, for a browser or a scraper on this machine that has no certificate.',
    'tls-api',
  ),
  apiTokensFile: setting(
    OPTIONAL_PATH,
    undefined,
    'File with the tokens of callers of the API, for people and programs without a certificate; see docs/operate/security.md. Only its owner may write it. Read again when it changes.',
    'api-tokens-file',
  ),
  insecure: setting(
    SWITCH,
    false,
    'Allow plaintext on addresses other than loopback. Every host that can reach the port of sessions then has full access there, and tokens of API callers can be read on the way; the API still requires tokens.',
    'insecure',
  ),
  'cycle.interval': setting(
    duration('10ms'),
    cycle.intervalMs,
    'Longest time between two cycles.',
    'cycle-interval',
  ),
  'cycle.spacing': setting(
    duration('0s'),
    cycle.spacingMs,
    'Shortest time from the end of a cycle to the next one that changed demand triggers. Shorter serves a burst sooner and batches fewer changes.',
    'cycle-spacing',
  ),
  'cycle.readyWait': setting(
    duration('0s'),
    cycle.readyWaitMs,
    'How long decisions wait at the start for providers that do not answer. Too short: the shard buys capacity again that their machines already provide.',
    'ready-wait',
  ),
  'phase1.workers': setting(
    autoOr(whole(1, 1024)),
    'auto' as const,
    'Threads that compute a decision; auto: the number of cores minus one, at least one. Does not change decisions.',
    'phase1-workers',
  ),
  'phase1.lanes': setting(
    autoOr(whole(1, 1024), 'fixed:'),
    engine.lanes,
    'Lanes that serve rows from the shared pools at once; auto: as many as pay. Does not change decisions.',
    'phase1-lanes',
  ),
  'phase1.retries': setting(
    whole(0, 1000),
    engine.retries,
    'How often a lane that waits for another looks again before it parks its thread. Does not change decisions.',
    'phase1-retries',
  ),
  'phase1.incremental': setting(
    SWITCH,
    engine.incremental,
    'Reuse the credit of clusters that did not change. Does not change decisions; cycles take longer without it.',
  ),
  'phase1.checkEvery': setting(
    whole(0, 1_000_000),
    engine.checkEvery,
    'Compare every Nth incremental cycle with a full solve; 0: never.',
  ),
  'guardrails.reclaimCapFraction': setting(
    number(0, 1),
    guardrails.reclaimFraction,
    'Fraction of a cluster that may be reclaimed in a cycle and in any 10 s; one machine is always allowed. Small: a cluster that shrank is paid for longer. Large: a wrong roll-up drains a cluster before an administrator can react.',
    'reclaim-cap-fraction',
  ),
  'guardrails.maxActionsPerCycle': setting(
    whole(0, 1_000_000_000),
    guardrails.maxActionsPerCycle,
    'Maximum number of actions per cycle, not counting preemptions; 0: no limit.',
    'max-actions-per-cycle',
  ),
  'guardrails.maxPurchasedPerHour': setting(
    DOLLAR_LIMIT,
    spending.maxPurchasedPerHour,
    'Ceiling on the price per hour of all purchased machines, those being created included; owned capacity (bare metal, reserved) is not counted. Purchases beyond it stop in rank order with the reason spend-limit; binding and preemption go on. 0: nothing is bought.',
    'max-purchased-per-hour',
  ),
  'guardrails.maxPurchasedPerHourOf': setting<ReadonlyMap<string, number>>(
    PRICES,
    spending.maxPurchasedPerHourOf,
    'The same ceiling by cluster, for machines that are bound to the cluster or on their way to it; the name * is for each cluster that is not named. The flag may be repeated; flags replace the limits of the file.',
    'max-purchased-per-hour-of',
  ),
  'guardrails.renewalFraction': setting(
    number(0, 1),
    renewal.fraction,
    'Fraction of the Configured machines of a cluster, and of all clusters, that are replaced by cheaper ones at a time; four machines are always allowed. Small: an old fleet is expensive for longer. Large: more machines are paid twice while they are replaced.',
    'renewal-fraction',
  ),
  'guardrails.dryRun': setting(
    SWITCH,
    guardrails.dryRun,
    'Decide and report, but execute no action.',
    'dry-run',
  ),
  'victimWeights.priority': setting(
    number(0, 1e9),
    weights.priority,
    'Weight of the distance in priority when a victim is chosen.',
  ),
  'victimWeights.drainSpeed': setting(
    number(0, 1e9),
    weights.drainSpeed,
    'Weight of a short drain when a victim is chosen.',
  ),
  'victimWeights.interruption': setting(
    number(0, 1e9),
    weights.interruption,
    'Weight of a low interruption penalty when a victim is chosen.',
  ),
  'victimWeights.reclamation': setting(
    number(0, 1e9),
    weights.reclamation,
    'Weight of a low reclamation penalty when a victim is chosen.',
  ),
  sharing: setting(
    oneOf('on', 'off'),
    economy.sharing,
    'Whether a row may count on what other rows of its cluster leave over of their machines. off: every machine serves one row.',
    'sharing',
  ),
  poolOrder: setting(
    oneOf('coverage', 'price'),
    economy.poolOrder,
    'How a row orders free machines: by the price of covering what it still wants, or by the price of one machine, which prefers many small machines.',
    'pool-order',
  ),
  accelerators: setting(
    ACCELERATORS,
    { order: economy.accelerators, ignore: [...economy.ignoredAccelerators] },
    'When rows use machines with accelerators that they did not ask for. last: after all other machines, so that owned machines with accelerators stay idle while others are bought. Accelerators are resources with a / in their name outside kubernetes.io, except those to ignore.',
    'accelerators',
  ),
  reclaimHold: setting(
    RECLAIM_HOLD,
    economy.reclaimHoldSeconds,
    'How long a bound machine stays unclaimed before it is reclaimed. Short: noise in the demand drains machines in use. Long: excess machines cost longer. Longer than machines take to boot; 0: no hold. A restart of the shard starts it over.',
    'reclaim-hold',
  ),
  renewal: setting(
    oneOf('on', 'off'),
    renewal.isOn ? ('on' as const) : ('off' as const),
    'Whether machines are replaced by others that serve the same rows for less, a few at a time. Needs sharing and a reclaimHold. off: rows keep the machines that they have.',
    'renewal',
  ),
  'releaseHold.bareMetal': hold(CapacityType.BareMetal, 'bare-metal'),
  'releaseHold.reserved': hold(CapacityType.Reserved, 'reserved'),
  'releaseHold.onDemand': hold(CapacityType.OnDemand, 'on-demand', 'release-hold-on-demand'),
  'releaseHold.spot': hold(CapacityType.Spot, 'spot', 'release-hold-spot'),
  ownedPrices: setting<ReadonlyMap<string, number>>(
    PRICES,
    new Map(),
    'Price shown for owned machines that their provider reports at 0, by instance type, or as bare-metal and reserved for all other types. Shown separately from hourly cost; does not change decisions. The flag may be repeated; flags replace the prices of the file.',
    'owned-price',
  ),
  'actuation.concurrency': setting(
    POSITIVE,
    scheduler.mutations,
    'Concurrent calls that change machines, over all providers. Lower delays a burst; higher only fills the queues of providers.',
    'execute-concurrency',
  ),
  'actuation.concurrencyPerProvider': setting(
    POSITIVE,
    scheduler.mutationsPerProvider,
    'Concurrent calls that change machines at one provider, so that a slow provider does not use up all of them.',
    'execute-concurrency-per-provider',
  ),
  'actuation.getsPerProvider': setting(
    POSITIVE,
    scheduler.getsPerProvider,
    'Concurrent Get calls at one provider.',
  ),
  'actuation.queuePerProvider': setting(
    POSITIVE,
    actuation.queuePerProvider,
    'Maximum number of actions that wait for a provider. Actions of more than a few cycles only become stale.',
  ),
  'actuation.attempts': setting(
    whole(1, 100),
    actuation.attempts,
    'How often a change is sent to a provider before its machine is left alone for a while. The machine is read before each further attempt.',
  ),
  'actuation.bootstrapTimeout': setting(
    duration('1s'),
    actuation.bootstrapMs,
    'How long an operator may take to render the bootstrap blob of a machine.',
    'bootstrap-timeout',
  ),
  'actuation.protection': setting(
    duration('1s'),
    actuation.protectedMs,
    'How long a machine is not reclaimed again after its cluster could not drain it. Shorter tries budgets that still block more often; longer keeps excess machines.',
  ),
  'actuation.records': setting(
    whole(0, 1_000_000),
    actuation.records,
    'Number of finished actions kept for display.',
  ),
  ...backoff('actuation.retry', actuation.retry, 'Delay between two calls for one action'),
  ...backoff(
    'actuation.machineBackoff',
    actuation.machine,
    'Time without actions on a machine whose action failed',
  ),
  ...backoff(
    'actuation.offeringBackoff',
    actuation.offering,
    'Time without purchases of an offering that was sold out',
  ),
  ...backoff(
    'actuation.clusterBackoff',
    actuation.cluster,
    'Time without requests to a cluster that returned no bootstrap blob',
  ),
  'actuation.deadlines.creating': deadline(
    MachineState.Creating,
    'How long a machine may be Creating before a Get determines its state. Choose it longer than the timeout of the provider.',
  ),
  'actuation.deadlines.configuring': deadline(
    MachineState.Configuring,
    'How long a machine may be Configuring before a Get determines its state.',
  ),
  'actuation.deadlines.draining': deadline(
    MachineState.Draining,
    'How long a machine may be Draining, in addition to the grace period of its pods, before a Get determines its state.',
  ),
  'actuation.deadlines.deleting': deadline(
    MachineState.Deleting,
    'How long a machine may be Deleting before a Get determines its state.',
  ),
  'calls.timeout': setting(
    duration('100ms'),
    DEFAULT_CALL_LIMITS.callMs,
    'How long a call to a provider may take, with all its attempts; only reads have several. A provider that hangs is detected after this.',
    'call-timeout',
  ),
  'calls.attemptTimeout': setting(
    duration('100ms'),
    DEFAULT_CALL_LIMITS.attemptMs,
    'How long one attempt of a call may take. Short leaves time for another when an answer is lost.',
  ),
  'calls.listTimeout': setting(
    duration('100ms'),
    DEFAULT_CALL_LIMITS.listMs,
    'How long a List call may take. The answer for half a million machines has 150 MB.',
  ),
  'breaker.failures': setting(
    POSITIVE,
    scheduler.breakerFailures,
    'Consecutive calls without an answer after which the circuit breaker of a provider opens.',
  ),
  ...backoff('breaker', scheduler.breaker, 'Time the circuit breaker of a provider stays open'),
  'reconcile.interval': setting(
    duration('10ms'),
    reconcile.changesMs,
    'Time from the end of one read of a provider to the next. Lower detects changes sooner and puts more load on the provider.',
    'reconcile-interval',
  ),
  'reconcile.fullInterval': setting(
    duration('100ms'),
    reconcile.fullMs,
    'Interval of complete reads, which alone show machines that no longer exist. Several providers take turns.',
    'reconcile-full-interval',
  ),
  ...backoff('reconcile.retry', reconcile.retry, 'Delay after a read that failed'),
  'limits.sessions': setting(
    whole(1, 100_000),
    DEFAULT_SESSION_LIMITS.sessions,
    'Maximum number of clusters with a session. Further ones are refused with RESOURCE_EXHAUSTED and the time of their next attempt.',
  ),
  'limits.greetingPerPeer': setting(
    whole(1, 100_000),
    DEFAULT_SESSION_LIMITS.greetingPerPeer,
    'Maximum number of streams without a hello per connection, and under TLS per certificate. Raise it for a proxy that multiplexes many operators over one connection; too high: one connection can block other operators.',
  ),
  'limits.frameBytes': setting(
    whole(FRAME_BYTES_RANGE.min, FRAME_BYTES_RANGE.max),
    DEFAULT_SESSION_LIMITS.frameBytes,
    'Maximum size of one frame of an operator, in bytes. A larger frame is dropped and recorded as a refused roll-up; a frame of more than twice the size ends its session. Higher allows a single roll-up to use more memory.',
  ),
  'limits.waitingBytes': setting(
    autoOr(whole(FRAME_BYTES_RANGE.min, 2 ** 40)),
    'auto' as const,
    'Maximum size of all roll-ups that wait to be read, in bytes. A roll-up beyond the limit is dropped, and its operator sends it again. auto: 256 MiB or two of the largest frames, whichever is more.',
  ),
  'limits.rollupRows': setting(
    whole(1, 1_000_000),
    DEFAULT_SESSION_LIMITS.rollupRows,
    'Maximum number of rows in one roll-up; a row with many values counts as several. A roll-up with more is refused as a whole. A row takes about 10 us to read and 1 KiB of memory.',
  ),
  'limits.rollupInterval': setting(
    duration('0s'),
    DEFAULT_SESSION_LIMITS.rollupIntervalMs,
    'Shortest time between two changed roll-ups of a cluster that are read; of those in between only the newest is read. Small: one cluster can keep the reader busy. Large: demand is noticed late.',
  ),
  'limits.demandRows': setting(
    whole(1, 100_000_000),
    DEFAULT_SESSION_LIMITS.demandRows,
    'Maximum number of rows of all clusters. A roll-up beyond the limit is refused, and the previous one of its cluster remains in force. Each row takes about 1 KiB of memory.',
  ),
  'limits.demandMebibytes': setting(
    whole(1, 1_000_000),
    DEFAULT_SESSION_LIMITS.demandBytes / MIB,
    'Maximum size of the roll-ups of all clusters in MiB, as received; they are kept to be compared with the next ones.',
  ),
  'journal.enabled': setting(
    SWITCH,
    true,
    'Record the input and the result of every cycle, for "bigfleet replay" and "bigfleet history".',
    'journal',
  ),
  'journal.maxBytes': setting(
    whole(2 ** 20, 2 ** 50),
    JOURNAL_LIMITS.maxBytes,
    'Maximum size of the journal, in bytes; the oldest entries are dropped. Small: "bigfleet history" cannot reach far back.',
    'journal-max-bytes',
  ),
  'journal.maxAge': setting(
    duration('1m'),
    JOURNAL_LIMITS.maxAgeMs,
    'Maximum age of journal entries; older ones are dropped regardless of its size.',
    'journal-max-age',
  ),
  'log.level': setting(
    oneOf('debug', 'info', 'warn', 'error'),
    'info' as const,
    'Lowest level that is logged.',
    'log-level',
  ),
  'log.format': setting(
    oneOf('auto', 'json', 'text'),
    'auto' as const,
    'Format of log lines, one per event; auto: text on a terminal, otherwise JSON.',
    'log-format',
  ),
};

export type SettingKey = keyof typeof SETTINGS;

/** Every setting with its value. */
export type Values = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

export const KEYS = Object.keys(SETTINGS) as SettingKey[];

export function settingOf(key: SettingKey): Setting<unknown> {
  return SETTINGS[key] as Setting<unknown>;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

export const VARIABLE_PREFIX = 'BIGFLEET_SHARD_';

/** The environment variable of a setting: cycle.readyWait is BIGFLEET_SHARD_CYCLE_READY_WAIT. */
export function variableOf(key: string): string {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('.', '_');
  return `${VARIABLE_PREFIX}${words.toUpperCase()}`;
}
