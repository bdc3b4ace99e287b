// Links to a shard over gRPC, for the demo environment and end-to-end tests. Each has its own channel, so that only the
// operator decides when to reconnect.

import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { bindService, clientCredentials, connect, rawBytes, type SecurityOptions } from '../../wire/index.ts';
import type { Dialer } from './link.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

/** Keepalive detects a shard that vanished without closing the connection. */
const OPTIONS = { 'grpc.keepalive_time_ms': 20_000, 'grpc.keepalive_timeout_ms': 10_000 };

/** `address`: the shard's endpoint for sessions. */
export function grpcDialer(address: string, security: SecurityOptions = { tls: null }): Dialer {
  const credentials = clientCredentials(address, security);
  return {
    open: (end) => {
      const client = connect(service, address, credentials, OPTIONS);
      const stream = client.rpc.session();
      let isOver = false;
      const finish = (): boolean => {
        if (isOver) return false;
        isOver = true;
        client.close();
        return true;
      };
      stream.on('data', (message: ShardMessage) => {
        if (!isOver) end.receive(message);
      });
      // The status carries the same information and is always emitted.
      stream.on('error', () => {});
      stream.on('status', ({ details }) => {
        if (finish()) end.closed(details);
      });
      return {
        send: (frame) => {
          if (!isOver && stream.writable) stream.write(frame);
        },
        get isBlocked() {
          return stream.writableNeedDrain;
        },
        close: () => {
          if (finish()) stream.cancel();
        },
      };
    },
  };
}
