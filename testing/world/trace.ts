// The events of a world in order. Runs are equal if their digests are; the lines themselves are passed only to a
// listener. Written by world.ts and invariants.ts.

import { createHash } from 'node:crypto';
import type { Clock } from '../../src/runtime/clock.ts';

export class Trace {
  readonly #clock: Clock;
  readonly #hash = createHash('sha256');
  readonly #onLine: ((line: string) => void) | null;
  #pending = '';

  constructor(clock: Clock, onLine: ((line: string) => void) | null) {
    this.#clock = clock;
    this.#onLine = onLine;
  }

  note(text: string): void {
    const line = `${this.#clock.now()} ${text}\n`;
    this.#pending += line;
    if (this.#pending.length > 16_384) this.#flush();
    this.#onLine?.(line.trimEnd());
  }

  digest(): string {
    this.#flush();
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  #flush(): void {
    this.#hash.update(this.#pending);
    this.#pending = '';
  }
}
