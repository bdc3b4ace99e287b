// What both ends of a worker channel share: items that need no answer, requests whose answers are matched by id, and a
// queue, so that everything queued in one turn of the event loop crosses the thread boundary as one message. Base of
// worker-channel.ts and worker-port.ts.

import { revivedError } from '../model/index.ts';

/** Message types of one direction. The kinds `request`, `answer` and `refusal` are reserved for this file. */
export interface Traffic {
  readonly item: { readonly kind: string };
  readonly request: unknown;
  /** Answers to this direction's requests; they are sent in the other direction. */
  readonly answer: unknown;
}

interface Request<Body> {
  readonly kind: 'request';
  readonly id: number;
  readonly request: Body;
}

export type Reply =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: unknown };

/** An element of a message: an item, a request, or the reply to a request of the other end. */
export type Envelope<Sent extends Traffic> = Sent['item'] | Request<Sent['request']> | Reply;
export type Batch<Sent extends Traffic> = readonly Envelope<Sent>[];

export interface Handlers<Received extends Traffic> {
  readonly onItem: (item: Received['item']) => void;
  /** Exactly one of `answer` and `refuse` must be called once, at any time. */
  readonly onRequest?: (
    request: Received['request'],
    answer: (answer: Received['answer']) => void,
    refuse: (error: unknown) => void,
  ) => void;
}

export abstract class MessageExchange<Sent extends Traffic, Received extends Traffic> {
  readonly #pending = new Map<number, PromiseWithResolvers<Sent['answer']>>();
  #queue: Envelope<Sent>[] = [];
  /** Buffers of queued elements that are transferred instead of copied. */
  #moved = new Set<ArrayBuffer>();
  #lastId = 0;

  /** Posts one message to the other end. */
  protected abstract transmit(batch: Batch<Sent>, moved: readonly ArrayBuffer[]): void;
  /** Calls `flush` at the end of this turn. */
  protected abstract flushSoon(): void;

  protected get queued(): number {
    return this.#queue.length;
  }

  /** Sends an item at the end of this turn. The caller must not use the buffers in `moved` afterwards. */
  queue(item: Sent['item'], moved: readonly ArrayBuffer[] = []): void {
    this.#push(item, moved);
  }

  /** Sends an item at once, after everything queued. */
  post(item: Sent['item'], moved: readonly ArrayBuffer[] = []): void {
    this.#push(item, moved);
    this.flush();
  }

  /** Sends a request at the end of this turn. Rejects with the other end's refusal, or with the reason why it ended. */
  request(request: Sent['request'], moved: readonly ArrayBuffer[] = []): Promise<Sent['answer']> {
    const id = ++this.#lastId;
    const pending = Promise.withResolvers<Sent['answer']>();
    this.#pending.set(id, pending);
    this.#push({ kind: 'request', id, request }, moved);
    return pending.promise;
  }

  /** Sends everything queued at once. */
  flush(): void {
    const batch = this.#queue;
    if (batch.length === 0) return;
    const moved = [...this.#moved];
    this.#queue = [];
    this.#moved.clear();
    this.transmit(batch, moved);
  }

  #push(envelope: Envelope<Sent>, moved: readonly ArrayBuffer[]): void {
    for (const buffer of moved) this.#moved.add(buffer);
    if (this.#queue.push(envelope) === 1) this.flushSoon();
  }

  /** Handles the elements of one message in order. */
  protected receive(batch: Batch<Received>, { onItem, onRequest }: Handlers<Received>): void {
    for (const envelope of batch) {
      if (isReply(envelope)) this.#settle(envelope);
      else if (isRequest(envelope)) {
        const { id } = envelope;
        onRequest?.(
          envelope.request,
          (answer) => this.#push({ kind: 'answer', id, answer }, []),
          (error) => this.#push({ kind: 'refusal', id, error }, []),
        );
      } else onItem(envelope);
    }
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.kind === 'answer') pending?.resolve(reply.answer as Sent['answer']);
    else pending?.reject(revivedError(reply.error));
  }

  protected rejectPending(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }
}

function isReply(envelope: { readonly kind: string }): envelope is Reply {
  return envelope.kind === 'answer' || envelope.kind === 'refusal';
}

function isRequest(envelope: { readonly kind: string }): envelope is Request<unknown> {
  return envelope.kind === 'request';
}
