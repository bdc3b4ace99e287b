// A fleet and its cycle as another thread sees them: the same columns, since they are in shared memory, and copies of
// the small tables that are plain objects. Enough to serve clusters; verdicts stay on the thread of the cycle.
// worker-pool.ts publishes it, worker.ts applies it.

import type { Column } from '../../collections/columns.ts';
import { type ColumnGroup, columnGroupsOf, shareColumns } from '../../collections/table.ts';
import {
  Fleet,
  type FleetView,
  type Pattern,
  type PatternParts,
  type ProfileEntry,
} from '../../fleet/index.ts';
import type { Attributes, ResourceVector } from '../../model/index.ts';
import { Cycle } from '../cycle.ts';
import { ClusterLane, type ClusterWork } from './cluster-lane.ts';
import { Lane, type LaneWork, runLanes, runTogether } from './lane.ts';
import { type LaneResult, resultOf } from './lane-result.ts';
import type { LaneStart } from './worker-pool.ts';

/**
 * The tables whose columns worker threads share with the thread of the cycle. Both directions, publishing and taking over,
 * are derived from this list and from the columns that each table declares, so both threads must list the same tables in
 * the same order. The pass, the result and the actions are not shared: no worker reads them.
 */
function sharedTables(cycle: Cycle): readonly object[] {
  const { classes, demand, machines } = cycle.fleet;
  const { bindable, blockers, bound, claims, credits, dirtyClusters } = cycle;
  const { foldable, freeMachines, rankedRows, retiring, sharing, walk } = cycle;
  return [
    ...[machines, machines.stamps, machines.arena],
    ...[classes, classes.allocatable],
    ...[demand, demand.aggregate, demand.minUnit],
    ...[rankedRows, foldable, bound, walk, dirtyClusters, bindable, claims, credits, sharing, blockers],
    ...[retiring, freeMachines.idle, freeMachines.speculative],
  ];
}

/** All column groups of these tables. Tables and groups live as long as the cycle; only their columns are replaced. */
export function sharedGroups(cycle: Cycle): readonly ColumnGroup[] {
  return sharedTables(cycle).flatMap(columnGroupsOf);
}

/** Changed entries of the tables of plain objects, by number; undefined for a number that is no longer in use. */
interface TableChanges {
  readonly dimensions: { readonly names: readonly string[]; readonly stride: number };
  readonly classes: readonly (readonly [number, Attributes | undefined, ResourceVector | undefined])[];
  readonly patterns: readonly (readonly [number, PatternParts | undefined])[];
  readonly profiles: readonly (readonly [number, ProfileEntry | undefined])[];
}

export interface SharedStateUpdate {
  /** The columns of each group of `sharedGroups`. */
  readonly columns: readonly (readonly Column[])[];
  readonly tables: TableChanges | null;
}

/** Computes what changed since the last update, so that a cycle without changes sends nothing. */
export class SharedStatePublisher {
  readonly #fleet: FleetView;
  readonly #groups: readonly ColumnGroup[];
  #columns: readonly (readonly Column[])[] = [];
  #versions = '';
  /** Entries as last published. They are immutable, so a different object means a change. */
  readonly #classes: (Attributes | undefined)[] = [];
  readonly #patterns: (Pattern | undefined)[] = [];
  readonly #profiles: (ProfileEntry | undefined)[] = [];

  constructor(cycle: Cycle) {
    this.#fleet = cycle.fleet;
    this.#groups = sharedGroups(cycle);
  }

  /** The update that another thread has to apply, or null if it is up to date. */
  changesSinceLast(): SharedStateUpdate | null {
    const columns = this.#groups.map((group) => group.columns());
    const moved = columns.some((group, g) => group.some((column, i) => column !== this.#columns[g]?.[i]));
    const { classes, demand, dimensions, patterns } = this.#fleet;
    const versions = [classes.version, patterns.version, demand.profiles.version, dimensions.count].join();
    const tables = versions === this.#versions ? null : this.#changes();
    if (!moved && tables === null) return null;
    this.#columns = columns;
    this.#versions = versions;
    return { columns, tables };
  }

  #changes(): TableChanges {
    const { classes, demand, dimensions, patterns } = this.#fleet;
    const { attributes, offered } = classes;
    const list = patterns.list();
    const { entries } = demand.profiles;
    return {
      dimensions: { names: dimensions.names, stride: dimensions.stride },
      classes: changed(this.#classes, attributes).map((c) => [c, attributes[c], offered[c]] as const),
      patterns: changed(this.#patterns, list).map((n) => [n, partsOf(list[n])] as const),
      profiles: changed(this.#profiles, entries).map((n) => [n, entries[n]] as const),
    };
  }
}

/** Indexes of entries changed since the last call; marks them as seen. */
function changed<T>(seen: (T | undefined)[], entries: readonly (T | undefined)[]): number[] {
  const numbers: number[] = [];
  for (let number = 0; number < entries.length; number++) {
    if (seen[number] === entries[number] && number < seen.length) continue;
    seen[number] = entries[number];
    numbers.push(number);
  }
  return numbers;
}

function partsOf(pattern: Pattern | undefined): PatternParts | undefined {
  return pattern && { requirements: pattern.requirements, minUnit: pattern.minUnit };
}

/** The cycle of the main thread, mirrored on a worker. */
export class WorkerCycle {
  readonly #fleet = new Fleet();
  readonly cycle = new Cycle(this.#fleet);
  readonly #groups = sharedGroups(this.cycle);
  readonly #lanes = new LaneCycles(this.cycle);

  takeOver({ columns, tables }: SharedStateUpdate): void {
    const { classes, demand, dimensions, patterns } = this.#fleet;
    if (tables !== null) {
      dimensions.mirror(tables.dimensions.names, tables.dimensions.stride);
      for (const [number, attributes, offered] of tables.classes) classes.mirror(number, attributes, offered);
      for (const [number, parts] of tables.patterns) patterns.mirror(number, parts);
      for (const [number, entry] of tables.profiles) demand.profiles.mirror(number, entry);
    }
    for (const [i, group] of this.#groups.entries()) group.adopt(columns[i]!);
  }

  /** Runs lanes of a pass over the mirrored cycle until all their rows are served. */
  drive({ lanes, supply, work }: LaneStart): readonly LaneResult[] {
    if ('requests' in work) {
      const opened = this.#lanes.openClusterLanes(work, lanes, 0);
      runTogether(opened);
      return opened.map((lane) => resultOf(lane, true));
    }
    this.#fleet.machines.mirror(supply!);
    const opened = this.#lanes.open(work, lanes, false);
    runLanes(opened);
    return opened.map((lane) => resultOf(lane, true));
  }
}

/** The lanes of one thread, each in a cycle of its own; these keep their candidate lists from pass to pass. */
export class LaneCycles {
  readonly #cycle: Cycle;
  readonly #others: Cycle[] = [];

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /**
   * Opens lanes of a pass on this thread. The first is served in the thread's own cycle, which has begun the pass already if
   * `hasBegun`.
   */
  open(work: LaneWork, numbers: readonly number[], hasBegun: boolean): readonly Lane[] {
    return numbers.map((number, i) => {
      const cycle = i === 0 ? this.#cycle : this.#otherAt(i - 1);
      if (i > 0 || !hasBegun) cycle.beginLane(work.claimsStart[number]!, work.poolOptions, work.adoptable);
      return new Lane(cycle, work, number, hasBegun);
    });
  }

  /** Opens cluster lanes of a pass on this thread, in its own cycles from number `first` on. */
  openClusterLanes(work: ClusterWork, numbers: readonly number[], first: number): readonly ClusterLane[] {
    return numbers.map((number, i) => {
      const cycle = first + i === 0 ? this.#cycle : this.#otherAt(first + i - 1);
      cycle.beginClusterLane(work.claimsStart[number]!);
      return new ClusterLane(cycle, work, number);
    });
  }

  #otherAt(index: number): Cycle {
    this.#others[index] ??= new Cycle(this.#cycle.fleet, this.#cycle);
    const other = this.#others[index];
    const tables = sharedTables(this.#cycle);
    for (const [i, table] of sharedTables(other).entries()) {
      if (table !== tables[i]) shareColumns(tables[i]!, table);
    }
    return other;
  }
}
