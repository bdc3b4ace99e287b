// What a roll-up changes. Nearly all its rows say what they said last time, and those that an intake recognised are the
// very objects of last time: they are told apart from the new ones without looking into them.

import { BigFleetError, mergeNeeds, type Need, printable, setAside } from '../model/index.ts';
import type { Dimensions } from './vectors.ts';

/** In place of a place: the row stood nowhere before. */
export const NOWHERE = -1;

/** What the rows of a cluster were last written from. */
export interface Reported {
  /** A list of the ledger's own: whoever reported them may go on to change theirs. */
  readonly needs: Need[];
  /** By row of the report: its place among the cluster's rows. */
  readonly places: Int32Array;
  readonly beyond: BeyondLimit;
}

/** Rows of a report that the ledger set aside because they name a resource beyond the limit. */
export interface BeyondLimit {
  /** By row as reported: the row that is in force. */
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

/** A roll-up that was found good, compared with the rows before it. */
export interface RollUp {
  readonly before: Reported;
  readonly needs: readonly Need[];
  /** By row of the report: the place it had before, or `NOWHERE`. */
  readonly origin: Int32Array;
  /** Rows of the report that stood there before with other amounts. */
  readonly amended: readonly number[];
  /** Rows of the report that stood nowhere before. */
  readonly added: readonly number[];
  readonly beyond: BeyondLimit;
}

/**
 * For each row of a report the place where the very same object stood before, or `NOWHERE`. No place appears twice.
 * Objects are looked for in the order of the last report: behind the one found last, with none or all of those that
 * were not found since having taken the place of others. One that moved elsewhere is not found.
 *
 * `Object.is` compares addresses; `===` would first look into both objects for what they are, and they lie anywhere.
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

/** The list that was kept of the last report, with what is in this one; a new list for every report would be much to collect. */
export function takenOver(kept: Need[], needs: readonly Need[]): Need[] {
  if (kept === NOTHING_REPORTED.needs) return needs.slice();
  kept.length = needs.length;
  for (let i = 0; i < needs.length; i++) if (!Object.is(kept[i], needs[i])) kept[i] = needs[i]!;
  return kept;
}

/** Puts 1 in the places where a row of the report stood before, and 0 in the others. */
export function markStaying(origin: Int32Array, stays: Uint8Array): Uint8Array {
  stays.fill(0);
  for (let i = 0; i < origin.length; i++) if (origin[i] !== NOWHERE) stays[origin[i]!] = 1;
  return stays;
}

/**
 * Gives the resources of some rows of a roll-up a dimension each, row by row, and returns which rows are beyond the limit.
 * Dimensions are never given up, so rows that were beyond it before still are.
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

/** Refuses a row that names another cluster than its roll-up. */
export function refuseStray(cluster: string, need: Need, index: number): never {
  const named = printable(need.cluster);
  const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
  throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${index}].cluster` });
}

/** Whether two rows of a cluster have the same key. Groups are names of jobs, and as a rule all different. */
export function haveSharedKeys(needs: readonly Need[]): boolean {
  if (new Set(needs.map(({ group }) => group)).size === needs.length) return false;
  return mergeNeeds(needs).length < needs.length;
}
