// One connection of an operator, as the sessions see it: over gRPC (session-grpc.ts), or in memory in tests and simulations.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Identity, status, Verdict } from '../../wire/index.ts';

/** How a session ends: a gRPC code, and a text that says why. */
export interface SessionStatus {
  readonly code: status;
  readonly details: string;
  /** Delay before a retry makes sense, if known. */
  readonly retryAfterMs?: number;
}

/** The sending half. */
export interface SessionPort {
  /** `full`: the frame was not accepted. The port then calls `drained` as soon as it accepts more. */
  write(frame: ShardMessage): 'accepted' | 'full';
  /** Ends the connection, whether or not the other end still reads. Nothing is written or received afterwards. */
  end(status: SessionStatus): void;
  /** Reads no more frames until `resume`; flow control, where the transport has it, then stops the sender. */
  pause(): void;
  resume(): void;
}

/** The receiving half: the port's calls to the sessions. */
export interface SessionLink {
  /**
   * A frame of this many bytes begins to arrive. A port that reads frames whole need not call it. `skip`: the port must not
   * deliver the frame, and the session goes on; `stop`: the session has ended.
   */
  announced(bytes: number): Verdict;
  /** The bytes of an `OperatorMessage`. The port must not modify them afterwards. */
  receive(frame: Uint8Array): void;
  /** A frame that began to arrive cannot be received. The session ends. */
  failed(failure: FrameFailure): void;
  drained(): void;
  /** The operator has disconnected. */
  closed(): void;
}

export interface FrameFailure {
  /**
   * `overrun`: the incomplete frames of all sessions exceed their limit of bytes. `stalled`: no byte for too long.
   * `inflated`: too large once decompressed. `busy`: too many compressed frames wait. `malformed`: it cannot be inflated.
   */
  readonly kind: 'overrun' | 'stalled' | 'inflated' | 'busy' | 'malformed';
  /** Bytes received so far; for `inflated`, the limit. */
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
