// `npm run --silent bench -- NAME [options]`: starts one benchmark with the rest of the command line.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { CONTROLLER_FLAGS, YOUNG_GENERATION_MB } from '../src/shard/process/heap-limits.ts';

interface Benchmark {
  readonly file: string;
  readonly about: string;
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

/** Garbage collection as on the thread of a controller; two thirds of its young generation are semi-spaces. */
const AS_A_CONTROLLER = [`--max-semi-space-size=${YOUNG_GENERATION_MB / 3}`, ...CONTROLLER_FLAGS];

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  rollup: { file: 'wire/rollup.ts', about: 'the cost of reading a roll-up' },
  economy: {
    file: 'economy/main.ts',
    about: 'what the same pods cost under the rules of the engine, against a lower bound and a packer',
  },
  engine: { file: 'engine/main.ts', about: 'whole decisions on rebuilt inputs, one thread' },
  hostile: {
    file: 'hostile/main.ts',
    about: 'latencies of well-behaved clusters during attacks on their shard',
  },
  ladder: {
    file: 'ladder/main.ts',
    about: 'the scale ladder, from dev-50 to uber-500k',
    flags: AS_A_CONTROLLER,
  },
  lanes: {
    file: 'ladder/lanes.ts',
    about: 'what several lanes cost or gain against one, in turns on one fleet',
    flags: AS_A_CONTROLLER,
  },
  limits: {
    file: 'ladder/limits.ts',
    about: 'cycles with shared machines against the limits of the README',
    flags: AS_A_CONTROLLER,
  },
  operator: {
    file: 'operator/main.ts',
    about: 'roll-ups, memory and start of the operator of a large cluster',
  },
  record: { file: 'record/main.ts', about: 'measures the figures of the pages again, and renders them' },
  provider: { file: 'provider/main.ts', about: 'Lists, transitions and the cost of a call to a provider' },
  shard: {
    file: 'shard/main.ts',
    about: 'a shard over gRPC, with its clusters and providers in separate processes',
  },
  startup: { file: 'startup/main.ts', about: 'start-up time of commands' },
  speedup: {
    file: 'ladder/speedup.ts',
    about: 'the speed-up by a second thread, compared with a plain parallel loop',
  },
  web: { file: 'web/main.ts', about: 'the processor time that one open dashboard takes in a shard' },
  whatif: {
    file: 'whatif/main.ts',
    about: 'what-if questions: how long an answer takes, and what it does to the live cycle',
    flags: CONTROLLER_FLAGS,
  },
};

const HELP = `usage: npm run --silent bench -- NAME [options]

${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`)
  .join('\n')}

examples:
  npm run --silent bench -- rollup --needs 400
  npm run --silent bench -- economy --seed 1 --part cold
  npm run --silent bench -- engine --case uber-5k-full --cycles 100
  npm run --silent bench -- engine --json > engine.json
  npm run --silent bench -- ladder --profile uber-50k --regime churn --workers 2 --cycles 30 --json
  npm run --silent bench -- lanes --profile uber-50k-regions
  npm run --silent bench -- limits --profile uber-5k
  npm run --silent bench -- hostile --attack reconnects
  npm run --silent bench -- operator --pods 50000 --nodes 1000
  npm run --silent bench -- provider --records 50000
  npm run --silent bench -- record
  npm run --silent bench -- shard --clusters 200 --needs 388 --machines 225000 --providers 2
  npm run --silent bench -- startup --place checkout
  npm run --silent bench -- speedup --profile uber-500k --regime full
  npm run --silent bench -- web --clusters 20 --machines 22500 --seconds 10
  npm run --silent bench -- whatif --profile uber-5k

NAME --help lists the options of one benchmark.
`;

const [name = '--help', ...rest] = process.argv.slice(2);
const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
if (name === '--help' || name === '-h') console.log(HELP);
else if (benchmark === undefined || !existsSync(`${import.meta.dirname}/${benchmark.file}`)) {
  console.error(`There is no benchmark ${name}.\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const file = `${import.meta.dirname}/${benchmark.file}`;
  const { flags = [] } = benchmark;
  const { status } = spawnSync(process.execPath, [...flags, file, ...rest], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
