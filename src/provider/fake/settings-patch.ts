// Changes to the settings of a fake cloud: the bounds of every number, and patches from the control port
// (`FakeCloud.set`) and from the flag `--set` of `bigfleet provider fake`.

import * as z from 'zod';
import { BigFleetError, printable } from '../../model/index.ts';
import { isObject, mapOf, numberIn, requireValid } from '../../runtime/validation.ts';
import type { FakeSettings, SettingsPatch } from './settings.ts';

const RATE = numberIn({ min: 0, max: 1 });
/** Below 1, so that prices and rates stay above 0: a spot offering must declare an interruption probability. */
const SWING = numberIn({ min: 0, max: 0.95 });
const FACTOR = numberIn({ min: 0, max: 1_000_000 });
/** The longest delay of a Node timer. */
const MAX_MS = 2 ** 31 - 1;
const MS = numberIn({ min: 0, max: MAX_MS });
const STEP_MS = numberIn({ min: 1, max: MAX_MS });
const COUNT = numberIn({ min: 0, max: 2 ** 31 - 1, integer: true });

/** An object of which a patch has some fields. */
function section<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape).partial();
}

const LATENCY = section({ medianMs: MS, spread: numberIn({ min: 0, max: 5 }) });

const PATCH = section({
  latency: section({
    create: LATENCY,
    configure: LATENCY,
    drain: LATENCY,
    delete: LATENCY,
    factor: section({ bareMetal: FACTOR, reserved: FACTOR, onDemand: FACTOR, spot: FACTOR }),
  }),
  operations: section({
    transientError: RATE,
    permanentError: RATE,
    slow: RATE,
    slowFactor: FACTOR,
    hang: RATE,
    neverReady: RATE,
  }),
  market: section({ priceSwing: SWING, rateSwing: SWING, stepMs: STEP_MS, refreshMs: STEP_MS }),
  stock: section({ outChance: RATE, outMs: STEP_MS }),
  quotas: mapOf(COUNT.nullable()).transform((quotas) => Object.fromEntries(quotas)),
  losses: section({ interruptionFactor: FACTOR, deathsPerHour: RATE, cleanupMs: MS, tickMs: STEP_MS }),
  transport: section({
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
  }),
});

/** Settings with an untrusted patch applied. Throws with all problems of the patch if it has any. */
export function patchSettings(settings: FakeSettings, patch: unknown): FakeSettings {
  const changes = requireValid(PATCH, patch, 'BF_INPUT_INVALID', 'The settings of the fake cloud');
  return merged(settings, changes) as FakeSettings;
}

/** null removes an entry, which only quotas may have. */
function merged(current: object, patch: object): object {
  const result = new Map<string, unknown>(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    const before = result.get(key);
    if (value === null) result.delete(key);
    else if (isObject(value) && isObject(before)) result.set(key, merged(before, value));
    else if (value !== undefined) result.set(key, value);
  }
  return Object.fromEntries(result);
}

/** Parses `transport.lostReply=0.1` into a patch. After `quotas.`, dots are part of the offering's or zone's name. */
export function patchOf(assignment: string): SettingsPatch {
  const equals = assignment.lastIndexOf('=');
  const value = Number(assignment.slice(equals + 1));
  const path = assignment.slice(0, equals);
  const parts = path.startsWith('quotas.') ? ['quotas', path.slice('quotas.'.length)] : path.split('.');
  const isNumber = equals > 0 && assignment.slice(equals + 1).trim() !== '' && !Number.isNaN(value);
  if (!isNumber) throw new BigFleetError('BF_USAGE', `"${printable(assignment)}" is not NAME=NUMBER.`);
  return parts.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as SettingsPatch;
}
