// Sessions of browsers, which cannot send a token with every request: a token is exchanged once for a random id in a
// cookie. Kept in memory, so a restart of the shard ends all of them. Used by access.ts.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { sha256 } from './token-file.ts';

/** A working day; a stolen cookie is useless after it. */
export const SESSION_SECONDS = 12 * 3600;

/** The oldest session ends beyond it. Each takes about 200 bytes. */
const MAX_SESSIONS = 1_000;

interface Session {
  /** Digest of the token that it was started with. */
  readonly digest: Buffer;
  readonly untilMs: number;
}

export class LoginSessions {
  readonly #clock: Pick<Clock, 'now'>;
  /** By the SHA-256 of their id, oldest first. A lookup by hash takes no time that depends on how much of an id is right. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns the id of the new session. */
  start(digest: Buffer): string {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(keyOf(id), { digest, untilMs: this.#clock.now() + SESSION_SECONDS * 1000 });
    for (const [key, { untilMs }] of this.#sessions) {
      if (untilMs > this.#clock.now() && this.#sessions.size <= MAX_SESSIONS) break;
      this.#sessions.delete(key);
    }
    return id;
  }

  /** Digest of the token behind a session; null if it has ended. */
  digestOf(id: string): Buffer | null {
    const session = this.#sessions.get(keyOf(id));
    return session !== undefined && session.untilMs > this.#clock.now() ? session.digest : null;
  }

  end(id: string): void {
    this.#sessions.delete(keyOf(id));
  }
}

function keyOf(id: string): string {
  return sha256(id).toString('hex');
}
