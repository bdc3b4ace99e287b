// What a shard writes about itself: one line for each event, as JSON for programs or as text for people. Names of events
// are stable; people search and alert by them. Bytes are never written, only how many there are: a bootstrap blob is a
// secret, and nothing else that is logged is bytes.

import { styleText } from 'node:util';
import { type DestinationStream, pino } from 'pino';
import { printable } from '../model/index.ts';
import { LogWriter } from './log-writer.ts';

export type ShardLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One event. Given Errors, bigints, maps and sets it writes what is in them. */
export type ShardLog = (
  level: ShardLogLevel,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export interface LoggerOptions {
  readonly shard: string;
  readonly level: ShardLogLevel;
  readonly format: 'json' | 'text';
  /** Colours in text. */
  readonly isColoured?: boolean;
}

export function makeLog(options: LoggerOptions, to: { write(line: string): unknown }): ShardLog {
  const { shard, level, format, isColoured = false } = options;
  const stream: DestinationStream =
    format === 'json'
      ? { write: (line) => void to.write(line) }
      : { write: (line) => void to.write(`${lineOf(JSON.parse(line) as Line, isColoured)}\n`) };
  const logger = pino(
    {
      level,
      base: { shard },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return (at, event, fields = {}) => {
    if (logger.isLevelEnabled(at)) logger[at]({ event, ...plainFields(fields) });
  };
}

/** Lines that wait for a reader who does not read; the rest is dropped rather than kept in memory. 16 MiB. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A reader has so long to take the last lines; a process that ends waits for nobody longer than this. */
const FLUSH_MS = 1000;

export interface LogFile {
  readonly log: ShardLog;
  /** Gives what waits a moment to be written, and says whether it was. The last thing before the process ends. */
  flush(): Promise<boolean>;
}

/** Writes to standard error without ever waiting for it. */
export function logToStderr(options: Omit<LoggerOptions, 'isColoured' | 'format'> & LogFormat): LogFile {
  // Asking for the stream also makes a pipe non-blocking, which the writer relies on.
  const { isTTY } = process.stderr;
  const format = options.format === 'auto' ? (isTTY ? 'text' : 'json') : options.format;
  const writer = new LogWriter(2, MAX_WAITING_BYTES);
  process.on('exit', () => writer.writeNow());
  const isColoured = isTTY && process.env['NO_COLOR'] === undefined;
  return { log: makeLog({ ...options, format, isColoured }, writer), flush: () => writer.flush(FLUSH_MS) };
}

interface LogFormat {
  /** auto: text on a terminal. */
  readonly format: 'auto' | 'json' | 'text';
}

/** What every line has. A field of that name gets an underscore, so that neither is lost. */
const RESERVED = new Set(['level', 'time', 'shard', 'event']);

function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, plain(value, 0)]),
  );
}

/** Deeper things are named, not opened; nothing that is logged nests so far, unless it turns in a circle. */
const MAX_DEPTH = 8;

function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${value.byteLength} bytes>`;
  if (depth === MAX_DEPTH) return '<more>';
  const inner = (each: unknown): unknown => plain(each, depth + 1);
  if (value instanceof Date) return value;
  if (value instanceof Error) return errorFields(value, inner);
  if (Array.isArray(value) || value instanceof Set) return [...value].map(inner);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, each]) => [String(key), inner(each)]));
}

function errorFields(error: Error, inner: (value: unknown) => unknown): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const own = Object.entries(error).filter(([key]) => key !== 'name' && key !== 'cause');
  const rest = Object.fromEntries(own.map(([key, each]) => [key, inner(each)]));
  return { name, message, ...rest, stack, ...(cause === undefined ? {} : { cause: inner(cause) }) };
}

interface Line {
  readonly level: ShardLogLevel;
  readonly time: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

const STYLES = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

/** `12:00:00.123 WARN  rollup-held cluster=c1 rows=0`: one line, with nothing in it that a terminal would obey. */
function lineOf({ level, time, event, ...fields }: Line, isColoured: boolean): string {
  const paint = (style: (typeof STYLES)[ShardLogLevel] | 'bold', text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  const own = Object.entries(fields).filter(([name]) => !RESERVED.has(name));
  const words = own.map(([name, value]) => `${name}=${wordOf(value)}`);
  const head = [
    time.slice(11, 23),
    paint(STYLES[level], level.toUpperCase().padEnd(5)),
    paint('bold', event),
  ];
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
