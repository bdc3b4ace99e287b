// The rows of a roll-up as Needs, and the origin of each Need in the accepted roll-up. Rows with equal keys become one
// Need, and rows beyond the limits of a roll-up are set aside. The reader has found the origin of each row by its
// bytes; nothing is compared here again. Used by intake.ts.

import {
  FRESH,
  mergeNeeds,
  type Need,
  type Problem,
  type ResourceVector,
  setAside,
} from '../../model/index.ts';
import type { Row } from './need.ts';
import { MAX_RESOURCES } from './need-limits.ts';
import { NO_PROBLEMS, ProblemList, type RollupProblems } from './rollup-problems.ts';

/**
 * Rows set aside that decisions see, by roll-up: each of them is an unmet row in every cycle. Of the others only the number
 * counts; what serves them is kept with all machines of the cluster.
 */
const MAX_KEYED_ASIDE = 1000;

/** Rows combined between two yields. */
const STEP_ROWS = 512;

/** The row is not part of any Need. */
const HIDDEN = -1;

/** How the rows of a roll-up became its Needs; the next one's are derived from it. */
interface RowsAsNeeds {
  readonly needs: readonly Need[];
  /** By row: the index of its Need, or `HIDDEN`. null: each row is a Need by itself, in order, and has no remarks. */
  readonly needOfRow: Int32Array | null;
  /** By index of a Need that is the sum of several rows: their number. */
  readonly parts: ReadonlyMap<number, number>;
  /** Resource names in use. Names of former rows may still be among them while `needOfRow` is null. */
  readonly names: ReadonlySet<string>;
}

export const NO_ROWS: RowsAsNeeds = { needs: [], needOfRow: null, parts: new Map(), names: new Set() };

export interface Combined extends RowsAsNeeds {
  /** By Need: the index of the same Need in the accepted roll-up, or `FRESH`. No index appears twice. */
  readonly origin: Int32Array;
  /** Rows that are set aside, hidden ones included. */
  readonly rowsSetAside: number;
  /** Of those, rows that are not part of any Need: their key is unknown, or there are very many. */
  readonly hiddenRows: number;
  readonly remarks: RollupProblems;
  /** Not empty: the roll-up violates the contract, and nothing else here applies. */
  readonly violations: RollupProblems;
}

/** `origin`: by row, its index among the rows of the accepted roll-up, or `FRESH`. */
export function* combine(
  rows: readonly Row[],
  origin: Int32Array,
  before: RowsAsNeeds,
): Generator<undefined, Combined> {
  const plain = before.needOfRow === null ? yield* combinePlain(rows, origin, before) : null;
  if (plain !== null) return plain;
  const combination = new Combination(rows.length);
  for (const [i, row] of rows.entries()) {
    combination.add(row, i);
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  return combination.result(origin, before);
}

/** The part of a combination to keep with the rows `isKept`, in order, for the next roll-up. */
export function keptOf(combined: Combined, isKept: (row: number) => boolean): RowsAsNeeds {
  const { needs, needOfRow, parts, names } = combined;
  return { needs, needOfRow: needOfRow?.filter((_, row) => isKept(row)) ?? null, parts, names };
}

/**
 * The usual case, without a look at the rows that stay: each row is a Need by itself, before and now. Null if it is not so.
 */
function* combinePlain(
  rows: readonly Row[],
  origin: Int32Array,
  before: RowsAsNeeds,
): Generator<undefined, Combined | null> {
  const fresh: Need[] = [];
  const names = new Set(before.names);
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
    if (origin[i] !== FRESH) continue;
    const row = rows[i]!;
    if (row.kind !== 'need' || row.remarks.length > 0 || row.need.setAside === true) return null;
    for (const name of row.need.aggregate.keys()) names.add(name);
    for (const name of row.need.minUnit.keys()) names.add(name);
    if (names.size > MAX_RESOURCES) return null;
    fresh.push(row.need);
  }
  const needs: Need[] = [];
  const keys = new FreshKeys(fresh);
  let next = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
    const at = origin[i]!;
    const need = at === FRESH ? fresh[next++]! : before.needs[at]!;
    if (at !== FRESH && keys.has(need)) return null;
    needs.push(need);
  }
  if (keys.areShared) return null;
  return {
    ...{ needs, origin, needOfRow: null, parts: NO_ROWS.parts, names },
    ...{ rowsSetAside: 0, hiddenRows: 0, remarks: NO_PROBLEMS, violations: NO_PROBLEMS },
  };
}

/** Keys of fresh rows, by group: groups are names of jobs and mostly different. */
class FreshKeys {
  readonly #byGroup = new Map<string, Set<string>>();
  /** Whether two of the fresh rows have the same key. */
  readonly areShared: boolean;

  constructor(fresh: readonly Need[]) {
    let keys = 0;
    for (const { group, profile } of fresh) {
      const fingerprints = this.#byGroup.get(group) ?? new Set();
      this.#byGroup.set(group, fingerprints);
      if (!fingerprints.has(profile.fingerprint)) keys++;
      fingerprints.add(profile.fingerprint);
    }
    this.areShared = keys < fresh.length;
  }

  has({ group, profile }: Need): boolean {
    return this.#byGroup.get(group)?.has(profile.fingerprint) ?? false;
  }
}

class Combination {
  readonly #needs: Need[] = [];
  /** By key: its place in `#needs`. */
  readonly #places = new Map<string, number>();
  /** Fingerprints are long and few: replacing them by numbers makes keys cheap to build and to hash. */
  readonly #numbers = new Map<string, number>();
  readonly #names = new Set<string>();
  /** Vectors whose names have been admitted; rows share them. */
  readonly #admitted = new Set<ResourceVector>();
  readonly #remarks = new ProblemList();
  readonly #violations = new ProblemList();
  /** By row: the index of its Need, or `HIDDEN`. */
  readonly #needOfRow: Int32Array;
  readonly #parts = new Map<number, number>();
  #rowsSetAside = 0;
  #hiddenRows = 0;
  #keyedAside = 0;
  #remarked = 0;

  constructor(rows: number) {
    this.#needOfRow = new Int32Array(rows).fill(HIDDEN);
  }

  add(row: Row, index: number): void {
    if (row.remarks.length > 0) this.#remarked++;
    (row.kind === 'refused' ? this.#violations : this.#remarks).addAll(row, index);
    if (row.kind === 'refused') return;
    if (row.kind === 'hidden' || row.need.setAside === true) this.#rowsSetAside++;
    if (row.kind === 'hidden') this.#hiddenRows++;
    if (row.kind === 'need') this.#addNeed(this.#withinNames(row.need, index), index);
  }

  result(origin: Int32Array, before: RowsAsNeeds): Combined {
    const isPlain = this.#remarked + this.#rowsSetAside + this.#parts.size === 0;
    return {
      needs: this.#needs,
      origin: this.#origin(origin, before),
      needOfRow: isPlain ? null : this.#needOfRow,
      parts: this.#parts,
      names: this.#names,
      remarks: this.#remarks.problems,
      violations: this.#violations.problems,
      rowsSetAside: this.#rowsSetAside,
      hiddenRows: this.#hiddenRows,
    };
  }

  /** A Need stays if it is made of the same rows as before, and is set aside now if it was before. */
  #origin(origin: Int32Array, before: RowsAsNeeds): Int32Array {
    const found = new Int32Array(this.#needs.length).fill(FRESH);
    const isFirst = new Uint8Array(found.length).fill(1);
    for (const [row, need] of this.#needOfRow.entries()) {
      if (need === HIDDEN) continue;
      const at = origin[row]!;
      const from = at === FRESH ? FRESH : (before.needOfRow?.[at] ?? at);
      if (isFirst[need] === 1) found[need] = from;
      else if (found[need] !== from) found[need] = FRESH;
      isFirst[need] = 0;
    }
    return found.map((from, need) => {
      if (from === FRESH || this.#parts.get(need) !== before.parts.get(from)) return FRESH;
      return before.needs[from]!.setAside === this.#needs[need]!.setAside ? from : FRESH;
    });
  }

  #addNeed(need: Need, index: number): void {
    const key = `${this.#numberOf(need.profile.fingerprint)}/${need.group}`;
    const place = this.#places.get(key);
    if (place === undefined) {
      if (need.setAside === true && ++this.#keyedAside > MAX_KEYED_ASIDE) this.#hiddenRows++;
      else {
        this.#needOfRow[index] = this.#needs.push(need) - 1;
        this.#places.set(key, this.#needOfRow[index]!);
      }
      return;
    }
    this.#needOfRow[index] = place;
    this.#parts.set(place, (this.#parts.get(place) ?? 1) + 1);
    const other = this.#needs[place]!;
    const merged = mergeNeeds([other, need])[0]!;
    this.#needs[place] = merged;
    if (merged.setAside !== true || other.setAside === true || need.setAside === true) return;
    const message = 'Together with other rows of the same key it is too large to count exactly.';
    this.#setAside('BF_QUANTITY_OVERFLOW', index, message);
  }

  /** The row, or the row set aside if it brings more resource names than a fleet counts. */
  #withinNames(need: Need, index: number): Need {
    if (this.#admits(need.aggregate) && this.#admits(need.minUnit)) return need;
    this.#setAside('BF_ROLLUP_LIMIT', index, `More than ${MAX_RESOURCES} resource names in the roll-up.`);
    return setAside(need);
  }

  #admits(vector: ResourceVector): boolean {
    if (this.#admitted.has(vector)) return true;
    const fresh = [...vector.keys()].filter((name) => !this.#names.has(name));
    if (this.#names.size + fresh.length > MAX_RESOURCES) return false;
    for (const name of fresh) this.#names.add(name);
    this.#admitted.add(vector);
    return true;
  }

  #setAside(code: Problem['code'], index: number, message: string): void {
    this.#rowsSetAside++;
    const words = () => ({ path: '', message });
    this.#remarks.addAll({ remarks: [{ code, effect: 'set-aside', words }] }, index);
  }

  #numberOf(fingerprint: string): number {
    const known = this.#numbers.get(fingerprint);
    if (known === undefined) this.#numbers.set(fingerprint, this.#numbers.size);
    return known ?? this.#numbers.size - 1;
  }
}
