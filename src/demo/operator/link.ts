// The connection of a simulated operator (operator.ts) to its shard: over gRPC (operator-grpc.ts) or in memory
// (operator-memory.ts).

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** One connection, from the operator's side. */
export interface Link {
  /** Sends the bytes of an `OperatorMessage`; lost if the link is lost. */
  send(frame: Uint8Array): void;
  /** Backpressure: the other end reads more slowly than the operator writes. */
  readonly isBlocked: boolean;
  /** Ends the connection. Nothing is received afterwards, not even `closed`. */
  close(): void;
}

/** Callbacks of a connection; never invoked from within `open`, `send` or `close`. */
export interface LinkEnd {
  receive(message: ShardMessage): void;
  /** Called once, unless the operator has closed the link itself. */
  closed(why: string): void;
}

/** Opens a new connection. A failed attempt is a link that soon closes. */
export interface Dialer {
  open(end: LinkEnd): Link;
}
