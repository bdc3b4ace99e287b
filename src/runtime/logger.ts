// The log of a process: one line for each event, as JSON for programs or as text for people. Names of events are stable;
// people search and alert by them. Bytes are never written, only how many there are: a bootstrap blob is a secret, and
// nothing else that is logged is bytes. Made by cli/shard.ts, cli/operator.ts
// and cli/up.

import { styleText } from 'node:util';
import { type DestinationStream, pino } from 'pino';
import { printable } from '../model/index.ts';
import { type FieldLimits, plainFields } from './log-fields.ts';
import { LogWriter } from './log-writer.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One event. Given Errors, bigints, maps and sets it writes what is in them. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface LoggerOptions {
  /** Who writes, in every line: the name of the field and its value, such as shard and shard-0. */
  readonly source: Readonly<Record<string, string>>;
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  /** Colours in text. */
  readonly isColoured?: boolean;
}

export function makeLog(options: LoggerOptions, to: { write(line: string): unknown }): Log {
  const { source, level, format, isColoured = false } = options;
  const reserved = new Set([...RESERVED, ...Object.keys(source)]);
  const stream: DestinationStream =
    format === 'json'
      ? { write: (line) => void to.write(line) }
      : { write: (line) => void to.write(`${lineOf(JSON.parse(line) as Line, reserved, isColoured)}\n`) };
  const logger = pino(
    {
      level,
      base: { ...source },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return (at, event, fields = {}) => {
    if (logger.isLevelEnabled(at)) logger[at]({ event, ...lineFields(fields, reserved) });
  };
}

/** Limit for lines buffered for a slow reader, 16 MiB; lines beyond it are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Longest wait for the reader of the last lines when the process exits. */
const FLUSH_MS = 1000;

export interface LogFile {
  readonly log: Log;
  /** Waits at most FLUSH_MS for buffered lines; resolves to whether they were written. The last step before exit. */
  flush(): Promise<boolean>;
}

/** Writes to standard error without blocking. */
export function logToStderr(options: Omit<LoggerOptions, 'isColoured' | 'format'> & LogFormat): LogFile {
  // Reading `process.stderr` also makes a pipe non-blocking, which the writer relies on.
  const { isTTY } = process.stderr;
  const format = options.format === 'auto' ? (isTTY ? 'text' : 'json') : options.format;
  const writer = new LogWriter(2, MAX_WAITING_BYTES);
  process.on('exit', () => writer.writeNow());
  // `getColorDepth` honours NO_COLOR, TERM=dumb and similar conventions.
  const isColoured = isTTY && process.stderr.getColorDepth() > 1;
  return { log: makeLog({ ...options, format, isColoured }, writer), flush: () => writer.flush(FLUSH_MS) };
}

interface LogFormat {
  /** auto: text on a terminal. */
  readonly format: 'auto' | 'json' | 'text';
}

/** A line has at most 16 KiB: its fields, and a kilobyte for what every line has. One text is at most a long stack. */
const FIELD_LIMITS: FieldLimits = { bytes: 15 * 1024, textBytes: 4_000 };

/** Fields of every line. An event's field of the same name gets an underscore, so that neither is lost. */
const RESERVED = ['level', 'time', 'event'] as const;

function lineFields(
  fields: Readonly<Record<string, unknown>>,
  reserved: ReadonlySet<string>,
): Record<string, unknown> {
  const renamed = Object.entries(fields).map(([name, value]) => [
    reserved.has(name) ? `${name}_` : name,
    value,
  ]);
  return plainFields(Object.fromEntries(renamed), FIELD_LIMITS);
}

interface Line {
  readonly level: LogLevel;
  readonly time: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

const STYLES = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

/** `12:00:00.123Z WARN  rollup-held cluster=c1 rows=0`: one line, without control characters. */
function lineOf(
  { level, time, event, ...fields }: Line,
  reserved: ReadonlySet<string>,
  isColoured: boolean,
): string {
  const paint = (style: (typeof STYLES)[LogLevel] | 'bold', text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  const own = Object.entries(fields).filter(([name]) => !reserved.has(name));
  const words = own.map(([name, value]) => `${name}=${wordOf(value)}`);
  const head = [time.slice(11), paint(STYLES[level], level.toUpperCase().padEnd(5)), paint('bold', event)];
  return [...head, ...words.map(printable)].join(' ');
}

function wordOf(value: unknown): string {
  // A stack has lines; in a line of text the message has to do.
  if (isErrorFields(value)) return JSON.stringify(value.message);
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value);
}

function isErrorFields(value: unknown): value is { readonly message: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
}
