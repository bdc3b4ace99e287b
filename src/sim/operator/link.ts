// How a simulated operator reaches its shard: over gRPC (operator-grpc.ts), or in memory (operator-memory.ts).

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** One connection, as the operator holds it. */
export interface Link {
  /** The bytes of an `OperatorMessage`. Lost if the link is. */
  send(frame: Uint8Array): void;
  /** The other end does not read as fast as we write. */
  readonly isBlocked: boolean;
  /** Ends the connection. Nothing is received afterwards, not even `closed`. */
  close(): void;
}

/** What a connection tells the operator, never from within `open`, `send` or `close`. */
export interface LinkEnd {
  receive(message: ShardMessage): void;
  /** Called once, unless the operator has closed the link itself. */
  closed(why: string): void;
}

/** Opens a new connection. One that cannot be had is a link that soon closes. */
export interface Dialer {
  open(end: LinkEnd): Link;
}
