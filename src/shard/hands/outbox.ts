// What waits to be sent on one session. Every frame has a key, and of each key only the newest waits, in the place of the
// first: an operator that reads slowly gets fewer frames, never older ones. Full is final: see session.ts.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { MAX_OUTBOX_FRAMES } from './limits.ts';
import type { SessionPort } from './port.ts';

export type Offered = 'sent' | 'queued' | 'coalesced' | 'full';

export class Outbox {
  readonly #port: Pick<SessionPort, 'write'>;
  readonly #capacity: number;
  /** By key, in the order in which the keys began to wait. */
  readonly #waiting = new Map<string, ShardMessage>();
  /** The port has refused a frame and not asked for more since. */
  #isBlocked = false;

  constructor(port: Pick<SessionPort, 'write'>, capacity: number = MAX_OUTBOX_FRAMES) {
    this.#port = port;
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#waiting.size;
  }

  /** `full`: the frame is not taken, and everything else is as before. */
  offer(key: string, frame: ShardMessage): Offered {
    if (this.#waiting.has(key)) {
      this.#waiting.set(key, frame);
      return 'coalesced';
    }
    if (!this.#isBlocked && this.#waiting.size === 0) {
      if (this.#port.write(frame) === 'accepted') return 'sent';
      this.#isBlocked = true;
    }
    if (this.#waiting.size >= this.#capacity) return 'full';
    this.#waiting.set(key, frame);
    return 'queued';
  }

  /** Takes back a frame that still waits. */
  withdraw(key: string): void {
    this.#waiting.delete(key);
  }

  /** Takes back all frames that still wait and are not wanted any more. */
  withdrawUnless(isWanted: (frame: ShardMessage) => boolean): void {
    for (const [key, frame] of this.#waiting) if (!isWanted(frame)) this.#waiting.delete(key);
  }

  /** Sends what the port takes, and returns how much that was. */
  flush(): number {
    this.#isBlocked = false;
    let sent = 0;
    for (const [key, frame] of this.#waiting) {
      if (this.#port.write(frame) === 'full') {
        this.#isBlocked = true;
        break;
      }
      this.#waiting.delete(key);
      sent++;
    }
    return sent;
  }

  clear(): void {
    this.#waiting.clear();
  }
}
