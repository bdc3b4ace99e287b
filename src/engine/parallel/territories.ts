// Divides the rows of the pass between lanes. Every free machine belongs to at most one lane, and every cluster to exactly
// one: rows couple through the free machines that both can use, and through the machines of their cluster. A lane has
// whole parts of the fleet (separations.ts). A row that can use machines of another lane, or of none, *crosses*: it is
// served when all better-ranked rows of other lanes are, and no worse-ranked row that needs free machines is served
// before it. So does a fold that may not host all its members, since these can use other machines. Used by lanes.ts.

import { withRoom } from '../../collections/columns.ts';
import { Credit } from '../assign/credits.ts';
import { NONE, RowKind } from '../assign/ranked-rows.ts';
import type { Cycle } from '../cycle.ts';
import { homeOf, NO_PART, type PassRows, type Separation } from './separations.ts';

/** Rows of the pass by lane. In shared memory, for lanes on other threads. */
export interface Territories {
  /** Ranked rows in rank order. */
  readonly order: Uint32Array;
  /** By cluster: the lane of its rows. */
  readonly laneOf: Uint32Array;
  /** By ranked row: 1 for a row that crosses. */
  readonly crosses: Uint8Array;
}

/** How the rows of a pass are divided. */
export interface Division {
  /** Valid until the next division. */
  readonly territories: Territories;
  /** Rows by lane. */
  readonly rows: Uint32Array;
  /** Rows that cross and need free machines, as far as that is known. */
  readonly crossing: number;
}

/** Divides the rows of passes. Its columns are reused, since a cold fleet has hundreds of thousands of rows. */
export class TerritoryDivision {
  #order: Uint32Array = new Uint32Array(0);
  #laneOf: Uint32Array = new Uint32Array(0);
  #crosses: Uint8Array = new Uint8Array(0);

  /**
   * Divides the rows of a pass, in rank order in `order`, between lanes. Clusters in `pinned`, and all that is coupled with
   * them, belong to lane 0, and their folds cross.
   */
  divide(
    cycle: Cycle,
    order: Uint32Array,
    rows: PassRows,
    separation: Separation,
    lanes: number,
    pinned: ReadonlySet<number>,
  ): Division {
    const { kind, pattern } = cycle.rankedRows;
    const { laneOfCluster, laneOfPart } = assigned(cycle, rows, separation, lanes, pinned);
    this.#order = withRoom(this.#order, order.length);
    this.#order.set(order);
    this.#laneOf = withRoom(this.#laneOf, laneOfCluster.length);
    this.#laneOf.set(laneOfCluster);
    this.#crosses = withRoom(this.#crosses, pattern.length);
    const crosses = this.#crosses.fill(0);
    const counts = new Uint32Array(lanes);
    let crossing = 0;
    for (let i = 0; i < rows.rankedRow.length; i++) {
      const rankedRow = rows.rankedRow[i]!;
      const cluster = rows.cluster[i]!;
      const lane = laneOfCluster[cluster]!;
      const part = separation.partOf(rows.pattern[i]!);
      counts[lane]!++;
      // Without free machines that it could use, a row depends on its cluster alone.
      const isAtHome = part === NO_PART || laneOfPart.get(part) === lane;
      const mayAddRows = pinned.has(cluster) && kind[rankedRow] === RowKind.Fold;
      if (isAtHome && !mayAddRows) continue;
      crosses[rankedRow] = 1;
      if (needsFree(cycle, rankedRow)) crossing++;
    }
    const territories = {
      order: this.#order.subarray(0, order.length),
      laneOf: this.#laneOf,
      crosses,
    };
    return { territories, rows: counts, crossing };
  }
}

/** Whether it is known that a row needs free machines; other rows only wait for rows of their cluster. */
function needsFree({ credits, rankedRows }: Cycle, rankedRow: number): boolean {
  return (
    credits.outcome[rankedRow] === Credit.Short ||
    rankedRows.kind[rankedRow] === RowKind.Gang ||
    rankedRows.hasInFlight[rankedRow] === 1
  );
}

interface Assigned {
  readonly laneOfCluster: Int32Array;
  /** Clusters whose rows can use no machines at all are divided between lanes. */
  readonly laneOfPart: ReadonlyMap<number, number>;
}

/**
 * Assigns parts to lanes, heaviest first, each to the lane with fewest rows; and clusters with the part of most rows. Parts of
 * pinned clusters come before all others, so that these go to other lanes.
 */
function assigned(
  cycle: Cycle,
  passRows: PassRows,
  separation: Separation,
  lanes: number,
  pinned: ReadonlySet<number>,
): Assigned {
  const laneOfCluster = new Int32Array(cycle.fleet.clusters.size).fill(NONE);
  const laneOfPart = new Map<number, number>();
  const loads = new Float64Array(lanes);
  const place = ({ cluster, rows }: ClusterRows, lane: number): void => {
    laneOfCluster[cluster] = lane;
    loads[lane]! += rows;
  };
  const lightest = (): number => loads.indexOf(Math.min(...loads));
  const isPinned = ({ clusters }: Home): boolean => clusters.some(({ cluster }) => pinned.has(cluster));
  const homes = homesOf(cycle, passRows, separation);
  for (const home of [...homes.filter(isPinned), ...homes.filter((each) => !isPinned(each))]) {
    const { part, clusters } = home;
    const lane = isPinned(home) ? 0 : part === NO_PART ? NONE : lightest();
    if (lane !== NONE) laneOfPart.set(part, lane);
    for (const cluster of clusters) place(cluster, lane === NONE ? lightest() : lane);
  }
  return { laneOfCluster, laneOfPart };
}

interface ClusterRows {
  readonly cluster: number;
  readonly rows: number;
}

interface Home {
  readonly part: number;
  readonly clusters: ClusterRows[];
  rows: number;
}

/** Parts with the clusters that have most rows there, heaviest first. */
function homesOf(
  { fleet }: Cycle,
  { cluster: clusterOf }: PassRows,
  separation: Separation,
): readonly Home[] {
  const rowsOf = new Uint32Array(fleet.clusters.size);
  for (const cluster of clusterOf) rowsOf[cluster]!++;
  const homes = new Map<number, Home>();
  for (const [cluster, rows] of rowsOf.entries()) {
    if (rows === 0) continue;
    const part = homeOf(separation, cluster);
    let home = homes.get(part);
    if (home === undefined) {
      home = { part, clusters: [], rows: 0 };
      homes.set(part, home);
    }
    home.clusters.push({ cluster, rows });
    home.rows += rows;
  }
  return [...homes.values()].sort((a, b) => b.rows - a.rows || a.part - b.part);
}
