// Whose roll-up is read next, and for how long. Reading is cut into steps; a turn takes a few milliseconds, then sockets,
// acks and other clusters have theirs. A roll-up that has not been begun goes before the rest of a long one, so a small
// roll-up never waits for a large one; long ones share a quarter of the time in turns, however many they are, since what
// they become costs other threads and the garbage collector as much again.
//
// Each cluster has at most one roll-up that is being read and one that waits, the newest. Two of a cluster are begun at
// least `rollupIntervalMs` apart, and later if they take long: reading for one cluster takes at most 1 / READ_SHARE of the time.
// Knows nothing of what is read: the steps are the caller's.

import type { Clock } from '../../model/index.ts';

/** How long roll-ups are read without a break for others. */
const TURN_MS = 5;
/** How long a roll-up is read at first: about a thousand new rows. What takes longer is a long one. */
const FIRST_SLICE_MS = 10;
/** How long a long one is read before the next has its turn. */
const SLICE_MS = 2;
/** After a slice of a long roll-up that took t, the next slice of any follows 3 t later: they take a quarter of the time. */
const LONG_PAUSE = 3;
/** A cluster whose roll-up took t to read has its next one begun 20 t later at the earliest. */
const READ_SHARE = 20;

/** A turn that lasts until the work is done. */
const FOR_GOOD = Number.POSITIVE_INFINITY;

export interface RollupWork {
  readonly cluster: string;
  /** Bytes that the work keeps in memory until it is done. */
  readonly bytes: number;
  /** It no longer waits: it is begun, or given up. */
  readonly begun?: () => void;
  /** A promise says that the work has to wait; it goes on when that is settled. */
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
  /** It was the largest of those that wait, and there was no room for all. */
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
  /** Clusters whose waiting roll-up may be begun, in the order of their turns. */
  readonly #due = new Set<string>();
  /** By cluster: what is being read, in the order of turns. */
  readonly #running = new Map<string, Running>();
  /** By cluster: what was being read and waits for something. */
  readonly #parked = new Map<string, Running>();
  /** By cluster: when its next roll-up may be begun, as long as that is not past. */
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

  /** Reads to the end what has been begun of a cluster, whatever it waits for, so that others can change its state. */
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

  /** Gives up the largest that wait until there is room: clusters that send little are not shut out by those that send much. */
  #shed(): void {
    while (this.bytes > this.#parts.limits.waitingBytes && this.#waiting.size > 0) {
      let largest: RollupWork | null = null;
      for (const work of this.#waiting.values())
        if (largest === null || work.bytes > largest.bytes) largest = work;
      this.#remove(largest!);
      this.#parts.onShed(largest!);
    }
  }

  /** Makes the waiting roll-up of a cluster due now, or when its time comes. */
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

  /** Whether a roll-up is due that there is room to begin. Half of the room is for those that wait. */
  #canBegin(): boolean {
    const [cluster] = this.#due;
    if (cluster === undefined) return false;
    const { bytes } = this.#waiting.get(cluster)!;
    return this.#runningBytes === 0 || this.#runningBytes + bytes <= this.#parts.limits.waitingBytes / 2;
  }

  /** The first that is due and that there is room to begin, else the next of those that were begun. */
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
    // Behind all others, unless it is done.
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
