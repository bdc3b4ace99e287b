// A roll-up as the ledger is about to write it: the place of each row that stays, the rows that change, and the rows
// that the ledger sets aside. Made by pending-roll-ups.ts, written by demand-ledger.ts.

import {
  BigFleetError,
  FRESH,
  mergeNeeds,
  type Need,
  printable,
  type RollupDelta,
  setAside,
} from '../../model/index.ts';
import type { Dimensions } from '../tables/vectors.ts';

/** The row has no place in its cluster's block yet. */
export const NOWHERE = -1;

/** The roll-up that a cluster's rows were last written from. */
export interface Reported {
  readonly version: number;
  /** By index in the report: the place within the cluster's block. */
  readonly places: Int32Array;
  readonly beyond: BeyondLimit;
}

/** Rows of a report that the ledger set aside because they name a resource beyond the limit. */
interface BeyondLimit {
  /** Indexes in the report. */
  readonly rows: ReadonlySet<number>;
  /** The first resource without a dimension; '' if there are no such rows. */
  readonly resource: string;
}

const NOTHING_BEYOND: BeyondLimit = { rows: new Set(), resource: '' };
export const NOTHING_REPORTED: Reported = {
  version: 0,
  places: new Int32Array(0),
  beyond: NOTHING_BEYOND,
};

/** A valid roll-up, ready to be written. */
export interface RollUp {
  readonly before: Reported;
  readonly delta: RollupDelta;
  /** The fresh rows in force: like those of the delta, but set aside if they are beyond the limit. */
  readonly fresh: readonly Need[];
  /** By fresh row: its index in the report. */
  readonly indexes: Int32Array;
  /** By index in the report: the place it had before, or `NOWHERE`. */
  readonly places: Int32Array;
  /** Fresh rows whose keys had a row before, with other amounts. */
  readonly amended: readonly number[];
  /** Fresh rows that are new. */
  readonly added: readonly number[];
  readonly beyond: BeyondLimit;
}

/** The delta with the rows in force, for readers that do not know the ledger's limit. */
export function inForce({ delta, fresh }: RollUp): RollupDelta {
  return fresh === delta.fresh ? delta : { ...delta, fresh };
}

/** By index in the report: the place that the row's origin had before, or `NOWHERE`. */
export function placesBefore({ places }: Reported, { origin }: RollupDelta): Int32Array {
  const found = new Int32Array(origin.length);
  for (let i = 0; i < found.length; i++) found[i] = origin[i] === FRESH ? NOWHERE : places[origin[i]!]!;
  return found;
}

/** By fresh row: its index in the report. */
export function freshIndexes({ origin, fresh }: RollupDelta): Int32Array {
  const indexes = new Int32Array(fresh.length);
  let next = 0;
  for (let i = 0; i < origin.length; i++) if (origin[i] === FRESH) indexes[next++] = i;
  return indexes;
}

/** Writes 1 at places that a row of the report had before, and 0 at the others. */
export function markStaying(places: Int32Array, stays: Uint8Array): Uint8Array {
  stays.fill(0);
  for (let i = 0; i < places.length; i++) if (places[i] !== NOWHERE) stays[places[i]!] = 1;
  return stays;
}

/**
 * Assigns dimensions to the resources of the fresh rows, row by row, and sets aside those beyond the limit. Dimensions are
 * never freed, so rows that were beyond the limit before still are.
 */
export function admitRows(
  dimensions: Dimensions,
  { beyond: before }: Reported,
  { origin, fresh }: RollupDelta,
  indexes: Int32Array,
): Pick<RollUp, 'fresh' | 'beyond'> {
  const rows = new Set<number>();
  if (before.rows.size > 0) for (const [i, at] of origin.entries()) if (before.rows.has(at)) rows.add(i);
  let resource = rows.size > 0 ? before.resource : '';
  let admitted: Need[] | null = null;
  for (let i = 0; i < fresh.length; i++) {
    const need = fresh[i]!;
    const { aggregate, minUnit } = need;
    if (need.setAside === true || (dimensions.knows(aggregate) && dimensions.knows(minUnit))) continue;
    const unknown = dimensions.tryAdmit([aggregate, minUnit]);
    if (unknown === undefined) continue;
    if (rows.size === 0) resource = unknown;
    rows.add(indexes[i]!);
    admitted ??= fresh.slice();
    admitted[i] = setAside(need);
  }
  return { fresh: admitted ?? fresh, beyond: rows.size === 0 ? NOTHING_BEYOND : { rows, resource } };
}

/** Refuses a row that names a cluster other than its roll-up's. */
export function refuseStray(cluster: string, need: Need, index: number): never {
  const named = printable(need.cluster);
  const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
  throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${index}].cluster` });
}

/** Refuses a roll-up with two rows of one key. */
export function refuseShared(cluster: string): never {
  const detail = `The roll-up of cluster "${printable(cluster)}" has two rows with the same key.`;
  throw new BigFleetError('BF_ROLLUP_BASE', detail);
}

/** Whether two rows of a cluster share a key. Fast path: groups are names of jobs and usually all different. */
export function haveSharedKeys(needs: readonly Need[]): boolean {
  if (new Set(needs.map(({ group }) => group)).size === needs.length) return false;
  return mergeNeeds(needs).length < needs.length;
}
