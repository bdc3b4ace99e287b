// Writes to the API server by key: only the latest write of a key waits, one per key and at most `maxInFlight` overall are
// in flight, and failed ones are repeated with backoff. Used for UpcomingNodes, AvailableCapacities, labels and conditions.

import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { KubeError } from '../kube/client.ts';
import type { OperatorLog, OperatorMetrics } from './contract.ts';

/** The bound of the reference operator for handlers that write to the API server. */
const MAX_IN_FLIGHT = 32;
const BACKOFF: BackoffLimits = { baseMs: 1_000, maxMs: 60_000 };

export interface WriteDeps {
  readonly clock: Clock;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly random?: Random;
  readonly maxInFlight?: number;
}

/** Reads what to write when its turn comes, so that it never writes a state that is out of date. */
export type Write = () => Promise<void>;

interface Entry {
  next: Write | null;
  isRunning: boolean;
  failures: number;
  cancelRetry: (() => void) | null;
}

export class KeyedWrites {
  readonly #deps: WriteDeps;
  readonly #random: Random;
  readonly #maxInFlight: number;
  readonly #entries = new Map<string, Entry>();
  /** Keys whose next write may start, oldest first. */
  readonly #ready = new Set<string>();
  #inFlight = 0;
  #isStopped = false;

  constructor(deps: WriteDeps) {
    this.#deps = deps;
    this.#random = deps.random ?? new Random(deps.clock.now() | 0, 0x77);
    this.#maxInFlight = deps.maxInFlight ?? MAX_IN_FLIGHT;
  }

  /** Number of keys with a write that waits or is in flight. */
  get pending(): number {
    return this.#entries.size;
  }

  /** Replaces the waiting write of the key. */
  submit(key: string, write: Write): void {
    if (this.#isStopped) return;
    const entry = this.#entries.get(key) ?? { next: null, isRunning: false, failures: 0, cancelRetry: null };
    this.#entries.set(key, entry);
    entry.next = write;
    // A key that backs off keeps its delay: a newer state does not make the server answer sooner.
    if (!entry.isRunning && entry.cancelRetry === null) this.#ready.add(key);
    this.#pump();
  }

  /** Ends retries; writes in flight finish. */
  stop(): void {
    this.#isStopped = true;
    for (const entry of this.#entries.values()) entry.cancelRetry?.();
    this.#entries.clear();
    this.#ready.clear();
  }

  #pump(): void {
    for (const key of this.#ready) {
      if (this.#inFlight >= this.#maxInFlight) return;
      this.#ready.delete(key);
      const entry = this.#entries.get(key)!;
      const write = entry.next!;
      entry.next = null;
      entry.isRunning = true;
      this.#inFlight++;
      void this.#run(key, entry, write);
    }
  }

  async #run(key: string, entry: Entry, write: Write): Promise<void> {
    let error: unknown = null;
    try {
      await write();
    } catch (thrown) {
      error = thrown;
    }
    this.#inFlight--;
    entry.isRunning = false;
    if (this.#isStopped) return;
    if (error === null) this.#succeeded(key, entry);
    else this.#failed(key, entry, write, error);
    this.#pump();
  }

  #succeeded(key: string, entry: Entry): void {
    entry.failures = 0;
    if (entry.next === null) this.#entries.delete(key);
    else this.#ready.add(key);
  }

  #failed(key: string, entry: Entry, write: Write, error: unknown): void {
    const { log, metrics, clock } = this.#deps;
    const mayHelp = isRetryable(error);
    entry.failures++;
    metrics.count('bigfleet_operator_write_failures_total', { retried: String(mayHelp) });
    log(mayHelp ? 'info' : 'warn', 'write.failed', { key, failures: entry.failures, error });
    if (!mayHelp && entry.next === null) {
      this.#entries.delete(key);
      return;
    }
    entry.next ??= write;
    entry.cancelRetry = clock.after(backoffMs(this.#random, BACKOFF, entry.failures), () => {
      entry.cancelRetry = null;
      this.#ready.add(key);
      this.#pump();
    });
  }
}

/** An object that the server calls invalid stays so; rights, tokens and CRDs may come back. */
function isRetryable(error: unknown): boolean {
  return !(error instanceof KubeError) || (error.status !== 400 && error.status !== 422);
}
