// Turns of lanes: which rows each lane has served, as sequence numbers in shared memory. A row's sequence number is its
// place in rank order. Before a row reads free machines, its lane compares these numbers with those of the other lanes:
// where another lane is behind, that is a conflict, and the lane waits. So free machines are read and taken in rank order
// wherever two lanes could use the same ones, and the result is that of serving all rows one by one. Used by lane.ts.

import { sharedInt32 } from '../../collections/columns.ts';

/** Offsets in the control block: what concerns all lanes, then the numbers of each lane. */
const Place = {
  /** 1 if a lane cannot go on; the others end as well. */
  Abandoned: 0,
  /** Threads that are parked, or about to be. */
  Parked: 1,
  Lanes: 16,
} as const;

/** Offsets among the numbers of a lane. */
const OfLane = {
  /** The first row of the lane that is not served. */
  Next: 0,
  /** The first row of the lane that crosses (territories.ts) and is not served. */
  NextCrossing: 1,
  /** End of its claims. */
  ClaimsEnd: 2,
  /** Lanes write their numbers for every row, so each has a cache line of its own. */
  Length: 16,
} as const;

/** Larger than every sequence number. */
export const NO_ROW = 0x7fffffff;

/** Reads of shared memory in one retry. */
const READS_PER_RETRY = 5_000;
/** Bound of one wait in milliseconds, after which the state is read again. */
const PARK_MS = 5;

/** Memory of the turns of as many lanes as there are starts of claims. */
export function turnsMemory(claimsStart: readonly number[]): Int32Array {
  const control = sharedInt32(Place.Lanes + claimsStart.length * OfLane.Length);
  for (const [lane, start] of claimsStart.entries()) control[placeOf(lane) + OfLane.ClaimsEnd] = start;
  return control;
}

/** What a lane that may not go on waits for. */
interface Obstacle {
  readonly place: number;
  readonly value: number;
}

/** The turns as one lane sees them. */
export class Turns {
  readonly #control: Int32Array;
  readonly #lane: number;
  readonly #others: readonly number[];
  /** By lane: its numbers as last read. They only rise, so a row below them needs no other read. */
  readonly #seenNext: Int32Array;
  readonly #seenCrossing: Int32Array;
  #obstacle: Obstacle | null = null;

  constructor(control: Int32Array, lane: number, lanes: number) {
    this.#control = control;
    this.#lane = lane;
    this.#others = Array.from({ length: lanes }, (_, other) => other).filter((other) => other !== lane);
    this.#seenNext = new Int32Array(lanes);
    this.#seenCrossing = new Int32Array(lanes);
  }

  /** The lane has served its rows up to these, which are the next; its claims end at an index of `claims.slots`. */
  advance(next: number, nextCrossing: number, claimsEnd: number): void {
    const control = this.#control;
    const at = placeOf(this.#lane);
    // Plain writes become visible with the atomic write that follows.
    control[at + OfLane.ClaimsEnd] = claimsEnd;
    const crossed = control[at + OfLane.NextCrossing] !== nextCrossing;
    if (crossed) Atomics.store(control, at + OfLane.NextCrossing, nextCrossing);
    Atomics.store(control, at + OfLane.Next, next);
    if (Atomics.load(control, Place.Parked) === 0) return;
    if (crossed) Atomics.notify(control, at + OfLane.NextCrossing);
    Atomics.notify(control, at + OfLane.Next);
  }

  /**
   * Whether the lane may serve a row from free machines: a row that crosses, once all better-ranked rows of the other
   * lanes are served; any other row, once those that cross are.
   */
  mayServe(row: number, crosses: boolean): boolean {
    const seen = crosses ? this.#seenNext : this.#seenCrossing;
    const number = crosses ? OfLane.Next : OfLane.NextCrossing;
    for (const other of this.#others) {
      if (seen[other]! > row) continue;
      const place = placeOf(other) + number;
      const value = Atomics.load(this.#control, place);
      seen[other] = value;
      if (value > row) continue;
      this.#obstacle = { place, value };
      return false;
    }
    return true;
  }

  /**
   * Waits, after `mayServe` was false, until the other lane has gone on: reads its number up to `retries` times a few hundred
   * times, then parks the thread. Returns whether it parked.
   */
  wait(retries: number): boolean {
    const { place, value } = this.#obstacle!;
    const control = this.#control;
    for (let i = 0; i < retries * READS_PER_RETRY; i++)
      if (Atomics.load(control, place) !== value) return false;
    Atomics.add(control, Place.Parked, 1);
    Atomics.wait(control, place, value, PARK_MS);
    Atomics.sub(control, Place.Parked, 1);
    return true;
  }

  /** End of another lane's claims; complete as far as `mayServe` allows the present row to read. */
  claimsEndOf(lane: number): number {
    return this.#control[placeOf(lane) + OfLane.ClaimsEnd]!;
  }

  get isAbandoned(): boolean {
    return Atomics.load(this.#control, Place.Abandoned) === 1;
  }
}

/** A lane has no rows. */
export function closeLane(control: Int32Array, lane: number): void {
  Atomics.store(control, placeOf(lane) + OfLane.NextCrossing, NO_ROW);
  Atomics.store(control, placeOf(lane) + OfLane.Next, NO_ROW);
}

/** Ends all lanes. */
export function abandon(control: Int32Array): void {
  Atomics.store(control, Place.Abandoned, 1);
}

function placeOf(lane: number): number {
  return Place.Lanes + lane * OfLane.Length;
}
