// Every setting of a shard in one table: its key in the YAML file, what it may be, its default and what it is for. The
// names of variables and flags, what --print-config prints and docs/reference/configuration.md all come from here.

import { CapacityType, MachineState } from '../../model/index.ts';
import { DEFAULT_LIMITS as DEFAULT_CALL_LIMITS } from '../../provider/client/call-limits.ts';
import type { BackoffLimits } from '../../runtime/backoff.ts';
import { JOURNAL_LIMITS } from '../journal/format.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import { DEFAULT_HANDS_LIMITS, FRAME_BYTES_RANGE } from '../sessions/limits.ts';
import {
  ADDRESS,
  autoOr,
  COUNTER,
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
  SWITCH,
  whole,
} from './kinds.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly standard: T;
  /** What it is for, and what goes wrong on either side. */
  readonly about: string;
  /** Its flag without the dashes; none: the file and the environment only. */
  readonly flag: string | undefined;
}

const { cycle, engine, guardrails, weights, releaseHoldSeconds, actuation, scheduler, reconcile } =
  DEFAULT_CONTROLLER;

function setting<T>(kind: Kind<T>, standard: T, about: string, flag?: string): Setting<T> {
  return { kind, standard, about, flag };
}

/** Both ends of a back-off. */
function backoff<const K extends string>(key: K, { baseMs, maxMs }: BackoffLimits, about: string) {
  return {
    [`${key}.base`]: setting(
      duration('1ms'),
      baseMs,
      `${about}: after the first failure; it doubles with each.`,
    ),
    [`${key}.max`]: setting(duration('1ms'), maxMs, `${about}: at most.`),
  } as Record<`${K}.base` | `${K}.max`, Setting<number>>;
}

function hold(type: CapacityType, name: string, flag?: string): Setting<number> {
  const about = `How long an Idle ${name} machine that nobody wants is kept before it is given back.`;
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
    'Name of the shard. Providers and the coordinator know it by this; two shards never share one.',
    'id',
  ),
  listen: setting(ADDRESS, '127.0.0.1:7780', 'Where operators connect, over gRPC.', 'listen'),
  api: setting(
    ADDRESS,
    '127.0.0.1:8780',
    'Where the read and control API, metrics and health are, over HTTP; over HTTPS where the TLS files are given.',
    'api',
  ),
  dataDir: setting(
    PATH,
    'bigfleet-data',
    'Directory of everything that outlives the process. One process at a time; keep it on a disk that lasts.',
    'data-dir',
  ),
  providers: setting<readonly ProviderSpec[]>(
    PROVIDERS,
    [],
    'Capacity providers, at least one. Names are part of metrics, logs and commands. The flag may be repeated; flags replace the list of the file.',
    'provider',
  ),
  epochAtLeast: setting(
    COUNTER,
    0n,
    'Begin at this epoch if the next one is lower. For a shard that has lost its data directory; take it out after the start.',
    'epoch-at-least',
  ),
  'tls.cert': setting(
    OPTIONAL_PATH,
    undefined,
    'Certificate of this shard in PEM, for operators and providers alike. All three files, or none for plaintext.',
    'tls-cert',
  ),
  'tls.key': setting(OPTIONAL_PATH, undefined, 'Its key in PEM.', 'tls-key'),
  'tls.ca': setting(OPTIONAL_PATH, undefined, 'The authority that all ends trust, in PEM.', 'tls-ca'),
  'tls.api': setting(
    SWITCH,
    true,
    'Serve the API with the TLS files too. false: in plaintext, for a browser or a scraper on this machine that has no certificate.',
    'tls-api',
  ),
  insecure: setting(
    SWITCH,
    false,
    'Allow plaintext on addresses other than loopback, the API included. Whoever reaches the port may do everything.',
    'insecure',
  ),
  'cycle.interval': setting(
    duration('10ms'),
    cycle.intervalMs,
    'A cycle comes at least so often.',
    'cycle-interval',
  ),
  'cycle.spacing': setting(
    duration('0s'),
    cycle.spacingMs,
    'From the end of one cycle to the next that changed demand asks for. Shorter serves a burst sooner and sums up less.',
    'cycle-spacing',
  ),
  'cycle.readyWait': setting(
    duration('0s'),
    cycle.readyWaitMs,
    'How long decisions wait at the start for providers that do not answer. Too short, and what their machines do is bought again elsewhere.',
    'ready-wait',
  ),
  'phase1.workers': setting(
    autoOr(whole(1, 1024)),
    'auto' as const,
    'Threads that share a decision; auto: one less than there are cores, at least one. Never changes a decision.',
    'phase1-workers',
  ),
  'phase1.lanes': setting(
    autoOr(whole(1, 1024), 'fixed:'),
    engine.lanes,
    'Rows served from shared pools at a time. Never changes a decision.',
    'phase1-lanes',
  ),
  'phase1.retries': setting(
    whole(0, 1000),
    engine.retries,
    'How often a row in conflict is solved again before it waits. Never changes a decision.',
    'phase1-retries',
  ),
  'phase1.incremental': setting(
    SWITCH,
    engine.incremental,
    'Keep the credit of clusters that did not change. Never changes a decision; off costs time.',
  ),
  'phase1.checkEvery': setting(
    whole(0, 1_000_000),
    engine.checkEvery,
    'Every so many incremental cycles one is compared with a full solve; 0: none.',
  ),
  'guardrails.reclaimCapFraction': setting(
    number(0, 1),
    guardrails.reclaimFraction,
    'Share of a cluster that may be reclaimed in a cycle and in any 10 s; one machine may always go. Small: a shrunken cluster is paid for longer. Large: a wrong roll-up drains a cluster before anybody sees.',
    'reclaim-cap-fraction',
  ),
  'guardrails.maxActionsPerCycle': setting(
    whole(0, 1_000_000_000),
    guardrails.maxActionsPerCycle,
    'Actions a cycle, preemptions apart; 0: no limit.',
    'max-actions-per-cycle',
  ),
  'guardrails.dryRun': setting(SWITCH, guardrails.dryRun, 'Decide and show, carry out nothing.', 'dry-run'),
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
  'releaseHold.bareMetal': hold(CapacityType.BareMetal, 'bare-metal'),
  'releaseHold.reserved': hold(CapacityType.Reserved, 'reserved'),
  'releaseHold.onDemand': hold(CapacityType.OnDemand, 'on-demand', 'release-hold-on-demand'),
  'releaseHold.spot': hold(CapacityType.Spot, 'spot', 'release-hold-spot'),
  ownedPrices: setting<ReadonlyMap<string, number>>(
    PRICES,
    new Map(),
    'What owned machines that their provider prices at 0 are shown at, by instance type, or with bare-metal and reserved for all other types. Shown apart from what is paid by the hour; never changes a decision. The flag may be repeated; flags replace what the file says.',
    'owned-price',
  ),
  'actuation.concurrency': setting(
    POSITIVE,
    scheduler.mutations,
    'Calls that change machines at a time, of all providers. Lower starves a burst; higher only fills the queues of providers.',
    'execute-concurrency',
  ),
  'actuation.concurrencyPerProvider': setting(
    POSITIVE,
    scheduler.mutationsPerProvider,
    'Calls that change machines at a time at one provider, so that a slow one does not take them all.',
    'execute-concurrency-per-provider',
  ),
  'actuation.getsPerProvider': setting(
    POSITIVE,
    scheduler.getsPerProvider,
    'Gets at a time at one provider.',
  ),
  'actuation.queuePerProvider': setting(
    POSITIVE,
    actuation.queuePerProvider,
    'Actions that may wait for a provider. More than a few cycles decide only grows stale.',
  ),
  'actuation.attempts': setting(
    whole(1, 100),
    actuation.attempts,
    'Times a change is sent to a provider before its machine is given up for now. Before each further one the machine is read.',
  ),
  'actuation.bootstrapTimeout': setting(
    duration('1s'),
    actuation.bootstrapMs,
    'How long an operator may take to render the blob that a machine joins with.',
    'bootstrap-timeout',
  ),
  'actuation.records': setting(
    whole(0, 1_000_000),
    actuation.records,
    'Ended actions that are kept to be shown.',
  ),
  ...backoff('actuation.retry', actuation.retry, 'Wait between two calls for one action'),
  ...backoff(
    'actuation.machineBackoff',
    actuation.machine,
    'Time a machine is left alone when its action failed',
  ),
  ...backoff(
    'actuation.offeringBackoff',
    actuation.offering,
    'Time nothing of an offering is bought when it was sold out',
  ),
  ...backoff(
    'actuation.clusterBackoff',
    actuation.cluster,
    'Time a cluster that sent no blob is asked for none',
  ),
  'actuation.deadlines.creating': deadline(
    MachineState.Creating,
    'How long a machine may be Creating before a Get decides. Longer than providers take to give up.',
  ),
  'actuation.deadlines.configuring': deadline(MachineState.Configuring, 'The same of Configuring.'),
  'actuation.deadlines.draining': deadline(
    MachineState.Draining,
    'The same of Draining, on top of the grace that pods get.',
  ),
  'actuation.deadlines.deleting': deadline(MachineState.Deleting, 'The same of Deleting.'),
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
    'How long a List may take. Half a million machines are 150 MB.',
  ),
  'breaker.failures': setting(
    POSITIVE,
    scheduler.breakerFailures,
    'Calls in a row without an answer after which a provider is left alone for a while.',
  ),
  ...backoff('breaker', scheduler.breaker, 'How long it is left alone'),
  'reconcile.interval': setting(
    duration('10ms'),
    reconcile.changesMs,
    'From the end of one reading of a provider to the next. Lower finds changes sooner and costs the provider more.',
    'reconcile-interval',
  ),
  'reconcile.fullInterval': setting(
    duration('100ms'),
    reconcile.fullMs,
    'How often everything is read, which alone shows what is gone. Several providers take turns.',
    'reconcile-full-interval',
  ),
  ...backoff('reconcile.retry', reconcile.retry, 'Wait after a reading that failed'),
  'limits.sessions': setting(
    whole(1, 100_000),
    DEFAULT_HANDS_LIMITS.sessions,
    'Clusters with a session at a time. Others are refused with RESOURCE_EXHAUSTED and told when to come again.',
  ),
  'limits.greetingPerPeer': setting(
    whole(1, 100_000),
    DEFAULT_HANDS_LIMITS.greetingPerPeer,
    'Streams without a hello that one connection may have, and under TLS one certificate. Raise it for a proxy that puts the streams of many operators on one connection; too high, and one connection keeps operators out.',
  ),
  'limits.frameBytes': setting(
    whole(FRAME_BYTES_RANGE.min, FRAME_BYTES_RANGE.max),
    DEFAULT_HANDS_LIMITS.frameBytes,
    'Size of one frame of an operator, in bytes. A larger one is dropped and recorded as a refused roll-up; one of more than twice the size ends its session. Higher lets a single roll-up take more memory.',
  ),
  'limits.waitingBytes': setting(
    autoOr(whole(FRAME_BYTES_RANGE.min, 2 ** 40)),
    'auto' as const,
    'Bytes of roll-ups that wait to be read, of all clusters. A roll-up beyond is dropped, and its operator sends it again. auto: 256 MiB or two of the largest frames, whichever is more.',
  ),
  'limits.rollupRows': setting(
    whole(1, 1_000_000),
    DEFAULT_HANDS_LIMITS.rollupRows,
    'Rows of one roll-up; a row with many values counts as several. One with more is refused as a whole. A row takes about 10 us to read and a kilobyte of memory.',
  ),
  'limits.rollupInterval': setting(
    duration('0s'),
    DEFAULT_HANDS_LIMITS.rollupIntervalMs,
    'Least time between two changed roll-ups of a cluster that are read; of those in between the newest is read. Small: one cluster can keep the reader busy. Large: demand is seen late.',
  ),
  'limits.demandRows': setting(
    whole(1, 100_000_000),
    DEFAULT_HANDS_LIMITS.demandRows,
    'Rows of all clusters together. A roll-up beyond is refused and the last one of its cluster stays. Reckon with a kilobyte of memory for each.',
  ),
  'limits.demandMebibytes': setting(
    whole(1, 1_000_000),
    DEFAULT_HANDS_LIMITS.demandBytes / MIB,
    'The same in MiB of roll-ups as they were sent, which are kept to compare the next ones with.',
  ),
  'journal.enabled': setting(
    SWITCH,
    true,
    'Write down what every cycle decided on and came to, for "bigfleet replay" and "bigfleet history".',
    'journal',
  ),
  'journal.maxBytes': setting(
    whole(2 ** 20, 2 ** 50),
    JOURNAL_LIMITS.maxBytes,
    'Size of the journal, in bytes; the oldest is dropped. Small: it does not reach back to what people ask about.',
    'journal-max-bytes',
  ),
  'journal.maxAge': setting(
    duration('1m'),
    JOURNAL_LIMITS.maxAgeMs,
    'What is older is dropped from the journal, however small it is.',
    'journal-max-age',
  ),
  'log.level': setting(
    oneOf('debug', 'info', 'warn', 'error'),
    'info' as const,
    'The least that is logged.',
    'log-level',
  ),
  'log.format': setting(
    oneOf('auto', 'json', 'text'),
    'auto' as const,
    'One line of JSON or of text for each event; auto: text on a terminal.',
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
