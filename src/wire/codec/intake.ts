// The intake of one cluster's roll-ups: bytes in, rows out. An unchanged roll-up is recognised without decoding; of a
// changed one, only new rows are decoded and converted. A roll-up that violates the contract is refused as a whole, and
// rows beyond the shard's limits are set aside.

import { Interner } from '../../collections/interner.ts';
import {
  mergeNeeds,
  type Need,
  type Problem,
  type Profile,
  type ResourceVector,
  setAside,
} from '../../model/index.ts';
import { type Row, type RowEffect, rowBeyondLimit, rowFromWire, sessionProblems } from './need.ts';
import { MAX_RESOURCES } from './need-limits.ts';
import { type ChangedRollup, RollupReader, type RollupSize } from './rollup.ts';
import { finished } from './steps.ts';

/** Maximum number of listed problems; the rest is only counted, so that a hostile roll-up cannot fill a log. */
const MAX_PROBLEMS = 50;
/** Maximum characters of listed problems: a name of control characters is six times as long when escaped. */
const MAX_PROBLEM_CHARACTERS = 16 * 1024;

/** Something wrong with a roll-up, with its place in it; `index` is the row, -1 for the roll-up as a whole. */
export interface RollupProblem extends Problem {
  readonly index: number;
  readonly effect: RowEffect;
}

/** All problems of a roll-up: the first few, and how many there are. */
export interface RollupProblems {
  readonly first: readonly RollupProblem[];
  readonly total: number;
}

export const NO_PROBLEMS: RollupProblems = { first: [], total: 0 };

export type Intake =
  | { readonly kind: 'unchanged'; readonly timestampUnixNanos: bigint }
  | {
      readonly kind: 'changed';
      readonly timestampUnixNanos: bigint;
      readonly needs: readonly Need[];
      /** Rows of the wire that are set aside, those that are not in `needs` included. */
      readonly rowsSetAside: number;
      /** Of those, not in `needs`: their key is unknown, or there are very many. */
      readonly hiddenRows: number;
      readonly remarks: RollupProblems;
      readonly size: RollupSize;
      readonly rollup: ChangedRollup<Row>;
    }
  | { readonly kind: 'refused'; readonly timestampUnixNanos: bigint; readonly problems: RollupProblems };

/**
 * Only parts within both limits are interned; ordinary profiles and vectors are. Interned parts outlive their roll-ups,
 * even refused ones, until tens of thousands of others evict them, so larger ones would use memory that no limit counts.
 */
const MAX_SHARED_CHARACTERS = 512;
const MAX_SHARED_TERMS = 16;

/** Interned profiles and vectors, shared by the rows of all clusters. */
export class SharedParts {
  readonly #profiles = new Interner<Profile>();
  readonly #vectors = new Interner<ResourceVector>();

  of(need: Need): Need {
    const { profile, aggregate, minUnit } = need;
    return {
      ...need,
      profile: this.#profileOf(profile),
      aggregate: this.#vectorOf(aggregate),
      minUnit: this.#vectorOf(minUnit),
    };
  }

  #profileOf(profile: Profile): Profile {
    const { fingerprint, requirements, spread } = profile;
    const isSmall =
      fingerprint.length <= MAX_SHARED_CHARACTERS && requirements.length + spread.length <= MAX_SHARED_TERMS;
    return isSmall ? this.#profiles.share(fingerprint, profile) : profile;
  }

  #vectorOf(vector: ResourceVector): ResourceVector {
    const text = textOf(vector);
    return text.length <= MAX_SHARED_CHARACTERS ? this.#vectors.share(text, vector) : vector;
  }
}

/** Every entry, zeros too, in the order of names: Go writes maps in any order. */
function textOf(vector: ResourceVector): string {
  let text = '';
  for (const name of [...vector.keys()].sort()) text += `${name.length}:${name}${vector.get(name)};`;
  return text;
}

export interface IntakeLimits {
  /** Rows of one roll-up, by their weight. */
  readonly maxRows?: number;
  /** Returns a problem if there is no room for a roll-up of this size, else null. */
  readonly roomFor?: (size: RollupSize) => Problem | null;
}

export class RollupIntake {
  readonly #cluster: string;
  readonly #reader: RollupReader<Row>;

  /** `cluster` is the one the session belongs to; a roll-up that names another is refused. */
  constructor(cluster: string, shared = new SharedParts()) {
    this.#cluster = cluster;
    const share = (row: Row): Row => (row.kind === 'need' ? { ...row, need: shared.of(row.need) } : row);
    this.#reader = new RollupReader({
      decoded: (wire) => share(rowFromWire(wire, cluster)),
      excessive: (excess, wire) => share(rowBeyondLimit(excess, wire, cluster)),
    });
  }

  /** The timestamp, if a byte comparison finds the bytes equal to the accepted roll-up apart from it; else null. */
  repeats(bytes: Uint8Array): bigint | null {
    return this.#reader.repeats(bytes);
  }

  /** Reads a roll-up in one go. */
  read(bytes: Uint8Array, limits: IntakeLimits = {}): Intake {
    return finished(this.reading(bytes, limits));
  }

  /**
   * Reads a roll-up in short steps. Throws WireFormatError on malformed bytes. The last accepted roll-up never changes
   * here; see `accept`.
   */
  *reading(bytes: Uint8Array, { maxRows, roomFor }: IntakeLimits = {}): Generator<undefined, Intake> {
    let size!: RollupSize;
    const admit = (found: RollupSize): readonly Problem[] => {
      size = found;
      const strangers = sessionProblems(found.clusterId, this.#cluster);
      if (strangers.length > 0) return strangers;
      if (maxRows !== undefined && found.weight > maxRows) return [tooHeavy(found, maxRows)];
      const full = roomFor?.(found) ?? null;
      return full === null ? [] : [full];
    };
    const rollup = yield* this.#reader.reading(bytes, {
      ...(maxRows === undefined ? {} : { maxRows }),
      admit,
    });
    const { timestampUnixNanos } = rollup;
    if (rollup.kind === 'unchanged') return { kind: 'unchanged', timestampUnixNanos };
    if (rollup.kind === 'refused')
      return { kind: 'refused', timestampUnixNanos, problems: wholeProblems(rollup.problems) };
    const combined = yield* combine(rollup.needs);
    if (combined.violations.total > 0)
      return { kind: 'refused', timestampUnixNanos, problems: combined.violations };
    const { violations: _, ...accepted } = combined;
    return { kind: 'changed', timestampUnixNanos, ...accepted, size, rollup };
  }

  /** Makes the roll-up just read the one that later ones are compared with. */
  accept(intake: Intake): void {
    if (intake.kind === 'changed') this.#reader.accept(intake.rollup);
  }
}

function tooHeavy({ rows, weight }: RollupSize, maxRows: number): Problem {
  const message = `${rows} rows that are as large as ${weight} ordinary ones, the limit is ${maxRows}.`;
  return { code: 'BF_ROLLUP_LIMIT', path: 'needs', message };
}

/** Problems of a roll-up as a whole. */
export function wholeProblems(problems: readonly Problem[]): RollupProblems {
  return {
    first: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem, index: -1, effect: 'refused' })),
    total: problems.length,
  };
}

/**
 * Rows set aside that decisions see, by roll-up: each of them is an unmet row in every cycle. Of the others only the number
 * counts; what serves them is kept with all machines of the cluster.
 */
const MAX_KEYED_ASIDE = 1000;

/** Rows combined between two yields. */
const STEP_ROWS = 512;

/** All rows as Needs: rows with equal keys become one, and resource names beyond what a fleet counts are set aside. */
function* combine(rows: readonly Row[]) {
  const combined = new Combination();
  for (const [i, row] of rows.entries()) {
    combined.add(row, i);
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  return combined.result();
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
  #rowsSetAside = 0;
  #hiddenRows = 0;
  #keyedAside = 0;

  add(row: Row, index: number): void {
    (row.kind === 'refused' ? this.#violations : this.#remarks).addAll(row, index);
    if (row.kind === 'refused') return;
    if (row.kind === 'hidden' || row.need.setAside === true) this.#rowsSetAside++;
    if (row.kind === 'hidden') this.#hiddenRows++;
    if (row.kind === 'need') this.#addNeed(this.#withinNames(row.need, index), index);
  }

  result() {
    return {
      needs: this.#needs,
      remarks: this.#remarks.problems,
      violations: this.#violations.problems,
      rowsSetAside: this.#rowsSetAside,
      hiddenRows: this.#hiddenRows,
    };
  }

  #addNeed(need: Need, index: number): void {
    const key = `${this.#numberOf(need.profile.fingerprint)}/${need.group}`;
    const place = this.#places.get(key);
    if (place === undefined) {
      if (need.setAside === true && ++this.#keyedAside > MAX_KEYED_ASIDE) this.#hiddenRows++;
      else this.#places.set(key, this.#needs.push(need) - 1);
      return;
    }
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

class ProblemList {
  readonly #first: RollupProblem[] = [];
  #characters = 0;
  #total = 0;

  addAll({ remarks, moreRemarks = 0 }: Pick<Row, 'remarks' | 'moreRemarks'>, index: number): void {
    this.#total += remarks.length + moreRemarks;
    for (const { code, effect, words } of remarks) {
      if (this.#first.length >= MAX_PROBLEMS || this.#characters >= MAX_PROBLEM_CHARACTERS) return;
      const { path, message } = words();
      this.#characters += path.length + message.length;
      this.#first.push({ code, effect, index, message, path: `needs[${index}]${path}` });
    }
  }

  get problems(): RollupProblems {
    return this.#total === 0 ? NO_PROBLEMS : { first: this.#first, total: this.#total };
  }
}
