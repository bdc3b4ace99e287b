// In-flight transitions of provider.ts, at most one per machine. A transition ends once, with the backend's result or
// its timeout, whichever is first; a later result is dropped.

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
  readonly transition: RunningTransition;
  readonly controller: AbortController;
  cancelTimeout: () => void;
}

export class RunningTransitions {
  readonly #clock: Clock;
  readonly #onEnd: (transition: RunningTransition, ending: Ending) => void;
  readonly #flights = new Map<number, Flight>();
  #whenIdle: (() => void)[] = [];

  constructor(clock: Clock, onEnd: (transition: RunningTransition, ending: Ending) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get count(): number {
    return this.#flights.size;
  }

  /** Reserves the machine for a transition, which calls the backend once `start` is called. */
  prepare(
    transition: Omit<RunningTransition, 'operation'> & { readonly operationId: string },
  ): RunningTransition {
    const controller = new AbortController();
    const prepared: RunningTransition = {
      ...transition,
      operation: { id: transition.operationId, signal: controller.signal },
    };
    this.#flights.set(transition.slot, { transition: prepared, controller, cancelTimeout: () => {} });
    return prepared;
  }

  start(transition: RunningTransition): void {
    const flight = this.#flights.get(transition.slot);
    // The machine may have been lost or the transition dropped while its acceptance was being written.
    if (flight?.transition !== transition) return;
    const seconds = transition.timeoutMs / 1000;
    flight.cancelTimeout = this.#clock.after(Math.min(transition.timeoutMs, MAX_WAIT_MS), () =>
      this.#end(flight, { ok: false, reason: `${transition.kind} did not end within ${seconds} s` }),
    );
    void settle(transition).then((ending) => this.#end(flight, ending));
  }

  /** Aborts the transition of a machine, if there is one, without calling `onEnd`. */
  drop(slot: number): void {
    const flight = this.#flights.get(slot);
    if (flight === undefined) return;
    this.#remove(flight);
    flight.controller.abort();
  }

  dropAll(): void {
    for (const slot of [...this.#flights.keys()]) this.drop(slot);
  }

  /** Resolves when no transition is in flight, or after `waitMs`. */
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
    if (this.#flights.get(flight.transition.slot) !== flight) return;
    if (!ending.ok) flight.controller.abort();
    this.#remove(flight);
    this.#onEnd(flight.transition, ending);
  }

  #remove(flight: Flight): void {
    this.#flights.delete(flight.transition.slot);
    flight.cancelTimeout();
    if (this.count > 0) return;
    for (const wake of this.#whenIdle.splice(0)) wake();
  }
}

async function settle(transition: RunningTransition): Promise<Ending> {
  try {
    return { ok: true, host: await transition.work() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      reason: withCode(isOutOfStock(error) ? 'BF_OUT_OF_STOCK' : 'BF_BACKEND_FAILED', message),
    };
  }
}
