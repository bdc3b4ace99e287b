// Requests between lanes, in shared memory: cluster lanes (cluster-lane.ts) say of each of their rows what it needs of the
// free machines, and the acquiring lane (acquiring-lane.ts) responds when it has acquired that. Rows are indexed by
// their place in rank order, in which the acquiring lane reads them.

import { sharedFloat64, sharedInt32, sharedUint8 } from '../../collections/columns.ts';
import type { ClaimRange } from '../assign/claims.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';

/** What a cluster lane says of a row. */
export const Answer = {
  /** Nothing yet. */
  None: 0,
  /** The row needs no free machines. */
  Served: 1,
  /** The row lacks amounts, and a machine that holds its largest pod is not among what it lacks, or is. */
  Lacks: 2,
  LacksUnit: 3,
  /** The row is a gang or a fold, which the acquiring lane serves as a whole. */
  Whole: 4,
} as const;
export type Answer = (typeof Answer)[keyof typeof Answer];

/** Offsets in the control block. Each number that is written for every row has a cache line of its own. */
const Place = {
  /** 1 if a lane cannot go on; the others end as well. As in turns.ts. */
  Abandoned: 0,
  /** Threads that are parked, or about to be. */
  Parked: 1,
  /** Changes when a thread is to be woken. */
  Signal: 2,
  /** Number of responses. */
  Responses: 32,
  Length: 64,
} as const;

/** Numbers of a response: ranked row, the part of `claims.slots` that it acquired, and 1 if it is unmet. */
const NUMBERS = 4;

/** Reads of shared memory in one retry. */
const READS_PER_RETRY = 5_000;
/** Bound of one wait in milliseconds, after which the state is read again. */
const PARK_MS = 5;

export interface RequestsMemory {
  readonly control: Int32Array;
  /** By place: a value of `Answer`. */
  readonly answers: Uint8Array;
  /** By place and dimension: what the row lacks. */
  readonly amounts: Float64Array;
  readonly responses: Int32Array;
  readonly dimensions: number;
}

/** Memory for requests of a number of rows; `before`: memory of an earlier pass, which is used again if it is large enough. */
export function requestsMemory(
  rows: number,
  dimensions: number,
  before: RequestsMemory | null,
): RequestsMemory {
  const control = sharedInt32(Place.Length);
  if (before === null || before.answers.length < rows || before.dimensions !== dimensions) {
    const room = Math.ceil(rows * 1.25);
    return {
      control,
      answers: sharedUint8(room),
      amounts: sharedFloat64(room * dimensions),
      responses: sharedInt32(room * NUMBERS),
      dimensions,
    };
  }
  before.answers.fill(Answer.None);
  return { ...before, control };
}

/** The requests as one lane sees them. */
export class Requests {
  readonly #control: Int32Array;
  readonly #answers: Uint8Array;
  readonly #amounts: Float64Array;
  readonly #responses: Int32Array;
  readonly #dimensions: number;
  /** Responses written or read by this lane, and, as last read, those written. */
  #count = 0;
  #seen = 0;

  constructor({ amounts, answers, control, dimensions, responses }: RequestsMemory) {
    this.#control = control;
    this.#answers = answers;
    this.#amounts = amounts;
    this.#responses = responses;
    this.#dimensions = dimensions;
  }

  /** A cluster lane says what a row needs; what it lacks is in `unfilled`. */
  answer(place: number, answer: Answer): void {
    Atomics.store(this.#answers, place, answer);
    this.#wake();
  }

  request(place: number, unfilled: Unfilled): void {
    unfilled.writeTo(this.#amounts, place * this.#dimensions);
    this.answer(place, unfilled.unitMissing ? Answer.LacksUnit : Answer.Lacks);
  }

  answerAt(place: number): Answer {
    return Atomics.load(this.#answers, place) as Answer;
  }

  /** Loads what a row lacks. */
  load(place: number, answer: Answer, row: number, unfilled: Unfilled): void {
    unfilled.loadFrom(row, this.#amounts, place * this.#dimensions, answer === Answer.LacksUnit);
  }

  /** The acquiring lane has served a row: it has acquired the machines in a part of `claims.slots`. */
  respond(rankedRow: number, from: number, to: number, isUnmet: boolean): void {
    const at = this.#count++ * NUMBERS;
    this.#responses[at] = rankedRow;
    this.#responses[at + 1] = from;
    this.#responses[at + 2] = to;
    this.#responses[at + 3] = isUnmet ? 1 : 0;
    Atomics.store(this.#control, Place.Responses, this.#count);
    this.#wake();
  }

  /** Index of the next response; NONE if there is none yet. */
  next(): number {
    if (this.#count === this.#seen) this.#seen = Atomics.load(this.#control, Place.Responses);
    return this.#count === this.#seen ? NONE : this.#count++;
  }

  rankedRowOf(response: number): number {
    return this.#responses[response * NUMBERS]!;
  }

  /** The part of `claims.slots` that the row acquired. */
  acquiredBy(response: number): ClaimRange {
    const at = response * NUMBERS;
    return { from: this.#responses[at + 1]!, to: this.#responses[at + 2]! };
  }

  isUnmet(response: number): boolean {
    return this.#responses[response * NUMBERS + 3] === 1;
  }

  #wake(): void {
    if (Atomics.load(this.#control, Place.Parked) === 0) return;
    Atomics.add(this.#control, Place.Signal, 1);
    Atomics.notify(this.#control, Place.Signal);
  }

  /** Waits until a row has an answer; returns whether the thread was parked. */
  awaitAnswer(place: number, retries: number): boolean {
    for (let i = 0; i < retries * READS_PER_RETRY; i++)
      if (Atomics.load(this.#answers, place) !== Answer.None) return false;
    this.#park(() => Atomics.load(this.#answers, place) === Answer.None);
    return true;
  }

  /** Waits until there is another response; returns whether the thread was parked. */
  awaitResponse(retries: number): boolean {
    const control = this.#control;
    for (let i = 0; i < retries * READS_PER_RETRY; i++)
      if (Atomics.load(control, Place.Responses) !== this.#count) return false;
    this.#park(() => Atomics.load(control, Place.Responses) === this.#count);
    return true;
  }

  #park(mustWait: () => boolean): void {
    const control = this.#control;
    Atomics.add(control, Place.Parked, 1);
    const signal = Atomics.load(control, Place.Signal);
    if (mustWait()) Atomics.wait(control, Place.Signal, signal, PARK_MS);
    Atomics.sub(control, Place.Parked, 1);
  }

  get isAbandoned(): boolean {
    return Atomics.load(this.#control, Place.Abandoned) === 1;
  }
}
