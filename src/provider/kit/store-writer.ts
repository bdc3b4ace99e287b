// Passes changes of the inventory to the store and tracks when they are durable. inventory.ts writes through it;
// provider.ts awaits `settled` before it answers a call. When the store fails, every further call is rejected, because
// memory and disk differ from then on.

import { type RpcError, status } from '../../wire/index.ts';
import { refusal } from './requests.ts';
import type { Changes, Store } from './store.ts';

export class StoreWriter {
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

  /** Passes changes to the store; `settled` resolves when they are durable. */
  write(changes: Changes): void {
    if (this.#refusal !== null) return;
    this.#last = this.#store.write(changes).catch((error: unknown) => this.#fail(error));
  }

  /** Resolves when all changes so far are durable; throws if the store has failed. */
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
