// Columns: typed arrays on shared memory, one entry per machine, Need or class, so that worker threads read them
// without copying. The tables of fleet and engine are made of them, mostly through table.ts. A long column grows in
// place, in a buffer with reserved address space: copying it would leave garbage of the same size, which the allocator
// does not return. Views have a fixed length, and growth creates a longer view, because length-tracking views are an
// order of magnitude slower.

export type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

/** Minimum size in bytes of a growable buffer. A growable buffer occupies whole pages, so shorter columns are copied. */
const MIN_GROWABLE_BYTES = 1 << 16;
/** Maximum growth factor of a growable buffer. Only address space is reserved; beyond it the column is copied once. */
const MAX_GROWTH = 8;

export function sharedUint8(length: number): Uint8Array {
  return new Uint8Array(sharedBuffer(length), 0, length);
}

export function sharedUint32(length: number): Uint32Array {
  return new Uint32Array(sharedBuffer(length * 4), 0, length);
}

export function sharedInt32(length: number): Int32Array {
  return new Int32Array(sharedBuffer(length * 4), 0, length);
}

export function sharedFloat64(length: number): Float64Array {
  return new Float64Array(sharedBuffer(length * 8), 0, length);
}

function sharedBuffer(bytes: number): SharedArrayBuffer {
  if (bytes < MIN_GROWABLE_BYTES) return new SharedArrayBuffer(bytes);
  return new SharedArrayBuffer(bytes, { maxByteLength: bytes * MAX_GROWTH });
}

/** Columns of at least this many entries grow by an eighth: growth is rare, and spare capacity costs more memory. */
const LARGE_LENGTH = 1 << 14;

/** New capacity for at least `needed` entries: max(64, needed, capacity × 1.5), or × 1.125 from `LARGE_LENGTH` on. */
export function grownCapacity(capacity: number, needed: number): number {
  return Math.max(64, needed, Math.ceil(capacity * (capacity < LARGE_LENGTH ? 1.5 : 1.125)));
}

/** A longer array with the old entries, zero-filled. Callers must not write through the old array afterwards. */
export function extended<T extends Column>(column: T, length: number): T {
  const make = column.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => T;
  const bytes = length * column.BYTES_PER_ELEMENT;
  const { buffer } = column;
  if (buffer instanceof SharedArrayBuffer && buffer.growable && bytes <= buffer.maxByteLength) {
    buffer.grow(bytes);
    return new make(buffer, 0, length);
  }
  const longer = new make(sharedBuffer(bytes), 0, length);
  longer.set(column);
  return longer;
}

/** The array itself if it has at least `needed` entries, else a longer one with the same entries. */
export function withRoom<T extends Column>(column: T, needed: number): T {
  return column.length >= needed ? column : extended(column, grownCapacity(column.length, needed));
}
