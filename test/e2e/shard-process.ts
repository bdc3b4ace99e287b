// Test support: `bigfleet shard` as a separate process, configured by its environment alone. Started by shard-world.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ShardLog, ShardLogLevel } from '../../src/shard/index.ts';

/** A running shard, in this process or in another. */
export interface ShardUnderTest {
  readonly addresses: { readonly sessions: string; readonly api: string };
  stop(): Promise<unknown>;
  /** Kills the process without cleanup. */
  readonly kill?: () => Promise<unknown>;
  /** Resolves when the process has ended. */
  readonly exited?: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  readonly signal: NodeJS.Signals | null;
}

/** The process ended before it reported its addresses. */
export class EndedEarly extends Error {
  readonly end: ProcessEnd;

  constructor(end: ProcessEnd, said: readonly string[]) {
    super(`The process of the shard has ended (${end.signal ?? 'by itself'}): ${said.join('\n')}`);
    this.end = end;
  }
}

const FIRST_LINE = /takes sessions at (\S+), API and metrics at http:\/\/(\S+)$/;

/** Several of them start at once; allows for a slow machine. */
const START_MS = 240_000;

/**
 * Isolates the process from the settings of the person who runs the tests; shares the compile cache, which halves its
 * start.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
}

export async function startShardProcess(
  env: Readonly<Record<string, string>>,
  log: ShardLog,
): Promise<ShardUnderTest> {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'shard'], {
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(
    ([, signal]): ProcessEnd => ({ signal: signal as NodeJS.Signals | null }),
  );
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    const { level, event, ...fields } = parsed(line);
    log(level, event, fields);
  });
  const end = (signal: NodeJS.Signals) => async (): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  // A process that never reports its address must not outlive the test.
  const tooLate = setTimeout(() => child.kill('SIGKILL'), START_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    const [, sessions, api] = FIRST_LINE.exec(line) ?? [];
    if (sessions === undefined || api === undefined) continue;
    clearTimeout(tooLate);
    child.stdout.resume();
    return { addresses: { sessions, api }, stop: end('SIGTERM'), kill: end('SIGKILL'), exited };
  }
  clearTimeout(tooLate);
  throw new EndedEarly(await exited, said);
}

interface Line extends Record<string, unknown> {
  readonly level: ShardLogLevel;
  readonly event: string;
}

/** A line that is not an event comes from the runtime. */
function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return { level: 'error', event: line };
  }
}
