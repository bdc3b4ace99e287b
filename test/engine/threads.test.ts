// The engine with several worker threads: the same plan, to the byte, as the oracle's, on one warm crew that sees one
// fleet after the other.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { Fleet } from '../../src/fleet/index.ts';
import type { DecisionInput } from '../../src/model/index.ts';
import { fleets } from '../fleets.ts';
import { planText } from '../oracle/invariants.ts';
import { decide as oracle } from '../oracle/oracle.ts';

const FLEETS = 60;

/** Makes a fleet hold exactly what an input describes, whatever it held before. */
function become(fleet: Fleet, before: DecisionInput | undefined, input: DecisionInput): void {
  for (const { id } of before?.machines ?? []) fleet.machines.remove(id);
  fleet.machines.load(input.machines);
  for (const cluster of new Set([...(before?.needs ?? []), ...input.needs].map((need) => need.cluster))) {
    fleet.demand.replace(
      cluster,
      input.needs.filter((need) => need.cluster === cluster),
    );
  }
}

/** Waits until all threads of an engine are up; until then a cycle runs without them. */
async function comeUp(engine: Engine, workers: number): Promise<void> {
  while (engine.threads < workers) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('worker threads', () => {
  it.each([2, 3, 8])(
    'given %i workers, then every plan is the oracle’s',
    { timeout: 120_000 },
    async (workers) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers, smallestRound: 1 });
      let before: DecisionInput | undefined;
      try {
        for (const [i, input] of fc.sample(fleets(), { numRuns: FLEETS, seed }).entries()) {
          become(fleet, before, input);
          before = input;
          const plan = engine.decide(input.nowMs, input.options).plan();
          expect(planText(plan), `fleet ${i} of BIGFLEET_SEED=${seed}`).toBe(planText(oracle(input)));
        }
      } finally {
        await engine.close();
      }
    },
  );

  it('given a thread that fails, then the cycle fails and says why', { timeout: 60_000 }, async () => {
    const fleet = new Fleet();
    const engine = new Engine(fleet, { workers: 2, smallestRound: 1 });
    await comeUp(engine, 2);
    const [input] = fc.sample(fleets({ machines: 40, needs: 20 }), { numRuns: 1, seed: 7 });
    become(fleet, undefined, input!);
    // A mirror of tables that were spoilt behind the engine's back.
    const good = fleet.patterns.list.bind(fleet.patterns);
    fleet.patterns.list = () => good().map(() => undefined);
    try {
      const decided = Array.from({ length: 50 }, () => {
        try {
          engine.decide(input!.nowMs, input!.options, { everything: true });
          return 'decided';
        } catch (error) {
          return String(error);
        }
      });
      expect(decided.find((outcome) => outcome !== 'decided') ?? '').toContain('A worker thread failed');
    } finally {
      await engine.close();
    }
  });
});
