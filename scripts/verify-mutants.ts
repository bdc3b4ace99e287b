// `npm run verify:mutants`: every mutant of test/conformance/mutants against every behaviour of the suite. The healthy
// kit must pass all of them, and every mutant must fail at least the behaviours it is named by. Prints a table, and with
// `-o json` everything for programs. Exit code 0: the suite caught them all. 1: it did not. 2: wrong words.

import { parseArgs } from 'node:util';
import { BEHAVIOURS, PROFILES } from '../src/provider/index.ts';
import type { Mutant } from '../testing/mutants/providers/mutant.ts';
import { HEALTHY, MUTANTS } from '../testing/mutants/providers/provider.ts';
import { failedIn, tryMutant } from '../testing/mutants/providers/trial.ts';

const USAGE = `npm run --silent verify:mutants -- [--only WORDS] [--jobs N] [-o table|json]
  --only WORDS  only mutants whose name holds these words
  --jobs N      mutants at once (default 3: they mostly wait)`;

interface Verdict {
  readonly name: string;
  readonly area: string;
  readonly isRight: boolean;
  /** Named and failed. */
  readonly caughtBy: readonly string[];
  /** Named and not failed. */
  readonly missedBy: readonly string[];
  /** Failed without being named. */
  readonly others: readonly string[];
  readonly skipped: readonly string[];
  readonly seconds: number;
}

function wordsOf() {
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

/** Behaviours that no mutant fails: nothing shows yet that they can fail. */
function untried(verdicts: readonly Verdict[]): readonly string[] {
  const failed = new Set(verdicts.flatMap(({ caughtBy, others }) => [...caughtBy, ...others]));
  return BEHAVIOURS.map(({ id }) => id).filter((id) => !failed.has(id));
}

const words = wordsOf();
const jobs = Number(words?.jobs);
const isKnownOutput = words?.output === 'table' || words?.output === 'json';
if (words === null || words.help || !Number.isInteger(jobs) || jobs < 1 || !isKnownOutput) {
  console.error(USAGE);
  process.exit(words?.help === true ? 0 : 2);
}
const chosen = [HEALTHY, ...MUTANTS].filter(({ name }) => name.includes(words.only));
if (chosen.length === 0) {
  console.error(`No mutant is named "${words.only}".`);
  process.exit(2);
}
const verdicts = await verdictsOn(chosen, jobs);
const wrong = verdicts.filter(({ isRight }) => !isRight).length;
if (words.output === 'json') {
  console.log(JSON.stringify({ verdicts, untried: untried(verdicts) }, null, 2));
} else {
  for (const verdict of verdicts) console.log(lineOf(verdict));
  if (words.only === '') console.log(`Behaviours no mutant fails: ${untried(verdicts).join(' ') || 'none'}`);
  console.log(wrong === 0 ? `All ${verdicts.length} as expected.` : `${wrong} of ${verdicts.length} WRONG.`);
}
process.exit(wrong === 0 ? 0 : 1);
