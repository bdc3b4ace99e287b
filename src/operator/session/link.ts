// One connection of the operator to a shard, as shard-session.ts uses it: over gRPC (grpc-dialer.ts), or in memory in
// tests, so that the session is a state machine on a clock.

import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** One connection, from the operator's side. */
export interface Link {
  /** Sends the bytes of an `OperatorMessage`; lost if the link is lost. */
  send(frame: Uint8Array): void;
  /** Back-pressure: the shard reads more slowly than the operator writes. `drained` follows. */
  readonly isBlocked: boolean;
  /** Stops and resumes reading, which makes the shard wait. */
  setPaused(isPaused: boolean): void;
  /** Ends the connection after the frames that have been sent. Nothing is received afterwards, not even `closed`. */
  close(): void;
}

/** Callbacks of a connection; never invoked from within `open`, `send` or `close`. */
export interface LinkEnd {
  receive(message: ShardMessage): void;
  /** The link is no longer blocked. */
  drained(): void;
  /** Called once, unless the operator has closed the link itself. */
  closed(why: string): void;
}

/** Opens a new connection. A failed attempt is a link that soon closes. */
export interface Dialer {
  /** `attempt`: number of consecutive failures before this one, which selects among several addresses. */
  open(end: LinkEnd, attempt: number): Link;
}
