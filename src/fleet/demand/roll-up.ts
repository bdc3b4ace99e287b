// The difference between a roll-up and the previous one. Nearly all rows are unchanged, and the intake returns the same
// objects for rows it recognises, so unchanged rows are found by object identity.

import { BigFleetError, mergeNeeds, type Need, printable, setAside } from '../../model/index.ts';
import type { Dimensions } from '../tables/vectors.ts';

/** The row was not in the previous roll-up. */
export const NOWHERE = -1;

/** The roll-up that a cluster's rows were last written from. */
export interface Reported {
  /** The ledger's own copy: the caller may reuse its list. */
  readonly needs: Need[];
  /** By index in the report: the place within the cluster's block. */
  readonly places: Int32Array;
  readonly beyond: BeyondLimit;
}

/** Rows of a report that the ledger set aside because they name a resource beyond the limit. */
export interface BeyondLimit {
  /** By row as reported: the row in force. */
  readonly rows: ReadonlyMap<Need, Need>;
  /** The first resource without a dimension; '' if there are no such rows. */
  readonly resource: string;
}

const NOTHING_BEYOND: BeyondLimit = { rows: new Map(), resource: '' };
export const NOTHING_REPORTED: Reported = {
  needs: [],
  places: new Int32Array(0),
  beyond: NOTHING_BEYOND,
};

/** A valid roll-up, compared with the rows before it. */
export interface RollUp {
  readonly before: Reported;
  readonly needs: readonly Need[];
  /** By index in the report: the place it had before, or `NOWHERE`. */
  readonly origin: Int32Array;
  /** Indexes in the report of rows that existed before with other amounts. */
  readonly amended: readonly number[];
  /** Indexes in the report of new rows. */
  readonly added: readonly number[];
  readonly beyond: BeyondLimit;
}

/**
 * For each row of a report, the place of the identical object before, or `NOWHERE`. No place appears twice. The search
 * follows the order of the previous report and probes two positions: right after the last match (the rows missed since
 * were inserted), and after as many rows as were missed since, at least one (they replaced others). An object that moved
 * elsewhere is not found.
 *
 * `Object.is` compares addresses; `===` would first read the type of both objects, which costs cache misses.
 */
export function sameObjects(before: Reported, needs: readonly Need[]): Int32Array {
  const origin = new Int32Array(needs.length).fill(NOWHERE);
  const { length } = before.needs;
  let next = 0;
  let missed = 0;
  for (let i = 0; i < needs.length; i++) {
    const need = needs[i]!;
    const second = next + Math.max(missed, 1);
    if (next < length && Object.is(before.needs[next], need)) origin[i] = before.places[next++]!;
    else if (second < length && Object.is(before.needs[second], need)) {
      origin[i] = before.places[second]!;
      next = second + 1;
    } else {
      missed++;
      continue;
    }
    missed = 0;
  }
  return origin;
}

/** Updates the list kept of the previous report to this one. A new list per report would create much garbage. */
export function takenOver(kept: Need[], needs: readonly Need[]): Need[] {
  if (kept === NOTHING_REPORTED.needs) return needs.slice();
  kept.length = needs.length;
  for (let i = 0; i < needs.length; i++) if (!Object.is(kept[i], needs[i])) kept[i] = needs[i]!;
  return kept;
}

/** Writes 1 at places that a row of the report had before, and 0 at the others. */
export function markStaying(origin: Int32Array, stays: Uint8Array): Uint8Array {
  stays.fill(0);
  for (let i = 0; i < origin.length; i++) if (origin[i] !== NOWHERE) stays[origin[i]!] = 1;
  return stays;
}

/**
 * Assigns dimensions to the resources of the rows at indexes `others`, row by row, and returns the rows beyond the limit.
 * Dimensions are never freed, so rows that were beyond the limit before still are.
 */
export function admitRows(
  dimensions: Dimensions,
  { beyond: before }: Reported,
  needs: readonly Need[],
  others: readonly number[],
): BeyondLimit {
  const rows = new Map<Need, Need>();
  let { resource } = before;
  if (before.rows.size > 0) {
    for (const need of needs) {
      const known = before.rows.get(need);
      if (known !== undefined) rows.set(need, known);
    }
  }
  for (const i of others) {
    const need = needs[i]!;
    const { aggregate, minUnit } = need;
    if (need.setAside === true || (dimensions.knows(aggregate) && dimensions.knows(minUnit))) continue;
    const unknown = dimensions.tryAdmit([aggregate, minUnit]);
    if (unknown === undefined) continue;
    if (rows.size === 0) resource = unknown;
    rows.set(need, setAside(need));
  }
  return rows.size === 0 ? NOTHING_BEYOND : { rows, resource };
}

/** Refuses a row that names a cluster other than its roll-up's. */
export function refuseStray(cluster: string, need: Need, index: number): never {
  const named = printable(need.cluster);
  const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
  throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${index}].cluster` });
}

/** Whether two rows of a cluster share a key. Fast path: groups are names of jobs and usually all different. */
export function haveSharedKeys(needs: readonly Need[]): boolean {
  if (new Set(needs.map(({ group }) => group)).size === needs.length) return false;
  return mergeNeeds(needs).length < needs.length;
}
