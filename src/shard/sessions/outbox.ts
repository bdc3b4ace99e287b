// The send queue of one session. Frames are coalesced by key: only the newest frame of a key is queued, at the position of
// the first. So a slow operator gets fewer frames, never stale ones. A full outbox ends the session: see session.ts.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { MAX_OUTBOX_FRAMES } from './limits.ts';
import type { SessionPort } from './port.ts';

export type Offered = 'sent' | 'queued' | 'coalesced' | 'full';

export class Outbox {
  readonly #port: Pick<SessionPort, 'write'>;
  readonly #capacity: number;
  /** By key, in the order in which the keys were first queued. */
  readonly #waiting = new Map<string, ShardMessage>();
  /** The port has refused a frame and has not drained since. */
  #isBlocked = false;

  constructor(port: Pick<SessionPort, 'write'>, capacity: number = MAX_OUTBOX_FRAMES) {
    this.#port = port;
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#waiting.size;
  }

  /** `full`: the frame is not queued, and the outbox is unchanged. */
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

  /** Removes a queued frame. */
  withdraw(key: string): void {
    this.#waiting.delete(key);
  }

  /** Removes all queued frames that are no longer wanted. */
  withdrawUnless(isWanted: (frame: ShardMessage) => boolean): void {
    for (const [key, frame] of this.#waiting) if (!isWanted(frame)) this.#waiting.delete(key);
  }

  /** Sends queued frames until the port is full; returns the number sent. */
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
