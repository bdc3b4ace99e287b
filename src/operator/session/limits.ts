// Times and bounds of the session with a shard, each with its reason. Settings `session.*` replace some of them.

import type { BackoffLimits } from '../../runtime/backoff.ts';

export interface SessionLimits {
  /** Interval of roll-ups; each is drawn from its last quarter, so that operators that started together drift apart. */
  readonly rollupMs: number;
  /** Shortest time between two roll-ups, also requested ones. Shards read at most about one per second and cluster. */
  readonly rollupSpacingMs: number;
  /** How long a roll-up without an acknowledgement holds back the next one. Refused roll-ups are never acknowledged. */
  readonly rollupAckMs: number;
  /** Before another attempt to connect. */
  readonly reconnect: BackoffLimits;
  /** A session that lasted this long resets the backoff; one that ends sooner counts as a failed attempt. */
  readonly healthyMs: number;
  /** Timeout of the acknowledgement of a hello. */
  readonly helloMs: number;
  /** Silence of the shard after which a second hello checks that it still answers. */
  readonly silenceMs: number;
  /** Time after a hello by which the shard has reported every machine of the cluster. */
  readonly resyncMs: number;
  /** Bootstrap requests that are answered at the same time. */
  readonly bootstraps: number;
  /** Replies that wait, and bootstrap requests that wait; beyond either the session stops reading from the shard. */
  readonly waitingReplies: number;
  /** Bytes of replies that wait; beyond them the session stops reading from the shard. */
  readonly waitingBytes: number;
  /** Bytes of one frame that is sent; a larger one is not sent. Shards accept 64 MiB by default. */
  readonly frameBytes: number;
}

const MIB = 1024 * 1024;

export const SESSION_LIMITS: SessionLimits = {
  rollupMs: 10_000,
  rollupSpacingMs: 1_000,
  rollupAckMs: 30_000,
  reconnect: { baseMs: 500, maxMs: 30_000 },
  healthyMs: 10_000,
  helloMs: 10_000,
  silenceMs: 120_000,
  resyncMs: 60_000,
  bootstraps: 64,
  waitingReplies: 1_024,
  waitingBytes: 16 * MIB,
  frameBytes: 64 * MIB,
};

/** Largest message of a shard that is read: verdicts are split at 1 MiB. */
export const MAX_RECEIVED_BYTES = 16 * MIB;
