// A decider for the closed loop that works as a shard does: one fleet and one engine for all decisions, updated only
// with what changed since the last one. So a loop also tests the state that the engine caches between cycles. Used by
// test/engine and by the tests of the demand of the demo.

import { Engine, type EngineMetrics, type EngineOptions } from '../../src/engine/index.ts';
import { Fleet } from '../../src/fleet/index.ts';
import type { DecisionInput, LedgerMachine, Need } from '../../src/model/index.ts';
import type { Decider } from './loop.ts';

export interface IncrementalDecider {
  /** As of the last decision. */
  readonly fleet: Fleet;
  readonly decide: Decider;
  readonly metrics: EngineMetrics;
}

export function incrementalDecider(options: EngineOptions = {}): IncrementalDecider {
  const fleet = new Fleet();
  const engine = new Engine(fleet, options);
  let before: Pick<DecisionInput, 'machines' | 'needs'> = { machines: [], needs: [] };
  return {
    fleet,
    metrics: engine.metrics,
    decide: (input) => {
      changeMachines(fleet, before.machines, input.machines);
      changeNeeds(fleet, before.needs, input.needs);
      before = input;
      return engine.decide(input.nowMs, input.options).plan();
    },
  };
}

function changeMachines(
  { machines }: Fleet,
  before: readonly LedgerMachine[],
  after: readonly LedgerMachine[],
): void {
  const known = new Map(before.map((machine) => [machine.id, machine]));
  machines.batch(() => {
    for (const machine of after) {
      // The loop creates a new record for every machine it changes, so identity detects changes.
      if (known.get(machine.id) !== machine) machines.put(machine);
      known.delete(machine.id);
    }
    for (const id of known.keys()) machines.remove(id);
  });
}

function changeNeeds({ demand }: Fleet, before: readonly Need[], after: readonly Need[]): void {
  if (before === after) return;
  const clusters = new Set([...before, ...after].map(({ cluster }) => cluster));
  for (const cluster of clusters) {
    demand.replace(
      cluster,
      after.filter((need) => need.cluster === cluster),
    );
  }
}
