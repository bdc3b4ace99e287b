// Reads the scale profiles of this folder, for benchmarks and for the tests of generated fleets.

import { readdirSync, readFileSync } from 'node:fs';
import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { parseScaleProfile } from '../../testing/workload/scale-profile.ts';

const SUFFIX = '.yaml';
/** Not a rung of the ladder: bench/economy/parameters.ts reads it. */
const ECONOMY = `economy${SUFFIX}`;

/** Names of all scale profiles, in order. */
export function profileNames(): string[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(SUFFIX) && file !== ECONOMY);
  return files.map((file) => file.slice(0, -SUFFIX.length)).sort();
}

export function loadProfile(name: string): ScaleProfile {
  if (!profileNames().includes(name)) {
    throw new Error(`There is no profile ${name}; there are ${profileNames().join(', ')}.`);
  }
  const parsed = parseScaleProfile(readFileSync(`${import.meta.dirname}/${name}${SUFFIX}`, 'utf8'));
  if (parsed.ok) return parsed.value;
  const problems = parsed.problems.map(({ path, message }) => `  ${path}: ${message}`);
  throw new Error([`Profile ${name} cannot be read:`, ...problems].join('\n'));
}
