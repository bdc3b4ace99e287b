// Credits: what each cluster keeps from cycle to cycle until it is served again. Each cluster has a region of the claims
// and, at the same place, of the list of its machines that no row was credited with. Part of a `Cycle` and the only writer
// of these columns; credit.ts, spread-credit.ts and gang.ts fill it through its methods, the pass, the lanes and Phase 3
// read it.

import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import type { BoundWalk, BoundWalkView } from './bound-machines.ts';
import type { ClaimsView } from './claims.ts';
import { Contended } from './contended.ts';
import { NONE, type RankedRowsView } from './ranked-rows.ts';
import { Regions } from './regions.ts';
import type { Unfilled } from './unfilled.ts';

/**
 * Result of crediting a row. Covered: it has all it wants or may have. Short: it goes on to the free machines with the
 * rest. Waits: nothing is credited yet; it is credited and served in the pass over the free machines.
 */
export const Credit = { Covered: 0, Short: 1, Waits: 2 } as const;
export type Credit = (typeof Credit)[keyof typeof Credit];

/** Credits as other files see them: columns read-only, methods not. */
export type CreditsView = ReadonlyColumns<Credits>;

export class Credits {
  readonly #fleet: FleetView;
  readonly #rankedRows: RankedRowsView;
  readonly #walk: BoundWalkView;
  readonly #claims: ClaimsView;
  readonly #unfilled: Unfilled;
  readonly #regions = new Regions();
  /** Machines that rows of the cluster being credited might claim in the pass. */
  readonly contended: Contended;
  /** Number of claims when unclaimed machines of the cluster being credited were listed; NONE without a list. */
  #listedAt = NONE;

  readonly byCluster = new ColumnGroup(this);
  /** Start of its region in `claims.slots` and, at the same offset, in `unclaimed`. */
  readonly start = this.byCluster.u32();
  /** End of its Configured machines in `unclaimed`; its Configuring machines follow, up to `unclaimedEnd`. */
  readonly unclaimedConfiguredEnd = this.byCluster.u32();
  readonly unclaimedEnd = this.byCluster.u32();
  readonly pendingEnd = this.byCluster.u32();
  /** 1 if a gang or a lender was credited with a machine whose stamp does not name it. */
  readonly restamps = this.byCluster.u8();
  /** 1 if it is credited only after the ranked rows of all clusters are made. */
  readonly deferred = this.byCluster.u8();

  readonly byRegion = new ColumnGroup(this);
  /** Bound machines that no row was credited with, cluster by cluster: Configured first, each part in keep order. */
  readonly unclaimed = this.byRegion.u32();

  readonly byRankedRow = new ColumnGroup(this);
  /** A value of `Credit`. */
  readonly outcome = this.byRankedRow.u8();
  /** Ranked rows that need free machines, by cluster: from the start of its ranked rows up to `pendingEnd`. */
  readonly pending = this.byRankedRow.u32();

  constructor(
    fleet: FleetView,
    rankedRows: RankedRowsView,
    walk: BoundWalkView,
    claims: ClaimsView,
    unfilled: Unfilled,
  ) {
    this.#fleet = fleet;
    this.#rankedRows = rankedRows;
    this.#walk = walk;
    this.#claims = claims;
    this.#unfilled = unfilled;
    this.contended = new Contended(fleet);
  }

  /** One more than the largest index in the region of any cluster; the claims of the pass begin here. */
  get end(): number {
    return this.#regions.end;
  }

  /** Reserves room for the credits of clusters. Only bound machines are credited, so their number is the bound. */
  reserve(clusters: readonly number[]): void {
    this.reserveRows();
    this.byCluster.reserve(this.#fleet.clusters.size);
    for (const cluster of clusters) {
      const start = this.#regions.reserve(cluster, this.#walk.countOf(cluster));
      this.start[cluster] = start;
      this.unclaimedConfiguredEnd[cluster] = start;
      this.unclaimedEnd[cluster] = start;
      this.pendingEnd[cluster] = this.#rankedRows.start[cluster]!;
      this.deferred[cluster] = 0;
    }
    this.#claims.reserveClaims(this.#regions.end);
    this.byRegion.reserve(this.#regions.end);
  }

  /** Makes room for all ranked rows, and for this many more. */
  reserveRows(more = 0): void {
    this.byRankedRow.reserve(this.#rankedRows.limit + more);
    this.#claims.reserveRows(this.#rankedRows.limit + more);
  }

  openCluster(cluster: number): void {
    this.#claims.continueAt(this.start[cluster]!);
    this.#listedAt = NONE;
    this.contended.clear();
    this.restamps[cluster] = 0;
    this.pendingEnd[cluster] = this.#rankedRows.start[cluster]!;
  }

  /** Lists the bound machines of a cluster that remain after all its rows are credited. */
  closeCluster(cluster: number): void {
    const { slices } = this.#walk;
    const from = cluster * 4;
    const configured = this.#listUnclaimed(slices[from]!, slices[from + 1]!, this.start[cluster]!);
    this.unclaimedConfiguredEnd[cluster] = configured;
    this.unclaimedEnd[cluster] = this.#listUnclaimed(slices[from + 2]!, slices[from + 3]!, configured);
  }

  /** Writes the unclaimed machines of a part of a slice to `place`, and returns where they end. */
  #listUnclaimed(from: number, to: number, place: number): number {
    const slots = this.#fleet.machines.arena.data;
    const { claimedBy } = this.#claims;
    let end = place;
    for (let i = from; i < to; i++) if (claimedBy[slots[i]!] === 0) this.unclaimed[end++] = slots[i]!;
    return end;
  }

  /** Defers a cluster until the ranked rows of all clusters are made. */
  defer(cluster: number): void {
    this.deferred[cluster] = 1;
  }

  /** Undoes all credits of a cluster, complete or not. */
  undo(cluster: number): void {
    const walk = this.#walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.#claims.release(slot);
    this.deferred[cluster] = 0;
  }

  /** Undoes all credits of a cluster whose ranked rows were released, and returns their room. */
  release(cluster: number): void {
    this.undo(cluster);
    this.start[cluster] = this.#regions.reserve(cluster, 0);
    this.pendingEnd[cluster] = this.#rankedRows.start[cluster]!;
  }

  settle(rankedRow: number, outcome: Credit): void {
    this.outcome[rankedRow] = outcome;
    if (outcome !== Credit.Covered)
      this.pending[this.pendingEnd[this.#rankedRows.cluster[rankedRow]!]!++] = rankedRow;
  }

  /** Makes a ranked row that was added during the pass wait for it, as rows of the same kind do. */
  settleUnhosted(rankedRow: number): void {
    this.reserveRows();
    this.#claims.forgetRow(rankedRow);
    this.outcome[rankedRow] = Credit.Waits;
  }

  /** Claims a bound or in-flight machine for a ranked row. */
  credit(rankedRow: number, slot: number, fits: boolean): void {
    this.#unfilled.take(this.#fleet.machines.classOf[slot]!, fits);
    this.#claims.credit(rankedRow, slot);
  }

  /** Undoes the credits of a ranked row that has to wait; none of them is a free machine. */
  drop(rankedRow: number): void {
    this.#claims.undoFrom(this.#claims.creditStart[rankedRow]!);
    this.#claims.dropCredits(rankedRow);
    // Machines claimed before the list was made are missing from it.
    if (this.#listedAt > this.#claims.count) this.#listedAt = NONE;
  }

  /** Records that a gang or a lender of a cluster was credited with a machine whose stamp does not name it. */
  noteRestamp(cluster: number): void {
    this.restamps[cluster] = 1;
  }

  /**
   * Walks the bound machines of a cluster that remained after its rows were credited; some may have been claimed since. In
   * the pass a row can be credited with no others, and they are few compared with the claimed ones.
   */
  walkUnclaimedAtClose(cluster: number): BoundWalk {
    return this.#walk.beginList(this.unclaimed, this.start[cluster]!, this.unclaimedEnd[cluster]!);
  }

  /**
   * Walks the unclaimed bound machines of the cluster that is being credited. Rows that claim machines of other rows are
   * served late, when most machines are claimed, so the unclaimed ones are listed. The list is filtered again once the
   * claims made since amount to more than half of it.
   */
  walkUnclaimed(cluster: number): BoundWalk {
    const start = this.start[cluster]!;
    if (this.#listedAt === NONE) this.closeCluster(cluster);
    else if (2 * (this.#claims.count - this.#listedAt) <= this.unclaimedEnd[cluster]! - start)
      return this.walkUnclaimedAtClose(cluster);
    else this.unclaimedEnd[cluster] = this.#keepUnclaimed(start, this.unclaimedEnd[cluster]!);
    this.#listedAt = this.#claims.count;
    return this.walkUnclaimedAtClose(cluster);
  }

  /** Removes claimed machines from a part of `unclaimed`, and returns its new end. */
  #keepUnclaimed(from: number, to: number): number {
    let end = from;
    for (let i = from; i < to; i++) {
      const slot = this.unclaimed[i]!;
      if (this.#claims.isFree(slot)) this.unclaimed[end++] = slot;
    }
    return end;
  }
}
