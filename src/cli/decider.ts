// The engine as `bigfleet decide` uses it. A separate file, loaded by commands.ts, because loading it costs more than
// the rest of the command.

import { Engine, explain } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import type { DecisionInput, Plan } from '../model/index.ts';
import type { Decider } from './decide.ts';
import type { Phase1Options } from './phase1-flags.ts';

export const DECIDER: Decider = {
  decide: decideWith,
  explain: (input, key) => explain(fleetOf(input), input.nowMs, input.options, key),
};

/** Threads that have not started by then are left out. The plan does not depend on their number. */
const THREAD_START_MS = 5000;
const POLL_MS = 5;

/** Decides once, with the threads, retries and lanes of `how`. */
async function decideWith(input: DecisionInput, how: Phase1Options): Promise<Plan> {
  const engine = new Engine(fleetOf(input), how);
  try {
    for (let waitedMs = 0; engine.threads < how.workers && waitedMs < THREAD_START_MS; waitedMs += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return engine.decide(input.nowMs, input.options).plan();
  } finally {
    await engine.close();
  }
}
