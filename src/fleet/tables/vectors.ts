// Resource vectors in columns. A resource name gets a dimension on first use; a vector is a sequence of doubles, one
// per dimension, and a double represents whole units exactly up to 2^53 - 1. Used by demand-rows.ts and classes.ts.

import { grownCapacity, sharedFloat64 } from '../../collections/columns.ts';
import { ColumnGroup } from '../../collections/table.ts';
import { BigFleetError, compareText, printable, type ResourceVector } from '../../model/index.ts';

/** Kubernetes has three common resources; sixteen leave room for every kind of accelerator in a mixed fleet. */
export const MAX_DIMENSIONS = 16;

const NO_NAMES: readonly string[] = [];

export class Dimensions {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  /** Dimensions by the order of their names. */
  #inNameOrder: readonly number[] = [];
  readonly #columns: VectorColumn[] = [];
  /** Doubles per vector: dimensions in use, rounded up to a power of two so that few new resources move all vectors. */
  stride = 4;

  get count(): number {
    return this.#names.length;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** Copies the dimensions of another thread's fleet; columns are shared separately. */
  mirror(names: readonly string[], stride: number): void {
    this.#names.splice(0, this.#names.length, ...names);
    this.#sortNames();
    this.stride = stride;
  }

  nameOf(dimension: number): string {
    return this.#names[dimension]!;
  }

  /** The dimension of a resource that has one. */
  find(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** The dimension of a resource, assigned on first use. Throws, with all vectors unchanged, beyond `MAX_DIMENSIONS`. */
  dimensionOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    if (this.#names.length === MAX_DIMENSIONS) this.#refuse(name, this.#names);
    const dimension = this.#names.push(name) - 1;
    this.#numbers.set(name, dimension);
    this.#sortNames();
    if (dimension >= this.stride) {
      const wider = this.stride * 2;
      for (const column of this.#columns) column.widen(this.stride, wider);
      this.stride = wider;
    }
    return dimension;
  }

  /** A column of vectors that follows every change of stride. */
  column(): VectorColumn {
    const column = new VectorColumn(this);
    this.#columns.push(column);
    return column;
  }

  /** Whether all names have a dimension. */
  knows(vector: ResourceVector): boolean {
    for (const name of vector.keys()) if (!this.#numbers.has(name)) return false;
    return true;
  }

  /**
   * Assigns dimensions to all names of the vectors, or to none. Returns the first name for which no dimension is left, or
   * undefined on success.
   */
  tryAdmit(vectors: readonly ResourceVector[]): string | undefined {
    const fresh = this.#unknownIn(vectors);
    const room = MAX_DIMENSIONS - this.count;
    if (fresh.length > room) return fresh[room];
    for (const name of fresh) this.dimensionOf(name);
    return undefined;
  }

  #unknownIn(vectors: Iterable<ResourceVector>): readonly string[] {
    let fresh: Set<string> | undefined;
    for (const vector of vectors) {
      for (const name of vector.keys()) {
        if (this.#numbers.has(name)) continue;
        fresh ??= new Set();
        fresh.add(name);
      }
    }
    return fresh === undefined ? NO_NAMES : [...fresh];
  }

  /** Assigns dimensions to all names before any write; throws, without assigning one, if too few are left. */
  admit(vectors: Iterable<ResourceVector>): void {
    const fresh = this.#unknownIn(vectors);
    if (this.count + fresh.length > MAX_DIMENSIONS) {
      const names = [...this.#names, ...fresh];
      this.#refuse(names[MAX_DIMENSIONS]!, names.slice(0, MAX_DIMENSIONS));
    }
    for (const name of fresh) this.dimensionOf(name);
  }

  #refuse(name: string, others: readonly string[]): never {
    const known = others.map(printable).join(', ');
    throw new BigFleetError(
      'BF_DIMENSION_LIMIT',
      `Resource "${printable(name)}" would be number ${MAX_DIMENSIONS + 1}, after ${known}.`,
    );
  }

  /** The amounts by name, in name order, without zeros. */
  vectorOf(amounts: Float64Array, offset: number): ResourceVector {
    const vector = new Map<string, number>();
    for (const dimension of this.#inNameOrder) {
      const units = amounts[offset + dimension]!;
      if (units > 0) vector.set(this.#names[dimension]!, units);
    }
    return vector;
  }

  #sortNames(): void {
    const numbers = this.#names.map((_, dimension) => dimension);
    this.#inNameOrder = numbers.sort((a, b) => compareText(this.#names[a]!, this.#names[b]!));
  }
}

export class VectorColumn {
  readonly #dimensions: Dimensions;
  #capacity = 0;
  /** `stride` doubles per vector. */
  readonly amounts = new ColumnGroup(this);
  readonly data = this.amounts.f64();

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions;
  }

  get bytes(): number {
    return this.data.byteLength;
  }

  /** Doubles per vector. */
  get stride(): number {
    return this.#dimensions.stride;
  }

  set(index: number, vector: ResourceVector): void {
    this.#reserve(index);
    if (this.#put(index, vector)) return;
    this.#dimensions.admit([vector]);
    this.#put(index, vector);
  }

  /** Writes a vector; returns false if one of its names has no dimension yet. */
  #put(index: number, vector: ResourceVector): boolean {
    const { stride } = this.#dimensions;
    const offset = index * stride;
    for (let d = 0; d < stride; d++) this.data[offset + d] = 0;
    for (const [name, units] of vector) {
      const dimension = this.#dimensions.find(name);
      if (dimension === undefined) return false;
      this.data[offset + dimension] = units;
    }
    return true;
  }

  at(index: number): ResourceVector {
    return this.#dimensions.vectorOf(this.data, index * this.stride);
  }

  /** Whether the vector at an index equals `vector`. */
  holds(index: number, vector: ResourceVector): boolean {
    const { stride } = this.#dimensions;
    const offset = index * stride;
    let unmatched = 0;
    for (let d = 0; d < stride; d++) if (this.data[offset + d] !== 0) unmatched++;
    for (const name of vector.keys()) {
      const units = vector.get(name)!;
      if (units === 0) continue;
      const dimension = this.#dimensions.find(name);
      if (dimension === undefined || this.data[offset + dimension] !== units) return false;
      unmatched--;
    }
    return unmatched === 0;
  }

  #reserve(index: number): void {
    if (index < this.#capacity) return;
    this.#capacity = grownCapacity(this.#capacity, index + 1);
    this.amounts.extend(this.#capacity * this.#dimensions.stride);
  }

  /** Copies the vectors `from … end − 1` to `to` and following. */
  move(from: number, end: number, to: number): void {
    const { stride } = this.#dimensions;
    this.#reserve(to + end - from);
    this.data.copyWithin(to * stride, from * stride, end * stride);
  }

  widen(from: number, to: number): void {
    const wider = sharedFloat64(this.#capacity * to);
    for (let i = 0; i < this.#capacity; i++) {
      for (let d = 0; d < from; d++) wider[i * to + d] = this.data[i * from + d]!;
    }
    this.amounts.adopt([wider]);
  }
}
