// Test support: protobuf bytes assembled by hand, with explicit field numbers and wire types, so that a test of a
// generated decoder does not take its numbers from the code under test. Imported by tests of src/wire and by
// test/hostile.

import { expect } from 'vitest';
import type { MessageType } from '../../src/wire/codec/decode.ts';

const WIRE_TYPE = { varint: 0, i64: 1, len: 2, i32: 5 } as const;

/** Base-128 bytes of an integer; a negative one as its 64-bit two's complement, like protobuf. */
export function varint(value: bigint | number): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

function tag(number: number, type: keyof typeof WIRE_TYPE): number[] {
  return varint(number * 8 + WIRE_TYPE[type]);
}

/** Field of wire type 0: int32, int64, bool, enum. */
export function num(number: number, value: bigint | number): Uint8Array {
  return Uint8Array.from([...tag(number, 'varint'), ...varint(value)]);
}

/** Field of wire type 1: double. */
export function dbl(number: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return Uint8Array.from([...tag(number, 'i64'), ...bytes]);
}

/** Field of wire type 2: string, bytes, embedded message (given as its fields). */
export function len(number: number, ...content: readonly (string | Uint8Array)[]): Uint8Array {
  const bytes = join(content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return join([Uint8Array.from([...tag(number, 'len'), ...varint(bytes.length)]), bytes]);
}

/** One entry of a map<string, string>: an embedded message with key 1 and value 2. */
export function entry(number: number, key: string, value: string): Uint8Array {
  return len(number, len(1, key), len(2, value));
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/**
 * Given the fields of a message in the order of their numbers, the decoder must read exactly `expected` and the
 * encoder must write exactly these bytes. Each field of `expected` must differ from its default, and fields of
 * one type must differ from one another, else a swapped or missing number could go unnoticed.
 */
export function expectOnWire<T extends object>(
  type: MessageType<T>,
  fields: readonly Uint8Array[],
  expected: T,
): void {
  for (const [name, value] of Object.entries(expected)) {
    const isEmpty = value instanceof Map ? value.size === 0 : Array.isArray(value) && value.length === 0;
    expect(isEmpty || [0, 0n, '', false, undefined].includes(value), `${name} has its default`).toBe(false);
  }
  const bytes = join(fields);
  expect(type.decode(bytes)).toEqual(expected);
  expect(Buffer.from(type.encode(expected).finish()).toString('hex')).toBe(
    Buffer.from(bytes).toString('hex'),
  );
}

/** Names of all message types in a generated module. Those of map entries, `Message_FieldEntry`, are left out. */
export function messageNames(module: object): string[] {
  const isMessage = (value: unknown) => typeof value === 'object' && value !== null && 'decode' in value;
  return Object.entries(module)
    .filter(([name, value]) => isMessage(value) && !/_.*Entry$/.test(name))
    .map(([name]) => name)
    .sort();
}
