// Whether a gang could be whole at all. Counts classes only, so it is asked before anybody looks at machines.

import { MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { domainsOf } from './gang.ts';

const USABLE = [
  MachineState.Speculative,
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
];

/** Whether one domain has enough machines at all, whoever uses them now. */
export function couldEverBeWhole(cycle: Cycle, turn: number): boolean {
  const { classes, demand, dimensions, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const { stride, count } = dimensions;
  const byKey = domainsOf(cycle, turn);
  const row = cycle.turns.row[turn]!;
  const sums = new Map<number, Float64Array>();
  for (const c of pattern.fittingClasses()) {
    const members = USABLE.reduce((sum, state) => sum + (machines.counts[c * 9 + state] ?? 0), 0);
    let sum = sums.get(byKey.of(c));
    if (sum === undefined) {
      sum = new Float64Array(count);
      sums.set(byKey.of(c), sum);
    }
    for (let d = 0; d < count; d++) {
      const wanted = demand.aggregate.data[row * stride + d]!;
      sum[d] = Math.min(wanted, sum[d]! + members * classes.allocatable.data[c * stride + d]!);
    }
  }
  return [...sums.values()].some((sum) =>
    sum.every((have, d) => have >= demand.aggregate.data[row * stride + d]!),
  );
}
