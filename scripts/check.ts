// `npm run check`: every check but the tests. Runs all of them and names the ones that failed, so that one run
// shows everything to fix. `npm run check -- types lint` runs only those.

import { spawnSync } from 'node:child_process';
import { styleText } from 'node:util';

interface Check {
  readonly name: string;
  readonly commands: readonly string[];
  /** What to do when it fails. */
  readonly remedy: string;
}

const CHECKS: readonly Check[] = [
  { name: 'format', commands: ['biome check --error-on-warnings .'], remedy: 'npm run format' },
  { name: 'lint', commands: ['oxlint --type-aware --deny-warnings'], remedy: 'see the messages above' },
  {
    name: 'types',
    commands: ['tsc --noEmit', 'tsc --noEmit -p src/web/page'],
    remedy: 'see the messages above',
  },
  {
    name: 'layers',
    commands: ['depcruise --config .dependency-cruiser.cjs src bench test testing scripts --output-type err'],
    remedy: 'docs/internals/architecture.md says which room may import which',
  },
  { name: 'dead code', commands: ['knip'], remedy: 'delete what is no longer used' },
  {
    name: 'contract',
    commands: ['buf lint', 'buf breaking --against api/baseline.binpb'],
    remedy: 'field numbers and names of a published message never change',
  },
  {
    name: 'generated',
    commands: ['node scripts/generate.ts --check'],
    remedy: 'npm run generate, and commit the result',
  },
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CHECKS.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(
    `No check named ${unknown.join(', ')}; there are: ${CHECKS.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}

const failed = CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name)).filter((check) => {
  const started = performance.now();
  const ok = check.commands.every((command) => {
    const result = spawnSync(command, { shell: true, encoding: 'utf8' });
    if (result.status !== 0) process.stdout.write(`${result.stdout}${result.stderr}`);
    return result.status === 0;
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? styleText('green', 'ok  ') : styleText('red', 'FAIL')} ${check.name} (${seconds} s)`);
  if (!ok) console.log(`     ${check.remedy}`);
  return !ok;
});
process.exit(failed.length === 0 ? 0 : 1);
