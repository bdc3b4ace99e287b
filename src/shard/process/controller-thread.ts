// The main thread's proxy of the controller, which runs on a worker thread. It never blocks on a cycle: the events of
// one turn of the event loop are posted in one message, and the controller's messages are fetched in turns of at most
// about TURN_MS. Made by shard.ts.

import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { ControllerEvent, Effect } from '../events.ts';
import type { Answer, Order, OrderResult, QuestionName, Questions, ShardEvent, ShardPort } from '../views.ts';
import type {
  ControllerSetup,
  ControllerThreadStart,
  FromController,
  ToController,
} from './controller-protocol.ts';
import { DemandPacker } from './demand-packer.ts';
import { YOUNG_GENERATION_MB } from './heap-limits.ts';

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
  readonly pacing?: Int32Array | undefined;
}

export class ControllerThread implements ShardPort {
  readonly #channel: WorkerChannel<ControllerThreadStart, ToController, FromController>;
  readonly #onFailure: (error: Error) => void;
  readonly #up = Promise.withResolvers<void>();
  /** Posted at once, so that the time to copy a part counts towards the packer's turn. */
  readonly #demand = new DemandPacker((item) => this.#channel.post(item));
  readonly #listeners = new Set<(event: ShardEvent) => void>();
  #onEffect: (effect: Effect) => void = () => {};
  #isResumed = false;
  #waiters: (() => void)[] = [];
  #phase: 'starting' | 'up' | 'gone' = 'starting';
  #stopped: PromiseWithResolvers<void> | null = null;

  private constructor({ setup, factory, onFailure, pacing }: ControllerThreadParts) {
    this.#onFailure = onFailure ?? raise;
    this.#channel = new WorkerChannel({
      name: 'controller',
      module: moduleBeside(import.meta.url, 'controller-worker'),
      start: { factory: factory.href, setup, pacing },
      youngGenerationMb: YOUNG_GENERATION_MB,
      pace: { turnMs: TURN_MS, onHandled: () => this.#handled() },
      onItem: (item) => this.#receive(item),
      onFailure: (error) => this.#fail(error),
    });
  }

  /** Resolves when the controller has started, rejects with the reason why it cannot. */
  static async start(parts: ControllerThreadParts): Promise<ControllerThread> {
    const thread = new ControllerThread(parts);
    await thread.#up.promise;
    return thread;
  }

  /** Sets the executor of effects. Until it is set, all messages of the controller are queued: effects, shard events and answers. */
  onEffect(carryOut: (effect: Effect) => void): void {
    this.#onEffect = carryOut;
    this.#isResumed = true;
    this.#channel.resume();
  }

  /** Buffers of blobs and batches are transferred to the controller; the caller must not use them afterwards. */
  post(event: ControllerEvent): void {
    if (this.#phase === 'gone') return;
    if (event.kind === 'demand') this.#demand.post(event);
    else this.#channel.queue(event, movedBy(event));
  }

  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    return this.#request({ kind: 'ask', name, ask }) as Promise<Answer<Q>>;
  }

  order(order: Order): Promise<OrderResult> {
    return this.#request({ kind: 'order', order }) as Promise<OrderResult>;
  }

  listen(listener: (event: ShardEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Number of events that were posted and that the controller has not processed yet. */
  get waiting(): number {
    return this.#channel.unhandled;
  }

  /** The queue of unprocessed events is full enough that callers should defer events where they can. */
  get isBehind(): boolean {
    return this.waiting >= ROOM && this.#phase !== 'gone';
  }

  /** How long the oldest unprocessed event has waited. */
  get waitingMs(): number {
    return this.#channel.unhandledMs;
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
      if (!this.#isResumed) this.onEffect(() => {});
      if (this.#phase === 'gone') this.#stopped.resolve();
      else this.#channel.queue({ kind: 'stop', withinMs });
    }
    return this.#stopped.promise;
  }

  async #request(request: ToController['request']): Promise<unknown> {
    try {
      return await this.#channel.request(request);
    } catch (error) {
      throw this.#phase === 'gone' ? new Error('The controller has stopped.') : error;
    }
  }

  #handled(): void {
    if (this.#phase === 'starting') {
      this.#phase = 'up';
      this.#up.resolve();
    }
    if (this.waiting < ROOM) this.#wakeWaiters();
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #receive(item: FromController['item']): void {
    switch (item.kind) {
      case 'effect':
        this.#onEffect(item.effect);
        break;
      case 'shard-event':
        for (const listener of this.#listeners) listener(item.event);
        break;
      case 'closed':
        this.#phase = 'gone';
        this.#wakeWaiters();
        void this.#channel.close().then(() => this.#stopped?.resolve());
    }
  }

  #fail(error: Error): void {
    const wasUp = this.#phase === 'up';
    this.#phase = 'gone';
    this.#wakeWaiters();
    this.#stopped?.reject(error);
    if (wasUp) this.#onFailure(error);
    else this.#up.reject(error);
  }
}

/** Throws from the event loop, where no caller can catch it. */
function raise(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Buffers that are transferred with an event instead of copied. */
function movedBy(event: ControllerEvent): ArrayBuffer[] {
  if (event.kind !== 'bootstrap-answered' && event.kind !== 'list-changed') return [];
  return bytesIn(event)
    .filter(isMovable)
    .map(({ buffer }) => buffer);
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
