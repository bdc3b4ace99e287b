// Limits the load that one client puts on an API server: requests in flight, requests a second (token bucket), and
// requests that wait. Used by http-client.ts.

import type { Clock } from '../../runtime/clock.ts';
import { KubeError } from './client.ts';

export interface ThrottleLimits {
  /** Requests a second in the long run. Too low: writes lag behind; too high: API priority and fairness answers 429. */
  readonly qps: number;
  /** Requests that may follow each other at once after a quiet time. */
  readonly burst: number;
  readonly maxInFlight: number;
  /** Requests that wait for one of the limits above; more are refused at once. */
  readonly maxWaiting: number;
}

interface Waiting {
  readonly start: () => void;
  isCancelled: boolean;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #limits: ThrottleLimits;
  #tokens: number;
  #refilledMs: number;
  #inFlight = 0;
  #queue: Waiting[] = [];
  /** Index of the first entry of the queue that has not been started. */
  #head = 0;
  #cancelled = 0;
  #timer: (() => void) | null = null;

  constructor(clock: Clock, limits: ThrottleLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#tokens = limits.burst;
    this.#refilledMs = clock.now();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#queue.length - this.#head - this.#cancelled;
  }

  /** Resolves when the request may start; the caller must call `release` when it ends. First come, first served. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.waiting >= this.#limits.maxWaiting)
      throw new KubeError(
        `${this.waiting} requests to the API server already wait in this process; try again later, or raise qps if the API server has room`,
        { status: 0, reason: 'ClientQueueFull' },
      );
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => {
        entry.isCancelled = true;
        this.#cancelled++;
        reject(signal!.reason as Error);
      };
      const entry: Waiting = {
        isCancelled: false,
        start: () => {
          signal?.removeEventListener('abort', cancel);
          resolve();
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#queue.push(entry);
      this.#pump();
    });
  }

  release(): void {
    this.#inFlight--;
    this.#pump();
  }

  #pump(): void {
    this.#refill();
    while (this.#head < this.#queue.length) {
      const next = this.#queue[this.#head]!;
      if (next.isCancelled) {
        this.#head++;
        this.#cancelled--;
        continue;
      }
      if (this.#inFlight >= this.#limits.maxInFlight) break;
      if (this.#tokens < 1) {
        this.#wakeAtNextToken();
        break;
      }
      this.#tokens--;
      this.#inFlight++;
      this.#head++;
      next.start();
    }
    if (this.#head > 1024 || this.#head === this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #refill(): void {
    const nowMs = this.#clock.now();
    // A clock that was set back adds no tokens, and none are lost.
    const elapsedMs = Math.max(0, nowMs - this.#refilledMs);
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + (elapsedMs * this.#limits.qps) / 1000);
    this.#refilledMs = nowMs;
  }

  #wakeAtNextToken(): void {
    if (this.#timer !== null) return;
    const waitMs = Math.max(1, Math.ceil(((1 - this.#tokens) * 1000) / this.#limits.qps));
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = null;
      this.#pump();
    });
  }
}
