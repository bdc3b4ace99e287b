// What a roll-up changes. Nearly all its rows say what they said last time, and those that an intake recognised are the
// very objects of last time: they are told apart from the new ones without looking into them.

import { compareRank, type Need } from '../model/index.ts';

/** In place of a place: the row stood nowhere before. */
export const NOWHERE = -1;

/** The rows of a cluster as last written. */
export interface Reported {
  /** In rank order. */
  readonly rows: readonly Need[];
  /** In the order of the report: the place of each among `rows`. */
  readonly places: Uint32Array;
}

export const NOTHING_REPORTED: Reported = { rows: [], places: new Uint32Array(0) };

/** A roll-up that was found good, compared with the rows before it. */
export interface RollUp {
  readonly before: Reported;
  readonly after: Reported;
  /** By row, in rank order: the place it had before, or `NOWHERE`. Ascending but for those. */
  readonly origin: Int32Array;
  /** Places of rows that stood there before with other amounts. */
  readonly amended: readonly number[];
  /** Rows that stood nowhere before. */
  readonly added: number;
}

/**
 * For each row of a report the place where the very same object stood before, or `NOWHERE`. No place appears twice.
 * Objects are looked for in the order of the last report: behind the one found last, with none or all of those that
 * were not found since having taken the place of others. One that moved elsewhere is not found.
 */
export function sameObjects({ rows, places }: Reported, needs: readonly Need[]): Int32Array {
  const origin = new Int32Array(needs.length).fill(NOWHERE);
  let next = 0;
  let missed = 0;
  for (let i = 0; i < needs.length; i++) {
    const need = needs[i]!;
    const second = next + Math.max(missed, 1);
    if (next < places.length && rows[places[next]!] === need) origin[i] = places[next++]!;
    else if (second < places.length && rows[places[second]!] === need) {
      origin[i] = places[second]!;
      next = second + 1;
    } else {
      missed++;
      continue;
    }
    missed = 0;
  }
  return origin;
}

/**
 * The rows in rank order. Those that had a place before keep their order, and the new ones are put in between.
 * `origin` and `amended` are by row of the report; `isAhead` tells whether a new row comes before the one at a place.
 */
export function inRankOrder(
  before: Reported,
  needs: readonly Need[],
  origin: Int32Array,
  amended: readonly number[],
  isAhead: (need: Need, place: number) => boolean,
): RollUp {
  const reportedAt = new Int32Array(before.rows.length).fill(NOWHERE);
  const added: number[] = [];
  for (let i = 0; i < needs.length; i++) {
    if (origin[i] === NOWHERE) added.push(i);
    else reportedAt[origin[i]!] = i;
  }
  added.sort((a, b) => compareRank(needs[a]!, needs[b]!));
  const rows: Need[] = [];
  const places = new Uint32Array(needs.length);
  const origins = new Int32Array(needs.length);
  const put = (i: number): void => {
    places[i] = rows.length;
    origins[rows.length] = origin[i]!;
    rows.push(needs[i]!);
  };
  let next = 0;
  for (let place = 0; place < reportedAt.length; place++) {
    const i = reportedAt[place]!;
    if (i === NOWHERE) continue;
    while (next < added.length && isAhead(needs[added[next]!]!, place)) put(added[next++]!);
    put(i);
  }
  while (next < added.length) put(added[next++]!);
  const after = { rows, places };
  const amendedRows = amended.map((i) => places[i]!);
  return { before, after, origin: origins, amended: amendedRows, added: added.length };
}
