// The demand ledger: every row in columns, one block per cluster. A roll-up replaces all rows of its cluster or, if it
// is refused, none. Rows are not stored in rank order, so that unchanged rows are not moved; `ranked` is the rank
// order. Part of `Fleet`; pending-roll-ups.ts is its only writer, the engine reads it.

import { type Block, Blocks } from '../../collections/blocks.ts';
import type { Changes } from '../../collections/changes.ts';
import { withRoom } from '../../collections/columns.ts';
import {
  keptRows,
  mergeNeeds,
  type Need,
  type NeedKey,
  type Profile,
  type RollupDelta,
  wholeRollup,
} from '../../model/index.ts';
import type { KeyTable, NameTable } from '../tables/names.ts';
import type { PatternTable } from '../tables/patterns.ts';
import type { Dimensions } from '../tables/vectors.ts';
import { DemandRows, flagOf } from './demand-rows.ts';
import { KeyPlaces } from './key-places.ts';
import {
  admitRows,
  freshIndexes,
  haveSharedKeys,
  markStaying,
  NOTHING_REPORTED,
  NOWHERE,
  placesBefore,
  type Reported,
  type RollUp,
  refuseShared,
  refuseStray,
} from './roll-up.ts';
import type { AmountReferences, NewRow, RowReferences } from './row-references.ts';

/** The rows of one cluster: `offset … offset + length − 1`, unordered. */
export interface ClusterRows extends Block {
  readonly length: number;
}

const NO_ROWS: ClusterRows = { offset: 0, capacity: 0, length: 0 };
/** A block shrinks when its capacity is at least this many times the number of rows. */
const ROOMY = 4;
/** Maximum number of leaving rows of the same profile that a new row is compared with to find one of equal amounts. */
const MOST_ASKED = 8;

export class DemandLedger extends DemandRows {
  readonly #changed: readonly Changes[];
  readonly #clusters: NameTable;
  readonly #keys: KeyTable;
  readonly #dimensions: Dimensions;
  readonly #blocks = new Blocks();
  readonly #rowsOf: (ClusterRows | undefined)[] = [];
  /** By cluster: the roll-up its rows were written from. */
  readonly #reported: (Reported | undefined)[] = [];
  readonly #places: KeyPlaces;
  /** Scratch array, by place within the cluster being checked or written: 1 if the row stays. */
  #stays = new Uint8Array(0);
  #count = 0;

  /** Every entry of `changed` receives the clusters whose rows changed. */
  constructor(
    clusters: NameTable,
    keys: KeyTable,
    patterns: PatternTable,
    dimensions: Dimensions,
    changed: readonly Changes[],
  ) {
    super(keys, patterns, dimensions);
    this.#changed = changed;
    this.#clusters = clusters;
    this.#keys = keys;
    this.#places = new KeyPlaces(keys);
    this.#dimensions = dimensions;
  }

  /** Counts writes. */
  revision = 0;

  /** Rows of all clusters together. */
  get count(): number {
    return this.#count;
  }

  /** One more than the largest row number in use. */
  get size(): number {
    return this.#blocks.end;
  }

  rowsOf(cluster: number): ClusterRows {
    return this.#rowsOf[cluster] ?? NO_ROWS;
  }

  keyOf(row: number): NeedKey {
    return this.#keys.keyOf(this.key[row]!);
  }

  /** The row that has a key, if any. */
  rowOf(key: NeedKey): number | undefined {
    const { offset, length } = this.rowsOf(this.#clusters.find(key.cluster));
    return this.rowWith(this.#keys.find(key), offset, length);
  }

  /** Whether any row has the key of this number. */
  hasKey(key: number): boolean {
    const { offset, length } = this.rowsOf(this.#keys.clusterOf(key));
    return this.rowWith(key, offset, length) !== undefined;
  }

  /** The Need of a key as reported; marked if the ledger set it aside. */
  needOf(key: NeedKey): Need | undefined {
    const row = this.rowOf(key);
    return row === undefined ? undefined : this.needAt(row);
  }

  profileOf(key: NeedKey): Profile | undefined {
    const row = this.rowOf(key);
    return row === undefined ? undefined : this.profileAt(row);
  }

  /** All Needs of a cluster in the order of its report; those that the ledger set aside are marked. */
  needsOf(cluster: number): readonly Need[] {
    const { offset } = this.rowsOf(cluster);
    return Array.from(this.#reportedBy(cluster).places, (place) => this.needAt(offset + place));
  }

  /** One Need of a cluster, by its index in the report. */
  needIn(cluster: number, index: number): Need {
    return this.needAt(this.rowsOf(cluster).offset + this.#reportedBy(cluster).places[index]!);
  }

  /** All rows of a cluster as a whole roll-up, with the version that they were last written from. */
  rollUpOf(cluster: number): RollupDelta {
    const { version } = this.#reportedBy(cluster);
    return wholeRollup(this.#clusters.nameOf(cluster), this.needsOf(cluster), version);
  }

  /**
   * Replaces all rows of a cluster by a complete list, of which rows with equal keys are merged. Returns whether anything
   * changed.
   */
  replace(cluster: string, needs: readonly Need[]): boolean {
    const rollUp = this.#check(wholeRollup(cluster, needs));
    return rollUp === null ? this.apply(wholeRollup(cluster, mergeNeeds(needs))) : this.write(rollUp);
  }

  /** `check` followed by `write`. Returns whether anything changed. */
  apply(delta: RollupDelta): boolean {
    return this.write(this.check(delta));
  }

  /**
   * Finds the rows that a roll-up changes. Fresh rows that name a resource for which no dimension is left are set aside.
   * Throws without any change if a row names another cluster, if two rows share a key, or if the roll-up differs from
   * another one than the ledger has.
   */
  check(delta: RollupDelta): RollUp {
    return this.#check(delta) ?? refuseShared(delta.cluster);
  }

  /** Null if two rows share a key. */
  #check(delta: RollupDelta): RollUp | null {
    const { cluster, fresh } = delta;
    const number = this.#clusters.find(cluster);
    const before = number === 0 && cluster !== '' ? NOTHING_REPORTED : this.#reportedBy(number);
    keptRows(delta, { version: before.version, rows: before.places.length });
    const indexes = freshIndexes(delta);
    for (const [i, need] of fresh.entries()) {
      if (need.cluster !== cluster) refuseStray(cluster, need, indexes[i]!);
    }
    const places = placesBefore(before, delta);
    if (!this.#recognise(number, before, fresh, indexes, places)) return null;
    const admitted = admitRows(this.#dimensions, before, delta, indexes);
    const changed = this.#compare(number, admitted.fresh, indexes, places);
    return { before, delta, indexes, places, ...admitted, ...changed };
  }

  /** Splits the fresh rows into those with a place but other amounts, and new ones; rows without a change are neither. */
  #compare(
    cluster: number,
    fresh: readonly Need[],
    indexes: Int32Array,
    places: Int32Array,
  ): Pick<RollUp, 'amended' | 'added'> {
    const { offset } = this.rowsOf(cluster);
    const amended: number[] = [];
    const added: number[] = [];
    for (let i = 0; i < fresh.length; i++) {
      const need = fresh[i]!;
      const index = indexes[i]!;
      const row = offset + places[index]!;
      // A row that is set aside holds fewer references than an ordinary one, so neither becomes the other in place.
      if (places[index] !== NOWHERE && this.setAside[row] !== flagOf(need)) places[index] = NOWHERE;
      if (places[index] === NOWHERE) added.push(i);
      else if (!this.hasAmountsOf(row, need)) amended.push(i);
    }
    return { amended, added };
  }

  #reportedBy(cluster: number): Reported {
    return this.#reported[cluster] ?? NOTHING_REPORTED;
  }

  /**
   * Finds the places of fresh rows that are on record with the same key and `firstSeenMs`. Returns false if two rows of the
   * roll-up share a key.
   */
  #recognise(
    cluster: number,
    before: Reported,
    fresh: readonly Need[],
    indexes: Int32Array,
    places: Int32Array,
  ): boolean {
    if (fresh.length === 0) return true;
    const { offset, length } = this.rowsOf(cluster);
    const taken = this.#staying(places, length);
    const unknown: Need[] = [];
    for (let i = 0; i < fresh.length; i++) {
      const need = fresh[i]!;
      const row = this.#rowAtIndex(before, indexes[i]!, need, offset) ?? this.#rowOfNeed(cluster, need);
      if (row === undefined) {
        unknown.push(need);
        continue;
      }
      if (taken[row - offset] === 1) return false;
      taken[row - offset] = 1;
      if (this.firstSeenMs[row] === need.firstSeenMs) places[indexes[i]!] = row - offset;
    }
    return !haveSharedKeys(unknown);
  }

  /**
   * The row at the same index of the report before, if it has the key of this Need. Fast path: most rows that change only
   * change their amounts, and stay at their index.
   */
  #rowAtIndex({ places }: Reported, index: number, need: Need, offset: number): number | undefined {
    if (index >= places.length) return undefined;
    const row = offset + places[index]!;
    const isSame =
      this.#keys.groupOf(this.key[row]!) === need.group &&
      this.profileAt(row).fingerprint === need.profile.fingerprint;
    return isSame ? row : undefined;
  }

  #rowOfNeed(cluster: number, { profile, group }: Need): number | undefined {
    const { offset, length } = this.rowsOf(cluster);
    return this.rowWith(this.#keys.findIn(cluster, profile.fingerprint, group), offset, length);
  }

  /** By place, `length` entries: 1 if a row of the report had it before. Valid until the next call. */
  #staying(places: Int32Array, length: number): Uint8Array {
    this.#stays = withRoom(this.#stays, length);
    return markStaying(places, this.#stays.subarray(0, length));
  }

  /** New rows, each with a reference to its profile. */
  #newRows({ fresh, indexes, added }: RollUp): NewRow[] {
    return added.map((i): NewRow => {
      const need = fresh[i]!;
      return { need, index: indexes[i]!, key: 0, profile: this.profiles.retain(need.profile) };
    });
  }

  /** Adds references to the keys of rows that have none yet, and sorts all rows by rank. */
  #inRank(cluster: number, fresh: NewRow[]): readonly NewRow[] {
    for (const newRow of fresh) {
      const { profile, group } = newRow.need;
      if (newRow.key === 0) newRow.key = this.#keys.retainIn(cluster, profile.fingerprint, group);
    }
    this.reserveKeys();
    const precedence = ({ profile }: NewRow): number => this.profiles.entryOf(profile).precedence;
    return fresh.sort(
      (a, b) =>
        precedence(b) - precedence(a) ||
        a.need.firstSeenMs - b.need.firstSeenMs ||
        this.#keys.compare(a.key, b.key),
    );
  }

  /** Whether a new row precedes an existing row of its cluster in rank order. */
  #isAhead({ need, key, profile }: NewRow, row: number): boolean {
    const order =
      this.precedence[row]! - this.profiles.entryOf(profile).precedence ||
      need.firstSeenMs - this.firstSeenMs[row]! ||
      this.#keys.compare(key, this.key[row]!);
    return order < 0;
  }

  /** Replaces the cluster's rows by a roll-up from `check`, with no write in between. Returns whether rows changed. */
  write(rollUp: RollUp): boolean {
    const { before, delta, fresh, indexes, places, amended, added, beyond } = rollUp;
    const number = this.#clusters.numberOf(delta.cluster);
    if (before !== this.#reportedBy(number)) {
      throw new Error('a roll-up was compared with rows that are no longer there');
    }
    const old = this.rowsOf(number);
    const { length } = places;
    this.#reported[number] = { version: delta.version, places, beyond };
    if (added.length + amended.length === 0 && length === old.length) return false;
    for (const changes of this.#changed) changes.add(number);
    this.revision++;
    const stays = this.#staying(places, old.length);
    const inRank = this.#rankedIn(old, stays);
    const newRows = this.#newRows(rollUp);
    const successors = this.#successors(old.offset, newRows, places, stays);
    // Written in rank order, so that a cycle reads rows that arrived together sequentially.
    const sorted = this.#inRank(number, newRows);
    const left: RowReferences[] = [];
    for (let place = 0; place < old.length; place++) {
      if (stays[place] === 0) left.push(this.referencesOf(old.offset + place));
    }
    this.#closeGaps(old.offset, places, stays, inRank);
    const current = this.#roomFor(old, length);
    // New references are added before old ones are dropped, so that shared entries keep their numbers.
    const outdated: AmountReferences[] = [];
    for (const i of amended) {
      const former = this.amendRow(current.offset + places[indexes[i]!]!, fresh[i]!);
      if (former !== null) outdated.push(former);
    }
    for (const successor of successors) this.renameRow(current.offset + places[successor.index]!, successor);
    this.#fill(number, current, places, sorted, stays);
    this.#rank(current, places, sorted, inRank);
    this.#places.settle(this, current);
    for (const amounts of outdated) this.dropAmounts(amounts);
    for (const references of left) this.dropReferences(references);
    this.#rowsOf[number] = current;
    this.#count += length - old.length;
    this.#countSetAside(number, current);
    return true;
  }

  #countSetAside(cluster: number, { offset, length }: ClusterRows): void {
    this.byCluster.reserve(this.#clusters.size);
    let count = 0;
    for (let row = offset; row < offset + length; row++) count += this.setAside[row]!;
    this.setAsideIn[cluster] = count;
  }

  /**
   * New rows with the profile and amounts of a leaving row, such as a job that replaces an ended one of the same shape.
   * They inherit its place and its references, except the group of its key, at a fraction of the cost of dropping and
   * adding the same references.
   */
  #successors(offset: number, fresh: readonly NewRow[], places: Int32Array, stays: Uint8Array): NewRow[] {
    const leaving = new Map<number, number[]>();
    for (let place = 0; place < stays.length; place++) {
      if (stays[place] === 1) continue;
      const profile = this.profile[offset + place]!;
      const others = leaving.get(profile);
      if (others === undefined) leaving.set(profile, [place]);
      else others.push(place);
    }
    return fresh.filter((newRow) => {
      const { index, need, profile } = newRow;
      const others = leaving.get(profile);
      if (others === undefined) return false;
      const least = Math.max(0, others.length - MOST_ASKED);
      let at = others.length - 1;
      while (at >= least && !this.hasAmountsOf(offset + others[at]!, need)) at--;
      if (at < least) return false;
      const place = others[at]!;
      others[at] = others.at(-1)!;
      others.pop();
      places[index] = place;
      stays[place] = 1;
      newRow.key = this.#keys.exchange(this.key[offset + place]!, need.group);
      return true;
    });
  }

  /** Places of a cluster's rows in rank order, without those that leave. */
  #rankedIn({ offset, length }: ClusterRows, stays: Uint8Array): Uint32Array {
    const places = new Uint32Array(length);
    let count = 0;
    for (let i = offset; i < offset + length; i++) {
      const place = this.ranked[i]! - offset;
      if (stays[place] === 1) places[count++] = place;
    }
    return places.subarray(0, count);
  }

  /** A block for `length` rows. Staying rows keep their places, relative to the new block if it is replaced. */
  #roomFor(old: ClusterRows, length: number): ClusterRows {
    if (length <= old.capacity && length * ROOMY > old.capacity) return { ...old, length };
    const block = length === 0 ? NO_ROWS : this.#blocks.take(length);
    this.reserveRows(this.#blocks.end);
    this.moveRows({ offset: old.offset, length: Math.min(old.length, length) }, block.offset);
    this.#blocks.giveBack(old);
    return { ...block, length };
  }

  /** Moves rows from places at or above the new `length` into free places below it, and updates `places` and `inRank`. */
  #closeGaps(offset: number, places: Int32Array, stays: Uint8Array, inRank: Uint32Array): void {
    const { length } = places;
    if (length >= stays.length) return;
    const moved = new Map<number, number>();
    let gap = 0;
    for (let place = length; place < stays.length; place++) {
      if (stays[place] === 0) continue;
      while (stays[gap] === 1) gap++;
      stays[gap] = 1;
      moved.set(place, gap);
      this.moveRows({ offset: offset + place, length: 1 }, offset + gap);
    }
    if (moved.size === 0) return;
    for (let i = 0; i < places.length; i++) places[i] = moved.get(places[i]!) ?? places[i]!;
    for (let i = 0; i < inRank.length; i++) inRank[i] = moved.get(inRank[i]!) ?? inRank[i]!;
  }

  /** Writes new rows that have no place yet into free places, and records them in `places`. */
  #fill(
    cluster: number,
    { offset }: ClusterRows,
    places: Int32Array,
    fresh: readonly NewRow[],
    stays: Uint8Array,
  ): void {
    let place = 0;
    for (const newRow of fresh) {
      if (places[newRow.index] !== NOWHERE) continue;
      while (stays[place] === 1) place++;
      this.writeRow(offset + place, cluster, newRow);
      places[newRow.index] = place++;
    }
  }

  /** Merges new rows into `ranked`; `fresh` and `inRank` are both in rank order. */
  #rank({ offset }: ClusterRows, places: Int32Array, fresh: readonly NewRow[], inRank: Uint32Array): void {
    let next = 0;
    let end = offset;
    for (let i = 0; i < inRank.length; i++) {
      const row = offset + inRank[i]!;
      while (next < fresh.length && this.#isAhead(fresh[next]!, row)) {
        this.ranked[end++] = offset + places[fresh[next++]!.index]!;
      }
      this.ranked[end++] = row;
    }
    while (next < fresh.length) this.ranked[end++] = offset + places[fresh[next++]!.index]!;
  }
}
