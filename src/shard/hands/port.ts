// One connection of an operator, as the hands see it: over gRPC (session-grpc.ts), or in memory in tests and simulations.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Identity, status } from '../../wire/index.ts';

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
}

/** The receiving half: what a port tells the hands. */
export interface SessionLink {
  /** The bytes of an `OperatorMessage`. They must stay as they are. */
  receive(frame: Uint8Array): void;
  drained(): void;
  /** The other end has gone. */
  closed(): void;
}

/** Who is calling, by its certificate; null without TLS. May throw `RpcError`, which then ends the session. */
export type Identify = () => Identity | null;
