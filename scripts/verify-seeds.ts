// `npm run verify:seeds`: the tests that draw their cases from seeds, with more cases than `npm test` has time for.
// Some minutes. `npm run soak` and `npm run soak:engine` run for the requested time.

import { spawnSync } from 'node:child_process';

interface Step {
  readonly command: string;
  /** Cases per property, for the tests that read it. */
  readonly runs?: number;
}

/** Each property has at least as many cases as any of its file once had in `npm test`. */
const STEPS: readonly Step[] = [
  { command: 'vitest run test/engine/lanes.test.ts', runs: 10_000 },
  { command: 'vitest run test/engine/properties.test.ts test/engine/equals-oracle.test.ts', runs: 2_000 },
  { command: 'vitest run test/engine/properties-loop.test.ts test/engine/incremental.test.ts', runs: 800 },
  { command: 'node scripts/soak.ts --seeds 200' },
];

const failed = STEPS.filter(({ command, runs }) => {
  console.log(`\n${command}${runs === undefined ? '' : `, ${runs.toLocaleString('en')} cases per property`}`);
  const env = { ...process.env, ...(runs === undefined ? {} : { BIGFLEET_RUNS: String(runs) }) };
  return spawnSync(command, { shell: true, stdio: 'inherit', env }).status !== 0;
});
for (const { command } of failed) console.error(`FAIL ${command}`);
process.exit(failed.length === 0 ? 0 : 1);
