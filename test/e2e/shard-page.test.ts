// The dashboard of `bigfleet shard` as a user runs it: every shard serves it, not only the one of a demo.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

vi.setConfig({ testTimeout: 120_000 });

/** Starts a shard without a provider that answers, and returns the address of its API. */
async function startedShard(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'bigfleet-page-'));
  const args = ['--provider', 'p=127.0.0.1:1', '--data-dir', dir, '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, ['src/cli/main.ts', 'shard', ...args, '--api', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true });
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /metrics at (http:\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The shard ended before it printed its address.');
}

describe('the dashboard of a shard', () => {
  it('given any shard, then its page and all its modules are served, and it has no buttons of a demo', async () => {
    const url = await startedShard();
    const page = await (await fetch(url)).text();
    expect(page).toContain('<title>BigFleet</title>');
    expect(page).not.toContain('data-demo');
    const files = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files.length).toBeGreaterThan(20);
    for (const path of files) expect((await fetch(`${url}${path}`)).status, path).toBe(200);
    expect((await fetch(`${url}/v1/status`)).status).toBe(200);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });
});
