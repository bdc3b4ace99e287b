// The clock of one process. When the process is killed, whatever it waited for never comes.

import type { Clock } from '../../model/index.ts';

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
