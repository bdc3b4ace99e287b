// The demand ledger: every row in columns, cluster by cluster, each cluster's rows in rank order. A roll-up replaces
// all rows of its cluster or, if it is refused, none.

import {
  BigFleetError,
  canonicalResources,
  compareRank,
  isZero,
  keyOf,
  mergeNeeds,
  type Need,
  type NeedKey,
  printable,
  type ResourceVector,
} from '../model/index.ts';
import { type Block, Blocks } from './blocks.ts';
import type { Changes } from './changes.ts';
import { extended, grownCapacity, sharedFloat64, sharedUint8, sharedUint32 } from './columns.ts';
import { KeyOrder } from './key-order.ts';
import type { KeyTable, NameTable } from './names.ts';
import type { PatternTable } from './patterns.ts';
import { ProfileTable, precedenceOf } from './profiles.ts';
import {
  inRankOrder,
  NOTHING_REPORTED,
  NOWHERE,
  type Reported,
  type RollUp,
  sameObjects,
} from './roll-up.ts';
import type { Dimensions, VectorColumn } from './vectors.ts';

/** The rows of one cluster: `length` of them from `offset` on. */
export interface ClusterRows extends Block {
  readonly length: number;
}

const NO_ROWS: ClusterRows = { offset: 0, capacity: 0, length: 0 };

export class DemandLedger {
  readonly #changed: Changes;
  readonly #clusters: NameTable;
  readonly #keys: KeyTable;
  readonly #patterns: PatternTable;
  readonly #dimensions: Dimensions;
  readonly profiles = new ProfileTable();
  readonly #blocks = new Blocks();
  readonly #rowsOf: (ClusterRows | undefined)[] = [];
  /** By cluster: what its rows were written from. */
  readonly #reported: (Reported | undefined)[] = [];
  /** By key: the row that has it, if any; keys that no row has may be told an old one. */
  readonly #rowOf: number[] = [];
  readonly #order: KeyOrder;
  #count = 0;

  // Columns, by row.
  cluster: Uint32Array = sharedUint32(0);
  key: Uint32Array = sharedUint32(0);
  profile: Uint32Array = sharedUint32(0);
  /** Requirements and min_unit: what a machine must be to serve the row. */
  pattern: Uint32Array = sharedUint32(0);
  /** Precedence of the profile as one number, and whether a strict spread binds the row. */
  precedence: Float64Array = sharedFloat64(0);
  spreads: Uint8Array = sharedUint8(0);
  /** Rows with `Same`: requirements and whole aggregate (may it fold?), and what it is when folded. */
  same: Uint8Array = sharedUint8(0);
  wholePattern: Uint32Array = sharedUint32(0);
  foldPattern: Uint32Array = sharedUint32(0);
  foldProfile: Uint32Array = sharedUint32(0);
  foldKey: Uint32Array = sharedUint32(0);
  /** Place of the row's key, and of its fold's key, among all keys of the cluster's rows and folds. */
  text: Uint32Array = sharedUint32(0);
  foldText: Uint32Array = sharedUint32(0);
  /** 1 if nothing is wanted: such a row is met by definition. */
  empty: Uint8Array = sharedUint8(0);
  firstSeenMs: Float64Array = sharedFloat64(0);
  readonly aggregate: VectorColumn;
  readonly minUnit: VectorColumn;

  /** `changed` is told of the clusters whose rows are others than before. */
  constructor(
    clusters: NameTable,
    keys: KeyTable,
    patterns: PatternTable,
    dimensions: Dimensions,
    changed: Changes,
  ) {
    this.#changed = changed;
    this.#clusters = clusters;
    this.#keys = keys;
    this.#order = new KeyOrder(keys);
    this.#patterns = patterns;
    this.#dimensions = dimensions;
    this.aggregate = dimensions.column();
    this.minUnit = dimensions.column();
  }

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

  /** The Need on record under a key, as it was reported. */
  needOf(key: NeedKey): Need | undefined {
    const cluster = this.#clusters.find(key.cluster);
    const { offset, length } = this.rowsOf(cluster);
    const row = this.#findRow(key, offset, length);
    return row === undefined ? undefined : this.#reportedBy(cluster).rows[row - offset];
  }

  aggregateOf(row: number): ResourceVector {
    return this.#dimensions.vectorOf(this.aggregate.data, row * this.#dimensions.stride);
  }

  /** The cluster's complete demand, checked and written; see `check` and `write`. Returns whether anything changed. */
  replace(cluster: string, needs: readonly Need[]): boolean {
    return this.write(cluster, this.check(cluster, needs));
  }

  /**
   * What a roll-up comes to, compared with the rows on record; rows with equal keys become one. Refused as a whole if a
   * row is another cluster's, a sum leaves the exact range, or a resource is one too many; then nothing has changed.
   */
  check(cluster: string, needs: readonly Need[]): RollUp {
    const number = this.#clusters.find(cluster);
    const before = number === 0 && cluster !== '' ? NOTHING_REPORTED : this.#reportedBy(number);
    const origin = sameObjects(before, needs);
    const fresh: Need[] = [];
    for (let i = 0; i < needs.length; i++) {
      if (origin[i] !== NOWHERE) continue;
      const need = needs[i]!;
      if (need.cluster !== cluster) refuseStray(cluster, need, i);
      fresh.push(need);
    }
    const amended = this.#recognise(number, needs, origin);
    if (amended === null) return this.check(cluster, mergeNeeds(needs));
    this.#dimensions.admit(vectorsOf(fresh));
    const { offset } = this.rowsOf(number);
    const isAhead = (need: Need, place: number): boolean =>
      this.#isAhead(need, offset + place, before.rows[place]!);
    return inRankOrder(before, needs, origin, amended, isAhead);
  }

  #reportedBy(cluster: number): Reported {
    return this.#reported[cluster] ?? NOTHING_REPORTED;
  }

  /**
   * Finds the rows that are on record under the same key and in the same rank, and returns those of them whose amounts
   * are others now. Returns null if two rows share a key.
   */
  #recognise(cluster: number, needs: readonly Need[], origin: Int32Array): number[] | null {
    const { offset, length } = this.rowsOf(cluster);
    const taken = new Uint8Array(length);
    for (const place of origin) if (place !== NOWHERE) taken[place] = 1;
    const amended: number[] = [];
    const unknown: Need[] = [];
    for (let i = 0; i < needs.length; i++) {
      if (origin[i] !== NOWHERE) continue;
      const need = needs[i]!;
      const row = this.#findRow(keyOf(need), offset, length);
      if (row === undefined) {
        unknown.push(need);
        continue;
      }
      if (taken[row - offset] === 1) return null;
      taken[row - offset] = 1;
      if (this.firstSeenMs[row] !== need.firstSeenMs) continue;
      origin[i] = row - offset;
      if (!this.aggregate.holds(row, need.aggregate) || !this.minUnit.holds(row, need.minUnit))
        amended.push(i);
    }
    return mergeNeeds(unknown).length < unknown.length ? null : amended;
  }

  /** The row among a cluster's that has a key. */
  #findRow(wanted: NeedKey, offset: number, length: number): number | undefined {
    const key = this.#keys.find(wanted);
    const row = this.#rowOf[key];
    // Where a key is nobody's any more, or another's, an old row may still be written down.
    if (key === 0 || row === undefined || row < offset || row >= offset + length) return undefined;
    return this.key[row] === key ? row : undefined;
  }

  /** Whether a Need comes before a row in rank order; `other` is what the row was written from. */
  #isAhead(need: Need, row: number, other: Need): boolean {
    const order =
      this.precedence[row]! - precedenceOf(need.profile) ||
      need.firstSeenMs - this.firstSeenMs[row]! ||
      compareRank(need, other);
    return order < 0;
  }

  /** Puts a roll-up that `check` has just made in the place of the cluster's rows; one that says the same changes nothing. */
  write(cluster: string, { before, after, origin, amended, added }: RollUp): boolean {
    const number = this.#clusters.numberOf(cluster);
    if (before !== this.#reportedBy(number)) {
      throw new Error('a roll-up was compared with rows that are no longer there');
    }
    this.#reported[number] = after;
    const old = this.rowsOf(number);
    const { rows } = after;
    if (added + amended.length === 0 && rows.length === old.length) return false;
    this.#changed.add(number);
    const block = rows.length === 0 ? NO_ROWS : this.#blocks.take(rows.length);
    this.#reserve(this.#blocks.end);
    this.#move(origin, old.offset, block.offset);
    // Rows take hold of what they share with the old ones before those let go; and no number may change its meaning
    // before the new keys have their places among the old.
    const outdated: number[] = [];
    for (const place of amended) {
      if (this.#amend(block.offset + place, rows[place]!)) outdated.push(old.offset + origin[place]!);
    }
    for (let i = 0; i < rows.length; i++) {
      if (origin[i] === NOWHERE) this.#write(block.offset + i, number, rows[i]!);
    }
    const current = { ...block, length: rows.length };
    this.#placeTexts(old, current);
    for (const row of outdated) this.#releaseAmounts(row);
    this.#releaseAllBut(origin, old);
    this.#blocks.giveBack(old);
    this.#rowsOf[number] = current;
    this.#count += rows.length - old.length;
    return true;
  }

  /** Takes the rows that stay, with everything they hold, to their new places. */
  #move(origin: Int32Array, from: number, to: number): void {
    for (const column of [this.cluster, this.key, this.profile, this.pattern]) {
      moveNumbers(column, origin, from, to);
    }
    for (const column of [this.wholePattern, this.foldPattern, this.foldProfile, this.foldKey]) {
      moveNumbers(column, origin, from, to);
    }
    for (const column of [this.same, this.spreads, this.empty]) moveFlags(column, origin, from, to);
    for (const column of [this.precedence, this.firstSeenMs]) moveAmounts(column, origin, from, to);
    for (const column of [this.aggregate, this.minUnit]) column.move(origin, from, to);
  }

  #write(row: number, cluster: number, need: Need): void {
    this.cluster[row] = cluster;
    this.key[row] = this.#keys.hold(keyOf(need));
    this.profile[row] = this.profiles.hold(need.profile);
    this.firstSeenMs[row] = need.firstSeenMs;
    const entry = this.profiles.entryOf(this.profile[row]!);
    this.precedence[row] = entry.precedence;
    this.spreads[row] = entry.spreadKey === undefined ? 0 : 1;
    this.same[row] = entry.sameKey === undefined ? 0 : 1;
    if (entry.sameKey !== undefined) this.foldProfile[row] = this.profiles.hold(entry.stripped);
    this.#writeAmounts(row, need);
  }

  /** Writes what depends on how much a row wants. */
  #writeAmounts(row: number, need: Need): void {
    const { profile } = this.profiles.entryOf(this.profile[row]!);
    this.minUnit.set(row, need.minUnit);
    this.pattern[row] = this.#patterns.hold(
      profile.requirements,
      need.minUnit,
      canonicalResources(need.minUnit),
    );
    this.#writeAggregate(row, need);
  }

  #writeAggregate(row: number, { cluster, aggregate }: Need): void {
    this.aggregate.set(row, aggregate);
    this.empty[row] = isZero(aggregate) ? 1 : 0;
    if (this.same[row] === 0) return;
    const { profile, stripped } = this.profiles.entryOf(this.profile[row]!);
    const amounts = canonicalResources(aggregate);
    this.wholePattern[row] = this.#patterns.hold(profile.requirements, aggregate, amounts);
    this.foldPattern[row] = this.#patterns.hold(stripped.requirements, aggregate, amounts);
    const key = { cluster, fingerprint: stripped.fingerprint, group: `fold:${amounts}` };
    this.foldKey[row] = this.#keys.hold(key);
  }

  /**
   * Gives a row other amounts, and returns whether it holds other things by them. Most rows that change are plain ones
   * that grow or shrink by a few equal pods, and do not.
   */
  #amend(row: number, need: Need): boolean {
    const holds = this.same[row] === 1 || !this.minUnit.holds(row, need.minUnit);
    if (holds) this.#writeAmounts(row, need);
    else this.#writeAggregate(row, need);
    return holds;
  }

  /** Ties in rank are broken by the text of the key; comparing texts once here leaves numbers to the cycle. */
  #placeTexts(old: ClusterRows, { offset, length }: ClusterRows): void {
    const before = new Uint32Array(2 * old.length);
    for (let row = old.offset; row < old.offset + old.length; row++) {
      before[this.text[row]!] = this.key[row]!;
      if (this.same[row] === 1) before[this.foldText[row]!] = this.foldKey[row]!;
    }
    const wanted = new Uint32Array(2 * length);
    for (let i = 0; i < length; i++) {
      wanted[2 * i] = this.key[offset + i]!;
      wanted[2 * i + 1] = this.same[offset + i] === 1 ? this.foldKey[offset + i]! : this.key[offset + i]!;
    }
    this.#order.arrange(before, wanted);
    for (let row = offset; row < offset + length; row++) {
      const key = this.key[row]!;
      this.#rowOf[key] = row;
      this.text[row] = this.#order.placeOf(key);
      if (this.same[row] === 1) this.foldText[row] = this.#order.placeOf(this.foldKey[row]!);
    }
  }

  #releaseAllBut(origin: Int32Array, { offset, length }: ClusterRows): void {
    const stays = new Uint8Array(length);
    for (const place of origin) if (place !== NOWHERE) stays[place] = 1;
    for (let place = 0; place < length; place++) if (stays[place] === 0) this.#release(offset + place);
  }

  #release(row: number): void {
    this.#keys.release(this.key[row]!);
    this.profiles.release(this.profile[row]!);
    if (this.same[row] === 1) this.profiles.release(this.foldProfile[row]!);
    this.#releaseAmounts(row);
  }

  #releaseAmounts(row: number): void {
    this.#patterns.release(this.pattern[row]!);
    if (this.same[row] === 0) return;
    this.#patterns.release(this.wholePattern[row]!);
    this.#patterns.release(this.foldPattern[row]!);
    this.#keys.release(this.foldKey[row]!);
  }

  #reserve(needed: number): void {
    if (needed <= this.key.length) return;
    const capacity = grownCapacity(this.key.length, needed);
    this.cluster = extended(this.cluster, sharedUint32(capacity));
    this.key = extended(this.key, sharedUint32(capacity));
    this.profile = extended(this.profile, sharedUint32(capacity));
    this.pattern = extended(this.pattern, sharedUint32(capacity));
    this.same = extended(this.same, sharedUint8(capacity));
    this.precedence = extended(this.precedence, sharedFloat64(capacity));
    this.spreads = extended(this.spreads, sharedUint8(capacity));
    this.wholePattern = extended(this.wholePattern, sharedUint32(capacity));
    this.foldPattern = extended(this.foldPattern, sharedUint32(capacity));
    this.foldProfile = extended(this.foldProfile, sharedUint32(capacity));
    this.foldKey = extended(this.foldKey, sharedUint32(capacity));
    this.text = extended(this.text, sharedUint32(capacity));
    this.foldText = extended(this.foldText, sharedUint32(capacity));
    this.empty = extended(this.empty, sharedUint8(capacity));
    this.firstSeenMs = extended(this.firstSeenMs, sharedFloat64(capacity));
  }
}

function refuseStray(cluster: string, need: Need, index: number): never {
  const named = printable(need.cluster);
  const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
  throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${index}].cluster` });
}

function* vectorsOf(needs: readonly Need[]): Generator<ResourceVector> {
  for (const need of needs) {
    yield need.aggregate;
    yield need.minUnit;
  }
}

// One function for each kind of column: a loop that has seen several kinds is many times slower.

function moveNumbers(column: Uint32Array, origin: Int32Array, from: number, to: number): void {
  for (let i = 0; i < origin.length; i++)
    if (origin[i] !== NOWHERE) column[to + i] = column[from + origin[i]!]!;
}

function moveFlags(column: Uint8Array, origin: Int32Array, from: number, to: number): void {
  for (let i = 0; i < origin.length; i++)
    if (origin[i] !== NOWHERE) column[to + i] = column[from + origin[i]!]!;
}

function moveAmounts(column: Float64Array, origin: Int32Array, from: number, to: number): void {
  for (let i = 0; i < origin.length; i++)
    if (origin[i] !== NOWHERE) column[to + i] = column[from + origin[i]!]!;
}
