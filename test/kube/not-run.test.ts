// What a run without a real control plane prints about the tests that need one.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

function run(more: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly lines: string[];
} {
  const empty = mkdtempSync(join(tmpdir(), 'bigfleet-no-kubebox-'));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const env = {
    ...process.env,
    XDG_CACHE_HOME: empty,
    KUBEBUILDER_ASSETS: '',
    BIGFLEET_REQUIRE_K8S: '',
    ...more,
  };
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'control-plane', '--reporter=dot'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { status, lines: `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('NOT RUN')) };
}

describe('a run of the tests without a real control plane', () => {
  it('given several files with such tests, then one line has the number of all of them and the command', () => {
    const { status, lines } = run({});
    expect(status).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^NOT RUN: \d{2,} tests .+ "npm run k8s:build"/)]);
  });

  it('given that they are required, then it fails', () => {
    expect(run({ BIGFLEET_REQUIRE_K8S: '1' }).status).toBe(1);
  });
});
