// Clusters whose demand is known to be larger than what decisions see, because rows of it exceed a limit and are set aside.
// What such a cluster has beyond its other rows may serve the rows set aside: its machines are neither reclaimed nor taken
// as excess, until its demand is complete again or a person lifts the stop. A restart forgets the lift, which is safe.

interface Incomplete {
  /** Rows that the last roll-up had and that were set aside as it was read. */
  readonly reported: number;
  /** Rows that the ledger had to set aside, because it cannot count their resources, and one such resource. */
  readonly inLedger: number;
  readonly resource: string;
  readonly isLifted: boolean;
}

/** Rows of a cluster that are set aside, and whether its machines may be reclaimed all the same. */
export interface IncompleteCluster {
  readonly cluster: string;
  readonly rows: number;
  readonly isLifted: boolean;
  /** A resource that the fleet has no room to count, because of which rows are set aside; '' if there is none. */
  readonly resource: string;
}

const COMPLETE: Incomplete = { reported: 0, inLedger: 0, resource: '', isLifted: false };

export class IncompleteDemand {
  readonly #clusters = new Map<string, Incomplete>();

  /** Rows that were set aside in the last roll-up of a cluster. */
  reported(cluster: string, rows: number): void {
    this.#set(cluster, { ...this.#of(cluster), reported: rows });
  }

  /** Rows of a cluster that the ledger set aside; returns whether their number is another than before. */
  inLedger(cluster: string, rows: number, resource: string): boolean {
    const known = this.#of(cluster);
    this.#set(cluster, { ...known, inLedger: rows, resource: rows === 0 ? '' : resource });
    return known.inLedger !== rows;
  }

  /** Lets the machines of a cluster go although rows are set aside; false if none is. */
  lift(cluster: string): boolean {
    const known = this.#clusters.get(cluster);
    if (known === undefined) return false;
    this.#clusters.set(cluster, { ...known, isLifted: true });
    return true;
  }

  of(cluster: string): IncompleteCluster {
    const { reported, inLedger, isLifted, resource } = this.#of(cluster);
    return { cluster, rows: reported + inLedger, isLifted, resource };
  }

  /** Every cluster with rows set aside. */
  list(): readonly IncompleteCluster[] {
    return [...this.#clusters.keys()].map((cluster) => this.of(cluster));
  }

  #of(cluster: string): Incomplete {
    return this.#clusters.get(cluster) ?? COMPLETE;
  }

  #set(cluster: string, now: Incomplete): void {
    const rows = now.reported + now.inLedger;
    const { rows: before } = this.of(cluster);
    if (rows === 0) this.#clusters.delete(cluster);
    // A lift is for the rows that the person knew of: more of them set the stop again.
    else this.#clusters.set(cluster, rows > before ? { ...now, isLifted: false } : now);
  }
}
