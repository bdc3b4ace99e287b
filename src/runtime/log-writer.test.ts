// Log lines to a reader that may be slow, or closed.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogWriter } from './log-writer.ts';

let dir: string;
let reader: number;
let writer: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-log-'));
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
});

afterEach(() => {
  closeSync(writer);
  rmSync(dir, { recursive: true, force: true });
});

/** More bytes than the buffer of a pipe. */
const LINES = Array.from({ length: 3000 }, (_, i) => `${i} ${'é'.repeat(50)}\n`);
const MAX_BYTES = 1 << 20;
const SOON_MS = 200;
const LATE_MS = 20_000;

function readAll(): Buffer {
  const parts: Buffer[] = [];
  const part = Buffer.alloc(1 << 16);
  try {
    for (let n = readSync(reader, part); n > 0; n = readSync(reader, part))
      parts.push(Buffer.from(part.subarray(0, n)));
  } catch {
    // The pipe is empty.
  }
  return Buffer.concat(parts);
}

describe('LogWriter', () => {
  it('given a slow reader, then every line arrives, complete and in order', async () => {
    const log = new LogWriter(writer, MAX_BYTES);
    for (const line of LINES) log.write(line);
    const read: Buffer[] = [];
    const reading = setInterval(() => read.push(readAll()), 5);
    expect(await log.flush(LATE_MS)).toBe(true);
    clearInterval(reading);
    expect(String(Buffer.concat([...read, readAll()]))).toBe(LINES.join(''));
    closeSync(reader);
  });

  it('given a reader that never reads, then flush returns false after its timeout', async () => {
    const log = new LogWriter(writer, MAX_BYTES);
    for (const line of LINES) log.write(line);
    expect(await log.flush(SOON_MS)).toBe(false);
    log.writeNow();
    closeSync(reader);
    expect(await log.flush(LATE_MS)).toBe(true);
  });

  it('given a closed reader, then flush does not wait', async () => {
    closeSync(reader);
    const log = new LogWriter(writer, MAX_BYTES);
    for (const line of LINES) log.write(line);
    expect(await log.flush(LATE_MS)).toBe(true);
    log.writeNow();
  });

  it('given more bytes than may wait, then the rest is dropped', async () => {
    const log = new LogWriter(writer, 1000);
    for (const line of LINES) log.write(line);
    expect(await log.flush(LATE_MS)).toBe(true);
    const read = String(readAll());
    expect(read.length).toBeGreaterThan(0);
    expect(LINES.join('').startsWith(read)).toBe(true);
    expect(Buffer.byteLength(read)).toBeLessThanOrEqual(1000);
    closeSync(reader);
  });
});
