// The main thread's proxy of the controller, which runs on a worker thread. It never blocks on a cycle: the events of one turn
// of the event loop are posted in one message, and the controller's messages are fetched in turns of at most about TURN_MS.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { revivedError } from '../../model/index.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import type { ControllerEvent, Effect } from '../events.ts';
import type { Answer, Order, OrderResult, QuestionName, Questions, ShardEvent, ShardPort } from '../views.ts';
import { YOUNG_GENERATION_MB } from './controller-limits.ts';
import type {
  ControllerSetup,
  ControllerThreadStart,
  FromController,
  ToController,
} from './controller-protocol.ts';
import { DemandPacker } from './demand-packer.ts';

/** Time to handle the controller's messages before the event loop runs other work. */
const TURN_MS = 5;
/** Unprocessed events from which on `room` makes callers wait; a batch of a List has up to 64 KiB. */
const ROOM = 256;
/** Longest wait at stop for in-flight work. */
const STOP_WITHIN_MS = 10_000;
/** Smaller buffers are copied: that is faster than a transfer. */
const SMALLEST_MOVED = 4096;

export interface ControllerThreadParts {
  readonly setup: ControllerSetup;
  /** A module that exports `makeController`: compiled or TypeScript, like the caller. */
  readonly factory: URL;
  /** The controller has failed and its thread has ended. The process must end; by default the error is thrown uncaught. */
  readonly onFailure?: (error: Error) => void;
}

export class ControllerThread implements ShardPort {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #onFailure: (error: Error) => void;
  readonly #up = Promise.withResolvers<void>();
  /** Flushed at once, so that the time to copy a part counts towards the packer's turn. */
  readonly #demand = new DemandPacker((item) => {
    this.#send(item);
    this.#flush();
  });
  readonly #listeners = new Set<(event: ShardEvent) => void>();
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #onEffect: ((effect: Effect) => void) | null = null;
  #outbox: ToController[] = [];
  #posted = 0;
  #taken = 0;
  /** Unprocessed messages: when each was posted, and the value of `#posted` then. */
  readonly #unheard: { readonly posted: number; readonly atMs: number }[] = [];
  #waiters: (() => void)[] = [];
  #lastAsk = 0;
  #isDrainDue = false;
  #phase: 'starting' | 'up' | 'gone' = 'starting';
  #stopped: PromiseWithResolvers<void> | null = null;

  private constructor({ setup, factory, onFailure }: ControllerThreadParts) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#onFailure = onFailure ?? raise;
    const start: ControllerThreadStart = { factory: factory.href, setup, port: port2 };
    const file = moduleBeside(import.meta.url, 'controller-worker');
    this.#worker = new Worker(file, {
      workerData: start,
      transferList: [port2],
      name: 'controller',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
      .on('message', (taken: number) => this.#rung(taken))
      .on('messageerror', (error) => this.#fail(error))
      .on('error', (error) => this.#fail(error))
      .on('exit', (code) => this.#fail(new Error(`The thread of the controller ended with code ${code}.`)));
  }

  /** Resolves when the controller has started, rejects with the reason why it cannot. */
  static async start(parts: ControllerThreadParts): Promise<ControllerThread> {
    const thread = new ControllerThread(parts);
    await thread.#up.promise;
    return thread;
  }

  /** Sets the executor of effects. Until it is set, all messages of the controller are queued: effects, news and answers. */
  onEffect(carryOut: (effect: Effect) => void): void {
    this.#onEffect = carryOut;
    this.#drainSoon();
  }

  /** Buffers of blobs and batches are transferred to the controller; the caller must not use them afterwards. */
  post(event: ControllerEvent): void {
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

  listen(listener: (event: ShardEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Number of events that were posted and that the controller has not processed yet. */
  get waiting(): number {
    return this.#posted - this.#taken;
  }

  /** The queue of unprocessed events is full enough that callers should defer events where they can. */
  get isBehind(): boolean {
    return this.waiting >= ROOM && this.#phase !== 'gone';
  }

  /** How long the oldest unprocessed event has waited. */
  get waitingMs(): number {
    const oldest = this.#unheard[0];
    return oldest === undefined ? 0 : performance.now() - oldest.atMs;
  }

  /** Resolves when fewer than ROOM events are unprocessed: backpressure for callers that can defer events. */
  async room(): Promise<void> {
    while (this.isBehind) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /**
   * Lets the controller finish in-flight work, for which its effects must still be executed and its events posted; after
   * `withinMs` it is closed in any case. Rejects if the controller fails meanwhile.
   */
  stop(withinMs = STOP_WITHIN_MS): Promise<void> {
    if (this.#stopped === null) {
      this.#stopped = Promise.withResolvers();
      // After an aborted start no executor is set yet, and without one the `closed` message would stay queued.
      if (this.#onEffect === null) this.onEffect(() => {});
      if (this.#phase === 'gone') this.#stopped.resolve();
      else this.#send({ kind: 'stop', withinMs });
    }
    return this.#stopped.promise;
  }

  #ask(item: (id: number) => ToController): Promise<unknown> {
    if (this.#phase === 'gone') return Promise.reject(gone());
    const id = ++this.#lastAsk;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    this.#send(item(id));
    return asked.promise;
  }

  #send(item: ToController): void {
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

  /** Messages are deserialised when they are fetched, so fetching them here bounds the time spent on that. */
  #drain(): void {
    this.#isDrainDue = false;
    if (this.#onEffect === null) return;
    const lastMs = performance.now() + TURN_MS;
    while (this.#phase !== 'gone' && performance.now() < lastMs) {
      const entry = receiveMessageOnPort(this.#port);
      if (entry === undefined) return;
      for (const item of entry.message as readonly FromController[]) this.#hear(item, this.#onEffect);
    }
    if (this.#phase !== 'gone') this.#drainSoon();
  }

  #hear(item: FromController, carryOut: (effect: Effect) => void): void {
    switch (item.kind) {
      case 'effect':
        carryOut(item.effect);
        break;
      case 'news':
        for (const listener of this.#listeners) listener(item.event);
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
  return new Error('The controller has stopped.');
}

/** Throws from the event loop, where no caller can catch it. */
function raise(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Buffers that are transferred with a message instead of copied. */
function movedBy(items: readonly ToController[]): ArrayBuffer[] {
  const moved = new Set<ArrayBuffer>();
  for (const item of items) {
    if (item.kind !== 'bootstrap-answered' && item.kind !== 'list-changed') continue;
    for (const bytes of bytesIn(item)) if (isMovable(bytes)) moved.add(bytes.buffer);
  }
  return [...moved];
}

/** The byte arrays in an event, at its top level or one level below: the blob of an answer, or the bytes of a batch. */
function bytesIn(event: object): Uint8Array[] {
  const values: unknown[] = Object.values(event);
  return values.flatMap((value) => {
    if (value instanceof Uint8Array) return [value];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.values(value).filter((inner) => inner instanceof Uint8Array);
  });
}

/** False for a view of a larger buffer, whose other bytes may be in use, and for small buffers. */
function isMovable(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return byteLength >= SMALLEST_MOVED && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
}
