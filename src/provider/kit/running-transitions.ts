// In-flight transitions, at most one per machine. A transition ends once, with the backend's result or its timeout,
// whichever is first; a later result is dropped.

import { type HostRef, withCode } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Operation } from '../backend.ts';
import { isOutOfStock } from '../out-of-stock.ts';
import type { TransitionKind } from './transitions.ts';

export interface RunningTransition {
  readonly slot: number;
  readonly kind: TransitionKind;
  readonly operation: Operation;
  /** Calls the backend; returns a host for `create` only. */
  readonly work: () => Promise<HostRef | undefined>;
  readonly timeoutMs: number;
}

export type Ending =
  | { readonly ok: true; readonly host: HostRef | undefined }
  /** An error of the backend begins with its code, so that shards need not guess its kind from the text. */
  | { readonly ok: false; readonly reason: string };

/** Longest delay of a Node timer; a longer one fires at once. */
const MAX_WAIT_MS = 2 ** 31 - 1;

interface Flight {
  readonly run: RunningTransition;
  readonly controller: AbortController;
  cancelTimeout: () => void;
}

export class RunningTransitions {
  readonly #clock: Clock;
  readonly #onEnd: (run: RunningTransition, ending: Ending) => void;
  readonly #flights = new Map<number, Flight>();
  #whenIdle: (() => void)[] = [];

  constructor(clock: Clock, onEnd: (run: RunningTransition, ending: Ending) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get count(): number {
    return this.#flights.size;
  }

  /** Reserves the machine for a run, which calls the backend once `start` is called. */
  prepare(run: Omit<RunningTransition, 'operation'> & { readonly operationId: string }): RunningTransition {
    const controller = new AbortController();
    const prepared: RunningTransition = {
      ...run,
      operation: { id: run.operationId, signal: controller.signal },
    };
    this.#flights.set(run.slot, { run: prepared, controller, cancelTimeout: () => {} });
    return prepared;
  }

  start(run: RunningTransition): void {
    const flight = this.#flights.get(run.slot);
    // The machine may have been lost or the run dropped while its acceptance was being written.
    if (flight?.run !== run) return;
    const seconds = run.timeoutMs / 1000;
    flight.cancelTimeout = this.#clock.after(Math.min(run.timeoutMs, MAX_WAIT_MS), () =>
      this.#end(flight, { ok: false, reason: `${run.kind} did not end within ${seconds} s` }),
    );
    void settle(run).then((ending) => this.#end(flight, ending));
  }

  /** Aborts the run of a machine, if there is one, without calling `onEnd`. */
  drop(slot: number): void {
    const flight = this.#flights.get(slot);
    if (flight === undefined) return;
    this.#remove(flight);
    flight.controller.abort();
  }

  dropAll(): void {
    for (const slot of [...this.#flights.keys()]) this.drop(slot);
  }

  /** Resolves when no run is in flight, or after `waitMs`. */
  idle(waitMs: number): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(waitMs, resolve);
      this.#whenIdle.push(() => {
        cancel();
        resolve();
      });
    });
  }

  #end(flight: Flight, ending: Ending): void {
    if (this.#flights.get(flight.run.slot) !== flight) return;
    if (!ending.ok) flight.controller.abort();
    this.#remove(flight);
    this.#onEnd(flight.run, ending);
  }

  #remove(flight: Flight): void {
    this.#flights.delete(flight.run.slot);
    flight.cancelTimeout();
    if (this.count > 0) return;
    for (const wake of this.#whenIdle.splice(0)) wake();
  }
}

async function settle(run: RunningTransition): Promise<Ending> {
  try {
    return { ok: true, host: await run.work() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      reason: withCode(isOutOfStock(error) ? 'BF_OUT_OF_STOCK' : 'BF_BACKEND_FAILED', message),
    };
  }
}
