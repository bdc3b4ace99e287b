// A fleet and its cycle as another thread sees them: the same columns, since they are in shared memory, and copies of the
// small tables that are plain objects. Enough to serve clusters; verdicts stay on the thread of the cycle.

import { Fleet, type Pattern, type PatternParts, type ProfileEntry } from '../../fleet/index.ts';
import type { Attributes, ResourceVector } from '../../model/index.ts';
import { Cycle } from '../cycle.ts';
import { driveLanes } from './lane.ts';
import type { LaneStart } from './worker-pool.ts';

/** Columns by owner and name. */
type Columns = Record<string, Uint8Array | Uint32Array | Int32Array | Float64Array>;

interface Shared {
  readonly machines: Columns;
  readonly stamps: Columns;
  readonly arena: Columns;
  readonly classes: Columns;
  readonly allocatable: Columns;
  readonly demand: Columns;
  readonly aggregate: Columns;
  readonly minUnit: Columns;
  readonly rankedRows: Columns;
  readonly foldable: Columns;
  readonly bound: Columns;
  readonly walk: Columns;
  readonly dirtyClusters: Columns;
  readonly cycle: Columns;
}

/** Changed entries of the tables of plain objects, by number; undefined for a number that is no longer in use. */
interface TableChanges {
  readonly dimensions: { readonly names: readonly string[]; readonly stride: number };
  readonly classes: readonly (readonly [number, Attributes | undefined, ResourceVector | undefined])[];
  readonly patterns: readonly (readonly [number, PatternParts | undefined])[];
  readonly profiles: readonly (readonly [number, ProfileEntry | undefined])[];
}

export interface SharedStateUpdate {
  readonly shared: Shared;
  readonly tables: TableChanges | null;
}

function pick<T extends object>(owner: T, names: readonly (keyof T & string)[]): Columns {
  return Object.fromEntries(names.map((name) => [name, owner[name]])) as Columns;
}

/** Computes what changed since the last update, so that a cycle without changes sends nothing. */
export class SharedStatePublisher {
  readonly #cycle: Cycle;
  #columns: readonly unknown[] = [];
  #versions = '';
  /** Entries as last published. They are immutable, so a different object means a change. */
  readonly #classes: (Attributes | undefined)[] = [];
  readonly #patterns: (Pattern | undefined)[] = [];
  readonly #profiles: (ProfileEntry | undefined)[] = [];

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** The update that another thread has to apply, or null if it is up to date. */
  look(): SharedStateUpdate | null {
    const shared = sharedOf(this.#cycle);
    const columns = Object.values(shared).flatMap((group: Columns) => Object.values(group));
    const moved = columns.some((column, i) => column !== this.#columns[i]);
    const { classes, demand, dimensions, patterns } = this.#cycle.fleet;
    const versions = [classes.version, patterns.version, demand.profiles.version, dimensions.count].join();
    const tables = versions === this.#versions ? null : this.#changes();
    if (!moved && tables === null) return null;
    this.#columns = columns;
    this.#versions = versions;
    return { shared, tables };
  }

  #changes(): TableChanges {
    const { classes, demand, dimensions, patterns } = this.#cycle.fleet;
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

function sharedOf(cycle: Cycle): Shared {
  const { bound, fleet, foldable, rankedRows, walk } = cycle;
  return {
    machines: pick(fleet.machines, [
      'state',
      'blocked',
      'classOf',
      'cluster',
      'stamp',
      'stampKey',
      'target',
      'ordinal',
      'owned',
      'coming',
    ]),
    stamps: pick(fleet.machines.stamps, ['reclamationDollars']),
    arena: pick(fleet.machines.arena, ['data']),
    classes: pick(fleet.classes, ['price', 'probability']),
    allocatable: pick(fleet.classes.allocatable, ['data']),
    demand: pick(fleet.demand, [
      'ranked',
      'cluster',
      'key',
      'profile',
      'pattern',
      'precedence',
      'spreads',
      'same',
      'wholePattern',
      'foldPattern',
      'foldProfile',
      'foldKey',
      'text',
      'foldText',
      'empty',
      'setAside',
      'setAsideIn',
      'firstSeenMs',
    ]),
    aggregate: pick(fleet.demand.aggregate, ['data']),
    minUnit: pick(fleet.demand.minUnit, ['data']),
    rankedRows: pick(rankedRows, [
      'kind',
      'cluster',
      'row',
      'key',
      'profile',
      'pattern',
      'firstSeenMs',
      'precedence',
      'place',
      'members',
      'firstMember',
      'nextMember',
      'coming',
      'infeasible',
      'infeasibleKey',
      'start',
      'end',
      'rowStart',
      'rowEnd',
      'ofKey',
    ]),
    foldable: pick(foldable, ['anywhere']),
    bound: pick(bound, ['region', 'slots', 'ownStart', 'ownEnd', 'orphanStart', 'orphanEnd']),
    walk: pick(walk, ['runs']),
    dirtyClusters: pick(cycle.dirtyClusters, ['keeps', 'scanned']),
    cycle: pick(cycle, [
      'claimedBy',
      'claims',
      'creditPlace',
      'unclaimed',
      'unclaimedEnd',
      'freeEnd',
      'outcome',
      'creditStart',
      'creditEnd',
      'pending',
      'pendingEnd',
      'putOff',
      'restamps',
      'cannotBind',
    ]),
  };
}

/** The cycle of the main thread, mirrored on a worker. */
export class WorkerCycle {
  readonly #fleet = new Fleet();
  readonly cycle = new Cycle(this.#fleet);

  takeOver({ shared, tables }: SharedStateUpdate): void {
    const { cycle } = this;
    const { classes, demand, dimensions, machines, patterns } = this.#fleet;
    if (tables !== null) {
      dimensions.mirror(tables.dimensions.names, tables.dimensions.stride);
      for (const [number, attributes, offered] of tables.classes) classes.mirror(number, attributes, offered);
      for (const [number, parts] of tables.patterns) patterns.mirror(number, parts);
      for (const [number, entry] of tables.profiles) demand.profiles.mirror(number, entry);
    }
    Object.assign(machines, shared.machines);
    Object.assign(machines.stamps, shared.stamps);
    Object.assign(machines.arena, shared.arena);
    Object.assign(classes, shared.classes);
    Object.assign(classes.allocatable, shared.allocatable);
    Object.assign(demand, shared.demand);
    Object.assign(demand.aggregate, shared.aggregate);
    Object.assign(demand.minUnit, shared.minUnit);
    Object.assign(cycle.rankedRows, shared.rankedRows);
    Object.assign(cycle.foldable, shared.foldable);
    Object.assign(cycle.bound, shared.bound);
    Object.assign(cycle.walk, shared.walk);
    Object.assign(cycle.dirtyClusters, shared.dirtyClusters);
    Object.assign(cycle, shared.cycle);
  }

  /** Runs a lane over the mirrored cycle until the barrier is reached. */
  drive({ supply, work }: LaneStart): void {
    this.#fleet.machines.mirror(supply);
    driveLanes(this.cycle, work, 1, () => false);
  }
}
