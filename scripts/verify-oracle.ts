// `npm run verify:oracle`: the engine against the oracle on rungs of the scale ladder, to the byte, with sharing and without,
// for several numbers of threads and lanes. The oracle is naive: a rung of uber-5k takes it a minute.

import { optionsGiven } from '../bench/options.ts';
import { Engine } from '../src/engine/index.ts';
import { fleetOf } from '../src/fleet/index.ts';
import { type DecisionInput, SHARED_OPTIONS, UNSHARED_OPTIONS } from '../src/model/index.ts';
import { rungInput } from '../test/engine/rungs.ts';
import { threadsStarted } from '../test/engine/warm.ts';
import { planText } from '../testing/oracle/invariants.ts';
import { decide as oracle } from '../testing/oracle/oracle.ts';
import type { Beginning } from '../testing/workload/workload.ts';

const USAGE = `npm run verify:oracle -- [--profiles uber-5k,uber-5k-racks] [--regimes full,cold] [--options shared,unshared] [--workers 1,2,3,8] [--lanes auto,4]

example: npm run verify:oracle -- --profiles dev-500 --workers 1,2`;

const values = optionsGiven({
  profiles: { type: 'string', default: 'uber-5k' },
  regimes: { type: 'string', default: 'full,cold' },
  options: { type: 'string', default: 'shared,unshared' },
  workers: { type: 'string', default: '1,2,3,8' },
  lanes: { type: 'string', default: 'auto,4' },
  help: { type: 'boolean', default: false },
});
if (values.help) console.log(USAGE);
else process.exitCode = await verify();

async function verify(): Promise<number> {
  let differences = 0;
  for (const profile of values.profiles.split(',')) {
    for (const regime of values.regimes.split(',')) {
      for (const rules of values.options.split(',')) {
        const economy = rules === 'unshared' ? UNSHARED_OPTIONS : SHARED_OPTIONS;
        const input = rungInput(profile, regime as Beginning, economy);
        const size = `${input.machines.length} machines, ${input.needs.length} Needs`;
        console.log(`${profile} ${regime} ${rules}: ${size}; the oracle decides …`);
        const started = performance.now();
        const expected = planText(oracle(input));
        console.log(`  oracle: ${((performance.now() - started) / 1000).toFixed(1)} s`);
        differences += await compare(input, expected);
      }
    }
  }
  console.log(differences === 0 ? 'All plans are equal.' : `${differences} plans differ.`);
  return differences === 0 ? 0 : 1;
}

/** How many of the engine's plans are not the expected one. */
async function compare(input: DecisionInput, expected: string): Promise<number> {
  let differences = 0;
  for (const workers of values.workers.split(',').map(Number)) {
    for (const lanes of values.lanes.split(',').map((text) => (text === 'auto' ? text : Number(text)))) {
      const engine = new Engine(fleetOf(input), { workers, lanes, smallestStep: 1 });
      await threadsStarted(engine, workers);
      const equal = planText(engine.decide(input.nowMs, input.options).plan()) === expected;
      await engine.close();
      if (!equal) differences++;
      console.log(`  ${workers} workers, ${lanes} lanes: ${equal ? 'equal' : 'DIFFERENT'}`);
    }
  }
  return differences;
}
