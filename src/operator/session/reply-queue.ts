// Replies to the shard that wait to be sent: acknowledgements of reclaims, node reports, answers to bootstrap requests.
// None is dropped, also not when the connection is lost. A reply replaces an older one with the same key, so that their
// number is bounded by the instructions, machines and requests that exist. Beyond `waitingReplies` or `waitingBytes`
// the session stops reading from the shard (shard-session.ts), which stops what causes replies.

import { OperatorMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

export type Reply = Extract<
  NonNullable<OperatorMessage['payload']>,
  { readonly $case: 'bootstrapResponse' | 'reclaimAck' | 'nodeReport' }
>;

interface Waiting {
  readonly kind: Reply['$case'];
  readonly frame: Uint8Array;
}

export interface ReplyBounds {
  readonly waitingReplies: number;
  readonly waitingBytes: number;
}

export class ReplyQueue {
  readonly #bounds: ReplyBounds;
  /** In the order of sending. */
  readonly #waiting = new Map<string, Waiting>();
  #bytes = 0;

  constructor(bounds: ReplyBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the shard should be kept from causing more replies. */
  get isFull(): boolean {
    return this.#waiting.size >= this.#bounds.waitingReplies || this.#bytes >= this.#bounds.waitingBytes;
  }

  /** Whether there is room again: at most half of the bounds, so that reading does not stop and go with each reply. */
  get hasRoom(): boolean {
    return (
      this.#waiting.size <= this.#bounds.waitingReplies / 2 && this.#bytes <= this.#bounds.waitingBytes / 2
    );
  }

  /** Appends a reply. It replaces a waiting one with the same key, which it makes obsolete. */
  add(reply: Reply): void {
    const key = keyOf(reply);
    this.#remove(key);
    const frame = OperatorMessage.encode({ payload: reply }).finish();
    this.#waiting.set(key, { kind: reply.$case, frame });
    this.#bytes += frame.length;
  }

  /** Removes and returns the oldest reply; null if there is none. */
  take(): Uint8Array | null {
    for (const [key, { frame }] of this.#waiting) {
      this.#remove(key);
      return frame;
    }
    return null;
  }

  /** Removes all replies of a kind, for a shard that does not know it. */
  discard(kind: Reply['$case']): void {
    for (const [key, waiting] of this.#waiting) if (waiting.kind === kind) this.#remove(key);
  }

  clear(): void {
    this.#waiting.clear();
    this.#bytes = 0;
  }

  #remove(key: string): void {
    this.#bytes -= this.#waiting.get(key)?.frame.length ?? 0;
    this.#waiting.delete(key);
  }
}

function keyOf(reply: Reply): string {
  switch (reply.$case) {
    case 'bootstrapResponse':
      return JSON.stringify(['bootstrap', reply.value.requestId]);
    case 'reclaimAck':
      return JSON.stringify(['ack', reply.value.instructionId]);
    case 'nodeReport': {
      const { machineId, kind, instructionId } = reply.value;
      return JSON.stringify(['node', machineId, kind, instructionId]);
    }
  }
}
