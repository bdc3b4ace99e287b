// The brain on a thread of its own, as the main thread sees it. However long a cycle takes, nothing here waits for it:
// events of one turn leave in one message and queue at the thread, and what comes back is fetched in short turns.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { moduleBeside, revivedError } from '../../model/index.ts';
import type { BrainEvent, Effect } from '../events.ts';
import type { Answer, News, Order, OrderResult, QuestionName, Questions, ShardPort } from '../views.ts';
import { YOUNG_GENERATION_MB } from './brain-limits.ts';
import { DemandPacker } from './demand-packer.ts';
import type { BrainSetup, BrainThreadStart, FromBrain, ToBrain } from './protocol.ts';

/** What the brain sends is handled for so long before others get their turn. */
const TURN_MS = 5;
/** Events that may wait before `room` makes those wait who can; a batch of a List has up to 64 KiB. */
const ROOM = 256;
/** How long a stop waits for what is under way. */
const STOP_WITHIN_MS = 10_000;
/** Fewer bytes are copied sooner than moved. */
const SMALLEST_MOVED = 4096;

export interface BrainThreadParts {
  readonly setup: BrainSetup;
  /** A module with a `makeBrain`: built or source, as the caller is. */
  readonly factory: URL;
  /** The brain has failed and its thread is gone. The process has to end; without this it does, by the error. */
  readonly onFailure?: (error: Error) => void;
}

export class BrainThread implements ShardPort {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #onFailure: (error: Error) => void;
  readonly #up = Promise.withResolvers<void>();
  /** Posted at once: what copying a part takes is then part of the packer's turn. */
  readonly #demand = new DemandPacker((item) => {
    this.#send(item);
    this.#flush();
  });
  readonly #listeners = new Set<(news: News) => void>();
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #onEffect: ((effect: Effect) => void) | null = null;
  #outbox: ToBrain[] = [];
  #posted = 0;
  #taken = 0;
  /** When messages that have not been taken were posted, and what had been posted then. */
  readonly #unheard: { readonly posted: number; readonly atMs: number }[] = [];
  #waiters: (() => void)[] = [];
  #lastAsk = 0;
  #isDrainDue = false;
  #phase: 'starting' | 'up' | 'gone' = 'starting';
  #stopped: PromiseWithResolvers<void> | null = null;

  private constructor({ setup, factory, onFailure }: BrainThreadParts) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#onFailure = onFailure ?? raise;
    const start: BrainThreadStart = { factory: factory.href, setup, port: port2 };
    const file = moduleBeside(import.meta.url, 'brain-worker');
    this.#worker = new Worker(file, {
      workerData: start,
      transferList: [port2],
      name: 'brain',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
      .on('message', (taken: number) => this.#rung(taken))
      .on('messageerror', (error) => this.#fail(error))
      .on('error', (error) => this.#fail(error))
      .on('exit', (code) => this.#fail(new Error(`The thread of the brain ended with code ${code}.`)));
  }

  /** Resolves when the brain has started, rejects with the reason why it cannot. */
  static async start(parts: BrainThreadParts): Promise<BrainThread> {
    const thread = new BrainThread(parts);
    await thread.#up.promise;
    return thread;
  }

  /** Who carries out effects. Until somebody does, all that the brain says waits: effects, news and answers. */
  onEffect(carryOut: (effect: Effect) => void): void {
    this.#onEffect = carryOut;
    this.#drainSoon();
  }

  /** Bytes of blobs and of batches move to the brain; they are not to be used after. */
  post(event: BrainEvent): void {
    if (this.#phase === 'gone') return;
    if (event.kind === 'demand') this.#demand.post(event);
    else this.#send(event);
  }

  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    return this.#ask((id) => ({ kind: 'ask', id, name, ask })) as Promise<Answer<Q>>;
  }

  order(order: Order): Promise<OrderResult> {
    return this.#ask((id) => ({ kind: 'order', id, order })) as Promise<OrderResult>;
  }

  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What was posted and the brain has not taken yet. */
  get waiting(): number {
    return this.#posted - this.#taken;
  }

  /** So much waits that whoever can should hold back. */
  get isBehind(): boolean {
    return this.waiting >= ROOM && this.#phase !== 'gone';
  }

  /** For how long the oldest of it has waited. */
  get waitingMs(): number {
    const oldest = this.#unheard[0];
    return oldest === undefined ? 0 : performance.now() - oldest.atMs;
  }

  /** Resolves when little waits. For whoever has much to post and can hold it back. */
  async room(): Promise<void> {
    while (this.isBehind) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /**
   * Lets the brain end what is under way, for which it still needs its effects carried out and its events; after
   * `withinMs` it is closed in any case. Rejects if the brain fails meanwhile.
   */
  stop(withinMs = STOP_WITHIN_MS): Promise<void> {
    if (this.#stopped === null) {
      this.#stopped = Promise.withResolvers();
      // A start that was broken off has nobody yet to carry out effects; the end has to be heard all the same.
      if (this.#onEffect === null) this.onEffect(() => {});
      if (this.#phase === 'gone') this.#stopped.resolve();
      else this.#send({ kind: 'stop', withinMs });
    }
    return this.#stopped.promise;
  }

  #ask(item: (id: number) => ToBrain): Promise<unknown> {
    if (this.#phase === 'gone') return Promise.reject(gone());
    const id = ++this.#lastAsk;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    this.#send(item(id));
    return asked.promise;
  }

  #send(item: ToBrain): void {
    this.#posted++;
    if (this.#outbox.push(item) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const items = this.#outbox;
    this.#outbox = [];
    if (this.#phase === 'gone' || items.length === 0) return;
    this.#worker.postMessage(items, movedBy(items));
    this.#unheard.push({ posted: this.#posted, atMs: performance.now() });
  }

  #rung(taken: number): void {
    if (this.#phase === 'starting') {
      this.#phase = 'up';
      this.#up.resolve();
    }
    this.#taken = taken;
    while (this.#unheard.length > 0 && this.#unheard[0]!.posted <= taken) this.#unheard.shift();
    if (this.waiting < ROOM) this.#wakeWaiters();
    if (!this.#isDrainDue) this.#drain();
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #drainSoon(): void {
    this.#isDrainDue = true;
    setImmediate(() => this.#drain());
  }

  /** Messages are unpacked when they are fetched, so whoever fetches decides how long that may take. */
  #drain(): void {
    this.#isDrainDue = false;
    if (this.#onEffect === null) return;
    const lastMs = performance.now() + TURN_MS;
    while (this.#phase !== 'gone' && performance.now() < lastMs) {
      const entry = receiveMessageOnPort(this.#port);
      if (entry === undefined) return;
      for (const item of entry.message as readonly FromBrain[]) this.#hear(item, this.#onEffect);
    }
    if (this.#phase !== 'gone') this.#drainSoon();
  }

  #hear(item: FromBrain, carryOut: (effect: Effect) => void): void {
    switch (item.kind) {
      case 'effect':
        carryOut(item.effect);
        break;
      case 'news':
        for (const listener of this.#listeners) listener(item.news);
        break;
      case 'answer':
        this.#askedBy(item.id).resolve(item.answer);
        break;
      case 'refusal':
        this.#askedBy(item.id).reject(item.error);
        break;
      case 'closed':
        this.#leave();
        void this.#worker.terminate().then(() => this.#stopped?.resolve());
    }
  }

  #askedBy(id: number): PromiseWithResolvers<unknown> {
    const asked = this.#asked.get(id)!;
    this.#asked.delete(id);
    return asked;
  }

  #fail(reason: unknown): void {
    if (this.#phase === 'gone') return;
    const error = revivedError(reason);
    const wasUp = this.#phase === 'up';
    this.#leave();
    void this.#worker.terminate();
    this.#stopped?.reject(error);
    if (wasUp) this.#onFailure(error);
    else this.#up.reject(error);
  }

  #leave(): void {
    this.#phase = 'gone';
    this.#port.close();
    this.#wakeWaiters();
    for (const { reject } of this.#asked.values()) reject(gone());
    this.#asked.clear();
  }
}

function gone(): Error {
  return new Error('The brain has stopped.');
}

/** Outside of everything that could catch it. */
function raise(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Memory that a message takes along instead of copying it. */
function movedBy(items: readonly ToBrain[]): ArrayBuffer[] {
  const moved = new Set<ArrayBuffer>();
  for (const item of items) {
    if (item.kind !== 'bootstrap-answered' && item.kind !== 'list-changed') continue;
    for (const bytes of bytesIn(item)) if (isMovable(bytes)) moved.add(bytes.buffer);
  }
  return [...moved];
}

/** The blob of an answer, or the bytes of a batch, whichever way the event holds them. */
function bytesIn(event: object): Uint8Array[] {
  const values: unknown[] = Object.values(event);
  return values.flatMap((value) => {
    if (value instanceof Uint8Array) return [value];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.values(value).filter((inner) => inner instanceof Uint8Array);
  });
}

/** Not where others have their bytes in the same memory, nor where there is little to save. */
function isMovable(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return byteLength >= SMALLEST_MOVED && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
}
