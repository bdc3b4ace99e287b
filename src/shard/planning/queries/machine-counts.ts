// Machines by one aspect and by state, for filters and summaries: from the counts of classes, or for clusters from their
// cached sums. Independent of the number of machines. Used by answers.ts.

import { MachineState } from '../../../model/index.ts';
import { namerOf } from '../../telemetry/cost-breakdown.ts';
import type { Answer, Questions } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { firstWithin } from './pages.ts';
import { stateLabel } from './status.ts';

type Counts = Record<string, number>;

const STATES: readonly MachineState[] = Object.values(MachineState);
const MAX_NAMES = 1_000;

export function machineCounts(
  state: ControllerState,
  { by, maxBytes = Number.POSITIVE_INFINITY }: Questions['machineCounts']['ask'],
): Answer<'machineCounts'> {
  const counts = by === 'cluster' ? byCluster(state) : byClass(state, by);
  const items = [...counts]
    .map(([name, byState]) => ({ name, machines: sum(byState), byState }))
    .filter(({ machines }) => machines > 0)
    .sort((a, b) => b.machines - a.machines || (a.name < b.name ? -1 : 1));
  return { by, items: firstWithin(items, MAX_NAMES, maxBytes), total: items.length };
}

function byCluster({ clusterCosts }: ControllerState): ReadonlyMap<string, Counts> {
  return new Map(
    [...clusterCosts.all()].map(([name, { machinesByState }]) => [name, { ...machinesByState }]),
  );
}

function byClass(
  { ledger }: ControllerState,
  by: Exclude<Questions['machineCounts']['ask']['by'], 'cluster'>,
): ReadonlyMap<string, Counts> {
  const { machines, classes } = ledger.fleet;
  const nameOf = namerOf(ledger.fleet, by);
  const found = new Map<string, Counts>();
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined) continue;
    const name = nameOf(c);
    let counts = found.get(name);
    if (counts === undefined) {
      counts = {};
      found.set(name, counts);
    }
    for (const state of STATES) {
      const count = machines.countOf(c, state);
      if (count > 0) counts[stateLabel(state)] = (counts[stateLabel(state)] ?? 0) + count;
    }
  }
  return found;
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
