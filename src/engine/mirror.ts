// A fleet and its cycle as another thread sees them: the same columns, since they lie on shared memory, and copies of
// the small tables that are plain objects. Enough to credit clusters; the pools and the verdicts stay at home.

import { type Fleet, Fleet as FleetClass, type PatternParts, type ProfileEntry } from '../fleet/index.ts';
import type { Attributes, ResourceVector } from '../model/index.ts';
import { Cycle } from './cycle.ts';

/** Columns by owner and name. */
type Columns = Record<string, Uint8Array | Uint32Array | Int32Array | Float64Array>;

interface Shared {
  readonly machines: Columns;
  readonly arena: Columns;
  readonly classes: Columns;
  readonly allocatable: Columns;
  readonly demand: Columns;
  readonly aggregate: Columns;
  readonly minUnit: Columns;
  readonly turns: Columns;
  readonly bound: Columns;
  readonly walk: Columns;
  readonly cycle: Columns;
}

/** Tables of plain objects; sent only when they have changed. */
interface Tables {
  readonly dimensions: { readonly names: readonly string[]; readonly stride: number };
  readonly classes: {
    readonly version: number;
    readonly attributes: readonly (Attributes | undefined)[];
    readonly offered: readonly (ResourceVector | undefined)[];
  };
  readonly patterns: readonly (PatternParts | undefined)[];
  readonly profiles: readonly (ProfileEntry | undefined)[];
}

export interface Reflection {
  readonly shared: Shared;
  readonly tables: Tables | null;
}

function pick<T extends object>(owner: T, names: readonly (keyof T & string)[]): Columns {
  return Object.fromEntries(names.map((name) => [name, owner[name]])) as Columns;
}

/** Notices what changed since the last look, so that a quiet cycle sends nothing. */
export class Looking {
  readonly #cycle: Cycle;
  #columns: readonly unknown[] = [];
  #versions = '';

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** What another thread has to take over, or null if it has seen it all. */
  look(): Reflection | null {
    const shared = sharedOf(this.#cycle);
    const columns = Object.values(shared).flatMap((group: Columns) => Object.values(group));
    const moved = columns.some((column, i) => column !== this.#columns[i]);
    const { classes, demand, dimensions, patterns } = this.#cycle.fleet;
    const versions = [classes.version, patterns.version, demand.profiles.version, dimensions.count].join();
    const tables = versions === this.#versions ? null : tablesOf(this.#cycle.fleet);
    if (!moved && tables === null) return null;
    this.#columns = columns;
    this.#versions = versions;
    return { shared, tables };
  }
}

function sharedOf(cycle: Cycle): Shared {
  const { bound, fleet, turns, walk } = cycle;
  return {
    machines: pick(fleet.machines, ['state', 'classOf', 'stampKey', 'target']),
    arena: pick(fleet.machines.arena, ['data']),
    classes: pick(fleet.classes, ['price']),
    allocatable: pick(fleet.classes.allocatable, ['data']),
    demand: pick(fleet.demand, ['pattern', 'empty']),
    aggregate: pick(fleet.demand.aggregate, ['data']),
    minUnit: pick(fleet.demand.minUnit, ['data']),
    turns: pick(turns, [
      'kind',
      'cluster',
      'row',
      'key',
      'profile',
      'pattern',
      'members',
      'firstMember',
      'nextMember',
      'coming',
      'hopeless',
      'start',
      'end',
      'ofKey',
    ]),
    bound: pick(bound, ['slots', 'ownStart', 'ownEnd', 'orphanStart', 'orphanEnd']),
    walk: pick(walk, ['runs']),
    cycle: pick(cycle, [
      'claimedBy',
      'contested',
      'claims',
      'creditPlace',
      'unclaimed',
      'unclaimedEnd',
      'outcome',
      'creditStart',
      'creditEnd',
      'laterStart',
      'laterEnd',
    ]),
  };
}

function tablesOf(fleet: Fleet): Tables {
  const { classes, demand, dimensions, patterns } = fleet;
  return {
    dimensions: { names: dimensions.names, stride: dimensions.stride },
    classes: { version: classes.version, attributes: classes.attributes, offered: classes.offered },
    patterns: patterns.list(),
    profiles: demand.profiles.list(),
  };
}

/** The cycle of another thread, seen from this one. */
export class MirroredCycle {
  #fleet = new FleetClass();
  cycle = new Cycle(this.#fleet);

  takeOver({ shared, tables }: Reflection): void {
    if (tables !== null) {
      // What is remembered per class or domain is good only for the tables it was worked out from.
      this.#fleet = new FleetClass();
      this.cycle = new Cycle(this.#fleet);
      const { classes, demand, dimensions, patterns } = this.#fleet;
      dimensions.mirror(tables.dimensions.names, tables.dimensions.stride);
      classes.version = tables.classes.version;
      // One by one: as arguments of a single call, many classes would overflow the stack.
      for (const attributes of tables.classes.attributes) classes.attributes.push(attributes);
      for (const offered of tables.classes.offered) classes.offered.push(offered);
      patterns.mirror(tables.patterns);
      demand.profiles.mirror(tables.profiles);
    }
    const { cycle } = this;
    const { classes, demand, machines } = this.#fleet;
    Object.assign(machines, shared.machines);
    Object.assign(machines.arena, shared.arena);
    Object.assign(classes, shared.classes);
    Object.assign(classes.allocatable, shared.allocatable);
    Object.assign(demand, shared.demand);
    Object.assign(demand.aggregate, shared.aggregate);
    Object.assign(demand.minUnit, shared.minUnit);
    Object.assign(cycle.turns, shared.turns);
    Object.assign(cycle.bound, shared.bound);
    Object.assign(cycle.walk, shared.walk);
    Object.assign(cycle, shared.cycle);
  }
}
