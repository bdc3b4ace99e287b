// Finds, for each row of a roll-up, the same row in the accepted one, by comparing bytes: first in order, then by hash.
// Used by rollup.ts.

import { hashNeed, RUN_WIDTH, sameNeed } from './need-bytes.ts';
import { MAX_ROW_BYTES } from './need-limits.ts';
import type { Baseline, Layout } from './rollup-layout.ts';
import { Steps } from './steps.ts';

/** Needs of equal hash that are compared before the search gives up and decodes; a bound, never an error. */
const MAX_CHAIN = 8;

/** For each need the place of the same need in the accepted roll-up, or -1. No place is given out twice. */
export function* findOrigins<T>(
  before: Baseline<T> | undefined,
  layout: Layout,
): Generator<undefined, Int32Array> {
  const origin = new Int32Array(layout.from.length).fill(-1);
  if (before === undefined) return origin;
  const taken = new Uint8Array(before.from.length);
  const missed = yield* matchInOrder(before, layout, origin, taken);
  if (missed.length > 0) yield* matchByHash(before, layout, origin, taken, missed);
  return origin;
}

/**
 * First pass: needs mostly stay in their order, so try the place after the last match. After `run` misses in a
 * row it tries two places: `next`, as if those needs had been inserted, and `next + run`, as if they had
 * replaced others; without misses the second place is one further on, as if one need had been removed.
 */
function* matchInOrder<T>(
  before: Baseline<T>,
  now: Layout,
  origin: Int32Array,
  taken: Uint8Array,
): Generator<undefined, number[]> {
  const missed: number[] = [];
  const steps = new Steps();
  let next = 0;
  let run = 0;
  for (let i = 0; i < origin.length; i++) {
    if (steps.isOver(0)) yield;
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
function* matchByHash<T>(
  before: Baseline<T>,
  now: Layout,
  origin: Int32Array,
  taken: Uint8Array,
  missed: readonly number[],
): Generator<undefined, void> {
  const steps = new Steps();
  const free = new Map<number, number[]>();
  const beforeView = viewOf(before.bytes);
  for (let at = 0; at < taken.length; at++) {
    if (taken[at] === 1) continue;
    if (steps.isOver(before.to[at]! - before.from[at]!)) yield;
    before.hashes[at] ||= hashNeed(beforeView, before.bytes, before.from[at]!, before.to[at]!);
    const chain = free.get(before.hashes[at]!);
    if (chain === undefined) free.set(before.hashes[at]!, [at]);
    else chain.push(at);
  }
  if (free.size === 0) return;
  const view = viewOf(now.bytes);
  for (const i of missed) {
    const length = now.to[i]! - now.from[i]!;
    // A row beyond its limits is in no baseline; its bytes need not be looked at.
    if (length > MAX_ROW_BYTES) continue;
    if (steps.isOver(length)) yield;
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
