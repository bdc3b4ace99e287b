// Parses values of flags that several commands share, such as `--limit` of `bigfleet get` and `--seed` of `bigfleet
// up`.

import { InvalidArgumentError, Option } from 'commander';

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number below 10^9.');
  return Number(text);
}

export function epochNumber(text: string): number {
  const epoch = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(epoch))
    throw new InvalidArgumentError(
      'It must be an epoch, as "bigfleet replay" and "describe cycle" print it.',
    );
  return epoch;
}

/** Of items to show: an empty list is no answer. */
export function positiveNumber(text: string): number {
  if (/^0*$/.test(text)) throw new InvalidArgumentError('It must be at least 1.');
  return wholeNumber(text);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000 },
  ...{ h: 3_600_000, d: 86_400_000 },
};

/** A flag such as `10s`, read as milliseconds. */
export function durationOption(flag: string, description: string, defaultText?: string): Option {
  const option = new Option(flag, description).argParser(durationMs);
  return defaultText === undefined ? option : option.default(durationMs(defaultText), defaultText);
}

function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('It must be a duration such as 500ms, 10s or 2m.');
  return Number(match[1]) * UNIT_MS[match[2]!]!;
}

/** Parses a time such as `2026-03-01T12:00:00Z`, or an age such as `10m`, into ms since the epoch. */
export function timeOf(text: string, nowMs: number = Date.now()): number {
  const ago = /^(\d{1,9})([smhd])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * UNIT_MS[ago[2]!]!;
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      'It must be a time such as 2026-03-01T12:00:00Z, or a duration before now, such as 10m.',
    );
  return ms;
}
