// Reads roll-ups of one cluster and says what changed. A roll-up is always complete, and nearly always the
// last one again with a new timestamp, so unchanged needs are recognised by their bytes and not decoded.
// frames.ts hands over the bytes, needbytes.ts compares single needs, the conversion to the model is `convert`.

import { readInt64, WIRE, WireCursor } from './cursor.ts';
import { decodeStrict, decodeText } from './decode.ts';
import { CapacityNeed } from './gen/bigfleet/v1alpha1/capacity.ts';
import { checkNeed, hashNeed, type MapRuns, makeRigid, RUN_WIDTH, sameNeed } from './needbytes.ts';

/** Field numbers of ClusterCapacityNeeds. */
const CLUSTER_ID = 1;
const TIMESTAMP = 2;
const NEEDS = 3;

/** Needs of equal hash that are compared before the search gives up and decodes; a bound, never an error. */
const MAX_CHAIN = 8;

/** Same cluster and the same needs in the same order as the accepted roll-up; only the time differs. */
export interface UnchangedRollup {
  readonly kind: 'unchanged';
  readonly timestampUnixNanos: bigint;
}

export interface ChangedRollup<T> {
  readonly kind: 'changed';
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  /** All needs, in the order of the wire. Those that were there before are the same objects as before. */
  readonly needs: readonly T[];
  /** Per need its place in the accepted roll-up, or -1 if it is new. No place appears twice. */
  readonly origin: Int32Array;
  /** If nothing was added or removed, the order or the cluster id changed, or this is the first roll-up. */
  readonly added: number;
  readonly removed: number;
  readonly kept: number;
}

export type RollupDelta<T> = UnchangedRollup | ChangedRollup<T>;

/** Where things are in the bytes of a roll-up. */
interface Layout {
  readonly bytes: Buffer;
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  /** Start of the last timestamp field and of the number in it, and its end; all 0 if there is none. */
  readonly stampField: number;
  readonly stampFrom: number;
  readonly stampTo: number;
  /** Start and end of each need. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Hash of each need, 0 where nobody has asked for it yet. */
  readonly hashes: Int32Array;
}

interface Baseline<T> extends Layout {
  readonly needs: readonly T[];
  /** Where the maps of each need are. */
  readonly runs: MapRuns;
}

/**
 * Holds the last accepted roll-up of one cluster. `read` never changes it, whatever it is given; `accept` makes
 * the roll-up just read the new one, once the caller has found it valid. So a refused or malformed roll-up
 * leaves the last good one in place.
 *
 * `convert` makes of a decoded need what the caller wants to keep; it is called for new needs only, and what
 * it throws comes out of `read`. Decoded needs are large (two maps each), so keep something smaller.
 */
export class RollupReader<T> {
  readonly #convert: (need: CapacityNeed, index: number) => T;
  readonly #cursor = new WireCursor();
  #baseline: Baseline<T> | undefined;
  #pending: { readonly delta: ChangedRollup<T>; readonly baseline: Baseline<T> } | undefined;

  constructor(convert: (need: CapacityNeed, index: number) => T) {
    this.#convert = convert;
  }

  /** Whether these are the bytes of the accepted roll-up, timestamp apart. Cheap: nothing is walked; `read` finds more. */
  repeats(message: Uint8Array): boolean {
    if (this.#baseline === undefined) return false;
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    return stampIfOnlyThatDiffers(this.#baseline, bytes, this.#cursor) !== undefined;
  }

  /** The bytes must stay as they are until the result is accepted or dropped; nothing is kept of them after. */
  read(message: Uint8Array): RollupDelta<T> {
    this.#pending = undefined;
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const before = this.#baseline;
    if (before !== undefined) {
      const stamp = stampIfOnlyThatDiffers(before, bytes, this.#cursor);
      if (stamp !== undefined) return { kind: 'unchanged', timestampUnixNanos: stamp };
    }
    const layout = scan(bytes, this.#cursor);
    const origin = findOrigins(before, layout);
    if (before !== undefined && isSame(before, layout, origin)) {
      return { kind: 'unchanged', timestampUnixNanos: layout.timestampUnixNanos };
    }
    return this.#changed(before, layout, origin);
  }

  /** Makes the roll-up that `read` returned last the one to compare with. */
  accept(delta: RollupDelta<T>): void {
    if (delta.kind === 'unchanged') return;
    if (this.#pending?.delta !== delta) throw new Error('accept() takes the result of the last read() only');
    const { baseline } = this.#pending;
    // A copy, so that neither the caller's buffer nor the network frame around it has to live on.
    this.#baseline = { ...baseline, bytes: Buffer.from(baseline.bytes) };
    this.#pending = undefined;
  }

  #changed(before: Baseline<T> | undefined, layout: Layout, origin: Int32Array): ChangedRollup<T> {
    const { bytes, from, to, hashes, clusterId, timestampUnixNanos } = layout;
    const count = from.length;
    const needs: T[] = [];
    const runs: MapRuns = new Int32Array(count * RUN_WIDTH);
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const at = origin[i]!;
      if (before !== undefined && at >= 0) {
        needs.push(before.needs[at]!);
        for (let k = 0; k < RUN_WIDTH; k++) runs[i * RUN_WIDTH + k] = before.runs[at * RUN_WIDTH + k]!;
        hashes[i] = before.hashes[at]!;
        kept++;
        continue;
      }
      const entries = checkNeed(bytes, from[i]!, to[i]!, runs, i * RUN_WIDTH);
      const need = decodeStrict(CapacityNeed, bytes.subarray(from[i]!, to[i]!), from[i]!);
      if (need.aggregateResources.size + need.minUnit.size !== entries) makeRigid(runs, i * RUN_WIDTH);
      needs.push(this.#convert(need, i));
    }
    const delta: ChangedRollup<T> = {
      kind: 'changed',
      clusterId,
      timestampUnixNanos,
      needs,
      origin,
      added: count - kept,
      removed: (before?.needs.length ?? 0) - kept,
      kept,
    };
    this.#pending = { delta, baseline: { ...layout, needs, runs } };
    return delta;
  }
}

/**
 * The fast way: byte for byte the accepted roll-up but for the number in its last timestamp field. As the
 * accepted one was well-formed, so is this one, and nothing needs to be walked. Undefined if it is not so.
 */
function stampIfOnlyThatDiffers(before: Layout, bytes: Buffer, cursor: WireCursor): bigint | undefined {
  const { stampField, stampFrom, stampTo } = before;
  if (stampTo === 0) return before.bytes.equals(bytes) ? 0n : undefined;
  if (bytes.length <= stampFrom || before.bytes.compare(bytes, 0, stampFrom, 0, stampFrom) !== 0) {
    return undefined;
  }
  let end = stampFrom;
  while (end < bytes.length && bytes[end]! >= 0x80) end++;
  end++;
  if (before.bytes.length - stampTo !== bytes.length - end) return undefined;
  if (before.bytes.compare(bytes, end, bytes.length, stampTo, before.bytes.length) !== 0) return undefined;
  // Walks the timestamp alone, to refuse a number of more than 64 bits.
  cursor.reset(bytes, stampField, end).finish();
  return readInt64(bytes, stampFrom);
}

/** Finds the parts of a roll-up. Singular fields follow the protobuf rule that the last one wins. */
function scan(bytes: Buffer, cursor: WireCursor): Layout {
  const from: number[] = [];
  const to: number[] = [];
  let clusterId = '';
  let stampField = 0;
  let stampFrom = 0;
  let stampTo = 0;
  cursor.reset(bytes, 0, bytes.length);
  while (cursor.next()) {
    if (cursor.field === NEEDS && cursor.type === WIRE.bytes) {
      from.push(cursor.valueStart);
      to.push(cursor.pos);
    } else if (cursor.field === TIMESTAMP && cursor.type === WIRE.varint) {
      stampField = cursor.start;
      stampFrom = cursor.valueStart;
      stampTo = cursor.pos;
    } else if (cursor.field === CLUSTER_ID && cursor.type === WIRE.bytes) {
      clusterId = decodeText(bytes, cursor.valueStart, cursor.pos);
    }
  }
  return {
    bytes,
    clusterId,
    timestampUnixNanos: stampTo === 0 ? 0n : readInt64(bytes, stampFrom),
    stampField,
    stampFrom,
    stampTo,
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    hashes: new Int32Array(from.length),
  };
}

function isSame(before: Layout, layout: Layout, origin: Int32Array): boolean {
  return (
    origin.length === before.from.length &&
    layout.clusterId === before.clusterId &&
    origin.every((at, index) => at === index)
  );
}

/** For each need the place of the same need in the accepted roll-up, or -1. No place is given out twice. */
function findOrigins<T>(before: Baseline<T> | undefined, layout: Layout): Int32Array {
  const origin = new Int32Array(layout.from.length).fill(-1);
  if (before === undefined) return origin;
  const taken = new Uint8Array(before.from.length);
  const missed = matchInOrder(before, layout, origin, taken);
  if (missed.length > 0) matchByHash(before, layout, origin, taken, missed);
  return origin;
}

/**
 * First pass: needs mostly stay in their order, so try the place after the last match. After `run` misses in a
 * row it tries two places: `next`, as if those needs had been inserted, and `next + run`, as if they had
 * replaced others; without misses the second place is one further on, as if one need had been removed.
 */
function matchInOrder<T>(before: Baseline<T>, now: Layout, origin: Int32Array, taken: Uint8Array): number[] {
  const missed: number[] = [];
  let next = 0;
  let run = 0;
  for (let i = 0; i < origin.length; i++) {
    const second = next + Math.max(run, 1);
    const at = isNeedAt(before, next, now, i) ? next : isNeedAt(before, second, now, i) ? second : -1;
    if (at < 0) {
      missed.push(i);
      run++;
      continue;
    }
    origin[i] = at;
    taken[at] = 1;
    next = at + 1;
    run = 0;
  }
  return missed;
}

/** Second pass, for needs that moved: looks them up among the places that are still free. */
function matchByHash<T>(
  before: Baseline<T>,
  now: Layout,
  origin: Int32Array,
  taken: Uint8Array,
  missed: readonly number[],
): void {
  const free = new Map<number, number[]>();
  const beforeView = viewOf(before.bytes);
  for (let at = 0; at < taken.length; at++) {
    if (taken[at] === 1) continue;
    before.hashes[at] ||= hashNeed(beforeView, before.bytes, before.from[at]!, before.to[at]!);
    const chain = free.get(before.hashes[at]!);
    if (chain === undefined) free.set(before.hashes[at]!, [at]);
    else chain.push(at);
  }
  if (free.size === 0) return;
  const view = viewOf(now.bytes);
  for (const i of missed) {
    const hash = hashNeed(view, now.bytes, now.from[i]!, now.to[i]!);
    now.hashes[i] = hash;
    const chain = free.get(hash);
    if (chain === undefined) continue;
    const last = chain.length - 1;
    for (let c = last; c >= 0 && c > last - MAX_CHAIN; c--) {
      if (!isNeedAt(before, chain[c]!, now, i)) continue;
      origin[i] = chain[c]!;
      // Removes by moving the last one into the gap: constant time, however many equal needs there are.
      chain[c] = chain[last]!;
      chain.pop();
      break;
    }
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether need `i` of `now` is the one at place `at` before. */
function isNeedAt<T>(before: Baseline<T>, at: number, now: Layout, i: number): boolean {
  if (at >= before.from.length) return false;
  const from = before.from[at]!;
  const nowFrom = now.from[i]!;
  const length = now.to[i]! - nowFrom;
  // Another order of map entries does not change the length.
  if (before.to[at]! - from !== length) return false;
  return sameNeed(before.bytes, from, now.bytes, nowFrom, length, before.runs, at * RUN_WIDTH);
}
