// Encoded records of the inventory, stored contiguously in large chunks, so that a List of half a million machines is a
// few copies instead of half a million encodings, and the records add no work for the garbage collector. Replacing a
// record leaves a hole; a chunk that is less than half live is compacted into the current one. Part of
// inventory-columns.ts.

const CHUNK_BYTES = 4 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

interface Chunk {
  bytes: Buffer;
  used: number;
  live: number;
}

export class EncodedRecords {
  readonly #chunks: Chunk[] = [{ bytes: NOTHING, used: 0, live: 0 }];
  #current = 0;
  #count = 0;
  #chunkOf = new Uint32Array(1024);
  #from = new Uint32Array(1024);
  #length = new Uint32Array(1024);

  /** Bytes allocated, including holes. */
  get heldBytes(): number {
    return this.#chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  lengthOf(slot: number): number {
    return this.#length[slot]!;
  }

  /** The record of a slot, as a view that is valid until the next `set`. */
  at(slot: number): Buffer {
    const from = this.#from[slot]!;
    return this.#chunks[this.#chunkOf[slot]!]!.bytes.subarray(from, from + this.#length[slot]!);
  }

  /** Sets the record of an existing slot, or of the next new one, to the concatenated parts. */
  set(slot: number, parts: readonly ArrayLike<number>[]): void {
    if (slot === this.#count) this.#addSlot();
    else this.#chunks[this.#chunkOf[slot]!]!.live -= this.#length[slot]!;
    const left = this.#chunkOf[slot]!;
    this.#append(slot, parts);
    if (left !== this.#current && this.#isWorthEmptying(left)) this.#empty(left);
  }

  /** A snapshot of the records of some slots. */
  snapshot(slots: Int32Array): RecordSnapshot {
    const stretches = {
      chunk: new Uint32Array(slots.length),
      from: new Uint32Array(slots.length),
      to: new Uint32Array(slots.length),
    };
    let count = 0;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      const chunk = this.#chunkOf[slot]!;
      const from = this.#from[slot]!;
      // Adjacent records are merged into one copy.
      if (count > 0 && stretches.chunk[count - 1] === chunk && stretches.to[count - 1] === from) count--;
      else {
        stretches.chunk[count] = chunk;
        stretches.from[count] = from;
      }
      stretches.to[count++] = from + this.#length[slot]!;
    }
    return new RecordSnapshot(
      this.#chunks.map(({ bytes }) => bytes),
      stretches,
      count,
    );
  }

  #append(slot: number, parts: readonly ArrayLike<number>[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.#chunks[this.#current]!.used + length > this.#chunks[this.#current]!.bytes.length) {
      this.#openChunk(Math.max(length, CHUNK_BYTES));
    }
    const chunk = this.#chunks[this.#current]!;
    this.#chunkOf[slot] = this.#current;
    this.#from[slot] = chunk.used;
    this.#length[slot] = length;
    for (const part of parts) {
      chunk.bytes.set(part, chunk.used);
      chunk.used += part.length;
    }
    chunk.live += length;
  }

  #openChunk(bytes: number): void {
    const chunk = { bytes: Buffer.allocUnsafeSlow(bytes), used: 0, live: 0 };
    const free = this.#chunks.findIndex((candidate) => candidate.bytes === NOTHING);
    this.#current = free === -1 ? this.#chunks.length : free;
    this.#chunks[this.#current] = chunk;
  }

  #isWorthEmptying(index: number): boolean {
    const chunk = this.#chunks[index]!;
    return chunk.bytes !== NOTHING && chunk.live * 2 < chunk.bytes.length;
  }

  /** Moves live records of a chunk to the current one. Scans all slots, amortized once per 2 MiB replaced. */
  #empty(index: number): void {
    const { bytes } = this.#chunks[index]!;
    for (let slot = 0; slot < this.#count; slot++) {
      if (this.#chunkOf[slot] !== index) continue;
      const from = this.#from[slot]!;
      this.#append(slot, [bytes.subarray(from, from + this.#length[slot]!)]);
    }
    this.#chunks[index] = { bytes: NOTHING, used: 0, live: 0 };
  }

  #addSlot(): void {
    this.#count++;
    if (this.#count <= this.#from.length) return;
    this.#chunkOf = grown(this.#chunkOf);
    this.#from = grown(this.#from);
    this.#length = grown(this.#length);
  }
}

interface Stretches {
  readonly chunk: Uint32Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
}

/** A snapshot of records. Bytes are never overwritten in place, so later changes do not show. */
export class RecordSnapshot {
  readonly bytes: number;
  readonly #chunks: readonly Buffer[];
  readonly #stretches: Stretches;
  readonly #count: number;
  #next = 0;
  #copied = 0;

  constructor(chunks: readonly Buffer[], stretches: Stretches, count: number) {
    this.#chunks = chunks;
    this.#stretches = stretches;
    this.#count = count;
    let bytes = 0;
    for (let i = 0; i < count; i++) bytes += stretches.to[i]! - stretches.from[i]!;
    this.bytes = bytes;
  }

  /** Continues the copy into `target`. Returns false after about `atOnce` bytes, true when all are copied. */
  copyTo(target: Buffer, atOnce: number): boolean {
    const { chunk, from, to } = this.#stretches;
    const pause = this.#copied + atOnce;
    for (; this.#next < this.#count && this.#copied < pause; this.#next++) {
      const bytes = this.#chunks[chunk[this.#next]!]!;
      this.#copied += bytes.copy(target, this.#copied, from[this.#next], to[this.#next]);
    }
    return this.#next === this.#count;
  }
}

function grown(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(column.length * 2);
  larger.set(column);
  return larger;
}
