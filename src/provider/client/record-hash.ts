// A 64-bit hash of a record that does not depend on the order of its fields and map entries, by which intake.ts detects
// changes. Some encoders (Go's among them) write maps in random order, which must not mark every machine as changed.

import { scramble32 } from '../../runtime/random.ts';
import { WIRE, WireCursor } from '../../wire/index.ts';

/** Field numbers of `Machine`. */
const ID = 1;
const RESOURCES = 9;
const ALLOCATABLE = 13;

/** Reusable; `read` overwrites the result of the previous record. */
export class RecordHash {
  /** Byte range of the id; empty if the record has none. */
  idFrom = 0;
  idTo = 0;
  low = 0;
  high = 0;
  readonly #fields = new WireCursor();
  readonly #entries = new WireCursor();

  /** Throws `WireFormatError` on malformed bytes; the id is still valid if it precedes them. */
  read(bytes: Uint8Array, from: number, to: number): void {
    const fields = this.#fields.reset(bytes, from, to);
    this.idFrom = 0;
    this.idTo = 0;
    this.low = to - from;
    this.high = 0;
    while (fields.next()) {
      const { field, valueStart, pos } = fields;
      if (field === ID && fields.type === WIRE.bytes) {
        this.idFrom = valueStart;
        this.idTo = pos;
      }
      if ((field === RESOURCES || field === ALLOCATABLE) && fields.type === WIRE.bytes) {
        const entries = this.#entries.reset(bytes, valueStart, pos);
        while (entries.next()) this.#add(bytes, entries.start, entries.pos, field);
      } else this.#add(bytes, fields.start, pos, 0);
    }
  }

  /** Adds the hash of a byte range. Addition makes the result independent of the order. */
  #add(bytes: Uint8Array, from: number, to: number, seed: number): void {
    let a = seed ^ 0x3c6ef372;
    let b = (to - from) ^ 0x1b873593;
    let i = from;
    for (; i + 4 <= to; i += 4) {
      const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
      a = Math.imul(a ^ word, 0x85ebca6b);
      a = (a << 13) | (a >>> 19);
      b = Math.imul(b + word, 0xc2b2ae35);
      b = ((b << 15) | (b >>> 17)) ^ a;
    }
    let rest = 0;
    for (; i < to; i++) rest = (rest << 8) | bytes[i]!;
    a = scramble32(Math.imul(a ^ rest, 0x85ebca6b) ^ b);
    b = scramble32(Math.imul(b + rest, 0xc2b2ae35) + a);
    this.low = (this.low + a) | 0;
    this.high = (this.high + b) | 0;
  }
}
