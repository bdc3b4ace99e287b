// Counts the machines of a pool by type, zone and rack, which suffices to predict the machine that replaces a planted
// loss. Used by workload-planted.ts.

import type { RowObjects } from '../../src/demo/workload/row-objects.ts';
import { covers, type ResourceVector } from '../../src/model/index.ts';
import type { Site } from './workload-machines.ts';

interface Cell {
  count: number;
  readonly shapes: Set<ResourceVector>;
}

export interface Match {
  readonly types: ReadonlySet<string>;
  readonly zones: ReadonlySet<string>;
}

/** Number of machines per shape in a pool, by type, zone and rack. */
export class PoolIndex {
  readonly #byCell = new Map<string, Cell>();
  readonly #byRack = new Map<string, Cell>();

  constructor(rowObjects: RowObjects, sites: Iterable<Site>) {
    for (const site of sites) {
      const shape = rowObjects.shapeOf(site);
      note(this.#byCell, `${site.type}/${site.zone}`, shape);
      note(this.#byRack, `${site.type}/${site.zone}/${site.rack}`, shape);
    }
  }

  /** Whether at least `count` machines match, and each that holds a pod covers what is missing. */
  covers({ types, zones }: Match, pod: ResourceVector, missing: ResourceVector, count: number): boolean {
    let found = 0;
    for (const type of types) {
      for (const zone of zones) {
        const cell = this.#byCell.get(`${type}/${zone}`);
        if (cell === undefined) continue;
        for (const shape of cell.shapes) if (!covers(shape, pod) || !covers(shape, missing)) return false;
        found += cell.count;
      }
    }
    return found >= count;
  }

  /** Whether the rack has, or had before any was removed, machines of these types. */
  had(types: ReadonlySet<string>, { zone, rack }: Site): boolean {
    return [...types].some((type) => this.#byRack.has(`${type}/${zone}/${rack}`));
  }

  /** Removes one machine of a rack that holds the pod; false if none is left. */
  takeFrom(types: ReadonlySet<string>, { zone, rack }: Site, pod: ResourceVector): boolean {
    for (const type of types) {
      const cell = this.#byRack.get(`${type}/${zone}/${rack}`);
      if (cell === undefined || cell.count === 0) continue;
      if (![...cell.shapes].every((shape) => covers(shape, pod))) continue;
      cell.count--;
      return true;
    }
    return false;
  }
}

function note(index: Map<string, Cell>, key: string, shape: ResourceVector): void {
  const cell = index.get(key);
  if (cell === undefined) index.set(key, { count: 1, shapes: new Set([shape]) });
  else {
    cell.count++;
    cell.shapes.add(shape);
  }
}
