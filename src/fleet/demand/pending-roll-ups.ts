// Roll-ups that arrived since the last commit. They are checked in order of arrival, when rows are written or when a
// machine needs a new dimension, whichever is first. The last valid roll-up of each cluster is written. Owned by
// pending-changes.ts.

import { BigFleetError, composed, type RollupDelta } from '../../model/index.ts';
import type { Refusals } from '../commit.ts';
import type { Fleet } from '../fleet.ts';
import type { DemandReported } from '../pending-changes.ts';
import { inForce, type RollUp } from './roll-up.ts';

export interface RowsSetAside {
  readonly rows: number;
  /** The first resource that has no dimension; '' if `rows` is 0. */
  readonly resource: string;
}

/** What a commit did to the demand ledger. */
export interface WrittenRows {
  /** Numbers of the clusters whose rows changed, ascending. */
  readonly clusters: readonly number[];
  /**
   * By number of each cluster with a written roll-up, also one that changed no row: its difference from the previous one,
   * with the rows that the ledger set aside marked.
   */
  readonly rollUps: ReadonlyMap<number, RollupDelta>;
  /**
   * By cluster that reported: rows set aside because they name a resource beyond the ledger's limit. An entry with 0 rows
   * means that the previous roll-up had such rows and this one has none. Clusters without an entry are unchanged.
   */
  readonly rowsSetAside: ReadonlyMap<string, RowsSetAside>;
}

interface Report {
  readonly entry: DemandReported;
  /** The entry's number among all pending changes. */
  readonly number: number;
}

export class PendingRollUps {
  readonly #fleet: Fleet;
  readonly #refused: Refusals;
  /** In order of arrival; the first `#checked` of them have been checked. */
  readonly #reports: Report[] = [];
  #checked = 0;
  /** By cluster: the last valid roll-up. */
  readonly #rollUps = new Map<string, RollUp>();

  /** Roll-ups that are refused go into `refused`. */
  constructor(fleet: Fleet, refused: Refusals) {
    this.#fleet = fleet;
    this.#refused = refused;
  }

  add(entry: DemandReported, number: number): void {
    this.#reports.push({ entry, number });
  }

  /** Numbers of the clusters whose rows `write` may change. */
  reporting(): ReadonlySet<number> {
    return new Set(this.#reports.map(({ entry }) => this.#fleet.clusters.find(entry.delta.cluster)));
  }

  /** Checks all roll-ups, even if a later one of the same cluster follows, because that one may be refused. */
  check(): void {
    for (; this.#checked < this.#reports.length; this.#checked++) {
      const { entry, number } = this.#reports[this.#checked]!;
      try {
        this.#check(entry.delta);
      } catch (error) {
        if (!(error instanceof BigFleetError)) throw error;
        this.#refused.set(number, { entry, problems: error.problems });
      }
    }
  }

  write(): WrittenRows {
    this.check();
    const { demand, clusters } = this.#fleet;
    const rowsSetAside = this.#rowsSetAside();
    const changed: number[] = [];
    const rollUps = new Map<number, RollupDelta>();
    for (const [cluster, rollUp] of this.#rollUps) {
      const isChanged = demand.write(rollUp);
      const number = clusters.find(cluster);
      if (isChanged) changed.push(number);
      rollUps.set(number, inForce(rollUp));
    }
    return { clusters: changed.sort((a, b) => a - b), rollUps, rowsSetAside };
  }

  /** A roll-up differs from the one before it, the ledger has the last one that was written. */
  #check(delta: RollupDelta): void {
    const { cluster } = delta;
    const earlier = this.#rollUps.get(cluster);
    const sinceWrite = earlier === undefined ? delta : composed(earlier.delta, delta);
    this.#rollUps.set(cluster, this.#fleet.demand.check(sinceWrite));
  }

  #rowsSetAside(): ReadonlyMap<string, RowsSetAside> {
    const found = new Map<string, RowsSetAside>();
    for (const [cluster, { before, beyond }] of this.#rollUps) {
      if (beyond.rows.size + before.beyond.rows.size === 0) continue;
      found.set(cluster, { rows: beyond.rows.size, resource: beyond.resource });
    }
    return found;
  }
}
