// Settings of the fake cloud, all of which can be changed while it runs. One schema bounds each number; the presets, the
// command line and the control port use the same names.

import { BigFleetError, type Problem, printable } from '../../model/index.ts';
import { PRESETS } from './presets.ts';

/** A duration with a long tail: the median in ms, and the spread of a log-normal distribution (0: always the median). */
export interface Latency {
  readonly medianMs: number;
  readonly spread: number;
}

/** All settings of a fake cloud. */
export interface FakeSettings {
  /** Duration of a transition: drawn from the latency of its kind, times the factor of the capacity type. */
  readonly latency: {
    readonly create: Latency;
    readonly configure: Latency;
    /** Time for the pods to leave; capped by the grace period. */
    readonly drain: Latency;
    readonly delete: Latency;
    readonly factor: {
      readonly bareMetal: number;
      readonly reserved: number;
      readonly onDemand: number;
      readonly spot: number;
    };
  };
  /** Outcomes of transitions, as probabilities per transition unless noted. */
  readonly operations: {
    /** Per attempt: the attempt fails. The backend retries up to three times; then the machine is Failed. */
    readonly transientError: number;
    /** The transition fails without a retry. */
    readonly permanentError: number;
    /** Takes `slowFactor` times as long and ignores its abort signal; after a timeout the kit drops the result. */
    readonly slow: number;
    readonly slowFactor: number;
    /** The transition ends only when its signal aborts. */
    readonly hang: number;
    /** Configure only: the host has its blob, but the node never becomes Ready. */
    readonly neverReady: number;
  };
  /** Drift of spot prices and interruption rates; those of other capacity types are constant. */
  readonly market: {
    /** Largest deviation of a price from its base, as a fraction of the base. */
    readonly priceSwing: number;
    /** Largest deviation of an interruption probability from its base, as a fraction of the base. */
    readonly rateSwing: number;
    /** Interval between two moves of one offering in one zone. */
    readonly stepMs: number;
    /** Interval at which the provider polls the market; if anything moved, it describes every machine again. */
    readonly refreshMs: number;
  };
  /** An offering is out of stock in a zone with probability `outChance`, for `outMs` at a time. */
  readonly stock: {
    readonly outChance: number;
    readonly outMs: number;
  };
  /** Most hosts at a time, by `OFFERING` (in each zone) or `OFFERING/ZONE`; pools without an entry have no limit. */
  readonly quotas: Readonly<Record<string, number>>;
  /** Hosts lost without a call. */
  readonly losses: {
    /** Multiplier on the interruption rate that a spot offering declares. */
    readonly interruptionFactor: number;
    /** Probability per hour that a host of any capacity type dies. */
    readonly deathsPerHour: number;
    /** Delay until a Failed machine is a quota slot again, or repaired if its host is owned. 0: never. */
    readonly cleanupMs: number;
    /** Interval between two draws of losses. */
    readonly tickMs: number;
  };
  /** Faults between caller and provider, as probabilities per call unless the name has another unit. */
  readonly transport: {
    /** Median delay of every call, log-normally distributed. */
    readonly delayMs: number;
    /** UNAVAILABLE; the call did not reach the provider. */
    readonly unavailable: number;
    /** UNAVAILABLE; the provider ran the call, and its answer was lost. */
    readonly lostReply: number;
    /** The provider receives the call twice; the caller receives the first answer. */
    readonly duplicate: number;
    /** The call is delayed by up to `reorderMs`, so that later calls overtake it. */
    readonly reorder: number;
    readonly reorderMs: number;
    /** The answer is delayed by a log-normal time with median `slowMs`. */
    readonly slow: number;
    readonly slowMs: number;
    /** No answer for `hangMs`, then UNAVAILABLE; the provider ran half of such calls. */
    readonly hang: number;
    readonly hangMs: number;
    /** RESOURCE_EXHAUSTED; the call did not reach the provider. */
    readonly throttle: number;
    /** Calls above this rate get RESOURCE_EXHAUSTED; 0: no limit. */
    readonly callsPerSecond: number;
    /** List only: records are missing, and the revision says that the list is complete. */
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
/** Below 1, so that prices and rates stay above 0: a spot offering must declare an interruption probability. */
const SWING: Range = { least: 0, most: 0.95 };
const FACTOR: Range = { least: 0, most: 1_000_000 };
/** The longest delay of a Node timer. */
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

/** The presets: without failures, like a real cloud on an ordinary day, and like one on its worst. */
export const PRESET_NAMES = ['calm', 'realistic', 'hostile'] as const;
/** One of `PRESET_NAMES`. */
export type PresetName = (typeof PRESET_NAMES)[number];

/** The settings of a preset. */
export function presetSettings(name: PresetName): FakeSettings {
  return PRESETS[name];
}

/** Settings with an untrusted patch applied. Throws with all problems of the patch if it has any. */
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

/** Parses `transport.lostReply=0.1` into a patch. After `quotas.`, dots are part of the pool's name. */
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

/** Keys are names of offerings or pools; null removes a quota. */
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
