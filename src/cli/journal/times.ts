// Parses and formats the times of the commands that read a journal (history.ts, replay.ts), and their flags for a span
// of time.

import { Option } from 'commander';
import type { Span } from '../../shard/index.ts';
import { instant } from '../amounts.ts';
import { timeOf } from '../flags.ts';
import { asCalledHere } from '../invocation.ts';
import { proseWidth, wrapped } from '../table.ts';

export interface SpanFlags {
  readonly from?: number;
  readonly to?: number;
}

/** Where a shard keeps its journal unless told otherwise. */
export const DEFAULT_DATA_DIR = 'bigfleet-data';

export function dataDirOption(): Option {
  return new Option('--data-dir <path>', 'data directory of the shard, running or not');
}

export function spanOptions(): readonly Option[] {
  const read = (text: string): number => timeOf(text);
  return [
    new Option('--from <time>', 'the first time, or how long ago (default: all that is kept)').argParser(
      read,
    ),
    new Option('--to <time>', 'the last time, or how long ago').argParser(read),
  ];
}

export function spanOf({ from, to }: SpanFlags): Span {
  return { fromMs: from ?? Number.NEGATIVE_INFINITY, toMs: to ?? Number.POSITIVE_INFINITY };
}

/** `2026-03-01T12:00:00.250Z  what happened`; a text longer than a line of the terminal continues below itself. */
export function timedLines(ms: number, text: string): string {
  const time = `${instant(ms)}  `;
  return wrapped(asCalledHere(text), proseWidth() - time.length)
    .map((line, i) => `${i === 0 ? time : ' '.repeat(time.length)}${line}\n`)
    .join('');
}
