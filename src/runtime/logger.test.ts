// Lines of a shard's log.

import { describe, expect, it } from 'vitest';
import { BigFleetError } from '../model/index.ts';
import { type LoggerOptions, makeLog } from './logger.ts';

function logged(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const all: LoggerOptions = { source: { shard: 'shard-0' }, level: 'info', format: 'json', ...options };
  const log = makeLog(all, { write: (line) => lines.push(line) });
  const last = (): Record<string, unknown> => JSON.parse(lines.at(-1)!) as Record<string, unknown>;
  return { log, lines, last };
}

describe('a log in JSON', () => {
  it('given an event, then one line has its level, time, shard, name and fields, and nothing else', () => {
    const { log, lines, last } = logged();
    log('warn', 'rollup-held', { cluster: 'c\n1', rows: 0 });
    expect(lines.map((line) => line.split('\n').length)).toEqual([2]);
    const { time, ...rest } = last();
    expect(new Date(time as string).toISOString()).toBe(time);
    expect(rest).toEqual({ level: 'warn', shard: 'shard-0', event: 'rollup-held', cluster: 'c\n1', rows: 0 });
  });

  it('given a level, then lower levels are not written', () => {
    const { log, lines } = logged({ level: 'warn' });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log(level, 'x');
    expect(lines).toHaveLength(2);
  });

  it('given fields with names that every line has, then both are written, with a suffix for the field', () => {
    const { log, lines, last } = logged();
    log('info', 'x', { event: 'y', level: 5, shard: 's', time: 0 });
    expect(last()).toMatchObject({
      event: 'x',
      event_: 'y',
      level: 'info',
      level_: 5,
      shard_: 's',
      time_: 0,
    });
    expect(lines[0]!.match(/"event":/g)).toHaveLength(1);
  });

  it('given values that JSON cannot represent, then they are written as text', () => {
    const { log, last } = logged();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    log('info', 'x', {
      epoch: 2n ** 63n - 1n,
      penalty: Number.POSITIVE_INFINITY,
      map: new Map([['a', new Set([1n])]]),
      none: undefined,
      nothing: null,
      circle,
    });
    expect(last()).toMatchObject({
      epoch: '9223372036854775807',
      penalty: 'Infinity',
      map: { a: ['1'] },
      nothing: null,
    });
  });

  it('given an error, then its code, message, stack and cause are written', () => {
    const { log, last } = logged();
    const error = new BigFleetError('BF_STORE_FAILED', 'disk full.', { cause: new Error('ENOSPC') });
    log('error', 'store-failed', { error });
    expect(last()['error']).toMatchObject({
      code: 'BF_STORE_FAILED',
      message: expect.stringContaining('disk full'),
      stack: expect.stringContaining('logger.test'),
      cause: { message: 'ENOSPC' },
    });
  });

  it('given bytes at any depth, then only their number is written', () => {
    const { log, lines, last } = logged();
    const blob = Buffer.from('secret-token');
    log('info', 'x', { blob, inside: { all: [blob, new Uint8Array(3).buffer] } });
    expect(last()).toMatchObject({ blob: '<12 bytes>', inside: { all: ['<12 bytes>', '<3 bytes>'] } });
    expect(lines[0]).not.toContain('secret');
    expect(lines[0]).not.toContain('115');
  });

  it('given field names such as token or secret, then their values are not redacted', () => {
    const { log, last } = logged();
    log('info', 'x', { key: 'f1', token: { password: 'p', secret: 's' }, path: 'a.b' });
    expect(last()).toMatchObject({ key: 'f1', token: { password: 'p', secret: 's' }, path: 'a.b' });
  });
});

describe('the length of a log line', () => {
  const MOST = 16 * 1024;
  const HUGE = 'x'.repeat(16 << 20);

  it.each<readonly [string, Record<string, unknown>]>([
    ['a long text', { text: HUGE }],
    ['a long text at depth', { outer: { list: [{ inner: new Map([['text', HUGE]]) }] } }],
    ['a long name', { names: { [HUGE]: 1 } }],
    ['many texts', { texts: Array.from({ length: 100_000 }, () => 'word') }],
    ['many numbers', { numbers: Array.from({ length: 100_000 }, (_, i) => i / 3) }],
    ['many fields', Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, null]))],
    ['an error with a long message', { error: new Error(HUGE, { cause: new Error(HUGE) }) }],
    ['control characters', { text: '\u0001'.repeat(1 << 20), other: '\u202e'.repeat(3_000) }],
    ['long texts in a deep tree', { tree: tree(7) }],
  ])('given %s, then the line has at most 16 KiB, marks the cut, and keeps the other fields', (_, fields) => {
    for (const format of ['json', 'text'] as const) {
      const { log, lines } = logged({ format });
      log('error', 'x', { cluster: 'c1', ...fields });
      expect(lines).toHaveLength(1);
      expect(Buffer.byteLength(lines[0]!)).toBeLessThanOrEqual(MOST);
      expect(lines[0]).toContain('…');
      expect(lines[0]).toContain('c1');
    }
  });

  it('given a field that is too long, then fields after it are written too', () => {
    const { log, last } = logged();
    log('warn', 'x', { first: { text: HUGE }, second: 2, third: 'three' });
    expect(last()).toMatchObject({
      first: { text: expect.stringMatching(/^x{4000}… \(16777216 characters\)$/) },
      second: 2,
      third: 'three',
    });
  });

  function tree(depth: number): unknown {
    return depth === 0 ? 'y'.repeat(500) : { left: tree(depth - 1), right: tree(depth - 1) };
  }
});

describe('a log in text', () => {
  it('given an event, then it is one line without control characters', () => {
    const { log, lines } = logged({ format: 'text' });
    log('warn', 'rollup-held', { cluster: 'c1', why: 'two\nlines \u001b[31m', rows: 0, map: { a: 1 } });
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3}Z WARN {2}rollup-held cluster=c1 why="two\\nlines /);
    expect(lines[0]).toMatch(/ rows=0 map=\{"a":1\}\n$/);
    expect(lines[0]).not.toContain('\u001b');
  });

  it('given an error, then its message is in the line and its stack is not', () => {
    const { log, lines } = logged({ format: 'text' });
    log('error', 'cycle-failed', { error: new Error('boom') });
    expect(lines[0]).toMatch(/cycle-failed error="boom"\n$/);
  });

  it('given colours, then the level is coloured', () => {
    const { log, lines } = logged({ format: 'text', isColoured: true });
    log('error', 'x');
    expect(lines[0]).toContain('\u001b[31mERROR\u001b[39m');
  });
});
