// A controller on the thread of its sessions, for simulations and tests. Events and effects are delivered through the
// clock, as asynchronously as between threads, so neither side is called from within its own call. Used by
// testing/world; a real shard has controller-thread.ts in its place.

import type { Clock } from '../../runtime/clock.ts';
import type { ControllerEvent, ControllerPort, Effect } from '../events.ts';
import { Controller, type ControllerParts } from '../planning/controller.ts';
import type { Answer, Order, OrderResult, QuestionName, Questions, ShardEvent } from '../views.ts';

export interface InlineParts extends Omit<ControllerParts, 'emit' | 'publish'> {
  readonly onEffect: (effect: Effect) => void;
}

export class InlineController implements ControllerPort {
  readonly controller: Controller;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: ShardEvent) => void>();
  #isAlive = true;

  constructor({ onEffect, ...parts }: InlineParts) {
    const { clock } = parts;
    const whileAlive = (run: () => void) => () => {
      if (this.#isAlive) run();
    };
    this.#clock = { now: () => clock.now(), after: (ms, run) => clock.after(ms, whileAlive(run)) };
    this.controller = new Controller({
      ...parts,
      clock: this.#clock,
      emit: (effect) => this.#later(() => onEffect(effect)),
      publish: (event) => {
        for (const listener of this.#listeners) listener(event);
      },
    });
  }

  start(): void {
    this.#later(() => this.controller.start());
  }

  post(event: ControllerEvent): void {
    this.#later(() => this.controller.handle(event));
  }

  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    return Promise.resolve(this.controller.ask(name, ask));
  }

  order(order: Order): Promise<OrderResult> {
    if (!this.#isAlive) return Promise.resolve({ isDone: false, message: 'The shard is gone.' });
    return Promise.resolve(this.controller.order(order));
  }

  listen(listener: (event: ShardEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Simulates SIGKILL: no event, effect or write happens afterwards, and no resource is released. */
  kill(): void {
    this.#isAlive = false;
  }

  #later(run: () => void): void {
    this.#clock.after(0, run);
  }
}
