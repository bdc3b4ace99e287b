// Protobuf bytes as ropes: parts that are copied once, into a buffer that is used again for the next frame. A field of
// 16 MB costs one copy, however deep it is nested, and a field that is repeated 400,000 times is one part. Tags,
// lengths and wire types are spelled out here, apart from any code under test. Used by the other frame-fuzz files.

import { varint } from '../../testing/support/wire-bytes.ts';

/** Few bytes as numbers, because typed arrays of a few bytes cost more to make than to copy. */
type Part = readonly number[] | Uint8Array | Rope;

export class Rope {
  readonly size: number;
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
    let size = 0;
    for (const part of parts) size += part instanceof Rope ? part.size : part.length;
    this.size = size;
  }
}

export const EMPTY = new Rope([]);

export function rope(...parts: readonly Part[]): Rope {
  return new Rope(parts);
}

const texts = new Map<string, Rope>();

export function text(content: string): Rope {
  const known = texts.get(content);
  if (known !== undefined) return known;
  const made = rope(Buffer.from(content));
  texts.set(content, made);
  return made;
}

const tags = new Map<number, readonly number[]>();

/** A tag, with any field number and wire type. */
export function tag(number: number, type: number): readonly number[] {
  const value = number * 8 + type;
  const known = tags.get(value);
  if (known !== undefined) return known;
  const made = varint(value);
  tags.set(value, made);
  return made;
}

/** A length-delimited field; `declared` is the length that it claims to have. */
export function delimited(number: number, body: Rope, declared = lengthOf(body)): Rope {
  return rope(tag(number, 2), declared, body);
}

function lengthOf({ size }: Rope): readonly number[] {
  return size < 128 ? [size] : varint(size);
}

export function integer(number: number, encoded: readonly number[]): Rope {
  return rope(tag(number, 0), encoded);
}

/** The same bytes repeated, in one part. */
export function repeated(unit: Rope, count: number): Rope {
  if (count === 0 || unit.size === 0) return EMPTY;
  const bytes = Buffer.alloc(unit.size);
  writeInto(bytes, 0, unit);
  return rope(Buffer.alloc(unit.size * count, bytes));
}

/** 16 MB, in decimal so that a frame with it stays below the smallest limit of a frame, 16 MiB. */
export const HUGE_BYTES = 16_000_000;

/** Characters that texts are filled with. */
const FILLS = {
  letters: [0x61],
  zeros: [0],
  'invalid UTF-8': [0xff],
  'two-byte letters': [0xc3, 0xa9],
  'changes of direction': [0xe2, 0x80, 0xae],
} as const;
export type Fill = keyof typeof FILLS;

const MEDIUM_BYTES = 2 ** 21;
const HUGE_FILLS: readonly Fill[] = ['letters', 'zeros', 'invalid UTF-8'];
const filled = new Map<Fill, Uint8Array>();

/** Text of exactly `size` bytes; padded with letters where the last character does not fit. */
export function filling(fill: Fill, size: number): Rope {
  const unit = FILLS[fill];
  let bytes = filled.get(fill);
  if (bytes === undefined) {
    const room = HUGE_FILLS.includes(fill) ? HUGE_BYTES : MEDIUM_BYTES;
    bytes = Buffer.alloc(room - (room % unit.length), Uint8Array.from(unit));
    filled.set(fill, bytes);
  }
  const whole = size - (size % unit.length);
  return rope(bytes.subarray(0, whole), new Uint8Array(size - whole).fill(0x61));
}

/** Fills to use for a size: few for huge ones, because each takes long to read. */
export function fillsOf(size: number): readonly Fill[] {
  return size > MEDIUM_BYTES ? HUGE_FILLS : (Object.keys(FILLS) as Fill[]);
}

/** Writes ropes into one buffer: each call of `bytesOf` overwrites the bytes that the previous one returned. */
export class RopeWriter {
  #buffer: Buffer;

  /** `bytes`: initial size of the buffer; larger ropes replace it. */
  constructor(bytes = HUGE_BYTES + MEDIUM_BYTES) {
    this.#buffer = Buffer.allocUnsafe(bytes);
  }

  bytesOf(given: Rope): Uint8Array {
    if (given.size > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(given.size);
    writeInto(this.#buffer, 0, given);
    return this.#buffer.subarray(0, given.size);
  }
}

function writeInto(target: Uint8Array, start: number, { parts }: Rope): number {
  let at = start;
  for (const part of parts) {
    if (part instanceof Rope) at = writeInto(target, at, part);
    else if (part instanceof Uint8Array) {
      target.set(part, at);
      at += part.length;
    } else for (const byte of part) target[at++] = byte;
  }
  return at;
}
