// Where the parts of a roll-up are in its bytes, and what is kept of an accepted one to compare the next with. Used by
// rollup.ts and rollup-origins.ts.

import { isUtf8 } from 'node:buffer';
import { NameLimits, type Problem } from '../../model/index.ts';
import { isInt64, readInt64, WIRE, WireCursor } from './cursor.ts';
import { decodeText } from './decode.ts';
import { WireFormatError } from './errors.ts';
import { type MapRuns, RUN_WIDTH } from './need-bytes.ts';

/** Field numbers of ClusterCapacityNeeds. */
const CLUSTER_ID = 1;
const TIMESTAMP = 2;
const NEEDS = 3;
const NODE_FACTS = 1000;

/** Where things are in the bytes of a roll-up. */
export interface Layout {
  readonly bytes: Buffer;
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  /** Start and end of the number in the last timestamp field; both 0 if there is none. */
  readonly stampFrom: number;
  readonly stampTo: number;
  /** Start and end of each need. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Hash of each need, 0 where it has not been computed yet. */
  readonly hashes: Int32Array;
  /** Bytes of the node facts; empty if there are none. */
  readonly facts: Buffer;
  /**
   * Where the node facts begin, if nothing but them follows; the end of the bytes if there are none. -1: other fields follow,
   * so later roll-ups are not compared byte for byte. Writers put fields in the order of their numbers, so that is rare.
   */
  readonly tailFrom: number;
}

export interface Baseline<T> extends Layout {
  readonly needs: readonly T[];
  /** Where the maps of each need are. */
  readonly runs: MapRuns;
  readonly weights: Uint16Array;
  /** Whether `bytes` is the whole roll-up; if not, rows beyond their limits have been left out of it. */
  readonly isWhole: boolean;
}

/** A roll-up with the rows of the accepted one. */
interface SameRows {
  readonly timestampUnixNanos: bigint;
  readonly facts: Buffer;
}

/**
 * The fast way: byte for byte the accepted roll-up but for the number in its last timestamp field and the node facts at its
 * end. As the accepted one was well-formed, so is this one, and none of its rows needs to be walked. Undefined if it is not
 * so. Never throws: a number of more than 64 bits is left to the walk over the whole roll-up, whose caller expects malformed
 * bytes.
 */
export function withSameRows(before: Layout, bytes: Buffer): SameRows | undefined {
  const { stampFrom, stampTo, tailFrom } = before;
  if (tailFrom < 0 || bytes.length < stampFrom) return undefined;
  if (before.bytes.compare(bytes, 0, stampFrom, 0, stampFrom) !== 0) return undefined;
  let end = stampFrom;
  if (stampTo > 0) {
    while (end < bytes.length && bytes[end]! >= 0x80) end++;
    end++;
    if (end > bytes.length || !isInt64(bytes, stampFrom, end)) return undefined;
  }
  const tail = end + tailFrom - stampTo;
  if (tail > bytes.length || before.bytes.compare(bytes, end, tail, stampTo, tailFrom) !== 0)
    return undefined;
  const facts = factsIn(bytes, tail);
  if (facts === null) return undefined;
  return { timestampUnixNanos: stampTo === 0 ? 0n : readInt64(bytes, stampFrom), facts };
}

/** Node facts from `from` to the end; null if anything else is there. */
function factsIn(bytes: Buffer, from: number): Buffer | null {
  const cursor = new WireCursor().reset(bytes, from, bytes.length);
  const parts: Buffer[] = [];
  try {
    while (cursor.next()) {
      if (cursor.field !== NODE_FACTS || cursor.type !== WIRE.bytes) return null;
      if (parts.push(bytes.subarray(cursor.valueStart, cursor.pos)) > MAX_OTHER_FIELDS) return null;
    }
  } catch (error) {
    if (error instanceof WireFormatError) return null;
    throw error;
  }
  return joined(parts);
}

/** Embedded messages that are repeated are merged, which means that their bytes are joined. */
function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** Fields beside the rows that a roll-up may have: three, and some additions that this version does not know. */
const MAX_OTHER_FIELDS = 1000;

/**
 * Finds the parts of a roll-up. Singular fields follow the protobuf rule that the last one wins. Stops at the first row
 * beyond `maxRows`.
 */
export function scan(
  bytes: Buffer,
  cursor: WireCursor,
  maxRows: number,
): Layout | { readonly problem: Problem; readonly timestampUnixNanos: bigint } {
  const from: number[] = [];
  const to: number[] = [];
  let others = 0;
  let idFrom = 0;
  let idTo = 0;
  let stampFrom = 0;
  let stampTo = 0;
  let problem: Problem | null = null;
  const facts: Buffer[] = [];
  let tailFrom = bytes.length;
  let isTail = true;
  cursor.reset(bytes, 0, bytes.length);
  while (problem === null && cursor.next()) {
    if (cursor.field === NODE_FACTS && cursor.type === WIRE.bytes) {
      if (facts.length === 0) tailFrom = cursor.start;
      if (facts.push(bytes.subarray(cursor.valueStart, cursor.pos)) > MAX_OTHER_FIELDS)
        problem = rollupLimit('node_facts', `More than ${MAX_OTHER_FIELDS} times node facts.`);
      continue;
    }
    if (facts.length > 0) isTail = false;
    if (cursor.field === NEEDS && cursor.type === WIRE.bytes) {
      from.push(cursor.valueStart);
      to.push(cursor.pos);
      if (from.length > maxRows) problem = rollupLimit('needs', `More than ${maxRows} rows.`);
      continue;
    }
    if (++others > MAX_OTHER_FIELDS)
      problem = rollupLimit('', `More than ${MAX_OTHER_FIELDS} fields beside the rows.`);
    if (cursor.field === TIMESTAMP && cursor.type === WIRE.varint) {
      stampFrom = cursor.valueStart;
      stampTo = cursor.pos;
    } else if (cursor.field === CLUSTER_ID && cursor.type === WIRE.bytes) {
      idFrom = cursor.valueStart;
      idTo = cursor.pos;
      // Each of several, as a full decode would: only the last becomes a string.
      if (!isUtf8(bytes.subarray(idFrom, idTo))) throw new WireFormatError(idFrom, 'UTF-8 text');
    }
  }
  const timestampUnixNanos = stampTo === 0 ? 0n : readInt64(bytes, stampFrom);
  if (idTo - idFrom > NameLimits.clusterId) {
    const message = `The cluster id has ${idTo - idFrom} bytes, the limit is ${NameLimits.clusterId}.`;
    problem = { code: 'BF_CLUSTER_MISMATCH', path: 'cluster_id', message };
  }
  if (problem !== null) return { problem, timestampUnixNanos };
  return {
    bytes,
    clusterId: decodeText(bytes, idFrom, idTo),
    timestampUnixNanos,
    stampFrom,
    stampTo,
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    hashes: new Int32Array(from.length),
    facts: joined(facts),
    tailFrom: isTail ? tailFrom : -1,
  };
}

function rollupLimit(path: string, message: string): Problem {
  return { code: 'BF_ROLLUP_LIMIT', path, message };
}

/** Whether a roll-up says what the accepted one says. Never so if rows were left out of that: they are missing or back. */
export function isSame<T>(before: Baseline<T>, layout: Layout, origin: Int32Array): boolean {
  return (
    before.isWhole &&
    origin.length === before.from.length &&
    layout.clusterId === before.clusterId &&
    origin.every((at, index) => at === index)
  );
}

/** Some rows of a baseline, still as places in the bytes of the whole. */
export function onlyRows<T>(baseline: Baseline<T>, isKept: (row: number) => boolean): Baseline<T> {
  const rows = [...baseline.from.keys()].filter(isKept);
  const { from, to, hashes, runs, weights, needs } = baseline;
  return {
    ...baseline,
    from: Int32Array.from(rows, (i) => from[i]!),
    to: Int32Array.from(rows, (i) => to[i]!),
    hashes: Int32Array.from(rows, (i) => hashes[i]!),
    weights: Uint16Array.from(rows, (i) => weights[i]!),
    runs: Int32Array.from(rows.flatMap((i) => [...runs.subarray(i * RUN_WIDTH, (i + 1) * RUN_WIDTH)])),
    needs: rows.map((i) => needs[i]!),
  };
}

/** A copy of the bytes of the rows alone: what rows beyond their limits contain does not stay in memory. */
export function withoutHiddenRows<T>(baseline: Baseline<T>): Baseline<T> {
  const { bytes, from, to } = baseline;
  const parts = [...from.keys()].map((i) => bytes.subarray(from[i], to[i]));
  let end = 0;
  const starts = from.map((_, i) => {
    const start = end;
    end += parts[i]!.length;
    return start;
  });
  return {
    ...baseline,
    bytes: Buffer.concat(parts),
    from: starts,
    to: starts.map((start, i) => start + parts[i]!.length),
  };
}
