// `bigfleet provider conformance` as a person runs it: exit codes, output, and no leftover process.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/bigfleet', import.meta.url));
const PROGRAM = fileURLToPath(new URL('kit-provider.ts', import.meta.url));
const START = `"${process.execPath}" "${PROGRAM}" {port} {state} {seed} {timeout}`;
/** A state file that is deleted with the process. */
const FORGETFUL = `"${process.execPath}" "${PROGRAM}" {port} '' {seed} {timeout} # {state}`;

function conformance(...args: readonly string[]) {
  const command = ['provider', 'conformance', ...args];
  const { status, stdout, stderr } = spawnSync(BIN, command, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

interface Report {
  readonly verdict: string;
  readonly behaviours: readonly { readonly id: string; readonly area: string; readonly status: string }[];
}

describe('the conformance command', { timeout: 180_000 }, () => {
  it('given a certified provider, then it exits with 0', () => {
    const { status, stdout } = conformance('--start', START, '--only', 'B301,FullLifecycle');
    expect(stdout).toContain('CERTIFIED: 2 passed, 0 failed, 0 skipped of 2');
    expect(status).toBe(0);
  });

  it('given a provider that fails or an incomplete run, then it exits with 1', () => {
    const failed = conformance('--start', FORGETFUL, '--only', 'B1003', '-o', 'json');
    const report = JSON.parse(failed.stdout) as Report;
    expect(report.verdict).toBe('failed');
    expect(report.behaviours).toMatchObject([{ id: 'B1003', area: 'durability', status: 'failed' }]);
    expect(failed.status).toBe(1);
    const incomplete = conformance('--target', '127.0.0.1:1', '--only', 'B1003', '-o', 'json');
    expect(JSON.parse(incomplete.stdout)).toMatchObject({ verdict: 'incomplete', totals: { skipped: 1 } });
    expect(incomplete.status).toBe(1);
  });

  it.each([
    [['--target', '127.0.0.1:1'], 'BF_TARGET_UNREACHABLE'],
    [['--start', 'exit 7 # {port}'], 'BF_START_FAILED'],
    [['--target', '127.0.0.1:1', '--only', 'B999'], 'BF_USAGE'],
    [['--target', '127.0.0.1:1', '--soak', 'long'], 'duration'],
    [[], 'BF_USAGE'],
  ])('given %j, then it exits with 2', (args, why) => {
    const { status, stdout, stderr } = conformance(...args);
    expect(stderr).toContain(why);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
