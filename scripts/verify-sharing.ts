// `npm run verify:sharing`: the promises of sharing over many cycles, on the oracle alone and on as many random fleets as
// requested. Prints how many fleets break each promise and the smallest of them. Exit code 1 if more do than are known to.

import fc from 'fast-check';
import { optionsGiven } from '../bench/options.ts';
import { type DecisionInput, formatResources, stateName } from '../src/model/index.ts';
import { hasUnevenDelays, LOOP_PROPERTIES, type LoopProperty } from '../testing/oracle/loop-properties.ts';

const HELP = `verify:sharing: the promises of sharing over many cycles, on random fleets

  --runs N    fleets for each promise (default 2000)
  --seed N    seed of the fleets (default: the time)
  --only A    promises whose name begins with this

example: npm run verify:sharing -- --runs 500 --only settles
`;

interface Broken {
  readonly input: DecisionInput;
  readonly seed: number;
  readonly problems: readonly string[];
}

const values = optionsGiven({
  runs: { type: 'string', default: '2000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  only: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
});

if (values.help) console.log(HELP);
else {
  const chosen = LOOP_PROPERTIES.filter(({ name }) => name.startsWith(values.only));
  const broken = chosen.filter((property) => !holds(property));
  process.exitCode = broken.length === 0 ? 0 : 1;
}

function holds(property: LoopProperty): boolean {
  const runs = Number(values.runs);
  const samples = fc.sample(fc.tuple(property.fleets(), fc.nat(1e9)), {
    numRuns: runs,
    seed: Number(values.seed),
  });
  const broken: Broken[] = [];
  for (const [input, seed] of samples) {
    const problems = property.problems(input, seed);
    if (problems.length > 0) broken.push({ input, seed, problems });
  }
  const allowed = Math.ceil((runs * property.knownPerThousand) / 1000);
  const uneven = broken.filter(({ seed }) => hasUnevenDelays(seed)).length;
  const counts = `${broken.length} of ${runs} fleets (${uneven} with moves of unequal length)`;
  console.log(`${property.name}: ${counts}, known ${allowed}, seed ${values.seed}`);
  const [smallest] = broken.sort((a, b) => sizeOf(a.input) - sizeOf(b.input));
  if (smallest !== undefined) print(reduced(property, smallest));
  return broken.length <= allowed;
}

function sizeOf({ machines, needs }: DecisionInput): number {
  return machines.length + 3 * needs.length;
}

/** Without the machines and rows that the fault does not need. */
function reduced({ problems }: LoopProperty, { input, seed }: Broken): Broken {
  let best = input;
  let isSmaller = true;
  const accept = (next: DecisionInput): void => {
    if (problems(next, seed).length === 0) return;
    best = next;
    isSmaller = true;
  };
  while (isSmaller) {
    isSmaller = false;
    for (let i = best.machines.length - 1; i >= 0; i--)
      accept({ ...best, machines: best.machines.toSpliced(i, 1) });
    for (let i = best.needs.length - 1; i >= 0; i--) accept({ ...best, needs: best.needs.toSpliced(i, 1) });
  }
  return { input: best, seed, problems: problems(best, seed) };
}

function print({ input, seed, problems }: Broken): void {
  console.log(`  ${problems.join('; ')} (seed of the run ${seed})`);
  for (const { cluster, profile, group, aggregate, minUnit } of input.needs) {
    const [total, unit] = [aggregate, minUnit].map((amounts) => JSON.stringify(formatResources(amounts)));
    console.log(`    row ${cluster} ${profile.fingerprint} ${group} wants ${total} in pieces of ${unit}`);
  }
  for (const { id, state, zone, pricePerHour, resources } of input.machines) {
    const offer = JSON.stringify(formatResources(resources));
    console.log(`    machine ${id} ${stateName(state)} ${zone} $${pricePerHour} ${offer}`);
  }
}
