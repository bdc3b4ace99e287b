// Machines that are to be replaced (E8 of docs/internals/engine.md). A plain row is served without those of its cluster,
// unless that leaves it short. Clusters that cannot bind ignore the marks, since they could not acquire replacements. A
// table of `Cycle`; credit.ts and serve.ts read it.

import { ColumnGroup } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { type DecisionOptions, isBound } from '../../model/index.ts';
import type { Shortage } from './unfilled.ts';

const NO_CLUSTERS: ReadonlySet<number> = new Set();

export class Retiring {
  readonly #fleet: FleetView;
  readonly bySlot = new ColumnGroup(this);
  /** 1 for a bound machine that is to be replaced. */
  readonly marked = this.bySlot.u8();
  readonly byCluster = new ColumnGroup(this);
  /** 1 for a cluster that has such machines. */
  readonly isIn = this.byCluster.u8();
  #slots: ReadonlySet<number> = new Set();
  #clusters: ReadonlySet<number> = NO_CLUSTERS;
  /** What the row being served wanted before its credit, if it is served without marked machines. */
  #wanted: Shortage | null = null;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** Begins a cycle. Returns the clusters whose marks changed, so that they must be served again. */
  beginCycle({ cannotBind, retiring }: DecisionOptions): ReadonlySet<number> {
    if (retiring.size === 0 && this.#slots.size === 0) return NO_CLUSTERS;
    const { clusters, machines } = this.#fleet;
    const before = this.#slots;
    const slots = new Set<number>();
    for (const id of retiring) {
      const slot = machines.slotOf(id);
      if (slot === undefined || !isBound(machines.stateOf(slot))) continue;
      if (!cannotBind.has(clusters.nameOf(machines.cluster[slot]!))) slots.add(slot);
    }
    this.bySlot.reserve(machines.size);
    this.byCluster.reserve(clusters.size);
    for (const slot of before) this.marked[slot] = 0;
    for (const slot of slots) this.marked[slot] = 1;
    const hadMarks = this.#clusters;
    const hasMarks = new Set(Array.from(slots, (slot) => machines.cluster[slot]!));
    for (const cluster of hadMarks) this.isIn[cluster] = 0;
    for (const cluster of hasMarks) this.isIn[cluster] = 1;
    this.#slots = slots;
    this.#clusters = hasMarks;
    // A cluster may have been served ahead of the cycle, when a marked machine had joined or left it: compare both.
    const changed = new Set(inOneOf(hadMarks, hasMarks));
    for (const slot of inOneOf(before, slots)) changed.add(machines.cluster[slot]!);
    // 0 is no cluster.
    changed.delete(0);
    return changed;
  }

  /** Prepares a row that wants this and is served without marked machines; null for any other row. */
  leaveOutFor(wanted: Shortage | null): void {
    this.#wanted = wanted;
  }

  /** What the row being served wanted, if it is served without marked machines; from now on it is served with them. */
  takeBack(): Shortage | null {
    const wanted = this.#wanted;
    this.#wanted = null;
    return wanted;
  }

  /** Whether the row being served is served without marked machines. */
  get areLeftOut(): boolean {
    return this.#wanted !== null;
  }

  /** Whether a bound machine is left out for the row being served. */
  leavesOut(slot: number): boolean {
    return this.#wanted !== null && this.marked[slot] === 1;
  }
}

/** Numbers that are in one of two sets and not in the other. */
function inOneOf(a: ReadonlySet<number>, b: ReadonlySet<number>): readonly number[] {
  return [...[...a].filter((number) => !b.has(number)), ...[...b].filter((number) => !a.has(number))];
}
