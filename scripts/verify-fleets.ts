// `npm run verify:fleets`: the engine against the oracle on random fleets, to the byte, with sharing on and off, for several
// numbers of threads and lanes. Each kind of engine keeps its state from fleet to fleet, and decides each fleet twice:
// from what it kept, and in full. Exit code 1 at the first difference, which is saved for `bigfleet decide`.

import fc from 'fast-check';
import { optionsGiven } from '../bench/options.ts';
import { Engine } from '../src/engine/index.ts';
import { Fleet } from '../src/fleet/index.ts';
import type { DecisionInput, DecisionOptions } from '../src/model/index.ts';
import { Random } from '../src/runtime/random.ts';
import { saveScenario } from '../test/engine/compare.ts';
import { blend, diceThrow, threadsStarted, updateFleet } from '../test/engine/warm.ts';
import { planText } from '../testing/oracle/invariants.ts';
import { decide as oracle } from '../testing/oracle/oracle.ts';
import { anInput, anyFleets } from '../testing/support/fleets.ts';

const HELP = `verify:fleets: engine and oracle on random fleets

  --fleets N      fleets for each setting of sharing (default 20000)
  --sharing A,B   settings (default on,off)
  --workers A,B   numbers of threads (default 1,2,4)
  --lanes A,B     lanes, each auto or a number (default auto,3)
  --seed N        seed of the fleets (default: the time)

example: npm run verify:fleets -- --fleets 500 --sharing on --workers 1,2
`;

/** Fleets drawn at a time; each batch has a seed of its own. */
const BATCH = 250;
/** Seconds between progress lines. */
const PROGRESS_SECONDS = 30;

const values = optionsGiven({
  fleets: { type: 'string', default: '20000' },
  sharing: { type: 'string', default: 'on,off' },
  workers: { type: 'string', default: '1,2,4' },
  lanes: { type: 'string', default: 'auto,3' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  help: { type: 'boolean', default: false },
});

if (values.help) console.log(HELP);
else process.exitCode = await verify();

async function verify(): Promise<number> {
  for (const sharing of values.sharing.split(',') as DecisionOptions['sharing'][]) {
    const kinds = await kindsOfEngine();
    const isEqual = compareAll(sharing, kinds);
    await Promise.all(kinds.map(({ engine }) => engine.close()));
    if (!isEqual) return 1;
  }
  return 0;
}

interface Kind {
  readonly name: string;
  readonly fleet: Fleet;
  readonly engine: Engine;
}

async function kindsOfEngine(): Promise<readonly Kind[]> {
  const kinds: Kind[] = [];
  for (const workers of values.workers.split(',').map(Number)) {
    for (const lanes of values.lanes.split(',').map((text) => (text === 'auto' ? text : Number(text)))) {
      const fleet = new Fleet();
      const engine = new Engine(fleet, {
        workers,
        lanes,
        smallestStep: 1,
        checkEvery: 0,
        // Fleets are too small for a forced number of lanes to divide their clusters otherwise.
        ...(lanes === 'auto' ? {} : { eagerLanes: 'clusters' as const }),
      });
      await threadsStarted(engine, workers);
      kinds.push({ name: `${workers} workers, lanes ${lanes}`, fleet, engine });
    }
  }
  return kinds;
}

/** Whether all plans are equal. */
function compareAll(sharing: DecisionOptions['sharing'], kinds: readonly Kind[]): boolean {
  const started = performance.now();
  let progressAt = PROGRESS_SECONDS;
  let before = anInput([], []);
  let plans = 0;
  const fleets = Number(values.fleets);
  for (let i = 0, batch = 0; i < fleets; batch++) {
    const seed = Number(values.seed) + batch;
    const random = new Random(seed);
    const samples = fc.sample(anyFleets(), { numRuns: Math.min(BATCH, fleets - i), seed });
    for (const sample of samples) {
      const drawn = { ...sample, options: { ...sample.options, sharing } };
      // Every second fleet has only parts that are new, so that the engines have something to keep.
      const input = i++ % 2 === 0 ? drawn : blend(before, drawn, diceThrow(diceOf(random)));
      const expected = planText(oracle(input));
      for (const kind of kinds) {
        updateFleet(kind.fleet, before, input, kind.engine);
        for (const everything of [false, true]) {
          const plan = kind.engine.decide(input.nowMs, input.options, { everything }).plan();
          plans++;
          if (planText(plan) !== expected) return report(input, `${kind.name}, seed ${seed}`, everything);
        }
      }
      before = input;
      const seconds = (performance.now() - started) / 1000;
      if (seconds < progressAt) continue;
      progressAt = seconds + PROGRESS_SECONDS;
      console.log(`sharing ${sharing}: ${i} of ${fleets} fleets, ${seconds.toFixed(0)} s`);
    }
  }
  const failures = kinds.flatMap(({ engine }) => engine.threadFailures);
  for (const failure of failures) console.error(failure);
  console.log(
    `sharing ${sharing}: ${fleets} fleets, ${plans} plans of ${kinds.length} kinds of engine, from kept state and in full, ` +
      `all equal the oracle's; seed ${values.seed}`,
  );
  return failures.length === 0;
}

function* diceOf(random: Random): Generator<number, never> {
  for (;;) yield random.below(10);
}

function report(input: DecisionInput, kind: string, everything: boolean): false {
  const file = `.cache/fleets-${values.seed}.json`;
  saveScenario(file, input);
  console.error(`DIFFERENT: ${kind}, ${everything ? 'in full' : 'from kept state'}`);
  console.error(`Open it: npm run bigfleet -- decide ${file}`);
  return false;
}
