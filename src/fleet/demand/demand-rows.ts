// Base class of `DemandLedger`: the columns of its rows, and the references that each row holds to keys, profiles and
// patterns. It writes one row at a time; which rows a roll-up changes, and where they go, is decided in
// demand-ledger.ts.

import { withRoom } from '../../collections/columns.ts';
import { ColumnGroup } from '../../collections/table.ts';
import { isZero, type Need, type Profile, setAside } from '../../model/index.ts';
import type { KeyTable } from '../tables/names.ts';
import type { PatternTable } from '../tables/patterns.ts';
import { ProfileTable } from '../tables/profiles.ts';
import type { Dimensions, VectorColumn } from '../tables/vectors.ts';
import { AmountTexts } from './amount-texts.ts';
import { UNPLACED } from './key-places.ts';
import type { AmountReferences, NewRow, RowReferences } from './row-references.ts';

export abstract class DemandRows {
  readonly #keys: KeyTable;
  readonly #patterns: PatternTable;
  readonly profiles = new ProfileTable();
  readonly #texts = new AmountTexts();
  /** By key: its row. Entries of keys without a row may be stale; `rowWith` verifies them. */
  #rowOf = new Uint32Array(0);

  readonly byPlace = new ColumnGroup(this);
  /** Rows of each cluster in rank order, at the indexes of the cluster's block. */
  readonly ranked = this.byPlace.u32();

  readonly byRow = new ColumnGroup(this);
  readonly cluster = this.byRow.u32();
  readonly key = this.byRow.u32();
  readonly profile = this.byRow.u32();
  /** Requirements and min_unit. */
  readonly pattern = this.byRow.u32();
  /** Precedence of the profile as one number. */
  readonly precedence = this.byRow.f64();
  /** 1 if the row has a strict spread. */
  readonly spreads = this.byRow.u8();
  /** `wholePattern` (requirements and aggregate) decides whether a row with `Same` may fold; `fold…` describe its fold. */
  readonly same = this.byRow.u8();
  readonly wholePattern = this.byRow.u32();
  /** 1 if a pod of a row with `Same` is larger than all of it. Kept, because comparing the amounts waits for memory. */
  readonly unitExceedsWhole = this.byRow.u8();
  readonly foldPattern = this.byRow.u32();
  readonly foldProfile = this.byRow.u32();
  readonly foldKey = this.byRow.u32();
  /**
   * Sort position of the row's key, and of its fold's key, among the keys of the cluster's rows and folds of the same
   * precedence and `firstSeenMs`. `UNPLACED` if none of those rows has `Same`.
   */
  readonly keyPlace = this.byRow.u32();
  readonly foldKeyPlace = this.byRow.u32();
  /** 1 if the Need has a group. */
  readonly grouped = this.byRow.u8();
  /** 1 if the aggregate is zero: such a row is met by definition, unless it is set aside. */
  readonly empty = this.byRow.u8();
  /** 1 if the row is set aside: its size is unknown, and `same`, `spreads` and its amounts are 0. */
  readonly setAside = this.byRow.u8();
  readonly firstSeenMs = this.byRow.f64();

  readonly byCluster = new ColumnGroup(this);
  /** Number of rows set aside. */
  readonly setAsideIn = this.byCluster.u32();
  readonly aggregate: VectorColumn;
  readonly minUnit: VectorColumn;

  constructor(keys: KeyTable, patterns: PatternTable, dimensions: Dimensions) {
    this.#keys = keys;
    this.#patterns = patterns;
    this.aggregate = dimensions.column();
    this.minUnit = dimensions.column();
  }

  /** Makes room for rows with numbers below `end`. */
  protected reserveRows(end: number): void {
    this.byPlace.reserve(end);
    this.byRow.reserve(end);
  }

  /** Makes room for all keys in use; required before rows with new keys are written. */
  protected reserveKeys(): void {
    this.#rowOf = withRoom(this.#rowOf, this.#keys.size);
  }

  profileAt(row: number): Profile {
    return this.profiles.entryOf(this.profile[row]!).profile;
  }

  /**
   * The Need of a row, made from its columns: as objects, the Needs of a large fleet would take most of the heap, and those
   * that a roll-up replaces would be most of its garbage. Amounts of 0 are left out.
   */
  needAt(row: number): Need {
    const { cluster, group } = this.#keys.keyOf(this.key[row]!);
    const profile = this.profileAt(row);
    const [aggregate, minUnit] = [this.aggregate.at(row), this.minUnit.at(row)];
    const need = { cluster, profile, group, aggregate, minUnit, firstSeenMs: this.firstSeenMs[row]! };
    return this.setAside[row] === 1 ? { ...need, setAside: true } : need;
  }

  /** The row of a key within one cluster's block. */
  protected rowWith(key: number, offset: number, length: number): number | undefined {
    const row = this.#rowOf[key];
    // `#rowOf` may be stale for a key that no row has any more, or whose number was reused.
    if (key === 0 || row === undefined || row < offset || row >= offset + length) return undefined;
    return this.key[row] === key ? row : undefined;
  }

  /** Whether a row has the amounts of a Need. Amounts of rows that are set aside are not compared. */
  protected hasAmountsOf(row: number, need: Need): boolean {
    if (this.setAside[row] !== flagOf(need)) return false;
    if (need.setAside === true) return true;
    return this.aggregate.holds(row, need.aggregate) && this.minUnit.holds(row, need.minUnit);
  }

  /** Gives a row a new key, of a Need with the same profile and amounts. */
  protected renameRow(row: number, { key, need, profile }: NewRow): void {
    this.key[row] = key;
    this.#rowOf[key] = row;
    this.firstSeenMs[row] = need.firstSeenMs;
    this.grouped[row] = need.group === '' ? 0 : 1;
    this.keyPlace[row] = UNPLACED;
    this.foldKeyPlace[row] = UNPLACED;
    this.profiles.drop(profile);
  }

  /** Copies rows with all columns to another place. */
  protected moveRows(
    { offset, length }: { readonly offset: number; readonly length: number },
    to: number,
  ): void {
    const end = offset + length;
    this.byRow.copyWithin(to, offset, end);
    for (const column of [this.aggregate, this.minUnit]) column.move(offset, end, to);
    for (let row = to; row < to + length; row++) this.#rowOf[this.key[row]!] = row;
  }

  protected writeRow(row: number, cluster: number, { need, key, profile }: NewRow): void {
    this.cluster[row] = cluster;
    this.key[row] = key;
    this.keyPlace[row] = UNPLACED;
    this.#rowOf[key] = row;
    this.profile[row] = profile;
    this.firstSeenMs[row] = need.firstSeenMs;
    this.grouped[row] = need.group === '' ? 0 : 1;
    const entry = this.profiles.entryOf(profile);
    this.precedence[row] = entry.precedence;
    this.setAside[row] = flagOf(need);
    const isOrdinary = need.setAside !== true;
    this.spreads[row] = isOrdinary && entry.spreadKey !== undefined ? 1 : 0;
    this.same[row] = isOrdinary && entry.sameKey !== undefined ? 1 : 0;
    if (this.same[row] === 1) this.foldProfile[row] = this.profiles.retain(entry.stripped);
    this.#writeAmounts(row, isOrdinary ? need : setAside(need));
  }

  /** Writes all columns that depend on a row's amounts. */
  #writeAmounts(row: number, need: Need): void {
    const { profile } = this.profiles.entryOf(this.profile[row]!);
    this.minUnit.set(row, need.minUnit);
    const { amounts } = this.#texts.of(this.minUnit, row, need.minUnit);
    this.pattern[row] = this.#patterns.retain(profile.requirements, need.minUnit, amounts);
    this.#writeAggregate(row, need);
  }

  #writeAggregate(row: number, { aggregate }: Need): void {
    this.aggregate.set(row, aggregate);
    this.empty[row] = isZero(aggregate) ? 1 : 0;
    if (this.same[row] === 0) return;
    this.unitExceedsWhole[row] = this.empty[row] === 0 && this.#unitExceedsWhole(row) ? 1 : 0;
    const { profile, stripped } = this.profiles.entryOf(this.profile[row]!);
    const { amounts, foldGroup } = this.#texts.of(this.aggregate, row, aggregate);
    this.wholePattern[row] = this.#patterns.retain(profile.requirements, aggregate, amounts);
    this.foldPattern[row] = this.#patterns.retain(stripped.requirements, aggregate, amounts);
    this.foldKey[row] = this.#keys.retainIn(this.cluster[row]!, stripped.fingerprint, foldGroup);
    this.foldKeyPlace[row] = UNPLACED;
  }

  #unitExceedsWhole(row: number): boolean {
    const { data, stride } = this.minUnit;
    for (let at = row * stride; at < (row + 1) * stride; at++)
      if (data[at]! > this.aggregate.data[at]!) return true;
    return false;
  }

  /**
   * Writes new amounts and returns the references that the old amounts held; null if the references are unchanged, which is
   * the common case: a plain row that grows or shrinks by a few equal pods.
   */
  protected amendRow(row: number, need: Need): AmountReferences | null {
    if (this.same[row] === 0 && this.minUnit.holds(row, need.minUnit)) {
      this.#writeAggregate(row, need);
      return null;
    }
    const { amounts } = this.referencesOf(row);
    this.#writeAmounts(row, need);
    return amounts;
  }

  protected referencesOf(row: number): RowReferences {
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

  protected dropReferences({ key, profile, foldProfile, amounts }: RowReferences): void {
    this.#keys.drop(key);
    this.profiles.drop(profile);
    if (foldProfile !== null) this.profiles.drop(foldProfile);
    this.dropAmounts(amounts);
  }

  protected dropAmounts({ pattern, fold }: AmountReferences): void {
    this.#patterns.drop(pattern);
    if (fold === null) return;
    this.#patterns.drop(fold.wholePattern);
    this.#patterns.drop(fold.foldPattern);
    this.#keys.drop(fold.foldKey);
  }
}

/** The flag of a Need in the column `setAside`. */
export function flagOf({ setAside: isSetAside }: Need): 0 | 1 {
  return isSetAside === true ? 1 : 0;
}
