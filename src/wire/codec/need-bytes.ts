// Checks on the bytes of one CapacityNeed without decoding it: whether it is well-formed and within its limits, whether
// it equals another encoded need, and its hash.
// Two encodings are the same need if they differ in the order of map entries only; Go writes maps in random
// order, everything else in a fixed one. rollup.ts is the only caller.

import { NameLimits } from '../../model/index.ts';
import { WIRE, WireCursor } from './cursor.ts';
import {
  MAX_RESOURCES,
  MAX_ROW_BYTES,
  MAX_ROW_FIELDS,
  MAX_TERMS,
  MAX_VALUES,
  type RowCount,
} from './need-limits.ts';

/** Field numbers of CapacityNeed that hold messages. */
const REQUIREMENTS = 1;
const AGGREGATE_RESOURCES = 2;
const SPREAD = 5;
const MIN_UNIT = 8;
const GROUP = 9;
/** Field numbers inside those messages: the first is the key of a requirement, a spread term and a map entry. */
const KEY = 1;
const VALUES = 3;

/**
 * Positions of the two maps of a need: start and end of the first and of the second run of entries, relative to the
 * first byte of the need. `RIGID` as the first number: only identical bytes are the same need.
 * Four numbers per need, in one column for all needs of a roll-up.
 */
export const RUN_WIDTH = 4;
export type MapRuns = Int32Array;
const RIGID = -1;

/** Longest run whose order may vary: a 31-bit mask records the matched entries. Real maps have under ten. */
const MAX_ENTRIES = 31;
/** Tag and length of a map entry take one byte each, or the need is rigid. */
const HEADER = 2;
const MAX_ENTRY_BYTES = HEADER + 127;

const walker = new WireCursor();
const inner = new WireCursor();
const entryStarts = new Int32Array(MAX_ENTRIES);

/**
 * Throws `WireFormatError` unless the need and all nested messages are well-formed, and counts its contents into `count`.
 * Records the positions of the maps at index `at` of `runs`: if the decoded maps have fewer entries than were counted, a
 * key is repeated, and the caller must call `makeRigid`. Stops at an excess that hides the key of the row.
 */
export function checkNeed(
  bytes: Uint8Array,
  from: number,
  to: number,
  runs: MapRuns,
  at: number,
  count: RowCount,
): void {
  let isRigid = false;
  let run = -1;
  let runField = 0;
  let runEnd = -1;
  runs.fill(to - from, at, at + RUN_WIDTH);
  count.reset();
  count.many('bytes', to - from, MAX_ROW_BYTES);
  if (count.isHidden) return;
  walker.reset(bytes, from, to);
  while (walker.next()) {
    count.fields++;
    if (walker.type === WIRE.bytes) countField(bytes, count);
    // After the fields inside have been counted too: this may be the last field of the row.
    count.many('fields', count.fields, MAX_ROW_FIELDS);
    if (count.isHidden) return;
    if (walker.type !== WIRE.bytes || !isMapField(walker.field)) continue;
    isRigid ||= walker.valueStart - walker.start !== HEADER || walker.pos - walker.start > MAX_ENTRY_BYTES;
    const isNewRun = walker.start !== runEnd || walker.field !== runField;
    runField = walker.field;
    runEnd = walker.pos;
    if (isNewRun) run++;
    // A third run, which no encoder writes, counts as outside the maps: it must then have the same bytes.
    if (run > 1) continue;
    if (isNewRun) runs[at + 2 * run] = walker.start - from;
    runs[at + 2 * run + 1] = runEnd - from;
  }
  if (isRigid) makeRigid(runs, at);
}

/** Counts one length-delimited field of a row, at which `walker` is, and what is in it. */
function countField(bytes: Uint8Array, count: RowCount): void {
  const { field, valueStart, pos } = walker;
  switch (field) {
    case REQUIREMENTS:
      count.many('requirements and spread terms', ++count.terms, MAX_TERMS);
      countRequirement(inner.reset(bytes, valueStart, pos), count, count.requirements++);
      break;
    case SPREAD:
      count.many('requirements and spread terms', ++count.terms, MAX_TERMS);
      countSpread(inner.reset(bytes, valueStart, pos), count, count.spreads++);
      break;
    case AGGREGATE_RESOURCES:
      count.many('resources', ++count.aggregates, MAX_RESOURCES, 'amounts');
      countEntry(inner.reset(bytes, valueStart, pos), count, 'aggregate_resources');
      break;
    case MIN_UNIT:
      count.many('resources', ++count.minUnits, MAX_RESOURCES, 'amounts');
      countEntry(inner.reset(bytes, valueStart, pos), count, 'min_unit');
      break;
    case GROUP:
      count.name('.group', pos - valueStart, NameLimits.group);
  }
}

function countRequirement(cursor: WireCursor, count: RowCount, index: number): void {
  while (cursor.next()) {
    count.fields++;
    if (cursor.type !== WIRE.bytes) continue;
    const length = cursor.pos - cursor.valueStart;
    if (cursor.field === KEY && length > NameLimits.key)
      count.name(`.requirements[${index}].key`, length, NameLimits.key);
    if (cursor.field !== VALUES) continue;
    count.many('values', ++count.values, MAX_VALUES);
    if (length > NameLimits.value) count.name(`.requirements[${index}].values`, length, NameLimits.value);
  }
}

function countSpread(cursor: WireCursor, count: RowCount, index: number): void {
  while (cursor.next()) {
    count.fields++;
    const length = cursor.pos - cursor.valueStart;
    if (cursor.type === WIRE.bytes && cursor.field === KEY && length > NameLimits.spreadKey)
      count.name(`.spread[${index}].topology_key`, length, NameLimits.spreadKey);
  }
}

function countEntry(cursor: WireCursor, count: RowCount, map: string): void {
  while (cursor.next()) {
    count.fields++;
    const length = cursor.pos - cursor.valueStart;
    if (cursor.type === WIRE.bytes && cursor.field === KEY && length > NameLimits.resource)
      count.name(`.${map}`, length, NameLimits.resource, 'amounts');
  }
}

/** The bytes of a need without its two maps. */
export function withoutAmounts(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const parts: Uint8Array[] = [];
  walker.reset(bytes, from, to);
  while (walker.next()) {
    if (!isMapField(walker.field)) parts.push(bytes.subarray(walker.start, walker.pos));
  }
  return Buffer.concat(parts);
}

/** For a need that repeats a map key: there the last entry wins, so the order of entries has a meaning. */
export function makeRigid(runs: MapRuns, at: number): void {
  runs[at] = RIGID;
}

/**
 * Whether `now` at `nowFrom` holds the same need as `before` at `from`; both are `length` bytes long. Exact: outside the
 * maps all bytes must be equal, and each run of map entries must have the same entries in any order. Only `before` has
 * passed `checkNeed`, which made `runs`; if the result is true, `now` is well-formed as well.
 */
export function sameNeed(
  before: Buffer,
  from: number,
  now: Buffer,
  nowFrom: number,
  length: number,
  runs: MapRuns,
  at: number,
): boolean {
  if (runs[at] === RIGID) return sameBytes(before, from, now, nowFrom, length);
  const first = runs[at]!;
  const firstEnd = runs[at + 1]!;
  const second = runs[at + 2]!;
  const secondEnd = runs[at + 3]!;
  return (
    sameBytes(before, from, now, nowFrom, first) &&
    sameBytes(before, from + firstEnd, now, nowFrom + firstEnd, second - firstEnd) &&
    sameBytes(before, from + secondEnd, now, nowFrom + secondEnd, length - secondEnd) &&
    sameEntries(before, from + first, now, nowFrom + first, firstEnd - first) &&
    sameEntries(before, from + second, now, nowFrom + second, secondEnd - second)
  );
}

/** A hash that is equal for needs that are the same in the sense of `sameNeed`; never 0. */
export function hashNeed(view: DataView, bytes: Uint8Array, from: number, to: number): number {
  let plain = 0;
  let maps = 0;
  let plainFrom = from;
  walker.reset(bytes, from, to);
  while (walker.next()) {
    if (walker.type !== WIRE.bytes || !isMapField(walker.field)) continue;
    plain = murmur(plain, view, plainFrom, walker.start);
    // A sum does not depend on the order; the mixing step keeps similar entries from cancelling out.
    maps = (maps + mix(murmur(0, view, walker.start, walker.pos))) | 0;
    plainFrom = walker.pos;
  }
  return mix(murmur(plain, view, plainFrom, to) ^ maps) || 1;
}

function isMapField(field: number): boolean {
  return field === AGGREGATE_RESOURCES || field === MIN_UNIT;
}

/** Whether two runs of map entries, `length` bytes each, hold the same entries in any order. */
function sameEntries(before: Buffer, from: number, now: Buffer, nowFrom: number, length: number): boolean {
  if (length === 0) return true;
  const tag = before[from]!;
  let count = 0;
  for (let i = from; i < from + length; i += HEADER + before[i + 1]!) {
    if (count === MAX_ENTRIES) return sameBytes(before, from, now, nowFrom, length);
    entryStarts[count++] = i;
  }
  let matched = 0;
  const end = nowFrom + length;
  for (let i = nowFrom; i < end; ) {
    const size = HEADER + now[i + 1]!;
    if (now[i] !== tag || size > MAX_ENTRY_BYTES || i + size > end) return false;
    let k = 0;
    while (k < count && ((matched >>> k) & 1 || !sameBytes(before, entryStarts[k]!, now, i, size))) k++;
    if (k === count) return false;
    matched |= 1 << k;
    i += size;
  }
  return true;
}

/** From about this length on a call into the runtime is faster than a loop here (75 ns against 1 ns per byte). */
const LONG = 72;

function sameBytes(before: Buffer, from: number, now: Buffer, nowFrom: number, length: number): boolean {
  if (length > LONG) return before.compare(now, nowFrom, nowFrom + length, from, from + length) === 0;
  for (let i = 0; i < length; i++) {
    if (before[from + i] !== now[nowFrom + i]) return false;
  }
  return true;
}

/** MurmurHash3 (32 bit) over a range, continuing from `hash`, without its last step. */
function murmur(hash: number, view: DataView, from: number, to: number): number {
  let i = from;
  for (; i + 4 <= to; i += 4) hash = absorb(hash, view.getInt32(i, true));
  let rest = 0;
  for (; i < to; i++) rest = (rest << 8) | view.getUint8(i);
  return absorb(hash, rest ^ (to - from));
}

function absorb(hash: number, word: number): number {
  word = Math.imul(word, 0xcc9e2d51);
  hash ^= Math.imul((word << 15) | (word >>> 17), 0x1b873593);
  return (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
}

/** The last step of MurmurHash3: every input bit reaches every output bit. */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
