// What happened in a world, in order. Two runs are the same if their digests are; the lines themselves are kept only
// for somebody who wants to read them.

import { createHash } from 'node:crypto';
import type { Clock } from '../../model/index.ts';

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
