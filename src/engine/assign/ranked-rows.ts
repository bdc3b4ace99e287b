// RankedRows: the rows of a cycle, in columns, cluster by cluster and within a cluster in rank order. Small gangs that
// any one machine can host are folded into one row, which has the rank of its earliest member. A table of `Cycle`,
// written before Phase 1 and read by all phases.

import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { compareText } from '../../model/index.ts';
import type { Foldable } from './foldable.ts';
import { Regions } from './regions.ts';

export const RowKind = { Plain: 0, Spread: 1, Gang: 2, Fold: 3, SetAside: 4 } as const;

/** No row, no ranked row. */
export const NONE = -1;

/** Ranked rows as other files see them. */
export type RankedRowsView = ReadonlyColumns<RankedRows>;

export class RankedRows {
  readonly byRankedRow = new ColumnGroup(this);
  readonly kind = this.byRankedRow.u8();
  readonly cluster = this.byRankedRow.u32();
  /** Row of demand with the amounts; for a fold, the row of one member (all are alike). */
  readonly row = this.byRankedRow.u32();
  readonly key = this.byRankedRow.u32();
  readonly profile = this.byRankedRow.u32();
  readonly pattern = this.byRankedRow.u32();
  readonly firstSeenMs = this.byRankedRow.f64();
  /** Precedence as one number: higher is served first. */
  readonly precedence = this.byRankedRow.f64();
  /** Position among the ranked rows of its cluster; an unhosted member has one between its fold and the next ranked row. */
  readonly place = this.byRankedRow.f64();
  /** Members of a fold: their number and the first row; `nextMember` links the rows. */
  readonly members = this.byRankedRow.i32();
  readonly firstMember = this.byRankedRow.i32();
  /** 1 if machines that are not bound yet are on their way to the ranked row. */
  readonly hasInFlight = this.byRankedRow.u8();
  /** 1 for a gang that no domain could hold; see infeasible.ts. */
  readonly infeasible = this.byRankedRow.u8();

  readonly byKey = new ColumnGroup(this);
  /** The ranked row of the key; NONE if no ranked row has it. */
  readonly ofKey = this.byKey.i32();
  /** 1 for gangs found infeasible in an earlier cycle. */
  readonly infeasibleKey = this.byKey.u8();

  readonly byRow = new ColumnGroup(this);
  readonly nextMember = this.byRow.i32();

  readonly byCluster = new ColumnGroup(this);
  /** Ranked rows of a cluster: from `start` up to `end`. */
  readonly start = this.byCluster.u32();
  readonly end = this.byCluster.u32();
  /** The rows of a cluster in `demand.ranked`: from `rowStart` up to `rowEnd`. */
  readonly rowStart = this.byCluster.u32();
  readonly rowEnd = this.byCluster.u32();
  /** Place of the cluster's name in the order of all names. A column, because worker threads do not know the names. */
  readonly clusterPlace = this.byCluster.u32();

  readonly #regions = new Regions();
  /**
   * Ranked rows of members that their fold could not host; they follow the ranked rows of all clusters and last for one
   * cycle.
   */
  #extra = 0;

  /** One more than the largest ranked row in use. */
  get limit(): number {
    return this.#regions.end + this.#extra;
  }

  get count(): number {
    let count = this.#extra;
    for (let cluster = 1; cluster < this.start.length; cluster++)
      count += this.end[cluster]! - this.start[cluster]!;
    return count;
  }

  /** Drops the unhosted members of the last cycle and makes room for a fleet's keys, rows and clusters. */
  beginCycle(fleet: FleetView): void {
    for (let rankedRow = this.#regions.end; rankedRow < this.limit; rankedRow++)
      this.ofKey[this.key[rankedRow]!] = NONE;
    this.#extra = 0;
    const known = this.byKey.length;
    this.byKey.reserve(fleet.keys.size);
    this.ofKey.fill(NONE, known);
    this.byRow.reserve(fleet.demand.size);
    this.byCluster.reserve(fleet.clusters.size);
    for (const [place, cluster] of fleet.clusters.sorted().entries()) this.clusterPlace[cluster] = place;
  }

  /**
   * Drops the ranked rows of a cluster. Call it for all changed clusters before the ranked rows of any of them are made.
   */
  forget(cluster: number): void {
    for (let rankedRow = this.start[cluster]!; rankedRow < this.end[cluster]!; rankedRow++)
      this.ofKey[this.key[rankedRow]!] = NONE;
  }

  forgetAll(): void {
    this.ofKey.fill(NONE);
  }

  /** Reserves room for the ranked rows of clusters whose old ones were dropped. */
  reserve(fleet: FleetView, clusters: readonly number[]): void {
    for (const cluster of clusters) {
      const { length, offset } = fleet.demand.rowsOf(cluster);
      this.rowStart[cluster] = offset;
      this.rowEnd[cluster] = offset + length;
      this.start[cluster] = this.end[cluster] = this.#regions.reserve(cluster, length);
    }
    this.byRankedRow.reserve(this.limit);
  }

  /** Drops the ranked rows of a cluster and returns their room. */
  release(cluster: number): void {
    this.forget(cluster);
    this.start[cluster] = this.end[cluster] = this.#regions.reserve(cluster, 0);
  }

  /**
   * Makes the ranked rows of a cluster; idempotent. Writes nothing that belongs to another cluster. Returns false if it is
   * not yet known which rows fold.
   */
  make(fleet: FleetView, foldable: ReadonlyColumns<Foldable>, cluster: number): boolean {
    foldable.openCluster();
    this.end[cluster] = this.start[cluster]!;
    if (!this.#collect(fleet, foldable, cluster)) return false;
    this.#settle(fleet, cluster);
    return true;
  }

  /** Adds a ranked row for a member that its fold cannot host: right behind the fold, for this cycle only. */
  addUnhosted(fleet: FleetView, row: number, fold: number, behind: number): number {
    const rankedRow = this.limit;
    this.#extra++;
    this.byRankedRow.reserve(this.limit);
    this.#write(fleet, rankedRow, row, RowKind.Gang);
    this.firstSeenMs[rankedRow] = this.firstSeenMs[fold]!;
    this.place[rankedRow] = this.place[fold]! + behind;
    this.ofKey[this.key[rankedRow]!] = rankedRow;
    this.hasInFlight[rankedRow] = fleet.machines.inFlightTo(this.key[rankedRow]!) > 0 ? 1 : 0;
    return rankedRow;
  }

  /** Makes room for members that no fold hosts, so that columns are not replaced while lanes share them. */
  reserveUnhosted(count: number): void {
    this.byRankedRow.reserve(this.limit + count);
  }

  /** Records whether the gang of a key was found infeasible, for the ranked rows that are made next. */
  markInfeasible(key: number, isInfeasible: boolean): void {
    this.infeasibleKey[key] = isInfeasible ? 1 : 0;
  }

  /** Makes a ranked row for each row of a cluster, in rank order; a fold has the position of its first member. */
  #collect(fleet: FleetView, foldable: ReadonlyColumns<Foldable>, cluster: number): boolean {
    const { demand } = fleet;
    const start = this.start[cluster]!;
    const hasSetAside = demand.setAsideIn[cluster]! > 0;
    let end = start;
    let known = true;
    for (let i = this.rowStart[cluster]!; i < this.rowEnd[cluster]!; i++) {
      const row = demand.ranked[i]!;
      if (hasSetAside && demand.setAside[row] === 1) {
        this.#write(fleet, end++, row, RowKind.SetAside);
        continue;
      }
      if (demand.same[row] === 0) {
        this.#write(fleet, end++, row, demand.spreads[row] === 0 ? RowKind.Plain : RowKind.Spread);
        continue;
      }
      const folds = foldable.test(row);
      // Continues, so that one call asks about all rows.
      known &&= folds !== null;
      if (folds !== true) {
        this.#write(fleet, end++, row, RowKind.Gang);
        continue;
      }
      const key = demand.foldKey[row]!;
      const fold = this.ofKey[key]!;
      // The entry may be left over from an earlier `make`.
      if (fold < start || fold >= end || this.key[fold] !== key) {
        this.ofKey[key] = end;
        this.#writeFold(fleet, end++, row);
      } else this.#addMember(fold, row);
    }
    this.end[cluster] = end;
    return known;
  }

  /** Members are sorted in `membersOf`; until then the newest follows the first. */
  #addMember(fold: number, row: number): void {
    const first = this.firstMember[fold]!;
    this.members[fold]!++;
    this.nextMember[row] = this.nextMember[first]!;
    this.nextMember[first] = row;
  }

  /** Moves folds to the position of their own key among equals in precedence and time, then records places and keys. */
  #settle(fleet: FleetView, cluster: number): void {
    const start = this.start[cluster]!;
    const end = this.end[cluster]!;
    for (let i = start + 1; i < end; i++) {
      for (let j = i; j > start && this.#comesBefore(fleet, j, j - 1); j--) this.byRankedRow.swap(j, j - 1);
    }
    for (let rankedRow = start; rankedRow < end; rankedRow++) {
      this.place[rankedRow] = rankedRow - start;
      this.ofKey[this.key[rankedRow]!] = rankedRow;
      this.hasInFlight[rankedRow] = fleet.machines.inFlightTo(this.key[rankedRow]!) > 0 ? 1 : 0;
    }
  }

  #comesBefore(fleet: FleetView, a: number, b: number): boolean {
    if (this.kind[a] !== RowKind.Fold && this.kind[b] !== RowKind.Fold) return false;
    if (this.precedence[a] !== this.precedence[b]) return this.precedence[a]! > this.precedence[b]!;
    if (this.firstSeenMs[a] !== this.firstSeenMs[b]) return this.firstSeenMs[a]! < this.firstSeenMs[b]!;
    return this.#textOf(fleet, a) < this.#textOf(fleet, b);
  }

  /** Position of a ranked row's key among all keys of its cluster's rows and folds. */
  #textOf(fleet: FleetView, rankedRow: number): number {
    const row = this.row[rankedRow]!;
    return this.kind[rankedRow] === RowKind.Fold
      ? fleet.demand.foldKeyPlace[row]!
      : fleet.demand.keyPlace[row]!;
  }

  #write(fleet: FleetView, rankedRow: number, row: number, kind: number): void {
    const { demand } = fleet;
    this.kind[rankedRow] = kind;
    this.row[rankedRow] = row;
    this.cluster[rankedRow] = demand.cluster[row]!;
    this.key[rankedRow] = demand.key[row]!;
    this.profile[rankedRow] = demand.profile[row]!;
    this.pattern[rankedRow] = demand.pattern[row]!;
    this.firstSeenMs[rankedRow] = demand.firstSeenMs[row]!;
    this.precedence[rankedRow] = demand.precedence[row]!;
    this.members[rankedRow] = 0;
    this.infeasible[rankedRow] = kind === RowKind.Gang ? this.infeasibleKey[this.key[rankedRow]!]! : 0;
  }

  /** A fold, with its first member. */
  #writeFold(fleet: FleetView, rankedRow: number, row: number): void {
    const { demand } = fleet;
    this.#write(fleet, rankedRow, row, RowKind.Fold);
    this.key[rankedRow] = demand.foldKey[row]!;
    this.profile[rankedRow] = demand.foldProfile[row]!;
    this.pattern[rankedRow] = demand.foldPattern[row]!;
    this.members[rankedRow] = 1;
    this.firstMember[rankedRow] = row;
    this.nextMember[row] = NONE;
  }

  /** Negative if `a` is served before `b`. */
  compare(a: number, b: number): number {
    const order = this.precedence[b]! - this.precedence[a]! || this.firstSeenMs[a]! - this.firstSeenMs[b]!;
    if (order !== 0) return order;
    if (this.cluster[a] === this.cluster[b]) return this.place[a]! - this.place[b]!;
    return this.clusterPlace[this.cluster[a]!]! - this.clusterPlace[this.cluster[b]!]!;
  }

  /** All ranked rows, in no particular order. */
  *all(): Generator<number> {
    for (let cluster = 1; cluster < this.start.length; cluster++) {
      for (let rankedRow = this.start[cluster]!; rankedRow < this.end[cluster]!; rankedRow++) yield rankedRow;
    }
    for (let rankedRow = this.#regions.end; rankedRow < this.limit; rankedRow++) yield rankedRow;
  }

  /** All ranked rows in the order they were served. */
  inOrder(): number[] {
    return [...this.all()].sort((a, b) => this.compare(a, b));
  }

  /** Rows of a fold, earliest first. */
  membersOf(fleet: FleetView, fold: number): number[] {
    const { demand } = fleet;
    const rows: number[] = [];
    for (let row = this.firstMember[fold]!; row !== NONE; row = this.nextMember[row]!) rows.push(row);
    return rows.sort((a, b) => {
      const x = demand.keyOf(a);
      const y = demand.keyOf(b);
      return (
        demand.firstSeenMs[a]! - demand.firstSeenMs[b]! ||
        compareText(x.group, y.group) ||
        compareText(x.fingerprint, y.fingerprint)
      );
    });
  }
}
