// Links to a shard over gRPC. Each has a channel of its own, so that the operator alone decides when to dial again.

import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { bindService, clientCredentials, connect, rawBytes, type SecurityOptions } from '../../wire/index.ts';
import type { Dialer } from './link.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

/** Finds a shard that is gone without a word. */
const OPTIONS = { 'grpc.keepalive_time_ms': 20_000, 'grpc.keepalive_timeout_ms': 10_000 };

/** `address`: where the shard takes sessions. */
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
      // Its status says the same, and comes in every case.
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
