// One engine, or one crew of threads, that sees one fleet after the other.

import type { Engine } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import type { DecisionInput } from '../../src/model/index.ts';

/** Makes a fleet hold exactly what an input describes, whatever it held before. */
export function become(fleet: Fleet, before: DecisionInput | undefined, input: DecisionInput): void {
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
export async function comeUp(engine: Engine, workers: number): Promise<void> {
  while (engine.threads < workers) await new Promise((resolve) => setTimeout(resolve, 5));
}
