// The demand ledger: every row in columns, cluster by cluster. A roll-up replaces all rows of its cluster or, if it is
// refused, none. Rows that stay keep their place whatever comes and goes around them; their rank order is a column.

import {
  BigFleetError,
  canonicalResources,
  compareKeys,
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
import { NOTHING_REPORTED, NOWHERE, type Reported, type RollUp, sameObjects, staying } from './roll-up.ts';
import type { Dimensions, VectorColumn } from './vectors.ts';

/** The rows of one cluster: `length` of them from `offset` on, in no particular order. */
export interface ClusterRows extends Block {
  readonly length: number;
}

const NO_ROWS: ClusterRows = { offset: 0, capacity: 0, length: 0 };
/** Rows that have become so much fewer than there is room for move to a smaller place. */
const ROOMY = 4;

/** What a row holds of the tables. */
interface Holdings {
  readonly key: number;
  readonly profile: number;
  /** Null for rows that do not fold. */
  readonly foldProfile: number | null;
  readonly amounts: AmountHoldings;
}

/** What a row holds by how much it wants. */
interface AmountHoldings {
  readonly pattern: number;
  /** Null for rows that do not fold. */
  readonly fold: {
    readonly wholePattern: number;
    readonly foldPattern: number;
    readonly foldKey: number;
  } | null;
}

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

  /** Rows in rank order: from where a cluster's rows start, as many as it has. */
  ranked: Uint32Array = sharedUint32(0);

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
    return this.#findRow(key, offset, length);
  }

  /** The Need on record under a key, as it was reported. */
  needOf(key: NeedKey): Need | undefined {
    const row = this.rowOf(key);
    if (row === undefined) return undefined;
    const cluster = this.cluster[row]!;
    const { needs, places } = this.#reportedBy(cluster);
    return needs[places.indexOf(row - this.rowsOf(cluster).offset)];
  }

  /** All Needs of a cluster, as they were reported. */
  needsOf(cluster: number): readonly Need[] {
    return this.#reportedBy(cluster).needs;
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
    const added: number[] = [];
    for (let i = 0; i < needs.length; i++) if (origin[i] === NOWHERE) added.push(i);
    // A copy: whoever reported them may go on to change the list.
    return { before, needs: needs.slice(), origin, amended, added };
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
    const taken = staying(origin, length);
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

  /** Whether a Need comes before a row of its cluster in rank order. */
  #isAhead(need: Need, row: number): boolean {
    const order =
      this.precedence[row]! - precedenceOf(need.profile) || need.firstSeenMs - this.firstSeenMs[row]!;
    return order === 0 ? compareKeys(keyOf(need), this.keyOf(row)) < 0 : order < 0;
  }

  /** Puts a roll-up that `check` has just made in the place of the cluster's rows; one that says the same changes nothing. */
  write(cluster: string, { before, needs, origin, amended, added }: RollUp): boolean {
    const number = this.#clusters.numberOf(cluster);
    if (before !== this.#reportedBy(number)) {
      throw new Error('a roll-up was compared with rows that are no longer there');
    }
    const old = this.rowsOf(number);
    this.#reported[number] = { needs, places: origin };
    if (added.length + amended.length === 0 && needs.length === old.length) return false;
    this.#changed.add(number);
    this.revision++;
    const texts = this.#textsOf(old);
    const stays = staying(origin, old.length);
    const left: Holdings[] = [];
    for (let place = 0; place < old.length; place++) {
      if (stays[place] === 0) left.push(this.#holdingsOf(old.offset + place));
    }
    const inRank = this.#rankedIn(old, stays);
    this.#closeGaps(old.offset, needs.length, origin, stays, inRank);
    const current = this.#roomFor(old, needs.length);
    // Rows take hold of what they share with the old ones before those let go; and no number may change its meaning
    // before the new keys have their places among the old.
    const outdated: AmountHoldings[] = [];
    for (const i of amended) {
      const former = this.#amend(current.offset + origin[i]!, needs[i]!);
      if (former !== null) outdated.push(former);
    }
    // In rank order too, so that a cycle reads rows one behind the other where they came together.
    const fresh = [...added].sort((a, b) => compareRank(needs[a]!, needs[b]!));
    this.#fill(number, current, needs, origin, fresh, stays);
    this.#rank(current, needs, origin, fresh, inRank);
    if (left.length + added.length + outdated.length > 0) this.#placeTexts(texts, current);
    for (const amounts of outdated) this.#releaseAmounts(amounts);
    for (const holdings of left) this.#release(holdings);
    this.#rowsOf[number] = current;
    this.#count += needs.length - old.length;
    return true;
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

  /** Room for so many rows; those that stay keep their places, in another block if it must be. */
  #roomFor(old: ClusterRows, length: number): ClusterRows {
    if (length <= old.capacity && length * ROOMY > old.capacity) return { ...old, length };
    const block = length === 0 ? NO_ROWS : this.#blocks.take(length);
    this.#reserve(this.#blocks.end);
    this.#move({ offset: old.offset, length: Math.min(old.length, length) }, block.offset);
    this.#blocks.giveBack(old);
    return { ...block, length };
  }

  /** Rows behind the last place there will be move to places that others have left; whatever names places follows. */
  #closeGaps(
    offset: number,
    length: number,
    origin: Int32Array,
    stays: Uint8Array,
    inRank: Uint32Array,
  ): void {
    if (length >= stays.length) return;
    const moved = new Map<number, number>();
    let gap = 0;
    for (let place = length; place < stays.length; place++) {
      if (stays[place] === 0) continue;
      while (stays[gap] === 1) gap++;
      stays[gap] = 1;
      moved.set(place, gap);
      this.#move({ offset: offset + place, length: 1 }, offset + gap);
    }
    if (moved.size === 0) return;
    for (let i = 0; i < origin.length; i++) origin[i] = moved.get(origin[i]!) ?? origin[i]!;
    for (let i = 0; i < inRank.length; i++) inRank[i] = moved.get(inRank[i]!) ?? inRank[i]!;
  }

  /** Writes the rows that are new where none stays, and notes their places in `origin`. */
  #fill(
    cluster: number,
    { offset }: ClusterRows,
    needs: readonly Need[],
    origin: Int32Array,
    fresh: readonly number[],
    stays: Uint8Array,
  ): void {
    let place = 0;
    for (const i of fresh) {
      while (stays[place] === 1) place++;
      this.#write(offset + place, cluster, needs[i]!);
      origin[i] = place++;
    }
  }

  /** Puts the rows that are new in between those that stay; both are in rank order. */
  #rank(
    { offset }: ClusterRows,
    needs: readonly Need[],
    origin: Int32Array,
    fresh: readonly number[],
    inRank: Uint32Array,
  ): void {
    let next = 0;
    let end = offset;
    for (let i = 0; i < inRank.length; i++) {
      const row = offset + inRank[i]!;
      while (next < fresh.length && this.#isAhead(needs[fresh[next]!]!, row)) {
        this.ranked[end++] = offset + origin[fresh[next++]!]!;
      }
      this.ranked[end++] = row;
    }
    while (next < fresh.length) this.ranked[end++] = offset + origin[fresh[next++]!]!;
  }

  /** Takes rows, with everything they hold, to another place. */
  #move({ offset, length }: { readonly offset: number; readonly length: number }, to: number): void {
    const end = offset + length;
    for (const column of [this.cluster, this.key, this.profile, this.pattern, this.text, this.foldText]) {
      column.copyWithin(to, offset, end);
    }
    for (const column of [this.wholePattern, this.foldPattern, this.foldProfile, this.foldKey]) {
      column.copyWithin(to, offset, end);
    }
    for (const column of [this.same, this.spreads, this.empty]) column.copyWithin(to, offset, end);
    for (const column of [this.precedence, this.firstSeenMs]) column.copyWithin(to, offset, end);
    for (const column of [this.aggregate, this.minUnit]) column.move(offset, end, to);
    for (let row = to; row < to + length; row++) this.#rowOf[this.key[row]!] = row;
  }

  #write(row: number, cluster: number, need: Need): void {
    this.cluster[row] = cluster;
    this.key[row] = this.#keys.hold(keyOf(need));
    this.#rowOf[this.key[row]!] = row;
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
   * Gives a row other amounts, and returns what it held by the old ones; null if it holds the same by the new ones. Most
   * rows that change are plain ones that grow or shrink by a few equal pods, and do.
   */
  #amend(row: number, need: Need): AmountHoldings | null {
    if (this.same[row] === 0 && this.minUnit.holds(row, need.minUnit)) {
      this.#writeAggregate(row, need);
      return null;
    }
    const { amounts } = this.#holdingsOf(row);
    this.#writeAmounts(row, need);
    return amounts;
  }

  /** Keys of a cluster's rows and folds in the order of their texts; 0 in between is none. */
  #textsOf({ offset, length }: ClusterRows): Uint32Array {
    const texts = new Uint32Array(2 * length);
    for (let row = offset; row < offset + length; row++) {
      texts[this.text[row]!] = this.key[row]!;
      if (this.same[row] === 1) texts[this.foldText[row]!] = this.foldKey[row]!;
    }
    return texts;
  }

  /** Ties in rank are broken by the text of the key; comparing texts once here leaves numbers to the cycle. */
  #placeTexts(before: Uint32Array, { offset, length }: ClusterRows): void {
    const wanted = new Uint32Array(2 * length);
    for (let i = 0; i < length; i++) {
      wanted[2 * i] = this.key[offset + i]!;
      wanted[2 * i + 1] = this.same[offset + i] === 1 ? this.foldKey[offset + i]! : this.key[offset + i]!;
    }
    this.#order.arrange(before, wanted);
    for (let row = offset; row < offset + length; row++) {
      this.text[row] = this.#order.placeOf(this.key[row]!);
      if (this.same[row] === 1) this.foldText[row] = this.#order.placeOf(this.foldKey[row]!);
    }
  }

  #holdingsOf(row: number): Holdings {
    const folds = this.same[row] === 1;
    return {
      key: this.key[row]!,
      profile: this.profile[row]!,
      foldProfile: folds ? this.foldProfile[row]! : null,
      amounts: {
        pattern: this.pattern[row]!,
        fold: folds
          ? {
              wholePattern: this.wholePattern[row]!,
              foldPattern: this.foldPattern[row]!,
              foldKey: this.foldKey[row]!,
            }
          : null,
      },
    };
  }

  #release({ key, profile, foldProfile, amounts }: Holdings): void {
    this.#keys.release(key);
    this.profiles.release(profile);
    if (foldProfile !== null) this.profiles.release(foldProfile);
    this.#releaseAmounts(amounts);
  }

  #releaseAmounts({ pattern, fold }: AmountHoldings): void {
    this.#patterns.release(pattern);
    if (fold === null) return;
    this.#patterns.release(fold.wholePattern);
    this.#patterns.release(fold.foldPattern);
    this.#keys.release(fold.foldKey);
  }

  #reserve(needed: number): void {
    if (needed <= this.key.length) return;
    const capacity = grownCapacity(this.key.length, needed);
    this.ranked = extended(this.ranked, sharedUint32(capacity));
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
