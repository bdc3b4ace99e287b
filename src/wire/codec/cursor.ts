// Walks the fields of one protobuf message without decoding them. The generated decoders are lenient (they
// stop silently at a zero byte and let a field run over the end of its message), so everything that must be
// refused when malformed passes through here first. Used by frames.ts, rollup.ts and need-bytes.ts.

import { WireFormatError } from './errors.ts';

/** Wire types of the protobuf encoding; the low three bits of a tag. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

/** Maximum nesting of groups, a feature of old protobuf versions. Only an attack nests deeper. */
const MAX_GROUP_DEPTH = 100;
/** 64 bits at seven per byte. */
const MAX_VARINT_BYTES = 10;
/** 32 bits at seven per byte: the longest tag or length. */
const MAX_VARINT32_BYTES = 5;

/**
 * Position in a message. After `next()` returned true the field is at `start`..`pos`, tag included, and its
 * content at `valueStart`..`pos`; for a length-delimited field the content is the payload alone.
 * One object serves many messages through `reset`, so that a walk allocates nothing.
 */
export class WireCursor {
  bytes: Uint8Array = new Uint8Array(0);
  end = 0;
  pos = 0;
  start = 0;
  valueStart = 0;
  field = 0;
  type = 0;

  reset(bytes: Uint8Array, from: number, to: number): this {
    this.bytes = bytes;
    this.pos = from;
    this.end = to;
    return this;
  }

  /** Moves to the next field; false at the end of the message. Throws `WireFormatError` on malformed bytes. */
  next(): boolean {
    if (this.pos >= this.end) return false;
    this.start = this.pos;
    const tag = this.#varint32('a field tag');
    this.field = tag >>> 3;
    this.type = tag & 7;
    if (this.field === 0) throw new WireFormatError(this.start, 'a field number above 0');
    this.valueStart = this.pos;
    switch (this.type) {
      case WIRE.varint:
        this.#skipVarint();
        break;
      case WIRE.fixed64:
        this.#skip(8);
        break;
      case WIRE.bytes: {
        const length = this.#varint32('a length');
        this.valueStart = this.pos;
        this.#skip(length);
        break;
      }
      case WIRE.groupStart:
        this.#skipGroup(tag >>> 3);
        break;
      case WIRE.fixed32:
        this.#skip(4);
        break;
      default:
        throw new WireFormatError(this.start, `a wire type of 0, 1, 2, 3 or 5, not ${this.type}`);
    }
    return true;
  }

  /** Walks the remaining fields, to validate them. */
  finish(): void {
    while (this.next());
  }

  #varint32(what: string): number {
    const { bytes, end } = this;
    // Nearly all tags take one byte and nearly all lengths one or two.
    if (this.pos + 1 < end) {
      const low = bytes[this.pos]!;
      if (low < 0x80) {
        this.pos++;
        return low;
      }
      const high = bytes[this.pos + 1]!;
      if (high < 0x80) {
        this.pos += 2;
        return (low & 0x7f) | (high << 7);
      }
    }
    let value = 0;
    for (let i = 0; i < MAX_VARINT32_BYTES; i++) {
      if (this.pos >= end) throw new WireFormatError(this.pos, `${what}, found the end of the message`);
      const byte = bytes[this.pos++]!;
      // The fifth byte holds the last four bits; more would not fit 32 bits.
      if (i === MAX_VARINT32_BYTES - 1 && byte > 0x0f) break;
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value >>> 0;
    }
    throw new WireFormatError(this.pos - 1, `${what} of at most 32 bits`);
  }

  #skipVarint(): void {
    const { bytes, end } = this;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.pos >= end) throw new WireFormatError(this.pos, 'a number, found the end of the message');
      const byte = bytes[this.pos++]!;
      if (byte < 0x80) {
        if (i === MAX_VARINT_BYTES - 1 && byte > 1) break;
        return;
      }
    }
    throw new WireFormatError(this.pos - 1, 'a number of at most 64 bits');
  }

  #skip(length: number): void {
    const left = this.end - this.pos;
    if (length > left) {
      throw new WireFormatError(this.pos, `${length} bytes of field ${this.field}, found ${left}`);
    }
    this.pos += length;
  }

  /** Skips past the end tag of the group; the cursor then describes the whole group as one field. */
  #skipGroup(field: number): void {
    const { start, valueStart } = this;
    const open = [field];
    while (open.length > 0) {
      if (this.pos >= this.end) throw new WireFormatError(this.pos, `the end of group ${open.at(-1)}`);
      const at = this.pos;
      const tag = this.#varint32('a field tag');
      if ((tag & 7) === WIRE.groupEnd) {
        if (tag >>> 3 !== open.pop()) throw new WireFormatError(at, 'the end of the innermost group');
      } else if ((tag & 7) === WIRE.groupStart) {
        if (open.length >= MAX_GROUP_DEPTH) {
          throw new WireFormatError(at, `at most ${MAX_GROUP_DEPTH} nested groups`);
        }
        if (tag >>> 3 === 0) throw new WireFormatError(at, 'a field number above 0');
        open.push(tag >>> 3);
      } else {
        this.pos = at;
        this.next();
      }
    }
    this.start = start;
    this.valueStart = valueStart;
    this.field = field;
    this.type = WIRE.groupStart;
  }
}

/** Whether a varint that ends just before `to` fits 64 bits. */
export function isInt64(bytes: Uint8Array, from: number, to: number): boolean {
  const length = to - from;
  return length < MAX_VARINT_BYTES || (length === MAX_VARINT_BYTES && bytes[to - 1]! <= 1);
}

/** Value of the int64 varint at `from`, which a cursor has already found to be well-formed. */
export function readInt64(bytes: Uint8Array, from: number): bigint {
  // Three numbers of at most 28 bits each, joined once: BigInt arithmetic per byte would cost ten times more.
  const parts = [0, 0, 0] as [number, number, number];
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = bytes[from + i]!;
    parts[(i >> 2) as 0 | 1 | 2] |= (byte & 0x7f) << (7 * (i & 3));
    if (byte < 0x80) break;
  }
  return BigInt.asIntN(64, BigInt(parts[0]) | (BigInt(parts[1]) << 28n) | (BigInt(parts[2]) << 56n));
}
