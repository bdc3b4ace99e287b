// The demand store on a worker thread: the time of an fsync is unbounded, and the thread of the sessions must not wait for
// it. Writes of one turn of the event loop are posted in one message, and all writes queued at the thread share one fsync.

import { Worker } from 'node:worker_threads';
import { revivedError } from '../../model/index.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import type { DemandChanges, DemandStore } from './demand-store.ts';
import type { DemandContent, FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';

export class DemandStoreThread implements DemandStore {
  readonly #worker: Worker;
  readonly #loaded = Promise.withResolvers<DemandContent>();
  readonly #closed = Promise.withResolvers<void>();
  /** Writes that are not durable yet, oldest first. */
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  #outbox: DemandChanges[] = [];
  #failure: Error | null = null;
  #isClosing = false;

  private constructor(path: string) {
    const file = moduleBeside(import.meta.url, 'demand-store-worker');
    this.#worker = new Worker(file, { workerData: path, name: 'demand-store' })
      .on('message', (message: FromDemandStore) => this.#hear(message))
      .on('messageerror', (error) => this.#fail(error))
      .on('error', (error) => this.#fail(error))
      .on('exit', (code) => {
        this.#fail(new Error(`The thread of the demand store ended with code ${code}.`));
        this.#closed.resolve();
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

  write(changes: DemandChanges): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const written = Promise.withResolvers<void>();
    this.#waiting.push(written);
    if (this.#outbox.push(changes) === 1) setImmediate(() => this.#flush());
    return written.promise;
  }

  /** Commits queued writes and closes the file. */
  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#flush();
      this.#send({ kind: 'close' });
    }
    return this.#closed.promise;
  }

  #flush(): void {
    const writes = this.#outbox;
    this.#outbox = [];
    if (writes.length > 0 && this.#failure === null) this.#send({ kind: 'write', writes });
  }

  #send(message: ToDemandStore): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromDemandStore): void {
    if (message.kind === 'opened') this.#loaded.resolve(message.content);
    else if (message.kind === 'failed') this.#fail(message.error);
    else for (const { resolve } of this.#waiting.splice(0, message.count)) resolve();
  }

  /** After one failure all later writes fail: they may depend on the lost one. */
  #fail(reason: unknown): void {
    this.#failure ??= revivedError(reason);
    this.#loaded.reject(this.#failure);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
