// Everything about the fake cloud that can be turned, also while it runs. One table says what each number means and
// where it may lie; the presets, the command line and the control port all speak of the same names.

import { BigFleetError, type Problem, printable } from '../../model/index.ts';
import { PRESETS } from './presets.ts';

/** A duration with a long tail: the median in ms, and the spread of a log-normal distribution (0: always the median). */
interface Latency {
  readonly medianMs: number;
  readonly spread: number;
}

export interface FakeSettings {
  /** How long transitions take: drawn per kind, times the factor of the capacity type. */
  readonly latency: {
    readonly create: Latency;
    readonly configure: Latency;
    /** Pods leaving; cut short by the grace period. */
    readonly drain: Latency;
    readonly delete: Latency;
    readonly factor: {
      readonly bareMetal: number;
      readonly reserved: number;
      readonly onDemand: number;
      readonly spot: number;
    };
  };
  /** What becomes of transitions; each a chance per transition. */
  readonly operations: {
    /** An attempt fails and is made again by the backend, up to three times; then the machine is Failed. Per attempt. */
    readonly transientError: number;
    /** Fails for good. */
    readonly permanentError: number;
    /** Takes `slowFactor` times as long and does not stop when told to: past the timeout it ends for nobody. */
    readonly slow: number;
    readonly slowFactor: number;
    /** Never ends by itself. */
    readonly hang: number;
    /** Configure alone: the host has its blob, but the node never becomes Ready. */
    readonly neverReady: number;
  };
  /** Spot prices and interruption rates; those of other capacity stand still. */
  readonly market: {
    /** How far a price strays from its base, as a share of it. */
    readonly priceSwing: number;
    /** The same for the chance of an interruption. */
    readonly rateSwing: number;
    /** Each offering and zone moves once per so many ms. */
    readonly stepMs: number;
    /** How often the provider looks. */
    readonly refreshMs: number;
  };
  /** An offering is out of stock in a zone with this chance, for `outMs` at a time. */
  readonly stock: {
    readonly outChance: number;
    readonly outMs: number;
  };
  /** Hosts that may exist at a time, by `OFFERING` (each zone) or `OFFERING/ZONE`; what is not named has no limit. */
  readonly quotas: Readonly<Record<string, number>>;
  /** Hosts that go away by themselves. */
  readonly losses: {
    /** Spot interruptions as a multiple of what the offering declares. */
    readonly interruptionFactor: number;
    /** Chance per hour that a host of any kind dies. */
    readonly deathsPerHour: number;
    /** A Failed machine is cleaned up after so many ms: a quota slot again, or repaired if the host is owned. 0: never. */
    readonly cleanupMs: number;
    /** How often losses are looked for. */
    readonly tickMs: number;
  };
  /** What happens to calls on their way; each a chance per call unless it is a number of its own. */
  readonly transport: {
    /** Every call takes so long, long tail included. */
    readonly delayMs: number;
    /** UNAVAILABLE; the call never arrived. */
    readonly unavailable: number;
    /** UNAVAILABLE; the call was made, its answer got lost. */
    readonly lostReply: number;
    /** The call arrives twice; the caller sees the first answer. */
    readonly duplicate: number;
    /** Held back for up to `reorderMs`, so that later calls overtake it. */
    readonly reorder: number;
    readonly reorderMs: number;
    /** The answer takes about `slowMs`. */
    readonly slow: number;
    readonly slowMs: number;
    /** No answer for `hangMs`, then UNAVAILABLE; half of such calls were made. */
    readonly hang: number;
    readonly hangMs: number;
    /** RESOURCE_EXHAUSTED; nothing was done. */
    readonly throttle: number;
    /** The same for everything above so many calls per second; 0: no limit. */
    readonly callsPerSecond: number;
    /** List alone: records are missing although the answer looks whole. */
    readonly partialList: number;
  };
}

type DeepPartial<T> = { readonly [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };
/** Some of the settings; the rest stay. */
export type SettingsPatch = DeepPartial<FakeSettings>;

interface Range {
  readonly least: number;
  readonly most: number;
}
type Schema<T> = { readonly [K in keyof T]: T[K] extends number ? Range : Schema<T[K]> };

const RATE: Range = { least: 0, most: 1 };
/** Below 1, since a price or rate that may reach 0 would be no price, and no spot offering. */
const SWING: Range = { least: 0, most: 0.95 };
const FACTOR: Range = { least: 0, most: 1_000_000 };
/** What a timer of Node can count. */
const MS: Range = { least: 0, most: 2 ** 31 - 1 };
const STEP_MS: Range = { least: 1, most: MS.most };
const LATENCY: Schema<Latency> = { medianMs: MS, spread: { least: 0, most: 5 } };
const COUNT: Range = { least: 0, most: 2 ** 31 - 1 };

const SCHEMA: Schema<Omit<FakeSettings, 'quotas'>> = {
  latency: {
    create: LATENCY,
    configure: LATENCY,
    drain: LATENCY,
    delete: LATENCY,
    factor: { bareMetal: FACTOR, reserved: FACTOR, onDemand: FACTOR, spot: FACTOR },
  },
  operations: {
    transientError: RATE,
    permanentError: RATE,
    slow: RATE,
    slowFactor: FACTOR,
    hang: RATE,
    neverReady: RATE,
  },
  market: { priceSwing: SWING, rateSwing: SWING, stepMs: STEP_MS, refreshMs: STEP_MS },
  stock: { outChance: RATE, outMs: STEP_MS },
  losses: { interruptionFactor: FACTOR, deathsPerHour: RATE, cleanupMs: MS, tickMs: STEP_MS },
  transport: {
    delayMs: MS,
    unavailable: RATE,
    lostReply: RATE,
    duplicate: RATE,
    reorder: RATE,
    reorderMs: MS,
    slow: RATE,
    slowMs: MS,
    hang: RATE,
    hangMs: MS,
    throttle: RATE,
    callsPerSecond: FACTOR,
    partialList: RATE,
  },
};

export const PRESET_NAMES = ['calm', 'realistic', 'hostile'] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export function presetSettings(name: PresetName): FakeSettings {
  return PRESETS[name];
}

/** Settings with a patch laid over them. The patch may come from anywhere; refused as a whole if anything in it is wrong. */
export function patchSettings(settings: FakeSettings, patch: unknown): FakeSettings {
  const problems: Problem[] = [];
  const patched = isObject(patch) ? patchObject(settings, patch, SCHEMA, '', problems) : settings;
  if (!isObject(patch)) problems.push(problem('', 'This is no object.'));
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => `\n  ${path}: ${message}`).join('');
    throw new BigFleetError('BF_INPUT_INVALID', `The settings of the fake cloud:${lines}\n`);
  }
  return patched;
}

/** A patch from words such as `transport.lostReply=0.1`; a name with dots goes into a quota unharmed. */
export function patchOf(words: string): SettingsPatch {
  const equals = words.lastIndexOf('=');
  const value = Number(words.slice(equals + 1));
  const path = words.slice(0, equals);
  const parts = path.startsWith('quotas.') ? ['quotas', path.slice('quotas.'.length)] : path.split('.');
  const isNumber = equals > 0 && words.slice(equals + 1).trim() !== '' && !Number.isNaN(value);
  if (!isNumber) throw new BigFleetError('BF_USAGE', `"${printable(words)}" is not NAME=NUMBER.`);
  return parts.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as SettingsPatch;
}

function patchObject<T extends object>(
  current: T,
  patch: Readonly<Record<string, unknown>>,
  schema: object,
  path: string,
  problems: Problem[],
): T {
  const patched = { ...current } as Record<string, unknown>;
  for (const [key, value] of Object.entries(patch)) {
    const here = path === '' ? key : `${path}.${key}`;
    if (here === 'quotas') {
      patched[key] = patchQuotas(patched[key] as FakeSettings['quotas'], value, problems);
      continue;
    }
    const expected: unknown = Object.hasOwn(schema, key) ? schema[key as keyof typeof schema] : undefined;
    if (expected === undefined) problems.push(problem(here, 'There is no such setting.'));
    else if (isRange(expected)) {
      if (isWithin(value, expected)) patched[key] = value;
      else problems.push(problem(here, `It must be a number from ${expected.least} to ${expected.most}.`));
    } else if (isObject(value)) {
      patched[key] = patchObject(patched[key] as object, value, expected as object, here, problems);
    } else problems.push(problem(here, 'It must be an object.'));
  }
  return patched as T;
}

/** Quotas are named by their pools; null lifts one. */
function patchQuotas(
  current: FakeSettings['quotas'],
  patch: unknown,
  problems: Problem[],
): FakeSettings['quotas'] {
  if (!isObject(patch)) {
    problems.push(problem('quotas', 'It must be an object.'));
    return current;
  }
  const patched = new Map(Object.entries(current));
  for (const [pool, value] of Object.entries(patch)) {
    if (value === null) patched.delete(pool);
    else if (isWithin(value, COUNT) && Number.isInteger(value)) patched.set(pool, value);
    else
      problems.push(problem(`quotas.${pool}`, 'It must be a whole number, 0 or more, or null for no limit.'));
  }
  return Object.fromEntries(patched);
}

function problem(path: string, message: string): Problem {
  return { code: 'BF_INPUT_INVALID', path: printable(path), message };
}

function isWithin(value: unknown, { least, most }: Range): value is number {
  return typeof value === 'number' && value >= least && value <= most;
}

function isRange(value: unknown): value is Range {
  return isObject(value) && typeof value['least'] === 'number';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
