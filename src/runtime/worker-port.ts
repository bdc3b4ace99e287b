// The worker's end of a `WorkerChannel`. An uncaught error ends the worker, and the channel reports it to the owner.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Batch, type Handlers, MessageExchange, type Traffic } from './message-exchange.ts';

/** The `workerData` of a channel's worker. */
export interface WorkerStart<Start> {
  readonly start: Start;
  /** Not null: messages for the owner's `PacedInbox`; the worker's own port then carries numbers of handled elements. */
  readonly pacedPort: MessagePort | null;
}

export class WorkerPort<Start, Sent extends Traffic, Received extends Traffic> extends MessageExchange<
  Sent,
  Received
> {
  readonly start: Start;
  readonly #split: (batch: Batch<Sent>) => Iterable<Batch<Sent>>;
  readonly #port: MessagePort = parentPort!;
  readonly #pacedPort: MessagePort | null;
  #handled = 0;
  #isFlushDue = false;

  /** `split` divides what is sent in one turn into messages that the owner handles in much less than its `turnMs`. */
  constructor(split: (batch: Batch<Sent>) => Iterable<Batch<Sent>> = (batch) => [batch]) {
    super();
    const { start, pacedPort } = workerData as WorkerStart<Start>;
    this.start = start;
    this.#split = split;
    this.#pacedPort = pacedPort;
  }

  /** Handles messages from now on, the ones that have arrived already included. */
  listen(handlers: Handlers<Received>): void {
    this.#port.on('message', (batch: Batch<Received>) => {
      this.receive(batch, handlers);
      this.#handled += batch.length;
      this.#reportSoon();
    });
    this.#reportSoon();
  }

  /** The worker exits when nothing else keeps it alive; what was sent before still arrives. */
  close(): void {
    this.flush();
    this.#port.close();
  }

  protected override transmit(batch: Batch<Sent>, moved: readonly ArrayBuffer[]): void {
    if (this.#pacedPort === null) this.#port.postMessage(batch, moved);
    else for (const part of this.#split(batch)) this.#pacedPort.postMessage(part);
  }

  /** After the current message or timer, before the next one. */
  protected override flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.flush();
      if (this.#pacedPort !== null) this.#port.postMessage(this.#handled);
    });
  }

  #reportSoon(): void {
    if (this.#pacedPort !== null) this.flushSoon();
  }
}
