// Schedules the reading of roll-ups. Reading is cut into steps; a turn takes a few milliseconds, then the event loop serves
// sockets, acks and other clusters. A roll-up that has not been begun precedes the rest of a long one, so a small roll-up
// never waits for a large one. All long roll-ups together use a quarter of the time, round-robin, because their results
// cost other threads and the garbage collector as much again.
//
// Each cluster has at most one roll-up that is being read and one that is queued, the newest. Two roll-ups of a
// cluster are begun at least `rollupIntervalMs` apart, and later if they take long: reading for one cluster takes at
// most 1 / READ_SHARE of the time. The steps are the caller's; the queue does not know what they read. Used by
// rollups.ts.

import type { Clock } from '../../runtime/clock.ts';

/** Length of a turn: after it the event loop runs other work. */
const TURN_MS = 5;
/** Length of a roll-up's first slice: about a thousand new rows. A roll-up that needs more is a long one. */
const FIRST_SLICE_MS = 10;
/** Length of each further slice of a long roll-up. */
const SLICE_MS = 2;
/** After a slice of t of a long roll-up, no long roll-up is read for LONG_PAUSE * t: they use a quarter of the time. */
const LONG_PAUSE = 3;
/** The next roll-up of a cluster is begun at the earliest READ_SHARE * t after the last one that took t to read. */
const READ_SHARE = 20;

/** Deadline of a slice that runs until the work is done. */
const FOR_GOOD = Number.POSITIVE_INFINITY;

export interface RollupWork {
  readonly cluster: string;
  /** Bytes that the work keeps in memory until it is done. */
  readonly bytes: number;
  /** Called when the work leaves the queue: it is begun, superseded or shed. */
  readonly begun?: () => void;
  /** A yielded promise suspends the work until the promise settles. */
  readonly steps: () => Generator<Promise<unknown> | undefined, void>;
}

interface QueueLimits {
  /** Bytes of all roll-ups that wait or are being read. */
  readonly waitingBytes: number;
  /** Least time between the beginnings of two roll-ups of a cluster. */
  readonly rollupIntervalMs: number;
}

export interface QueueParts {
  readonly clock: Clock;
  readonly limits: QueueLimits;
  /** A newer roll-up of its cluster came first. */
  readonly onSuperseded: (work: RollupWork) => void;
  /** It was the largest queued roll-up when the limit of bytes was exceeded. */
  readonly onShed: (work: RollupWork) => void;
}

interface Running {
  readonly work: RollupWork;
  readonly steps: Generator<Promise<unknown> | undefined, void>;
  readonly beganMs: number;
  spentMs: number;
}

export class RollupQueue {
  readonly #parts: QueueParts;
  /** By cluster: the newest roll-up that has not been begun. */
  readonly #waiting = new Map<string, RollupWork>();
  /** Clusters whose queued roll-up may be begun, first due first. */
  readonly #due = new Set<string>();
  /** By cluster: work that is being read, in round-robin order. */
  readonly #running = new Map<string, Running>();
  /** By cluster: work that was begun and waits for a promise. */
  readonly #parked = new Map<string, Running>();
  /** By cluster: the earliest time at which its next roll-up may be begun. */
  readonly #notBefore = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  #waitingBytes = 0;
  #runningBytes = 0;
  #cancelTurn: (() => void) | null = null;
  /** When the next slice of a long roll-up may be read. */
  #longNotBeforeMs = 0;
  #cancelLong: (() => void) | null = null;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  /** Roll-ups that wait or are being read, and their bytes. */
  get length(): number {
    return this.#waiting.size + this.#running.size + this.#parked.size;
  }

  get bytes(): number {
    return this.#waitingBytes + this.#runningBytes;
  }

  isWaiting(cluster: string): boolean {
    return this.#waiting.has(cluster);
  }

  /** Whether a roll-up of the cluster waits or is being read. */
  has(cluster: string): boolean {
    return this.#waiting.has(cluster) || this.#isBegun(cluster);
  }

  add(work: RollupWork): void {
    const { cluster } = work;
    const older = this.#waiting.get(cluster);
    if (older !== undefined) {
      this.#remove(older);
      this.#parts.onSuperseded(older);
    }
    this.#waiting.set(cluster, work);
    this.#waitingBytes += work.bytes;
    this.#shed();
    if (this.#waiting.get(cluster) !== work || this.#isBegun(cluster)) return;
    if (older === undefined || !this.#timers.has(cluster)) this.#schedule(cluster);
  }

  /** Runs the begun work of a cluster to its end, not waiting for its promises, so that the caller can change its state. */
  finish(cluster: string): void {
    const begun = this.#running.get(cluster) ?? this.#parked.get(cluster);
    if (begun === undefined) return;
    this.#parked.delete(cluster);
    this.#run(begun, FOR_GOOD);
  }

  close(): void {
    this.#cancelTurn?.();
    this.#cancelLong?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
    this.#due.clear();
    this.#running.clear();
    this.#parked.clear();
    this.#waitingBytes = this.#runningBytes = 0;
  }

  #isBegun(cluster: string): boolean {
    return this.#running.has(cluster) || this.#parked.has(cluster);
  }

  #remove(work: RollupWork): void {
    work.begun?.();
    this.#waiting.delete(work.cluster);
    this.#due.delete(work.cluster);
    this.#waitingBytes -= work.bytes;
  }

  /** Drops the largest queued roll-ups until the limit is met, so that large senders do not shut out small ones. */
  #shed(): void {
    while (this.bytes > this.#parts.limits.waitingBytes && this.#waiting.size > 0) {
      let largest: RollupWork | null = null;
      for (const work of this.#waiting.values())
        if (largest === null || work.bytes > largest.bytes) largest = work;
      this.#remove(largest!);
      this.#parts.onShed(largest!);
    }
  }

  /** Makes the queued roll-up of a cluster due now, or at its earliest time. */
  #schedule(cluster: string): void {
    const { clock } = this.#parts;
    const leftMs = (this.#notBefore.get(cluster) ?? 0) - clock.now();
    if (leftMs > 0) {
      const cancel = clock.after(leftMs, () => {
        this.#timers.delete(cluster);
        this.#notBefore.delete(cluster);
        if (this.#waiting.has(cluster) && !this.#isBegun(cluster)) this.#makeDue(cluster);
      });
      this.#timers.set(cluster, cancel);
      return;
    }
    this.#notBefore.delete(cluster);
    this.#makeDue(cluster);
  }

  #makeDue(cluster: string): void {
    this.#due.add(cluster);
    this.#takeTurnLater();
  }

  #takeTurnLater(): void {
    this.#cancelTurn ??= this.#parts.clock.after(0, () => {
      this.#cancelTurn = null;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const { clock } = this.#parts;
    const endMs = clock.now() + TURN_MS;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const startedMs = clock.now();
      const isLong = next.spentMs > 0;
      this.#run(next, startedMs + (isLong ? SLICE_MS : FIRST_SLICE_MS));
      const nowMs = clock.now();
      if (isLong) this.#longNotBeforeMs = nowMs + LONG_PAUSE * (nowMs - startedMs);
      if (nowMs >= endMs) break;
    }
    if (this.#canBegin()) this.#takeTurnLater();
    else if (this.#running.size > 0) this.#takeLongTurnLater();
  }

  #takeLongTurnLater(): void {
    const leftMs = this.#longNotBeforeMs - this.#parts.clock.now();
    if (leftMs <= 0) this.#takeTurnLater();
    else
      this.#cancelLong ??= this.#parts.clock.after(leftMs, () => {
        this.#cancelLong = null;
        this.#takeTurnLater();
      });
  }

  /** Whether the first due roll-up may be begun: running ones use at most half of `waitingBytes`, or there is none. */
  #canBegin(): boolean {
    const [cluster] = this.#due;
    if (cluster === undefined) return false;
    const { bytes } = this.#waiting.get(cluster)!;
    return this.#runningBytes === 0 || this.#runningBytes + bytes <= this.#parts.limits.waitingBytes / 2;
  }

  /** The first due roll-up if it may be begun, otherwise the next one that was begun. */
  #next(): Running | null {
    const [cluster] = this.#due;
    if (cluster !== undefined && this.#canBegin()) return this.#begin(this.#waiting.get(cluster)!);
    if (this.#parts.clock.now() < this.#longNotBeforeMs) return null;
    const [begun] = this.#running.values();
    return begun ?? null;
  }

  #begin(work: RollupWork): Running {
    this.#remove(work);
    this.#runningBytes += work.bytes;
    const running = { work, steps: work.steps(), beganMs: this.#parts.clock.now(), spentMs: 0 };
    this.#running.set(work.cluster, running);
    return running;
  }

  #run(running: Running, untilMs: number): void {
    const { clock, limits } = this.#parts;
    const { cluster, bytes } = running.work;
    const startedMs = clock.now();
    let nowMs = startedMs;
    let step: IteratorResult<Promise<unknown> | undefined, void> = { done: true, value: undefined };
    // Removed here and added again below unless it is done: that moves it to the end of the round-robin order.
    this.#running.delete(cluster);
    try {
      do {
        step = running.steps.next();
        nowMs = clock.now();
      } while (step.done !== true && nowMs < untilMs && (step.value === undefined || untilMs === FOR_GOOD));
    } catch (error) {
      step = { done: true, value: undefined };
      throw error;
    } finally {
      running.spentMs += nowMs - startedMs;
      if (step.done === true) {
        this.#runningBytes -= bytes;
        const pauseMs = Math.max(limits.rollupIntervalMs, running.spentMs * READ_SHARE);
        if (pauseMs > 0) this.#notBefore.set(cluster, running.beganMs + pauseMs);
        if (this.#waiting.has(cluster)) this.#schedule(cluster);
      } else if (step.value === undefined) this.#running.set(cluster, running);
      else this.#park(running, step.value);
    }
  }

  #park(running: Running, until: Promise<unknown>): void {
    const { cluster } = running.work;
    this.#parked.set(cluster, running);
    const goOn = (): void => {
      if (this.#parked.get(cluster) !== running) return;
      this.#parked.delete(cluster);
      this.#running.set(cluster, running);
      this.#takeTurnLater();
    };
    until.then(goOn, goOn);
  }
}
