// Column groups: the columns of a table that share one index and therefore one length. Used by the tables of fleet and
// engine. A table declares a column as a plain field, in one line:
//
//   readonly bySlot = new ColumnGroup(this);
//   readonly state = this.bySlot.u8();
//
// The group knows all its columns from these declarations. It replaces the fields when the table grows, counts their bytes,
// and passes them to worker threads, so a column cannot be left out of one of these. Readers use the fields as they are:
// no accessor comes between a loop and its typed array.

import {
  type Column,
  extended,
  grownCapacity,
  sharedFloat64,
  sharedInt32,
  sharedUint8,
  sharedUint32,
} from './columns.ts';

export class ColumnGroup {
  readonly #table: Record<string, Column>;
  readonly #initialLength: number;
  /** Columns whose field names are not known yet, since their initialisers have not returned. */
  readonly #unnamed = new Set<Column>();
  /** Field names in declaration order; null until the group is first used. */
  #names: readonly string[] | null = null;

  /** `table` is the object whose fields are the columns; each starts with `initialLength` zeros. */
  constructor(table: object, initialLength = 0) {
    this.#table = table as Record<string, Column>;
    this.#initialLength = initialLength;
  }

  u8(): Uint8Array {
    return this.#declare(sharedUint8(this.#initialLength));
  }

  u32(): Uint32Array {
    return this.#declare(sharedUint32(this.#initialLength));
  }

  i32(): Int32Array {
    return this.#declare(sharedInt32(this.#initialLength));
  }

  f64(): Float64Array {
    return this.#declare(sharedFloat64(this.#initialLength));
  }

  #declare<T extends Column>(column: T): T {
    if (this.#names !== null) throw new Error('A column was declared after its group was first used.');
    this.#unnamed.add(column);
    return column;
  }

  get names(): readonly string[] {
    this.#names ??= this.#findNames();
    return this.#names;
  }

  #findNames(): readonly string[] {
    const names = Object.keys(this.#table).filter((name) => this.#unnamed.has(this.#table[name]!));
    if (names.length !== this.#unnamed.size)
      throw new Error(`Not every column of the group of ${names.join(', ')} is a public field of its table.`);
    this.#unnamed.clear();
    return names;
  }

  /** Entries of each column. */
  get length(): number {
    return this.#table[this.names[0]!]!.length;
  }

  get bytes(): number {
    return this.columns().reduce((sum, column) => sum + column.byteLength, 0);
  }

  /** The columns as they are now; growth replaces them. */
  columns(): readonly Column[] {
    return this.names.map((name) => this.#table[name]!);
  }

  /** Makes room for at least `needed` entries; new entries are 0. */
  reserve(needed: number): void {
    const { length } = this;
    if (length < needed) this.extend(grownCapacity(length, needed));
  }

  /** Makes every column exactly `length` entries long, which is not less than before. */
  extend(length: number): void {
    for (const name of this.names) this.#table[name] = extended(this.#table[name]!, length);
  }

  /** Replaces the columns, in the order of `columns()`, by those of the same group of another table. */
  adopt(columns: readonly Column[]): void {
    for (const [i, name] of this.names.entries()) this.#table[name] = columns[i]!;
  }

  /** Copies the entries `from … end − 1` of every column to `to` and following. */
  copyWithin(to: number, from: number, end: number): void {
    for (const name of this.names) this.#table[name]!.copyWithin(to, from, end);
  }

  /** Exchanges two entries in every column. */
  swap(a: number, b: number): void {
    for (const name of this.names) {
      const column = this.#table[name]!;
      const entry = column[a]!;
      column[a] = column[b]!;
      column[b] = entry;
    }
  }
}

/** All column groups of a table, in declaration order. */
export function columnGroupsOf(table: object): readonly ColumnGroup[] {
  return Object.values(table).filter((value) => value instanceof ColumnGroup);
}

/** Makes a table use the columns of another table of the same class. */
export function shareColumns(from: object, to: object): void {
  const groups = columnGroupsOf(from);
  for (const [i, group] of columnGroupsOf(to).entries()) group.adopt(groups[i]!.columns());
}

/** A column that its reader must not write. */
export type ReadonlyColumn<T extends Column = Column> = Pick<
  T,
  'length' | 'slice' | 'filter' | 'includes' | typeof Symbol.iterator
> & {
  readonly [index: number]: number;
  subarray(start?: number, end?: number): ReadonlyColumn<T>;
  join(): string;
};

/** Names of the fields of a table that are columns. */
export type ColumnNames<T> = { [K in keyof T]: T[K] extends Column ? K : never }[keyof T];

/** A table as its readers see it: methods are unchanged, columns cannot be written. */
export type ReadonlyColumns<T> = {
  readonly [K in keyof T]: T[K] extends Column ? ReadonlyColumn<T[K]> : T[K];
};
