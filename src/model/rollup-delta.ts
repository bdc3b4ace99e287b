// A roll-up as its difference from the previous one of its cluster. The wire compares a roll-up with its predecessor once;
// the guard, first-seen times, the controller's thread, the demand ledger and the journal all read the result.

import { BigFleetError } from './errors.ts';
import type { Need } from './need.ts';
import { excerpt } from './text.ts';

/** Origin of a row that was not in the base. */
export const FRESH = -1;

/** The `base` of a whole roll-up: all its rows are fresh, so it replaces whatever its reader has of the cluster. */
export const NO_BASE = 0;

/**
 * Invariants: no base row is the origin of two rows; as many origins are `FRESH` as there are fresh rows; a whole roll-up
 * has no other origins; all rows name `cluster`, and no two rows share a key. `keptRows` checks those that can be checked
 * without the rows of the base.
 */
export interface RollupDelta {
  readonly cluster: string;
  /** Version of the roll-up that it differs from, or `NO_BASE`. It applies to that roll-up only. */
  readonly base: number;
  /** Its own version, positive and unique among the roll-ups of its cluster; `NO_BASE` if no delta will refer to it. */
  readonly version: number;
  /** By row, in the order of the roll-up: its index in the base, or `FRESH`. */
  readonly origin: Int32Array;
  /** The fresh rows, in the order of the roll-up. */
  readonly fresh: readonly Need[];
}

/** The roll-up that a reader has of a cluster. */
export interface RollupBase {
  readonly version: number;
  readonly rows: number;
}

/** Before the first roll-up of a cluster. */
export const NO_ROLLUP: RollupBase = { version: NO_BASE, rows: 0 };

/** A complete list of Needs as a roll-up, for sources that do not compare. No two of them may share a key. */
export function wholeRollup(cluster: string, needs: readonly Need[], version: number = NO_BASE): RollupDelta {
  const origin = new Int32Array(needs.length).fill(FRESH);
  return { cluster, base: NO_BASE, version, origin, fresh: needs };
}

/**
 * By row of the base: 1 if the delta keeps it, 0 if not. Throws BF_ROLLUP_BASE if the delta differs from another base than
 * this one, or contradicts itself; its reader must then ask for the whole roll-up.
 */
export function keptRows(delta: RollupDelta, { version, rows }: RollupBase): Uint8Array<ArrayBuffer> {
  const { base, origin, fresh } = delta;
  if (base !== NO_BASE && base !== version) refuse(delta, `It differs from version ${base}, not ${version}`);
  const end = base === NO_BASE ? 0 : rows;
  const kept = new Uint8Array(rows);
  let found = 0;
  for (let i = 0; i < origin.length; i++) {
    const at = origin[i]!;
    if (at === FRESH) found++;
    else if (at < 0 || at >= end) refuse(delta, `Row ${i} has origin ${at} among ${end} rows`);
    else if (kept[at] === 1) refuse(delta, `Origin ${at} appears twice`);
    else kept[at] = 1;
  }
  if (found !== fresh.length) refuse(delta, `It has ${fresh.length} fresh rows for ${found} places`);
  return kept;
}

/** The complete list of rows; `base` is the complete list that the delta differs from. */
export function rowsAfter(base: readonly Need[], { origin, fresh }: RollupDelta): Need[] {
  const rows: Need[] = [];
  let next = 0;
  for (let i = 0; i < origin.length; i++) {
    const at = origin[i]!;
    rows.push(at === FRESH ? fresh[next++]! : base[at]!);
  }
  return rows;
}

/**
 * Two consecutive deltas as one, for a queue that keeps only the newest demand of each cluster. A row that left and came
 * back unchanged is fresh in the result.
 */
export function composed(first: RollupDelta, second: RollupDelta): RollupDelta {
  if (second.base === NO_BASE) return second;
  const base = { version: first.version, rows: first.origin.length };
  keptRows(second, base);
  const place = freshPlaces(first);
  const origin = composedOrigin(first.origin, second.origin);
  const fresh: Need[] = [];
  let next = 0;
  for (let i = 0; i < origin.length; i++) {
    const at = second.origin[i]!;
    if (at === FRESH) fresh.push(second.fresh[next++]!);
    else if (origin[i] === FRESH) fresh.push(first.fresh[place[at]!]!);
  }
  return { cluster: second.cluster, base: first.base, version: second.version, origin, fresh };
}

/** The origins of two consecutive deltas as one, in which the second one is not a whole roll-up. */
export function composedOrigin(first: Int32Array, second: Int32Array): Int32Array {
  return second.map((at) => (at === FRESH ? FRESH : first[at]!));
}

/** By row: its index among the fresh rows; undefined content for rows that are not fresh. */
function freshPlaces({ origin }: RollupDelta): Int32Array {
  const places = new Int32Array(origin.length);
  let next = 0;
  for (let i = 0; i < origin.length; i++) if (origin[i] === FRESH) places[i] = next++;
  return places;
}

function refuse({ cluster, version }: RollupDelta, why: string): never {
  const detail = `Roll-up ${version} of cluster "${excerpt(cluster)}" cannot be applied. ${why}.`;
  throw new BigFleetError('BF_ROLLUP_BASE', detail);
}
