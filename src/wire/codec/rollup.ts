// Reads roll-ups of one cluster and says what changed. A roll-up is always complete, and nearly always the
// last one again with a new timestamp, so unchanged needs are recognised by their bytes and not decoded. Everything is
// counted on the bytes before anything is decoded, and the work is cut into short steps, so that no roll-up, however
// large or hostile, holds up those of other clusters.
// frames.ts passes in the bytes, need-bytes.ts compares single needs, the conversion to the model is a `RowReader`.

import type { Problem } from '../../model/index.ts';
import { CapacityNeed } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { WireCursor } from './cursor.ts';
import { decodeStrict } from './decode.ts';
import { checkNeed, type MapRuns, makeRigid, RUN_WIDTH, withoutAmounts } from './need-bytes.ts';
import { type Excess, RowCount } from './need-limits.ts';
import {
  type Baseline,
  isSame,
  type Layout,
  onlyRows,
  scan,
  withoutHiddenRows,
  withSameRows,
} from './rollup-layout.ts';
import { findOrigins } from './rollup-origins.ts';
import { finished, Steps } from './steps.ts';

/** Same cluster and the same needs in the same order as the accepted roll-up; only the time and the node facts differ. */
interface UnchangedRollup {
  readonly kind: 'unchanged';
  readonly timestampUnixNanos: bigint;
  /** The encoded node facts, a view of the bytes read; empty if there are none. */
  readonly nodeFacts: Uint8Array;
}

export interface ChangedRollup<T> {
  readonly kind: 'changed';
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  /** The encoded node facts, a view of the bytes read; empty if there are none. */
  readonly nodeFacts: Uint8Array;
  /** All needs, in the order of the wire. Those that were there before are the same objects as before. */
  readonly needs: readonly T[];
  /** Per need its place in the accepted roll-up, or -1 if it is new. No place appears twice. */
  readonly origin: Int32Array;
  /** If nothing was added or removed, the order or the cluster id changed, or this is the first roll-up. */
  readonly added: number;
  readonly removed: number;
  readonly kept: number;
  /** Rows beyond a limit. Later roll-ups are not compared with them, and their places count without them. */
  readonly excessive: { has(row: number): boolean };
}

/** Not read any further, for the reasons that `admit` or a limit gives. */
interface RefusedRollup {
  readonly kind: 'refused';
  readonly timestampUnixNanos: bigint;
  readonly problems: readonly Problem[];
}

export type RollupReading<T> = UnchangedRollup | ChangedRollup<T> | RefusedRollup;

/** How large a roll-up is, known before any of its rows is decoded. */
export interface RollupSize {
  readonly clusterId: string;
  readonly rows: number;
  /** Rows of ordinary size that cost as much: a row with 4,096 values weighs as much as 129 plain ones. */
  readonly weight: number;
  /** Bytes that would be kept to compare the next roll-up with. */
  readonly keptBytes: number;
}

/** Converts rows of a roll-up to the caller's form. Called for new rows only. */
export interface RowReader<T> {
  /** A row within its limits. */
  decoded(need: CapacityNeed, index: number): T;
  /** A row beyond a limit. `need` has no amounts; it is null where the limit hides the key. Absent: no limits apply. */
  readonly excessive?: (excess: Excess, need: CapacityNeed | null, index: number) => T;
}

/**
 * Keeps the last accepted roll-up of one cluster. `read` never changes it, whatever it is given; `accept` makes
 * the roll-up just read the new one, once the caller has found it valid. So a refused or malformed roll-up
 * leaves the last good one in place.
 *
 * Decoded needs are large (two maps each), so `rows` should make something smaller of them. What it throws comes out of
 * `read`.
 */
export class RollupReader<T> {
  readonly #rows: RowReader<T>;
  readonly #count = new RowCount();
  #baseline: Baseline<T> | undefined;
  /**
   * By result of a read that is not accepted yet: the baseline it would become. Weak, because most callers drop refused
   * results without a call, and a frame with all its rows would otherwise stay in memory until the cluster's next one.
   */
  readonly #pending = new WeakMap<
    ChangedRollup<T>,
    { readonly baseline: Baseline<T>; readonly reading: number }
  >();
  #readings = 0;

  constructor(rows: RowReader<T>) {
    this.#rows = rows;
  }

  /**
   * The timestamp and the node facts, if these are the bytes of the accepted roll-up apart from them; else null, also where
   * they are malformed. Cheap: no row is walked, and `read` recognises more.
   */
  repeats(message: Uint8Array): { readonly timestampUnixNanos: bigint; readonly facts: Uint8Array } | null {
    if (this.#baseline?.isWhole !== true) return null;
    return withSameRows(this.#baseline, bufferOf(message)) ?? null;
  }

  /** Reads a roll-up in one go. */
  read(message: Uint8Array): RollupReading<T> {
    return finished(this.reading(message));
  }

  /**
   * Reads a roll-up step by step: each `next` takes a fraction of a millisecond, so that the caller can yield to other
   * clusters. One reading at a time. The bytes must not change until the result is accepted or dropped, and are not
   * referenced afterwards. `admit` is called once the size is known and before any row is decoded; problems end the
   * reading.
   */
  *reading(
    message: Uint8Array,
    { maxRows = Number.POSITIVE_INFINITY, admit = () => [] }: ReadingLimits = {},
  ): Generator<undefined, RollupReading<T>> {
    this.#readings++;
    const bytes = bufferOf(message);
    const before = this.#baseline;
    if (before?.isWhole === true) {
      const same = withSameRows(before, bytes);
      if (same !== undefined) {
        const { timestampUnixNanos, facts: nodeFacts } = same;
        return { kind: 'unchanged', timestampUnixNanos, nodeFacts };
      }
    }
    const layout = scan(bytes, new WireCursor(), maxRows);
    const { timestampUnixNanos } = layout;
    if ('problem' in layout) return { kind: 'refused', timestampUnixNanos, problems: [layout.problem] };
    const origin = yield* findOrigins(before, layout);
    if (before !== undefined && isSame(before, layout, origin))
      return { kind: 'unchanged', timestampUnixNanos, nodeFacts: layout.facts };
    const checked = yield* this.#check(before, layout, origin);
    const problems = admit(checked.size);
    if (problems.length > 0) return { kind: 'refused', timestampUnixNanos, problems };
    return yield* this.#changed(before, layout, origin, checked);
  }

  /** Makes the roll-up that was read last the one to compare with. */
  accept(delta: RollupReading<T>): void {
    if (delta.kind !== 'changed') return;
    const pending = this.#pending.get(delta);
    if (pending?.reading !== this.#readings)
      throw new Error('accept() takes the result of the last read() only');
    const { baseline } = pending;
    // A copy, so that the caller's buffer and the network frame around it can be collected. The node facts are not part of it.
    const { bytes, tailFrom } = baseline;
    this.#baseline = baseline.isWhole
      ? {
          ...baseline,
          bytes: Buffer.from(bytes.subarray(0, tailFrom < 0 ? bytes.length : tailFrom)),
          facts: NO_FACTS,
        }
      : { ...withoutHiddenRows(baseline), facts: NO_FACTS };
    this.#pending.delete(delta);
  }

  /** Walks the new rows: well-formed, within limits, how large. Decodes nothing. */
  *#check(
    before: Baseline<T> | undefined,
    layout: Layout,
    origin: Int32Array,
  ): Generator<undefined, Checked> {
    const { bytes, from, to, clusterId, facts } = layout;
    const rows = from.length;
    const runs: MapRuns = new Int32Array(rows * RUN_WIDTH);
    const weights = new Uint16Array(rows);
    const entries = new Uint16Array(rows);
    const excesses = new Map<number, Excess>();
    const steps = new Steps();
    let weight = 0;
    let hiddenBytes = 0;
    for (let i = 0; i < rows; i++) {
      const at = origin[i]!;
      if (before !== undefined && at >= 0) {
        for (let k = 0; k < RUN_WIDTH; k++) runs[i * RUN_WIDTH + k] = before.runs[at * RUN_WIDTH + k]!;
        weights[i] = before.weights[at]!;
      } else {
        checkNeed(bytes, from[i]!, to[i]!, runs, i * RUN_WIDTH, this.#count);
        weights[i] = this.#count.weight;
        entries[i] = this.#count.entries;
        const { excess } = this.#count;
        if (excess !== null && this.#rows.excessive !== undefined) {
          excesses.set(i, excess);
          // Nothing is decoded or kept of such a row but a remark.
          weights[i] = 1;
          hiddenBytes += to[i]! - from[i]!;
        }
      }
      weight += weights[i]!;
      if (steps.isOver(to[i]! - from[i]!)) yield;
    }
    const size = { clusterId, rows, weight, keptBytes: bytes.length - facts.length - hiddenBytes };
    return { runs, weights, entries, excesses, size };
  }

  *#changed(
    before: Baseline<T> | undefined,
    layout: Layout,
    origin: Int32Array,
    { runs, weights, entries, excesses }: Checked,
  ): Generator<undefined, ChangedRollup<T>> {
    const { bytes, from, to, hashes, clusterId, timestampUnixNanos, facts } = layout;
    const count = from.length;
    const needs: T[] = [];
    const steps = new Steps();
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const at = origin[i]!;
      const excess = excesses.get(i);
      if (before !== undefined && at >= 0) {
        needs.push(before.needs[at]!);
        hashes[i] = before.hashes[at]!;
        kept++;
      } else if (excess !== undefined) {
        needs.push(this.#rows.excessive!(excess, keyedNeed(excess, bytes, from[i]!, to[i]!), i));
      } else {
        const need = decodeStrict(CapacityNeed, bytes.subarray(from[i]!, to[i]!), from[i]!);
        if (need.aggregateResources.size + need.minUnit.size !== entries[i]) makeRigid(runs, i * RUN_WIDTH);
        needs.push(this.#rows.decoded(need, i));
      }
      if (steps.isOver(at >= 0 ? 0 : to[i]! - from[i]!)) yield;
    }
    const delta: ChangedRollup<T> = {
      kind: 'changed',
      clusterId,
      timestampUnixNanos,
      nodeFacts: facts,
      needs,
      origin,
      added: count - kept,
      removed: (before?.needs.length ?? 0) - kept,
      kept,
      excessive: excesses,
    };
    const isWhole = excesses.size === 0;
    const baseline = isWhole
      ? { ...layout, needs, runs, weights, isWhole }
      : onlyRows({ ...layout, needs, runs, weights, isWhole }, (i) => !excesses.has(i));
    this.#pending.set(delta, { baseline, reading: this.#readings });
    return delta;
  }
}

/** What `reading` may be held to. */
export interface ReadingLimits {
  readonly maxRows?: number;
  readonly admit?: (size: RollupSize) => readonly Problem[];
}

interface Checked {
  readonly runs: MapRuns;
  readonly weights: Uint16Array;
  /** Map entries of each new row on the wire. */
  readonly entries: Uint16Array;
  /** By row: the limit that it exceeds. */
  readonly excesses: ReadonlyMap<number, Excess>;
  readonly size: RollupSize;
}

/** The row without its amounts, if the limit it exceeds hides no more than those. */
function keyedNeed(excess: Excess, bytes: Buffer, from: number, to: number): CapacityNeed | null {
  if (excess.hides === 'key') return null;
  return decodeStrict(CapacityNeed, withoutAmounts(bytes, from, to), from);
}

const NO_FACTS = Buffer.alloc(0);

function bufferOf(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}
