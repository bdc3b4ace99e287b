// Test support: a `bigfleet` command as a process, without blocking the fake API server and the shard, which answer it from
// this process. Used by the end-to-end cases.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bareEnvironment } from '../e2e/shard-process.ts';

/** What the command prints; throws if it fails. */
export async function bigfleet(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['src/cli/main.ts', ...args], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`bigfleet ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
