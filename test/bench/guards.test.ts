// The guards over generated fleets cover decisions with sharing, which is the default of a shard, and without.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

function verifyDigests(...options: readonly string[]) {
  const small = ['--profiles', 'dev-50', '--regimes', 'full', '--workers', '1', '--lanes', 'auto'];
  const args = ['bench/ladder/verify-digests.ts', ...small, '--cycles', '1', ...options];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

describe('guards over generated fleets', () => {
  it('given no options, then verify:digests decides with sharing, then without', () => {
    const { status, stdout } = verifyDigests();
    expect(status).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => line.replace(/ \(\d+ s\)$/, ''))).toEqual([
      'ok   dev-50 full shared: 1 kinds, one digest',
      'ok   dev-50 full unshared: 1 kinds, one digest',
    ]);
  });

  it('given unknown options, then verify:digests names those that exist', () => {
    const { status, stderr } = verifyDigests('--options', 'off');
    expect(status).toBe(2);
    expect(stderr).toContain('--options are of unshared, coverage, shared, not off.');
  });

  it('given the recorded ratios of the gate, then there are rungs with sharing and without', () => {
    const recorded = JSON.parse(readFileSync('bench/gate.json', 'utf8')) as Readonly<Record<string, number>>;
    for (const rung of ['uber-5k cold', 'uber-5k churn'])
      for (const options of ['shared', 'unshared']) expect(recorded[`${rung} ${options}`]).toBeGreaterThan(0);
  });
});
