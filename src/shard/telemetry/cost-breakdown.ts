// The cost of the fleet by aspects of its machines: capacity type, zone, instance type and hardware from the counts of
// classes, cluster and priority in one pass over the columns. Computed on request and kept for `FRESH_MS`, so that any
// number of readers costs at most one computation a second. Made by planning/controller.ts; read by queries/cost.ts and
// cost-history.ts.

import { acceleratorsOf, HARDWARE, hardwareOf } from '../../engine/index.ts';
import type { Fleet } from '../../fleet/index.ts';
import { MachineState, microsOf } from '../../model/index.ts';
import { capacityLabel } from '../planning/queries/action-view.ts';
import { noCost, ON_HOLD, PART_OF_STATE, SERVING } from './cost.ts';

/** What costs are grouped by. */
export type CostAspect = 'cluster' | 'capacity-type' | 'priority' | 'hardware' | 'zone' | 'instance-type';

/** Machines that have a host, and what they cost. */
interface CostGroup {
  machines: number;
  /** Micro-dollars per hour by index in COST_PARTS. */
  readonly cost: Float64Array;
}

export type CostGroups = ReadonlyMap<string, CostGroup>;

interface Hosts {
  /** Failed machines that have a host, by class. */
  readonly failedHosts: { readonly byClass: ReadonlyMap<number, number> };
  /** Configured machines on hold. */
  readonly onHold: { readonly byClass: ReadonlyMap<number, number>; has(slot: number): boolean };
}

const FRESH_MS = 1_000;
const STATES: readonly MachineState[] = Object.values(MachineState);
const FAILED = PART_OF_STATE[MachineState.Failed]!;

export class CostBreakdown {
  readonly #fleet: Fleet;
  readonly #hosts: Hosts;
  readonly #kept = new Map<CostAspect, { readonly atMs: number; readonly groups: CostGroups }>();

  constructor(fleet: Fleet, hosts: Hosts) {
    this.#fleet = fleet;
    this.#hosts = hosts;
  }

  /** By name; '' for machines without a cluster, and for those whose priority is not known. At most `FRESH_MS` old. */
  by(aspect: CostAspect, nowMs: number): CostGroups {
    const kept = this.#kept.get(aspect);
    // A clock that was set back must not keep old figures.
    if (kept !== undefined && Math.abs(nowMs - kept.atMs) < FRESH_MS) return kept.groups;
    const groups =
      aspect === 'cluster' || aspect === 'priority' ? this.#bySlot(aspect) : this.#byClass(aspect);
    this.#kept.set(aspect, { atMs: nowMs, groups });
    return groups;
  }

  /** O(classes). */
  #byClass(aspect: ClassAspect): CostGroups {
    const { machines, classes } = this.#fleet;
    const { failedHosts, onHold } = this.#hosts;
    const groups = new Map<string, CostGroup>();
    const nameOf = namerOf(this.#fleet, aspect);
    for (const [c, attributes] of classes.attributes.entries()) {
      if (attributes === undefined) continue;
      const counts = noCost();
      for (const state of STATES) {
        const part = PART_OF_STATE[state]!;
        if (part !== -1 && part !== FAILED) counts[part]! += machines.countOf(c, state);
      }
      counts[FAILED]! += failedHosts.byClass.get(c) ?? 0;
      const held = onHold.byClass.get(c) ?? 0;
      counts[ON_HOLD]! += held;
      counts[SERVING]! -= held;
      const all = counts.reduce((sum, count) => sum + count, 0);
      if (all === 0) continue;
      const group = groupOf(groups, nameOf(c));
      group.machines += all;
      const micros = microsOf(classes.price[c]!);
      for (const [part, count] of counts.entries()) group.cost[part]! += count * micros;
    }
    return groups;
  }

  /** One pass over the columns. Failed machines belong to no cluster and serve no row. */
  #bySlot(aspect: 'cluster' | 'priority'): CostGroups {
    const { machines, classes, clusters } = this.#fleet;
    const { failedHosts, onHold } = this.#hosts;
    const { stamps } = machines;
    const prices = Float64Array.from(classes.price.subarray(0, classes.size), microsOf);
    const groups = new Map<string, CostGroup>();
    /** By number of the cluster or of the stamp. */
    const byNumber: (CostGroup | undefined)[] = [];
    const numbers = aspect === 'cluster' ? machines.cluster : machines.stamp;
    const nameOf = (number: number): string => {
      if (aspect === 'cluster') return clusters.nameOf(number);
      return stamps.hasPriority[number] === 1 ? String(stamps.priority[number]) : '';
    };
    for (let slot = 0; slot < machines.size; slot++) {
      const state = machines.state[slot]!;
      const part =
        state === MachineState.Configured && onHold.has(slot) ? ON_HOLD : (PART_OF_STATE[state] ?? -1);
      if (state === 0 || part === -1 || part === FAILED) continue;
      const number = numbers[slot]!;
      let group = byNumber[number];
      if (group === undefined) {
        group = groupOf(groups, nameOf(number));
        byNumber[number] = group;
      }
      group.machines++;
      group.cost[part]! += prices[machines.classOf[slot]!]!;
    }
    for (const [c, count] of failedHosts.byClass) {
      if (count === 0) continue;
      const group = groupOf(groups, '');
      group.machines += count;
      group.cost[FAILED]! += count * prices[c]!;
    }
    return groups;
  }
}

/** Aspects that all machines of a class share. */
export type ClassAspect = Exclude<CostAspect, 'cluster' | 'priority'>;

/** The name of a class in an aspect. */
export function namerOf(fleet: Fleet, aspect: ClassAspect): (classNumber: number) => string {
  const { classes, dimensions } = fleet;
  const accelerators = acceleratorsOf(fleet);
  switch (aspect) {
    case 'capacity-type':
      return (c) => capacityLabel(classes.factsOf(c).capacityType);
    case 'zone':
      return (c) => classes.attributes[c]!.zone;
    case 'instance-type':
      return (c) => classes.attributes[c]!.instanceType;
    case 'hardware':
      return (c) => HARDWARE[hardwareOf(accelerators, classes.allocatable.data, c * dimensions.stride)]!;
  }
}

function groupOf(groups: Map<string, CostGroup>, name: string): CostGroup {
  let group = groups.get(name);
  if (group === undefined) {
    group = { machines: 0, cost: noCost() };
    groups.set(name, group);
  }
  return group;
}
