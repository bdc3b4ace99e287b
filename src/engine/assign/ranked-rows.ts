// Turns: the rows of a cycle, in columns, cluster by cluster and within a cluster in rank order. Small gangs that any one
// machine can host are folded into one row, which has the rank of its earliest member.

import { withRoom } from '../../collections/columns.ts';
import type { Fleet } from '../../fleet/index.ts';
import { compareText } from '../../model/index.ts';
import type { Foldable } from './foldable.ts';
import { Regions } from './regions.ts';

export const TurnKind = { Plain: 0, Spread: 1, Gang: 2, Fold: 3, SetAside: 4 } as const;

/** No row, no turn. */
export const NONE = -1;

export class Turns {
  kind = new Uint8Array(0);
  cluster = new Uint32Array(0);
  /** Row of demand with the amounts; for a fold, the row of one member (all are alike). */
  row = new Uint32Array(0);
  key = new Uint32Array(0);
  profile = new Uint32Array(0);
  pattern = new Uint32Array(0);
  firstSeenMs = new Float64Array(0);
  /** Precedence as one number: higher is served first. */
  precedence = new Float64Array(0);
  /** Position among the turns of its cluster; an unhosted member has one between its fold and the next turn. */
  place = new Float64Array(0);
  /** Members of a fold: their number and the first row; `nextMember` links the rows. */
  members = new Int32Array(0);
  firstMember = new Int32Array(0);
  /** 1 if machines that are not bound yet are on their way to the turn. */
  coming = new Uint8Array(0);
  /** 1 for a gang that no domain could hold; see infeasible.ts. */
  infeasible = new Uint8Array(0);
  /** 1 by key for gangs found infeasible in an earlier cycle. */
  infeasibleKey = new Uint8Array(0);
  nextMember = new Int32Array(0);
  /** Turns of a cluster: from `start` up to `end`. */
  start = new Uint32Array(0);
  end = new Uint32Array(0);
  /** The rows of a cluster in `demand.ranked`: from `rowStart` up to `rowEnd`. */
  rowStart = new Uint32Array(0);
  rowEnd = new Uint32Array(0);
  /** Turn by key; NONE for keys that no turn has. */
  ofKey = new Int32Array(0);

  readonly #regions = new Regions();
  /** Turns of members that their fold could not host; they follow the turns of all clusters and last for one cycle. */
  #extra = 0;

  /** One more than the largest turn in use. */
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
  beginCycle(fleet: Fleet): void {
    for (let turn = this.#regions.end; turn < this.limit; turn++) this.ofKey[this.key[turn]!] = NONE;
    this.#extra = 0;
    if (this.ofKey.length < fleet.keys.size) {
      const known = this.ofKey.length;
      this.ofKey = withRoom(this.ofKey, fleet.keys.size);
      this.ofKey.fill(NONE, known);
    }
    this.infeasibleKey = withRoom(this.infeasibleKey, fleet.keys.size);
    this.nextMember = withRoom(this.nextMember, fleet.demand.size);
    this.start = withRoom(this.start, fleet.clusters.size);
    this.end = withRoom(this.end, fleet.clusters.size);
    this.rowStart = withRoom(this.rowStart, fleet.clusters.size);
    this.rowEnd = withRoom(this.rowEnd, fleet.clusters.size);
  }

  /** Drops the turns of a cluster. Call it for all changed clusters before the turns of any of them are made. */
  forget(cluster: number): void {
    for (let turn = this.start[cluster]!; turn < this.end[cluster]!; turn++)
      this.ofKey[this.key[turn]!] = NONE;
  }

  forgetAll(): void {
    this.ofKey.fill(NONE);
  }

  /** Reserves room for the turns of clusters whose old ones were dropped. */
  reserve(fleet: Fleet, clusters: readonly number[]): void {
    for (const cluster of clusters) {
      const { length, offset } = fleet.demand.rowsOf(cluster);
      this.rowStart[cluster] = offset;
      this.rowEnd[cluster] = offset + length;
      this.start[cluster] = this.end[cluster] = this.#regions.reserve(cluster, length);
    }
    this.#enlarge(this.limit);
  }

  /**
   * Makes the turns of a cluster; idempotent. Writes nothing that belongs to another cluster. Returns false if it is not
   * yet known which rows fold.
   */
  make(fleet: Fleet, foldable: Foldable, cluster: number): boolean {
    foldable.openCluster();
    this.end[cluster] = this.start[cluster]!;
    if (!this.#collect(fleet, foldable, cluster)) return false;
    this.#settle(fleet, cluster);
    return true;
  }

  /** Adds a turn for a member that its fold cannot host: right behind the fold, for this cycle only. */
  addUnhosted(fleet: Fleet, row: number, fold: number, behind: number): number {
    const turn = this.limit;
    this.#extra++;
    this.#enlarge(this.limit);
    this.#write(fleet, turn, row, TurnKind.Gang);
    this.firstSeenMs[turn] = this.firstSeenMs[fold]!;
    this.place[turn] = this.place[fold]! + behind;
    this.ofKey[this.key[turn]!] = turn;
    this.coming[turn] = fleet.machines.comingTo(this.key[turn]!) > 0 ? 1 : 0;
    return turn;
  }

  /** Makes a turn for each row of a cluster, in rank order; a fold has the position of its first member. */
  #collect(fleet: Fleet, foldable: Foldable, cluster: number): boolean {
    const { demand } = fleet;
    const start = this.start[cluster]!;
    const hasSetAside = demand.setAsideIn[cluster]! > 0;
    let end = start;
    let known = true;
    for (let i = this.rowStart[cluster]!; i < this.rowEnd[cluster]!; i++) {
      const row = demand.ranked[i]!;
      if (hasSetAside && demand.setAside[row] === 1) {
        this.#write(fleet, end++, row, TurnKind.SetAside);
        continue;
      }
      if (demand.same[row] === 0) {
        this.#write(fleet, end++, row, demand.spreads[row] === 0 ? TurnKind.Plain : TurnKind.Spread);
        continue;
      }
      const folds = foldable.test(row);
      // Continues, so that one call asks about all rows.
      known &&= folds !== null;
      if (folds !== true) {
        this.#write(fleet, end++, row, TurnKind.Gang);
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
  #settle(fleet: Fleet, cluster: number): void {
    const start = this.start[cluster]!;
    const end = this.end[cluster]!;
    for (let i = start + 1; i < end; i++) {
      for (let j = i; j > start && this.#comesBefore(fleet, j, j - 1); j--) this.#swap(j, j - 1);
    }
    for (let turn = start; turn < end; turn++) {
      this.place[turn] = turn - start;
      this.ofKey[this.key[turn]!] = turn;
      this.coming[turn] = fleet.machines.comingTo(this.key[turn]!) > 0 ? 1 : 0;
    }
  }

  #comesBefore(fleet: Fleet, a: number, b: number): boolean {
    if (this.kind[a] !== TurnKind.Fold && this.kind[b] !== TurnKind.Fold) return false;
    if (this.precedence[a] !== this.precedence[b]) return this.precedence[a]! > this.precedence[b]!;
    if (this.firstSeenMs[a] !== this.firstSeenMs[b]) return this.firstSeenMs[a]! < this.firstSeenMs[b]!;
    return this.#textOf(fleet, a) < this.#textOf(fleet, b);
  }

  /** Position of a turn's key among all keys of its cluster's rows and folds. */
  #textOf(fleet: Fleet, turn: number): number {
    const row = this.row[turn]!;
    return this.kind[turn] === TurnKind.Fold ? fleet.demand.foldText[row]! : fleet.demand.text[row]!;
  }

  #write(fleet: Fleet, turn: number, row: number, kind: number): void {
    const { demand } = fleet;
    this.kind[turn] = kind;
    this.row[turn] = row;
    this.cluster[turn] = demand.cluster[row]!;
    this.key[turn] = demand.key[row]!;
    this.profile[turn] = demand.profile[row]!;
    this.pattern[turn] = demand.pattern[row]!;
    this.firstSeenMs[turn] = demand.firstSeenMs[row]!;
    this.precedence[turn] = demand.precedence[row]!;
    this.members[turn] = 0;
    this.infeasible[turn] = kind === TurnKind.Gang ? this.infeasibleKey[this.key[turn]!]! : 0;
  }

  /** A fold, with its first member. */
  #writeFold(fleet: Fleet, turn: number, row: number): void {
    const { demand } = fleet;
    this.#write(fleet, turn, row, TurnKind.Fold);
    this.key[turn] = demand.foldKey[row]!;
    this.profile[turn] = demand.foldProfile[row]!;
    this.pattern[turn] = demand.foldPattern[row]!;
    this.members[turn] = 1;
    this.firstMember[turn] = row;
    this.nextMember[row] = NONE;
  }

  #swap(a: number, b: number): void {
    for (const column of [this.row, this.key, this.profile, this.pattern]) exchange(column, a, b);
    for (const column of [this.members, this.firstMember]) exchange(column, a, b);
    for (const column of [this.firstSeenMs, this.precedence]) exchange(column, a, b);
    for (const column of [this.kind, this.infeasible]) exchange(column, a, b);
  }

  #enlarge(needed: number): void {
    if (needed <= this.kind.length) return;
    this.kind = withRoom(this.kind, needed);
    this.cluster = withRoom(this.cluster, needed);
    this.row = withRoom(this.row, needed);
    this.key = withRoom(this.key, needed);
    this.profile = withRoom(this.profile, needed);
    this.pattern = withRoom(this.pattern, needed);
    this.firstSeenMs = withRoom(this.firstSeenMs, needed);
    this.precedence = withRoom(this.precedence, needed);
    this.place = withRoom(this.place, needed);
    this.members = withRoom(this.members, needed);
    this.firstMember = withRoom(this.firstMember, needed);
    this.coming = withRoom(this.coming, needed);
    this.infeasible = withRoom(this.infeasible, needed);
  }

  /** Negative if `a` is served before `b`. */
  compare(fleet: Fleet, a: number, b: number): number {
    const order = this.precedence[b]! - this.precedence[a]! || this.firstSeenMs[a]! - this.firstSeenMs[b]!;
    if (order !== 0) return order;
    if (this.cluster[a] === this.cluster[b]) return this.place[a]! - this.place[b]!;
    return fleet.clusters.placeOf(this.cluster[a]!) - fleet.clusters.placeOf(this.cluster[b]!);
  }

  /** All turns, in no particular order. */
  *all(): Generator<number> {
    for (let cluster = 1; cluster < this.start.length; cluster++) {
      for (let turn = this.start[cluster]!; turn < this.end[cluster]!; turn++) yield turn;
    }
    for (let turn = this.#regions.end; turn < this.limit; turn++) yield turn;
  }

  /** All turns in the order they were served. */
  inOrder(fleet: Fleet): number[] {
    return [...this.all()].sort((a, b) => this.compare(fleet, a, b));
  }

  /** Rows of a fold, earliest first. */
  membersOf(fleet: Fleet, fold: number): number[] {
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

type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

function exchange(column: Column, a: number, b: number): void {
  const value = column[a]!;
  column[a] = column[b]!;
  column[b] = value;
}
