// Parses and formats the times of the commands that read a journal (history.ts, replay.ts), and their flags for a span
// of time.

import { InvalidArgumentError, Option } from 'commander';
import { ALWAYS, type Span } from '../../shard/journal/journal-reader.ts';
import { instant } from '../amounts.ts';
import { asCalledHere } from '../invocation.ts';
import { proseWidth, wrapped } from '../table.ts';

export interface SpanFlags {
  readonly dataDir: string;
  readonly from?: number;
  readonly to?: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

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

export function spanOptions(): readonly Option[] {
  const read = (text: string): number => timeOf(text);
  return [
    new Option('--data-dir <path>', 'data directory of the shard, running or not').default('bigfleet-data'),
    new Option('--from <time>', 'the first time, or how long ago (default: all that is kept)').argParser(
      read,
    ),
    new Option('--to <time>', 'the last time, or how long ago').argParser(read),
  ];
}

export function spanOf({ from, to }: SpanFlags): Span {
  return { fromMs: from ?? ALWAYS.fromMs, toMs: to ?? ALWAYS.toMs };
}

/** `2026-03-01T12:00:00.250Z  what happened`; a text longer than a line of the terminal continues below itself. */
export function timedLines(ms: number, text: string): string {
  const time = `${instant(ms)}  `;
  return wrapped(asCalledHere(text), proseWidth() - time.length)
    .map((line, i) => `${i === 0 ? time : ' '.repeat(time.length)}${line}\n`)
    .join('');
}
