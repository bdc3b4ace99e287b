// Test support: an operator as the cases use it, in this process or as `bigfleet operator` in a process of its own, which
// can be killed. Started by kube-world.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { bareEnvironment } from '../e2e/shard-process.ts';

export interface OperatorUnderTest {
  /** Where probes and metrics are. */
  readonly address: string;
  stop(): Promise<unknown>;
  /** Kills the process without cleanup; absent if it is no process. */
  readonly kill?: () => Promise<unknown>;
}

const FIRST_LINE = /probes and metrics at http:\/\/(\S+)$/;
/** Allows for a slow machine. */
const START_MS = 240_000;

/** `line` gets the log, a line at a time. */
export async function startOperatorProcess(
  settingsFile: string,
  line: (text: string) => void,
): Promise<OperatorUnderTest> {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'operator', '--config', settingsFile], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  createInterface({ input: child.stderr }).on('line', line);
  const end = (signal: NodeJS.Signals) => async (): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  // A process that never reports its address must not outlive the test.
  const tooLate = setTimeout(() => child.kill('SIGKILL'), START_MS);
  for await (const text of createInterface({ input: child.stdout })) {
    const [, address] = FIRST_LINE.exec(text) ?? [];
    if (address === undefined) continue;
    clearTimeout(tooLate);
    child.stdout.resume();
    return { address, stop: end('SIGTERM'), kill: end('SIGKILL') };
  }
  clearTimeout(tooLate);
  throw new Error(`the operator ended before it reported its address: ${JSON.stringify(await exited)}`);
}
