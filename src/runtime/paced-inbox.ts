// Receives the messages of a worker in short turns. Node delivers all messages that have arrived in one turn of the
// event loop; fetching them one by one bounds the time until other work runs, deserialisation included. Used by
// worker-channel.ts.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

export class PacedInbox {
  readonly #port: MessagePort;
  readonly #turnMs: number;
  readonly #receive: (message: unknown) => void;
  #isStarted = false;
  #isClosed = false;
  #isTurnDue = false;

  constructor(port: MessagePort, turnMs: number, receive: (message: unknown) => void) {
    this.#port = port;
    this.#turnMs = turnMs;
    this.#receive = receive;
  }

  /** Until it is called, messages stay in the port. */
  start(): void {
    this.#isStarted = true;
    this.#turnSoon();
  }

  /** To be called when messages have arrived. */
  wake(): void {
    if (!this.#isTurnDue) this.#turn();
  }

  /** Drops the messages that were not received. */
  close(): void {
    this.#isClosed = true;
    this.#port.close();
  }

  #turnSoon(): void {
    this.#isTurnDue = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    if (!this.#isStarted) return;
    const endMs = performance.now() + this.#turnMs;
    while (!this.#isClosed && performance.now() < endMs) {
      const entry = receiveMessageOnPort(this.#port);
      if (entry === undefined) return;
      this.#receive(entry.message);
    }
    if (!this.#isClosed) this.#turnSoon();
  }
}
