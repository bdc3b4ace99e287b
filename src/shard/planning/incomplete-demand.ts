// Clusters whose demand is larger than decisions see, because some of their rows exceed a limit and are set aside.
// Machines beyond the other rows may serve the rows set aside, so they are neither reclaimed nor treated as excess
// until the demand is complete again or a person lifts the stop. A restart drops the lift, which is safe. Made by
// controller.ts; cycles.ts reads it before each decision.

interface Incomplete {
  /** Rows of the last roll-up that were set aside when it was decoded. */
  readonly reported: number;
  /** Rows that the ledger set aside because it cannot count their resources; `resource` is one such resource. */
  readonly inLedger: number;
  readonly resource: string;
  readonly isLifted: boolean;
}

/** `isLifted`: machines of the cluster may be reclaimed although rows are set aside. */
export interface IncompleteCluster {
  readonly cluster: string;
  readonly rows: number;
  readonly isLifted: boolean;
  /** A resource beyond what the fleet can count, which caused rows to be set aside; '' if there is none. */
  readonly resource: string;
}

const COMPLETE: Incomplete = { reported: 0, inLedger: 0, resource: '', isLifted: false };

export class IncompleteDemand {
  readonly #clusters = new Map<string, Incomplete>();

  /** Records the rows that were set aside in the last roll-up of a cluster. */
  reported(cluster: string, rows: number): void {
    this.#set(cluster, { ...this.#of(cluster), reported: rows });
  }

  /** Records the rows of a cluster that the ledger set aside; returns whether their number changed. */
  inLedger(cluster: string, rows: number, resource: string): boolean {
    const known = this.#of(cluster);
    this.#set(cluster, { ...known, inLedger: rows, resource: rows === 0 ? '' : resource });
    return known.inLedger !== rows;
  }

  /** Allows reclaims from a cluster although rows are set aside; false if none are. */
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
    // A lift covers the rows that were set aside when the person gave it; additional rows restore the stop.
    else this.#clusters.set(cluster, rows > before ? { ...now, isLifted: false } : now);
  }
}
