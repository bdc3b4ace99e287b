// Writes lines to a file descriptor without blocking. Lines for a slow reader are buffered up to `maxBytes` and
// dropped beyond it; a closed pipe or a full disk loses lines and nothing else. Logging must delay neither the process's
// work nor its exit. Used by logger.ts.

import { write, writeSync } from 'node:fs';

/** Retry delay after EAGAIN. */
const RETRY_MS = 50;

export class LogWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The buffer of the in-flight write. */
  #current: Buffer | null = null;
  #drained: (() => void) | null = null;

  /** Lines beyond `maxBytes` of buffered ones are dropped. A pipe must be non-blocking. */
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

  /** Resolves to whether all buffered lines were written within `ms`. */
  async flush(ms: number): Promise<boolean> {
    if (this.#current === null) return true;
    const drained = Promise.withResolvers<void>();
    this.#drained = drained.resolve;
    const timer = setTimeout(drained.resolve, ms);
    await drained.promise;
    clearTimeout(timer);
    return this.#current === null;
  }

  /** One synchronous attempt to write the buffered lines, for a process that is about to exit. */
  writeNow(): void {
    try {
      if (this.#waiting.length > 0) writeSync(this.#fd, Buffer.concat(this.#waiting));
    } catch {
      // The process exits: the error cannot be reported.
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
        // Any other error loses these lines; later writes may succeed.
        this.#next();
      }
    });
  }
}
