// The demand ledger: every row in columns, cluster by cluster, each cluster's rows in rank order. A roll-up replaces
// all rows of its cluster or, if it is refused, none.

import {
  BigFleetError,
  canonicalResources,
  compareRank,
  compareText,
  isZero,
  keyOf,
  mergeNeeds,
  type Need,
  type NeedKey,
  printable,
  type ResourceVector,
  sortedUnique,
} from '../model/index.ts';
import { type Block, Blocks } from './blocks.ts';
import type { Changes } from './changes.ts';
import { extended, grownCapacity, sharedFloat64, sharedUint8, sharedUint32 } from './columns.ts';
import type { KeyTable, NameTable } from './names.ts';
import type { PatternTable } from './patterns.ts';
import { ProfileTable } from './profiles.ts';
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

  aggregateOf(row: number): ResourceVector {
    return this.#dimensions.vectorOf(this.aggregate.data, row * this.#dimensions.stride);
  }

  /** The cluster's complete demand, checked and written; see `check` and `write`. Returns whether anything changed. */
  replace(cluster: string, needs: readonly Need[]): boolean {
    return this.write(cluster, this.check(cluster, needs));
  }

  /**
   * The rows a roll-up comes to, in rank order; rows with equal keys become one. Refused as a whole if a row is another
   * cluster's, a sum leaves the exact range, or a resource is one too many; then nothing has changed.
   */
  check(cluster: string, needs: readonly Need[]): readonly Need[] {
    const stray = needs.findIndex((need) => need.cluster !== cluster);
    if (stray !== -1) {
      const named = printable(needs[stray]!.cluster);
      const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
      throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${stray}].cluster` });
    }
    const rows = [...mergeNeeds(needs)].sort(compareRank);
    this.#dimensions.admit(rows.flatMap((need) => [need.aggregate, need.minUnit]));
    return rows;
  }

  /** Puts rows that `check` has made in the place of the cluster's old ones; rows that say the same again change nothing. */
  write(cluster: string, rows: readonly Need[]): boolean {
    const number = this.#clusters.numberOf(cluster);
    const old = this.rowsOf(number);
    if (rows.length === old.length && rows.every((need, i) => this.#holds(old.offset + i, need)))
      return false;
    this.#changed.add(number);
    const block = rows.length === 0 ? NO_ROWS : this.#blocks.take(rows.length);
    this.#reserve(this.#blocks.end);
    const oldRows = new Map<number, number>();
    for (let row = old.offset; row < old.offset + old.length; row++) oldRows.set(this.key[row]!, row);
    // Most rows of a roll-up say what they said before: those move as they are. New rows take hold of what they
    // share with the old ones before those let go.
    for (const [i, need] of rows.entries()) {
      const key = this.#keys.find(keyOf(need));
      const before = oldRows.get(key);
      if (before !== undefined && this.#says(before, need)) {
        this.#move(before, block.offset + i);
        oldRows.delete(key);
      } else this.#write(block.offset + i, number, need);
    }
    this.#placeTexts(block.offset, rows.length);
    for (const row of oldRows.values()) this.#release(row);
    this.#blocks.giveBack(old);
    this.#rowsOf[number] = { ...block, length: rows.length };
    this.#count += rows.length - old.length;
    return true;
  }

  #holds(row: number, need: Need): boolean {
    return this.#says(row, need) && this.key[row] === this.#keys.find(keyOf(need));
  }

  // The key names the profile, so amounts and time are all that is left to compare between rows of one key.
  #says(row: number, need: Need): boolean {
    return (
      this.firstSeenMs[row] === need.firstSeenMs &&
      this.aggregate.holds(row, need.aggregate) &&
      this.minUnit.holds(row, need.minUnit)
    );
  }

  /** Takes a row with everything it holds to another place. */
  #move(from: number, to: number): void {
    for (const column of [this.cluster, this.key, this.profile, this.pattern]) column[to] = column[from]!;
    for (const column of [this.wholePattern, this.foldPattern, this.foldProfile, this.foldKey]) {
      column[to] = column[from]!;
    }
    for (const column of [this.same, this.spreads, this.empty]) column[to] = column[from]!;
    for (const column of [this.precedence, this.firstSeenMs]) column[to] = column[from]!;
    this.aggregate.move(from, to);
    this.minUnit.move(from, to);
  }

  #write(row: number, cluster: number, need: Need): void {
    const { profile, aggregate, minUnit } = need;
    this.cluster[row] = cluster;
    this.key[row] = this.#keys.hold(keyOf(need));
    this.profile[row] = this.profiles.hold(profile);
    this.pattern[row] = this.#patterns.hold(profile.requirements, minUnit);
    this.aggregate.set(row, aggregate);
    this.minUnit.set(row, minUnit);
    this.firstSeenMs[row] = need.firstSeenMs;
    this.empty[row] = isZero(aggregate) ? 1 : 0;
    const entry = this.profiles.entryOf(this.profile[row]!);
    this.precedence[row] = entry.precedence;
    this.spreads[row] = entry.spreadKey === undefined ? 0 : 1;
    this.same[row] = entry.sameKey === undefined ? 0 : 1;
    if (entry.sameKey === undefined) return;
    this.wholePattern[row] = this.#patterns.hold(profile.requirements, aggregate);
    this.foldPattern[row] = this.#patterns.hold(entry.stripped.requirements, aggregate);
    this.foldProfile[row] = this.profiles.hold(entry.stripped);
    this.foldKey[row] = this.#keys.hold({
      cluster: need.cluster,
      fingerprint: entry.stripped.fingerprint,
      group: `fold:${canonicalResources(aggregate)}`,
    });
  }

  /** Ties in rank are broken by the text of the key; comparing texts once here leaves numbers to the cycle. */
  #placeTexts(offset: number, length: number): void {
    const keys = new Set<number>();
    for (let row = offset; row < offset + length; row++) {
      keys.add(this.key[row]!);
      if (this.same[row] === 1) keys.add(this.foldKey[row]!);
    }
    // Fingerprints are long and few, groups short and many: each fingerprint is compared once per roll-up.
    const fingerprints = sortedUnique([...keys].map((key) => this.#keys.keyOf(key).fingerprint));
    const rank = new Map(fingerprints.map((fingerprint, i) => [fingerprint, i]));
    const entries = [...keys].map((key) => {
      const { fingerprint, group } = this.#keys.keyOf(key);
      return { key, group, rank: rank.get(fingerprint)! };
    });
    entries.sort((a, b) => a.rank - b.rank || compareText(a.group, b.group));
    const places = new Map(entries.map(({ key }, place) => [key, place]));
    for (let row = offset; row < offset + length; row++) {
      this.text[row] = places.get(this.key[row]!)!;
      if (this.same[row] === 1) this.foldText[row] = places.get(this.foldKey[row]!)!;
    }
  }

  #release(row: number): void {
    this.#keys.release(this.key[row]!);
    this.profiles.release(this.profile[row]!);
    this.#patterns.release(this.pattern[row]!);
    if (this.same[row] === 0) return;
    this.#patterns.release(this.wholePattern[row]!);
    this.#patterns.release(this.foldPattern[row]!);
    this.profiles.release(this.foldProfile[row]!);
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
