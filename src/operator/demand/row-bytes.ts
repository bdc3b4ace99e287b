// The bytes of one row of a roll-up. What belongs to the key of a row never changes and is encoded once; amounts are written
// between these parts whenever they change. Fields are in the order of their numbers, resources in the order of their names,
// so that equal rows have equal bytes and the shard recognises a repeated row without decoding it.

import { compareText, type Profile } from '../../model/index.ts';
import { CapacityNeed, type PenaltyBucket } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { requirementsToWire } from '../../wire/index.ts';

/** Tags of length-delimited fields: number × 8 + 2. */
const TAG = { needs: 0x1a, aggregateResources: 0x12, minUnit: 0x42, key: 0x0a, value: 0x12 } as const;

const NO_NEED: CapacityNeed = {
  requirements: [],
  aggregateResources: new Map(),
  priority: 0,
  spread: [],
  interruptionPenaltyBucket: 0,
  reclamationPenaltyBucket: 0,
  minUnit: new Map(),
  group: '',
};

/** The parts of a row that its key determines: before, between and after the two maps of amounts. */
export interface KeyBytes {
  readonly head: Uint8Array;
  readonly middle: Uint8Array;
  readonly tail: Uint8Array;
}

export function keyBytesOf(profile: Profile, group: string): KeyBytes {
  // An encoder leaves out fields with their default values, so each part encodes by itself.
  const part = (fields: Partial<CapacityNeed>): Uint8Array =>
    CapacityNeed.encode({ ...NO_NEED, ...fields }).finish();
  return {
    head: part({ requirements: requirementsToWire(profile.requirements) }),
    middle: part({
      priority: profile.priority,
      spread: [...profile.spread],
      interruptionPenaltyBucket: profile.interruptionBucket as PenaltyBucket,
      reclamationPenaltyBucket: profile.reclamationBucket as PenaltyBucket,
    }),
    tail: part({ group }),
  };
}

/** Amounts as quantity texts by resource name. */
export interface Amounts {
  readonly names: Iterable<string>;
  readonly textOf: (name: string) => string;
}

/** Room for the largest row: keys are limited to 64 terms of 4,096 values, and 32 amounts. */
let scratch = Buffer.alloc(4096);

/** The row as a field of `ClusterCapacityNeeds`, with tag and length. */
export function rowBytes(key: KeyBytes, aggregate: Amounts, minUnit: Amounts): Uint8Array {
  const { head, middle, tail } = key;
  const fixed = head.length + middle.length + tail.length;
  let at = 0;
  reserve(fixed);
  scratch.set(head, at);
  at += head.length;
  at = writeMap(at, TAG.aggregateResources, aggregate);
  reserve(at + fixed);
  scratch.set(middle, at);
  at += middle.length;
  at = writeMap(at, TAG.minUnit, minUnit);
  reserve(at + tail.length);
  scratch.set(tail, at);
  at += tail.length;
  const row = new Uint8Array(1 + varintLength(at) + at);
  row[0] = TAG.needs;
  const start = writeVarint(row, 1, at);
  row.set(scratch.subarray(0, at), start);
  return row;
}

function writeMap(from: number, tag: number, { names, textOf }: Amounts): number {
  let at = from;
  const sorted = [...names];
  if (sorted.length > 1) sorted.sort(compareText);
  for (const name of sorted) {
    const text = textOf(name);
    const nameLength = Buffer.byteLength(name);
    const length = 1 + varintLength(nameLength) + nameLength + 2 + text.length;
    reserve(at + 1 + varintLength(length) + length);
    scratch[at++] = tag;
    at = writeVarint(scratch, at, length);
    scratch[at++] = TAG.key;
    at = writeVarint(scratch, at, nameLength);
    at += scratch.write(name, at);
    scratch[at++] = TAG.value;
    // A quantity text is ASCII and far below 128 characters.
    scratch[at++] = text.length;
    at += scratch.write(text, at, 'latin1');
  }
  return at;
}

function reserve(bytes: number): void {
  if (bytes <= scratch.length) return;
  const longer = Buffer.alloc(bytes * 2);
  longer.set(scratch);
  scratch = longer;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/** The offset behind the number. */
function writeVarint(bytes: Uint8Array, from: number, value: number): number {
  let at = from;
  let rest = value;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[at++] = rest;
  return at;
}
