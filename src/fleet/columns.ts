// Columns: typed arrays on shared memory, one entry per machine, Need or class, so that worker threads read them
// without copying. A column that has become long grows in place, on a buffer with room behind it: copying columns left
// as much garbage again, and the allocator kept what was freed. Views are of fixed length, and a longer one is made when
// a column grows, because views that follow their buffer are an order of magnitude slower.

type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

/** From so many bytes on a buffer has room to grow. It takes whole pages of memory, so short columns go without. */
const LONG_BYTES = 1 << 16;
/** Times its size that such a buffer may grow to. Only addresses are reserved for it; past them it moves once more. */
const ROOM = 8;

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
  if (bytes < LONG_BYTES) return new SharedArrayBuffer(bytes);
  return new SharedArrayBuffer(bytes, { maxByteLength: bytes * ROOM });
}

/** From so many entries on, growing is rare and reserve is dear. */
const LARGE = 1 << 14;

/** Room for `needed` entries in steps of a half more, or an eighth where there are many; at least 64. */
export function grownCapacity(capacity: number, needed: number): number {
  return Math.max(64, needed, Math.ceil(capacity * (capacity < LARGE ? 1.5 : 1.125)));
}

/** The old entries in a longer array, zeros behind them. Whoever has the old one must not write to it any more. */
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

/** The array itself if it is long enough, else a longer one with the same entries. */
export function withRoom<T extends Column>(column: T, needed: number): T {
  return column.length >= needed ? column : extended(column, grownCapacity(column.length, needed));
}
