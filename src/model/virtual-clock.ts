// Time that moves when told: a day passes in as long as its events take to run. What is due runs in the order of its
// time, then of its arrival, and whatever follows from one event without waiting happens before the next. The same
// start therefore gives the same run. It cannot see real I/O; on a virtual clock everything stays within the process.

import type { Clock } from './clock.ts';
import { MinHeap } from './heap.ts';

interface Timer {
  run: (() => void) | null;
}

export class VirtualClock implements Clock {
  #now: number;
  #waiting = 0;
  readonly #timers = new MinHeap<Timer>();

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Timers that are set and not called off. */
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

  /** Lets so much time pass. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turn();
    while (this.#due(until)) {
      this.#fire();
      await turn();
    }
    this.#now = until;
  }

  /** Lets time pass until a promise settles. Throws if nothing is left that could bring it about. */
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
    // Called-off timers leave no trace, not even of time.
    if (run === null) return;
    timer.run = null;
    this.#now = at;
    this.#waiting--;
    run();
  }
}

/** Until every promise that could go on has gone on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
