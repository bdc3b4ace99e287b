// The shard at a glance, counted by class and by row: cheap enough to be told after every cycle.

import type { Fleet } from '../../fleet/index.ts';
import { formatQuantity, MachineState, stateName } from '../../model/index.ts';
import type { Counts, CycleView, ProviderView, StatusView } from '../views.ts';
import type { BrainState } from './brain.ts';

/** States in which somebody is paid for a machine; Failed ones may still have their host. */
const PAID: readonly MachineState[] = Object.values(MachineState).filter(
  (state) => state !== MachineState.Speculative,
);

export function statusOf(state: BrainState, cycle: CycleView | null): StatusView {
  const { parts, book, sessions, shortfalls, freezes } = state;
  const { shard, epoch, rails } = parts.options;
  const { fleet } = book;
  const { total, escalated } = shortfalls.gauges;
  return {
    ...{ shard, epoch: Number(epoch), startedMs: state.startedMs, nowMs: parts.clock.now() },
    ...{ phase: state.phase, dryRun: rails.dryRun, cycle },
    machines: fleet.machines.count,
    ...machinesOf(fleet),
    needs: fleet.demand.count,
    clusters: clusterCount(fleet),
    ...{ sessions: sessions.size, shortfalls: total, escalated, freezes: freezes.list().length },
    supply: supplyOf(fleet),
    providers: parts.options.providers.map((name) => providerOf(state, name)),
  };
}

function providerOf({ desk, book, reconcile }: BrainState, name: string): ProviderView {
  return {
    name,
    breaker: desk.breakerOf(name),
    machines: book.countOf(name),
    waiting: desk.waitingAt(name),
    ...reconcile.readingsOf(name),
    heldLosses: reconcile.heldLosses(name),
  };
}

function machinesOf({ machines, classes }: Fleet): Pick<StatusView, 'machinesByState' | 'costPerHour'> {
  const machinesByState: Record<string, number> = {};
  let costPerHour = 0;
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined) continue;
    for (const state of Object.values(MachineState)) {
      const count = machines.countOf(c, state);
      if (count === 0) continue;
      machinesByState[stateLabel(state)] = (machinesByState[stateLabel(state)] ?? 0) + count;
      if (PAID.includes(state)) costPerHour += count * classes.price[c]!;
    }
  }
  return { machinesByState, costPerHour };
}

/** `CONFIGURED`, as the wire has it. */
export function stateLabel(state: MachineState): string {
  return stateName(state).toUpperCase();
}

function clusterCount({ clusters, demand, machines }: Fleet): number {
  let count = 0;
  for (const cluster of clusters.sorted()) {
    if (demand.rowsOf(cluster).length > 0 || machines.boundOf(cluster) !== undefined) count++;
  }
  return count;
}

type Supply = Record<string, { wanted: number; configured: number }>;

function supplyOf(fleet: Fleet): StatusView['supply'] {
  const { clusters, demand, machines, classes, dimensions } = fleet;
  const supply: Supply = {};
  const sums = new Float64Array(dimensions.count);
  for (const cluster of clusters.sorted()) {
    const { offset, length } = demand.rowsOf(cluster);
    for (let row = offset; row < offset + length; row++) {
      const from = row * dimensions.stride;
      for (let d = 0; d < sums.length; d++) sums[d]! += demand.aggregate.data[from + d]!;
    }
  }
  for (const [d, sum] of sums.entries()) {
    if (sum > 0) entryOf(supply, dimensions.nameOf(d)).wanted += plain(sum, dimensions.nameOf(d));
  }
  for (const [c, offered] of classes.offered.entries()) {
    const count = offered === undefined ? 0 : machines.countOf(c, MachineState.Configured);
    if (count === 0) continue;
    for (const [name, units] of offered!) entryOf(supply, name).configured += plain(units * count, name);
  }
  return supply;
}

function entryOf(supply: Supply, name: string): { wanted: number; configured: number } {
  supply[name] ??= { wanted: 0, configured: 0 };
  return supply[name];
}

/** In cores, bytes or pieces. */
function plain(units: number, resource: string): number {
  return formatQuantity(1, resource).endsWith('m') ? units / 1000 : units;
}

/** Bound machines of a cluster by state. */
export function clusterMachines({ machines, clusters, classes }: Fleet, cluster: string) {
  const counts: Record<string, number> = {};
  let costPerHour = 0;
  const runs = machines.boundOf(clusters.find(cluster));
  if (runs !== undefined) {
    for (const [state, { offset, length }] of [
      [MachineState.Configured, runs.configured],
      [MachineState.Configuring, runs.configuring],
    ] as const) {
      if (length > 0) counts[stateLabel(state)] = length;
      for (let i = offset; i < offset + length; i++)
        costPerHour += classes.price[machines.classOf[machines.arena.data[i]!]!]!;
    }
  }
  return { machinesByState: counts as Counts, costPerHour };
}
