// `npm run verify:mutants`: every mutant of testing/mutants/providers against every behaviour of the suite. The healthy
// kit must pass all of them, and every mutant must fail at least the behaviours that it lists. Prints a table, and with
// `-o json` everything for programs. Exit code 0: the suite detected all of them. 1: it did not. 2: invalid arguments.

import { parseArgs } from 'node:util';
import { BEHAVIOURS, PROFILES } from '../src/provider/index.ts';
import type { Mutant } from '../testing/mutants/providers/mutant.ts';
import { HEALTHY, MUTANTS } from '../testing/mutants/providers/provider.ts';
import { failedIn, tryMutant } from '../testing/mutants/providers/try-mutant.ts';

const USAGE = `npm run --silent verify:mutants -- [--only TEXT] [--jobs N] [-o table|json]
  --only TEXT   only mutants whose name contains TEXT
  --jobs N      concurrent mutants (default 3: they mostly wait)`;

interface Verdict {
  readonly name: string;
  readonly area: string;
  readonly isRight: boolean;
  /** Listed by the mutant, and failed. */
  readonly caughtBy: readonly string[];
  /** Listed by the mutant, and not failed. */
  readonly missedBy: readonly string[];
  /** Failed, and not listed by the mutant. */
  readonly others: readonly string[];
  readonly skipped: readonly string[];
  readonly seconds: number;
}

function optionsOf() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: '' },
        jobs: { type: 'string', default: '3' },
        output: { type: 'string', short: 'o', default: 'table' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch {
    return null;
  }
}

async function verdictOn(mutant: Mutant): Promise<Verdict> {
  const started = performance.now();
  const report = await tryMutant(mutant, { profiles: PROFILES });
  const failed = failedIn(report);
  const missedBy = mutant.named.filter((id) => !failed.includes(id));
  const others = failed.filter((id) => !mutant.named.includes(id));
  const skipped = report.behaviours.filter(({ status }) => status === 'skipped').map(({ id }) => id);
  const isHealthy = mutant === HEALTHY;
  return {
    name: mutant.name,
    area: mutant.area,
    isRight: isHealthy ? report.verdict === 'certified' : missedBy.length === 0 && mutant.named.length > 0,
    caughtBy: mutant.named.filter((id) => failed.includes(id)),
    missedBy,
    others,
    skipped,
    seconds: Math.round((performance.now() - started) / 100) / 10,
  };
}

async function verdictsOn(mutants: readonly Mutant[], jobs: number): Promise<readonly Verdict[]> {
  const verdicts = new Map<Mutant, Verdict>();
  const left = [...mutants];
  const work = async () => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      verdicts.set(mutant, await verdictOn(mutant));
      const done = `${verdicts.size}/${mutants.length}  ${mutant.name}`;
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done}`);
      else console.error(done);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  return mutants.map((mutant) => verdicts.get(mutant)!);
}

function lineOf({ name, isRight, caughtBy, missedBy, others }: Verdict): string {
  const parts = [
    caughtBy.join(' '),
    ...(missedBy.length > 0 ? [`NOT BY ${missedBy.join(' ')}`] : []),
    ...(others.length > 0 ? [`also ${others.join(' ')}`] : []),
  ].filter((part) => part !== '');
  return `${isRight ? 'ok   ' : 'WRONG'}  ${name.padEnd(52)}  ${parts.join(' · ') || 'nothing fails'}`;
}

/** Behaviours that no mutant fails, so that nothing shows that they can fail. */
function untried(verdicts: readonly Verdict[]): readonly string[] {
  const failed = new Set(verdicts.flatMap(({ caughtBy, others }) => [...caughtBy, ...others]));
  return BEHAVIOURS.map(({ id }) => id).filter((id) => !failed.has(id));
}

const options = optionsOf();
const jobs = Number(options?.jobs);
const isKnownOutput = options?.output === 'table' || options?.output === 'json';
if (options === null || options.help || !Number.isInteger(jobs) || jobs < 1 || !isKnownOutput) {
  console.error(USAGE);
  process.exit(options?.help === true ? 0 : 2);
}
const chosen = [HEALTHY, ...MUTANTS].filter(({ name }) => name.includes(options.only));
if (chosen.length === 0) {
  console.error(`No mutant is named "${options.only}".`);
  process.exit(2);
}
const verdicts = await verdictsOn(chosen, jobs);
const wrong = verdicts.filter(({ isRight }) => !isRight).length;
if (options.output === 'json') {
  console.log(JSON.stringify({ verdicts, untried: untried(verdicts) }, null, 2));
} else {
  for (const verdict of verdicts) console.log(lineOf(verdict));
  if (options.only === '')
    console.log(`Behaviours no mutant fails: ${untried(verdicts).join(' ') || 'none'}`);
  console.log(wrong === 0 ? `All ${verdicts.length} as expected.` : `${wrong} of ${verdicts.length} WRONG.`);
}
process.exit(wrong === 0 ? 0 : 1);
