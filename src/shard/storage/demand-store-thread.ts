// The demand store on a worker thread: the time of an fsync is unbounded, and the thread of the sessions must not wait
// for it. Writes of one turn of the event loop are posted in one message, and all writes queued at the thread share
// one fsync. Made by process/shard.ts.

import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { DemandChanges, DemandStore } from './demand-store.ts';
import type { DemandContent, FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';

export class DemandStoreThread implements DemandStore {
  readonly #channel: WorkerChannel<string, ToDemandStore, FromDemandStore>;
  readonly #loaded = Promise.withResolvers<DemandContent>();
  /** The first failure of a write. All later writes fail with it: they may depend on the lost one. */
  #failure: Error | null = null;

  private constructor(path: string) {
    this.#channel = new WorkerChannel({
      name: 'demand-store',
      module: moduleBeside(import.meta.url, 'demand-store-worker'),
      start: path,
      onItem: ({ content }) => this.#loaded.resolve(content),
      onFailure: this.#loaded.reject,
    });
  }

  /** Opens or creates the file. Rejects with the error if that fails. */
  static async open(path: string): Promise<DemandStoreThread> {
    const store = new DemandStoreThread(path);
    await store.#loaded.promise;
    return store;
  }

  load(): Promise<DemandContent> {
    return this.#loaded.promise;
  }

  async write(changes: DemandChanges): Promise<void> {
    try {
      if (this.#failure === null) await this.#channel.request(changes);
    } catch (error) {
      this.#failure ??= error as Error;
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /** Commits queued writes and closes the file. */
  close(): Promise<void> {
    return this.#channel.close({ kind: 'close' });
  }
}
