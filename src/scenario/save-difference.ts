// Saves what a self-check of the engine found, for the benchmarks and tests that run one: the plan of the incremental
// cycle and the plan of the full solve, as two files for any diff tool. The engine itself does no I/O.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanDifference } from '../engine/index.ts';
import type { Plan } from '../model/index.ts';
import { decidedJson } from './plan-json.ts';

/** Digits of the cycle number in file names, padded so that names sort; at one cycle a second, a year needs eight. */
const DIGITS = 8;

/** Writes both plans into a directory, created if missing, and returns the file names. */
export function saveDifference(
  folder: string,
  { cycle, full, incremental }: PlanDifference,
): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const save = (kind: string, plan: Plan): string => {
    const file = join(folder, `cycle-${String(cycle).padStart(DIGITS, '0')}-${kind}.json`);
    writeFileSync(file, `${JSON.stringify(decidedJson(plan), null, 2)}\n`);
    return file;
  };
  return [save('incremental', incremental), save('full', full)];
}
