// The owner's end of a worker thread: starts it, exchanges messages with it, and reports its failure once. The worker's
// end is worker-port.ts. Used by the threads of controller, journal, demand store and List reader.

import { MessageChannel, Worker } from 'node:worker_threads';
import { revivedError } from '../model/index.ts';
import { type Batch, type Handlers, MessageExchange, type Traffic } from './message-exchange.ts';
import { PacedInbox } from './paced-inbox.ts';
import type { WorkerStart } from './worker-port.ts';

export interface WorkerChannelParts<Start, Received extends Traffic> extends Handlers<Received> {
  /** Names the thread in errors and in tools that list threads. */
  readonly name: string;
  /** See `moduleBeside`. */
  readonly module: URL;
  /** Copied to the worker, which reads it as `WorkerPort.start`. */
  readonly start: Start;
  /** Size of the young generation of the worker's heap. Default: V8's. */
  readonly youngGenerationMb?: number;
  readonly pace?: Pace;
  /**
   * The worker threw, rejected without a handler, or exited before `close`. Called once, with the worker's own error and
   * stack, after the pending requests were rejected with it.
   */
  readonly onFailure: (error: Error) => void;
}

/** Receives in short turns, from `WorkerChannel.resume` on, and counts what the worker has handled. */
export interface Pace {
  /** Longest time to handle messages before the event loop runs other work. */
  readonly turnMs: number;
  /** The worker listens, or has handled more of what was sent; see `unhandled`. */
  readonly onHandled: () => void;
}

export class WorkerChannel<Start, Sent extends Traffic, Received extends Traffic> extends MessageExchange<
  Sent,
  Received
> {
  readonly #name: string;
  readonly #worker: Worker;
  readonly #inbox: PacedInbox | null = null;
  readonly #exited = Promise.withResolvers<void>();
  readonly #onFailure: (error: Error) => void;
  /** Elements posted and handled since the start. */
  #posted = 0;
  #handled = 0;
  /** Messages that were not handled completely: when each was posted, and the value of `#posted` then. */
  readonly #unhandled: { readonly posted: number; readonly atMs: number }[] = [];
  /** Not null: the worker has ended. */
  #end: Error | null = null;
  #isClosing = false;

  constructor(parts: WorkerChannelParts<Start, Received>) {
    super();
    const { name, module, start, youngGenerationMb, pace } = parts;
    this.#name = name;
    this.#onFailure = parts.onFailure;
    const receive = (batch: unknown): void => {
      if (this.#end === null) this.receive(batch as Batch<Received>, parts);
    };
    const ports = pace === undefined ? null : new MessageChannel();
    const workerStart: WorkerStart<Start> = { start, pacedPort: ports?.port2 ?? null };
    this.#worker = new Worker(module, {
      name,
      workerData: workerStart,
      transferList: ports === null ? [] : [ports.port2],
      resourceLimits: youngGenerationMb === undefined ? {} : { maxYoungGenerationSizeMb: youngGenerationMb },
    })
      .on('messageerror', (error) => this.#fail(error))
      .on('error', (error) => this.#fail(error))
      .on('exit', (code) => {
        this.#fail(new Error(`The ${name} thread ended with code ${code}.`));
        this.#exited.resolve();
      });
    if (pace === undefined || ports === null) this.#worker.on('message', receive);
    else {
      this.#inbox = new PacedInbox(ports.port1, pace.turnMs, receive);
      this.#worker.on('message', (handled: number) => this.#report(handled, pace));
    }
  }

  /** With `pace`: items, requests and replies that the worker has not handled, those still queued included. */
  get unhandled(): number {
    return this.queued + this.#posted - this.#handled;
  }

  /** With `pace`: age of the oldest message that the worker has not handled; 0 if there is none. */
  get unhandledMs(): number {
    const oldest = this.#unhandled[0];
    return oldest === undefined ? 0 : performance.now() - oldest.atMs;
  }

  /** Whether a reference to the worker keeps the process alive. It does until `unref`. */
  ref(): void {
    this.#worker.ref();
  }

  unref(): void {
    this.#worker.unref();
  }

  /** With `pace`, messages wait until this is called. */
  resume(): void {
    this.#inbox?.start();
  }

  override request(request: Sent['request'], moved: readonly ArrayBuffer[] = []): Promise<Sent['answer']> {
    return this.#end === null ? super.request(request, moved) : Promise.reject(this.#end);
  }

  /**
   * Sends `last`, on which the worker must call `WorkerPort.close`; without it, terminates the worker at once. Resolves
   * when the worker has exited. From now on its failure is not reported, but still rejects pending requests.
   */
  close(last?: Sent['item']): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      if (last === undefined) this.#fail(new Error(`The ${this.#name} thread was closed.`));
      else this.post(last);
    }
    return this.#exited.promise;
  }

  protected override transmit(batch: Batch<Sent>, moved: readonly ArrayBuffer[]): void {
    if (this.#end !== null) return;
    this.#worker.postMessage(batch, moved);
    if (this.#inbox === null) return;
    this.#posted += batch.length;
    this.#unhandled.push({ posted: this.#posted, atMs: performance.now() });
  }

  protected override flushSoon(): void {
    setImmediate(() => this.flush());
  }

  #report(handled: number, { onHandled }: Pace): void {
    if (this.#end !== null) return;
    this.#handled = handled;
    while (this.#unhandled.length > 0 && this.#unhandled[0]!.posted <= handled) this.#unhandled.shift();
    onHandled();
    this.#inbox?.wake();
  }

  #fail(reason: unknown): void {
    if (this.#end !== null) return;
    this.#end = revivedError(reason);
    this.#inbox?.close();
    this.rejectPending(this.#end);
    void this.#worker.terminate();
    if (!this.#isClosing) this.#onFailure(this.#end);
  }
}
