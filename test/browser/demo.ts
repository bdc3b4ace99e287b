// A demo for the tests of the page: `bigfleet up` as a separate process, with its own directory and port. It can be
// stopped and restarted on its state. Started by smoke.test.ts and `npm run verify:web`.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Time until a demo must have printed the address of its page. */
const START_MS = 120_000;
/** Lines of its output that are kept for a failure report. */
const MAX_LINES = 200;

export interface Demo {
  /** Address of the page. */
  readonly url: string;
  /** Address for operators of clusters. */
  readonly sessions: string;
  /** The last lines of its output. */
  readonly lines: readonly string[];
  /** When its process was started. */
  readonly spawnedMs: number;
  stop(): Promise<void>;
}

/** What is absent is as by default. */
export interface DemoSize {
  readonly clusters?: number;
  readonly machines?: number;
  /** Port of the page; a free one by default. */
  readonly port?: number;
  /** How many times as fast the clouds and clusters are. */
  readonly speed?: number;
}

/** A directory for demos, deleted by `remove`. */
export function demoDirectory(): { readonly path: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-browser-'));
  return { path: join(folder, 'up'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startDemo(dir: string, { port, ...size }: DemoSize = {}): Promise<Demo> {
  const options = Object.entries(size).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const args = ['up', '--plain', '--dir', dir, '--port', String(port ?? (await freePort())), ...options];
  const spawnedMs = Date.now();
  // As a person starts it in a checkout, with the cache of compiled code that this keeps.
  const child = spawn(join('bin', 'bigfleet'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    const sessions = await saying(child, lines, /takes sessions at (\S+);/);
    const url = await saying(child, lines, /(http:\/\/127\.0\.0\.1:\d+)/);
    return { url, sessions, lines, spawnedMs, stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** The first match in the output, from its start. */
async function saying(child: ChildProcess, lines: string[], pattern: RegExp): Promise<string> {
  if (child.listenerCount('close') === 0) keepLines(child, lines);
  const lastMs = Date.now() + START_MS;
  for (;;) {
    for (const line of lines) {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) return found;
    }
    if (child.exitCode !== null || Date.now() > lastMs)
      throw new Error(`bigfleet up did not print ${pattern}:\n${lines.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function keepLines(child: ChildProcess, lines: string[]): void {
  child.once('close', () => {});
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
    });
  }
}

/** Racy, but `up` tries the next port if another program binds this one first. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  // Ports above leave no room for the ports that `up` tries next.
  return Math.min(port, 65_000);
}
