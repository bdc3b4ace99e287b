import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput } from '../../testing/support/fleets.ts';
import { decide } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import { MachineState, type Plan } from '../model/index.ts';
import { planJson } from './plan-json.ts';
import { saveDifference } from './save-difference.ts';

describe('saving a difference', () => {
  it('given two plans and a directory that does not exist, then each plan is written to a file there', () => {
    const input = anInput([aMachine('m', MachineState.Idle)], [aNeed({ cluster: 'x' })]);
    const full = decide(fleetOf(input), input.nowMs, input.options);
    const incremental: Plan = { ...full, actions: [] };
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-difference-'));
    try {
      const files = saveDifference(join(folder, 'new'), { cycle: 100, incremental, full });
      expect(files.map((file) => basename(file))).toEqual([
        'cycle-00000100-incremental.json',
        'cycle-00000100-full.json',
      ]);
      const [before, after] = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as object);
      expect(before).toMatchObject({ actions: [], needs: [{ cluster: 'x' }] });
      const { digest } = planJson(full, input);
      expect(after).toMatchObject({ actions: [{ kind: 'Bootstrap', machine: 'm' }], digest });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
