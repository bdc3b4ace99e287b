// A shard whose output is not read: the pipe is full, or its reader is dead. The shard keeps running, and stops on
// request.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bareEnvironment } from './shard-process.ts';
import { PATIENT } from './shard-world.ts';

let dir: string;
let child: ChildProcess | null = null;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-unread-'));
});

afterEach(async () => {
  // It writes until it ends.
  if (child?.kill('SIGKILL') === true) await once(child, 'exit');
  rmSync(dir, { recursive: true, force: true });
});

/** A shard whose only provider is unreachable, and which has no clusters. */
function shard(stderr: 'pipe' | number): ChildProcess {
  const words = ['--provider', 'none=127.0.0.1:1', '--listen', '127.0.0.1:0', '--api', '127.0.0.1:0'];
  child = spawn(
    process.execPath,
    ['src/cli/main.ts', 'shard', ...words, '--data-dir', join(dir, 'data'), '--log-level', 'debug'],
    { env: bareEnvironment(), stdio: ['ignore', 'pipe', stderr] },
  );
  return child;
}

async function said(stream: Readable | null, words: string): Promise<void> {
  for await (const line of createInterface({ input: stream! })) if (line.includes(words)) return;
  throw new Error(`It never said "${words}".`);
}

/** Both ends of a full pipe. */
function fullPipe(): { readonly writer: number; readonly close: () => void } {
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(writer, 'x'.repeat(1024));
  } catch {
    // The pipe is full.
  }
  return { writer, close: () => closeSync(reader) };
}

describe('a shard whose output is not read', PATIENT, () => {
  it('given a full log pipe, when it receives SIGTERM, then it ends', async () => {
    const { writer, close } = fullPipe();
    const it = shard(writer);
    await said(it.stdout, 'takes sessions');
    it.kill('SIGTERM');
    expect(await once(it, 'exit')).toEqual([0, null]);
    close();
    closeSync(writer);
  });

  it('given a full log pipe whose reader then dies, when it receives SIGTERM, then it ends', async () => {
    const { writer, close } = fullPipe();
    const it = shard(writer);
    await said(it.stdout, 'takes sessions');
    it.kill('SIGTERM');
    close();
    expect(await once(it, 'exit')).toEqual([0, null]);
    closeSync(writer);
  });

  it('given a reader of both pipes that dies with lines unread, then it keeps running until it receives SIGTERM', async () => {
    const it = shard('pipe');
    await said(it.stdout, 'takes sessions');
    it.stderr!.destroy();
    it.stdout!.destroy();
    const gone = once(it, 'exit');
    // It logs every failed attempt to reach its provider.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(it.exitCode).toBeNull();
    it.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
  });

  it('given no reader of its first line, then it starts and keeps running until it receives SIGTERM', async () => {
    const it = shard('pipe');
    it.stdout!.destroy();
    await said(it.stderr, 'list-failed');
    it.kill('SIGTERM');
    expect(await once(it, 'exit')).toEqual([0, null]);
  });
});
