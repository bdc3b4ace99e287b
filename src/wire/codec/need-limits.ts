// What one row of a roll-up may contain, counted on its bytes. A row beyond these limits is not decoded: it is set aside,
// and its neighbours are served. The limits bound what decoding a row costs and what stays in memory of it.
// need-bytes.ts counts, rollup.ts decides, need.ts words the problem.

/** Requirements and spread terms of one row. */
export const MAX_TERMS = 64;

/** Values of one row's requirements together: a row may list every instance type of a cloud. */
export const MAX_VALUES = 4096;

/** Resource names in one row, and in one roll-up: the ledger of a fleet counts 16. */
export const MAX_RESOURCES = 16;

/** Bytes of one row: a little more than 4,096 values of 63 bytes, the largest row within the other limits. */
export const MAX_ROW_BYTES = 512 * 1024;

/** Fields of one row at all levels, those of unknown numbers and repeated singular ones included. */
export const MAX_ROW_FIELDS = 16_384;

/** Terms, values and amounts that weigh as much as one row, in time to decode and in memory: about a kilobyte. */
const PARTS_PER_WEIGHT = 32;

/**
 * A limit that a row exceeds. `hides` says what is unknown because of it: only the amounts of the row, or also its key, so
 * that not even machines bound for it can be recognised.
 */
export interface Excess {
  /** Where in the row: `.requirements[2].key`; '' for the row as a whole. */
  readonly path: string;
  /** What there is too much of, as in "17 resources". */
  readonly unit: 'bytes' | 'fields' | 'requirements and spread terms' | 'values' | 'resources';
  readonly found: number;
  readonly limit: number;
  readonly hides: 'amounts' | 'key';
}

/** What one walk over a row's bytes counts. One object serves all rows. */
export class RowCount {
  terms = 0;
  requirements = 0;
  spreads = 0;
  values = 0;
  aggregates = 0;
  minUnits = 0;
  fields = 0;
  excess: Excess | null = null;

  reset(): void {
    this.terms = this.requirements = this.spreads = this.values = 0;
    this.aggregates = this.minUnits = this.fields = 0;
    this.excess = null;
  }

  /** Map entries on the wire. */
  get entries(): number {
    return this.aggregates + this.minUnits;
  }

  /** How much the row weighs, in rows of ordinary size. */
  get weight(): number {
    return 1 + Math.floor((this.terms + this.values + this.entries) / PARTS_PER_WEIGHT);
  }

  /** True if the walk need not go on, because the row's key is out of reach. */
  get isHidden(): boolean {
    return this.excess?.hides === 'key';
  }

  /** Notes an excess; one that hides the key replaces one that hides amounts only. */
  exceed(excess: Excess): void {
    if (this.excess === null || excess.hides === 'key') this.excess = excess;
  }

  name(path: string, found: number, limit: number, hides: Excess['hides'] = 'key'): void {
    if (found > limit) this.exceed({ path, unit: 'bytes', found, limit, hides });
  }

  many(unit: Excess['unit'], found: number, limit: number, hides: Excess['hides'] = 'key'): void {
    if (found > limit) this.exceed({ path: '', unit, found, limit, hides });
  }
}
