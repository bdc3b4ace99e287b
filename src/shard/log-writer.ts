// Writes lines to a file descriptor and never waits for whoever reads there: a reader who is slow is written to later,
// lines beyond a bound are dropped, and one who is gone or a disk that is full costs the lines alone. A log must not keep
// a shard from its work, nor from its end.

import { write, writeSync } from 'node:fs';

/** A reader who takes nothing now is tried again after this. */
const RETRY_MS = 50;

export class LogWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** What is being written. */
  #current: Buffer | null = null;
  #drained: (() => void) | null = null;

  /** `maxBytes` may wait; what comes beyond that is dropped. A pipe has to be non-blocking. */
  constructor(fd: number, maxBytes: number) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#maxBytes) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#current === null) this.#next();
  }

  /** Whether all that waits could be written within this time. */
  async flush(ms: number): Promise<boolean> {
    if (this.#current === null) return true;
    const drained = Promise.withResolvers<void>();
    this.#drained = drained.resolve;
    const timer = setTimeout(drained.resolve, ms);
    await drained.promise;
    clearTimeout(timer);
    return this.#current === null;
  }

  /** One attempt to write what waits, for a process that ends this moment. */
  writeNow(): void {
    try {
      if (this.#waiting.length > 0) writeSync(this.#fd, Buffer.concat(this.#waiting));
    } catch {
      // Nobody is left to be told.
    }
    this.#waiting = [];
  }

  #next(): void {
    this.#current = this.#waiting.length === 0 ? null : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = this.#current?.length ?? 0;
    if (this.#current === null) this.#drained?.();
    else this.#attempt(this.#current);
  }

  #attempt(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#attempt(bytes), RETRY_MS);
      } else if (error === null && written < bytes.length) {
        this.#attempt(bytes.subarray(written));
      } else {
        // Any other error costs these lines; the next ones may find a reader or room again.
        this.#next();
      }
    });
  }
}
