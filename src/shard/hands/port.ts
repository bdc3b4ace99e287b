// One connection of an operator, as the hands see it: over gRPC (session-grpc.ts), or in memory in tests and simulations.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Identity, status, Verdict } from '../../wire/index.ts';

/** How a session ends: a gRPC code, and a text that says why. */
export interface SessionStatus {
  readonly code: status;
  readonly details: string;
  /** When it makes sense to try again, if that is known. */
  readonly retryAfterMs?: number;
}

/** The sending half. */
export interface SessionPort {
  /** `full`: the frame was not taken. The port then calls `drained` as soon as it takes more. */
  write(frame: ShardMessage): 'accepted' | 'full';
  /** Ends the connection, whether or not the other end still reads. Nothing is written or received afterwards. */
  end(status: SessionStatus): void;
  /** Reads no more frames until `resume`; the sender is held back by flow control, where there is such a thing. */
  pause(): void;
  resume(): void;
}

/** The receiving half: what a port tells the hands. */
export interface SessionLink {
  /**
   * A frame of this many bytes begins to arrive. A port that reads frames whole need not tell. `skip`: it is not received,
   * and the session goes on; `stop`: the session has ended.
   */
  announced(bytes: number): Verdict;
  /** The bytes of an `OperatorMessage`. They must stay as they are. */
  receive(frame: Uint8Array): void;
  /** A frame that began to arrive cannot be received. The session ends. */
  failed(failure: FrameFailure): void;
  drained(): void;
  /** The other end has gone. */
  closed(): void;
}

export interface FrameFailure {
  /**
   * `overrun`: incomplete frames of all sessions are too many bytes. `stalled`: no byte for too long. `inflated`: it is
   * compressed and too large without that. `busy`: too many compressed frames wait. `malformed`: it cannot be inflated.
   */
  readonly kind: 'overrun' | 'stalled' | 'inflated' | 'busy' | 'malformed';
  /** Those that are here; of one that inflates too far the limit. */
  readonly bytes: number;
}

/** Who is calling, by its certificate; null without TLS. May throw `RpcError`, which then ends the session. */
export type Identify = () => Identity | null;

/** Where a stream comes from, as far as that bounds what it may cost before its hello. */
export interface Origin {
  /** The same object for all streams of one connection. */
  readonly connection: object;
  /** The name in its certificate; null without TLS, where the operators behind one address have nothing in common. */
  readonly identity: string | null;
}
