// Between the inventory and its store: hands changes over, knows when all of them are safe, and stops the provider for
// good when the store fails, because from then on memory and disk tell different stories.

import { type RpcError, status } from '../../wire/index.ts';
import { refusal } from './requests.ts';
import type { Changes, Store } from './store.ts';

export class Journal {
  readonly #store: Store;
  readonly #onFailure: (error: unknown) => void;
  #last: Promise<void> = Promise.resolve();
  #refusal: RpcError | null = null;

  constructor(store: Store, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Throws once the store has failed. */
  check(): void {
    if (this.#refusal !== null) throw this.#refusal;
  }

  /** Hands over changes; `settled` tells when they are safe. */
  write(changes: Changes): void {
    if (this.#refusal !== null) return;
    this.#last = this.#store.write(changes).catch((error: unknown) => this.#fail(error));
  }

  /** Resolves when everything handed over so far is safe, and throws if it will never be. */
  async settled(): Promise<void> {
    await this.#last;
    this.check();
  }

  #fail(error: unknown): void {
    if (this.#refusal !== null) return;
    const detail = error instanceof Error ? error.message : String(error);
    this.#refusal = refusal(status.UNAVAILABLE, 'BF_STORE_FAILED', `${detail}.`);
    this.#onFailure(error);
  }
}
