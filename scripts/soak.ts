// `npm run soak`: whole simulated fleets, each from one seed, until one breaks an invariant or the time is up. A fault
// is printed with the command that replays it, and shrunk; verify-defects.ts reads that line. Exit code 0: no fault. 1:
// one. 2: invalid arguments.

import { parseArgs } from 'node:util';
import {
  drawPlan,
  type Fault,
  faultOf,
  faultText,
  firstFault,
  INVARIANTS,
  runWorld,
  smallestPlan,
} from '../testing/world/index.ts';

const USAGE = `npm run soak -- --seeds N [--from S]    N worlds, from seed S on (default 1)
npm run soak -- --minutes M [--from S]  as many as there is time for (default seed: drawn)
npm run soak -- --seed S [--verbose] [--no-shrink]
                                        one world; --verbose prints everything that happens in it`;

/** Between progress lines. */
const PROGRESS_MS = 10_000;

function optionsOf() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string' },
        minutes: { type: 'string' },
        seed: { type: 'string' },
        from: { type: 'string' },
        verbose: { type: 'boolean', default: false },
        'no-shrink': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch {
    return null;
  }
}

type Options = NonNullable<ReturnType<typeof optionsOf>>;

const options = optionsOf();
const numbers = [options?.seeds, options?.minutes, options?.seed, options?.from].filter(
  (word) => word !== undefined,
);
const modes = [options?.seeds, options?.minutes, options?.seed].filter((word) => word !== undefined);
if (options === null || options.help || modes.length !== 1 || numbers.some((word) => !(Number(word) >= 0))) {
  console.error(USAGE);
  process.exit(options?.help === true ? 0 : 2);
}
process.exitCode =
  options.seed === undefined ? await soak(options) : await one(Number(options.seed), options);

async function one(seed: number, { verbose, 'no-shrink': noShrink }: Options): Promise<number> {
  const started = performance.now();
  const result = await runWorld(drawPlan(seed), verbose ? { onLine: (line) => console.log(line) } : {});
  const ms = Math.round(performance.now() - started);
  console.log(`seed ${seed}: ${result.lastedMs / 1000} s in ${ms} ms, digest ${result.digest}`);
  const [violation] = result.violations;
  return violation === undefined ? 0 : await report({ seed, violation }, !noShrink);
}

async function soak({ seeds, minutes, from, 'no-shrink': noShrink }: Options): Promise<number> {
  const started = performance.now();
  const untilMs = minutes === undefined ? Number.POSITIVE_INFINITY : started + Number(minutes) * 60_000;
  const first = Number(from ?? (minutes === undefined ? 1 : Date.now() % 2 ** 30));
  const last = seeds === undefined ? Number.POSITIVE_INFINITY : first + Number(seeds) - 1;
  let done = 0;
  let printedMs = started;
  const fault = await firstFault(range(first, last, untilMs), (seed) => {
    done++;
    if (performance.now() - printedMs < PROGRESS_MS) return;
    printedMs = performance.now();
    const perSeed = ((printedMs - started) / done).toFixed(0);
    console.log(
      `${done.toLocaleString('en')} worlds · seed ${seed} · ${perSeed} ms each · ${left(untilMs, last - seed)}`,
    );
  });
  if (fault !== null) return await report(fault, !noShrink);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`No fault in ${done.toLocaleString('en')} worlds, seeds ${first} and up, ${seconds} s.`);
  return 0;
}

function* range(first: number, last: number, untilMs: number): Generator<number> {
  for (let seed = first; seed <= last && performance.now() < untilMs; seed++) yield seed;
}

function left(untilMs: number, seeds: number): string {
  return Number.isFinite(seeds)
    ? `${seeds} left`
    : `${Math.ceil((untilMs - performance.now()) / 1000)} s left`;
}

async function report(fault: Fault, isShrunk: boolean): Promise<number> {
  console.error(`FAULT ${faultText(fault)}`);
  console.error(`  ${INVARIANTS[fault.violation.name]}`);
  if (!isShrunk) return 1;
  const plan = await smallestPlan(fault);
  const { violation } = (await faultOf(plan))!;
  console.error(`The smallest world found that shows it (${plan.events.length} events):`);
  console.error(JSON.stringify(plan, null, 2));
  console.error(`  ${violation.atMs} ms: ${violation.name}: ${violation.text}`);
  return 1;
}
