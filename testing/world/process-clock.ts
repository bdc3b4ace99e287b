// The clock of one ShardProcess (shard-process.ts). After the process is killed, none of its timers fires.

import type { Clock } from '../../src/runtime/clock.ts';

export class ProcessClock implements Clock {
  readonly #clock: Clock;
  #isAlive = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, run: () => void): () => void {
    return this.#clock.after(ms, () => {
      if (this.#isAlive) run();
    });
  }

  kill(): void {
    this.#isAlive = false;
  }
}
