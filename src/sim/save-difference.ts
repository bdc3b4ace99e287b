// Saves what a check of the engine found: the plan of the incremental cycle and that of the full solve, as two files to
// be compared with any tool. The engine itself touches no disk.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanDifference } from '../engine/index.ts';
import type { Plan } from '../model/index.ts';
import { decidedJson } from './plan-json.ts';

/** Digits of a cycle's number in file names, so that they sort; a year of cycles, one a second, has eight. */
const DIGITS = 8;

/** Writes both plans into a folder, which is made if need be, and returns the names of the files. */
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
