// Test support: requests and instructions open at the sessions, which would be sent again to a new session. Part of
// actuation-scene.ts.

import type { ControllerEvent, Effect } from '../../src/shard/events.ts';

export class OpenRequests {
  readonly #open = new Set<string>();
  readonly withdrawn: string[] = [];
  /** Withdrawals of requests that were never made, or were answered or withdrawn before. */
  readonly needless: string[] = [];

  get ids(): readonly string[] {
    return [...this.#open];
  }

  carryOut(effect: Effect): void {
    if (effect.kind === 'ask-bootstrap') this.#open.add(effect.request);
    if (effect.kind === 'instruct-reclaim') this.#open.add(effect.instruction);
    if (effect.kind === 'withdraw-bootstrap') this.#withdraw(effect.request);
    if (effect.kind === 'withdraw-reclaim') this.#withdraw(effect.instruction);
  }

  /** Whether the controller receives the event: answers to requests that are not open are dropped. */
  lets(event: ControllerEvent): boolean {
    if (event.kind === 'bootstrap-answered') return this.#open.delete(event.request);
    if (event.kind === 'reclaim-acked') return this.#open.delete(event.instruction);
    return true;
  }

  #withdraw(id: string): void {
    this.withdrawn.push(id);
    if (!this.#open.delete(id)) this.needless.push(id);
  }
}
