// A clock that tests advance: a simulated day takes as long as its events take to run. Timers fire in the order of their
// due time, then of their creation, and all promise continuations of one timer run before the next. Runs with the same
// start are therefore identical. The clock does not wait for real I/O, so everything on it must stay within the process.

import { MinHeap } from '../collections/heap.ts';
import type { MonotonicClock } from './clock.ts';

interface Timer {
  run: (() => void) | null;
}

/** A clock that tests advance. Timers fire in the order of their due time, then of their creation. */
export class VirtualClock implements MonotonicClock {
  #now: number;
  /** What `now` is ahead of the monotonic time. */
  #offsetMs = 0;
  #waiting = 0;
  readonly #timers = new MinHeap<Timer>();

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now + this.#offsetMs;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Corrects `now`, as a time server does. Timers and the monotonic time are not affected. */
  step(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Number of pending timers. */
  get waiting(): number {
    return this.#waiting;
  }

  after(ms: number, run: () => void): () => void {
    const timer: Timer = { run };
    this.#timers.push(this.#now + Math.max(0, ms), timer);
    this.#waiting++;
    return () => {
      if (timer.run === null) return;
      timer.run = null;
      this.#waiting--;
    };
  }

  /** Advances the clock by `ms` and fires every timer that becomes due. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turn();
    while (this.#due(until)) {
      this.#fire();
      await turn();
    }
    this.#now = until;
  }

  /** Advances the clock until a promise settles. Throws if no timer is left that could settle it. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await turn();
    while (!isSettled) {
      if (!this.#due(Number.POSITIVE_INFINITY)) throw new Error('no timer is left that could end the wait');
      this.#fire();
      await turn();
    }
    return await promise;
  }

  #due(until: number): boolean {
    return this.#timers.size > 0 && this.#timers.rank! <= until;
  }

  #fire(): void {
    const at = this.#timers.rank!;
    const timer = this.#timers.pop()!;
    const { run } = timer;
    // A cancelled timer does not advance the clock.
    if (run === null) return;
    timer.run = null;
    this.#now = at;
    this.#waiting--;
    run();
  }
}

/** Resolves after all pending promise continuations have run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
