// The demand store on a thread of its own: a flush to disk takes as long as the disk likes, and the thread of sessions must
// not wait for it. Writes of one turn leave in one message, and what waits at the thread shares one flush.

import { Worker } from 'node:worker_threads';
import { moduleBeside, revivedError } from '../../model/index.ts';
import type { DemandChanges, DemandStore } from '../hands/demand-store.ts';
import type { DemandContent, FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';

export class DemandStoreThread implements DemandStore {
  readonly #worker: Worker;
  readonly #loaded = Promise.withResolvers<DemandContent>();
  readonly #closed = Promise.withResolvers<void>();
  /** Writes that are not safe yet, the oldest first. */
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

  /** Opens or makes the file. Rejects with the reason why that cannot be. */
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

  /** Writes what waits, and lets go of the file. */
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

  /** After one failure nothing is written any more: what came later may build on what was lost. */
  #fail(reason: unknown): void {
    this.#failure ??= revivedError(reason);
    this.#loaded.reject(this.#failure);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
