// Columns: typed arrays on shared memory, one entry per machine, Need or class, so that worker threads read them
// without copying. A column grows by moving to a larger buffer; views are of fixed length because length-tracking
// views on growable buffers are an order of magnitude slower.

export function sharedUint8(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

export function sharedUint32(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}

export function sharedInt32(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * 4));
}

export function sharedFloat64(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * 8));
}

/** Room for `needed` entries in steps of a half more, at least 64. */
export function grownCapacity(capacity: number, needed: number): number {
  return Math.max(64, needed, Math.ceil(capacity * 1.5));
}

/** The old entries in a longer array. */
export function extended<T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  old: T,
  longer: T,
): T {
  longer.set(old);
  return longer;
}

/** The array itself if it is long enough, else a longer one with the same entries. */
export function withRoom<T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  column: T,
  needed: number,
): T {
  if (column.length >= needed) return column;
  const make = column.constructor as new (buffer: SharedArrayBuffer) => T;
  const bytes = grownCapacity(column.length, needed) * column.BYTES_PER_ELEMENT;
  return extended(column, new make(new SharedArrayBuffer(bytes)));
}
