// `Shard.Session` on a grpc-js server: makes a port of each call. The only file of the sessions that knows grpc-js.

import { type ChannelOptions, Metadata, type Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  addService,
  bindService,
  CHANNEL_OPTIONS,
  identityOf,
  RpcError,
  rawBytes,
  resetStream,
} from '../../wire/index.ts';
import type { Hands } from './hands.ts';
import { MAX_FRAME_BYTES } from './limits.ts';
import type { SessionPort, SessionStatus } from './port.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

type Call = ServerDuplexStream<Uint8Array, ShardMessage>;

/**
 * Options for the server of sessions. Room for a little more than the largest frame, so that the session itself refuses
 * what is just too large, with a code and a counter. Pings find peers that are gone without a word, which otherwise
 * keep their session until they come back.
 */
export const SESSION_SERVER_OPTIONS: ChannelOptions = {
  ...CHANNEL_OPTIONS,
  'grpc.max_receive_message_length': MAX_FRAME_BYTES + 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/** Where gRPC itself says how long a caller should wait. */
const RETRY_HINT = 'grpc-retry-pushback-ms';

/** How long the last frames and the status may take to reach somebody who does not read; then the stream is reset. */
const FAREWELL_MS = 1000;

/** Adds the service to a server. Without TLS there are no identities, and any caller may speak for any cluster. */
export function addSessions(server: Server, hands: Hands, { hasTls }: { readonly hasTls: boolean }): void {
  addService(server, service, {
    session: (call) => {
      const link = hands.connect(new CallPort(call), () => (hasTls ? identityOf(call) : null));
      call.on('data', (frame) => link.receive(frame));
      call.on('drain', () => link.drained());
      // The operator says no more: so do we.
      call.on('end', () => {
        link.closed();
        call.end();
      });
      call.on('cancelled', () => link.closed());
      call.on('close', () => link.closed());
    },
  });
}

class CallPort implements SessionPort {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  write(frame: ShardMessage): 'accepted' | 'full' {
    if (this.#call.writableNeedDrain || !this.#call.writable) return 'full';
    this.#call.write(frame);
    return 'accepted';
  }

  end({ code, details, retryAfterMs }: SessionStatus): void {
    const call = this.#call;
    // grpc-js ends a stream with a status when the call emits an error, after everything written before.
    const hint = new Metadata();
    if (retryAfterMs !== undefined) hint.set(RETRY_HINT, String(Math.ceil(retryAfterMs)));
    call.emit('error', Object.assign(new RpcError(code, details), { metadata: hint }));
    const reset = setTimeout(() => resetStream(call), FAREWELL_MS).unref();
    call.once('close', () => clearTimeout(reset));
  }
}
