// Reports connections that fail before the first call: a failed TLS handshake, or bytes that are not HTTP/2. grpc-js
// closes them silently, so this subscribes to Node's diagnostics channel for accepted connections. The shard logs them
// (process/shard.ts).

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

const ACCEPTED = 'net.server.socket';
/** Error events of the server below grpc-js: the first during the TLS handshake, the second after it. */
const BROKEN = ['tlsClientError', 'sessionError'];

/** Calls `onBroken` for every failed connection to a port. Returns a function that unsubscribes. */
export function watchConnections(port: number, onBroken: () => void): () => void {
  const servers = new Set<EventEmitter>();
  const accepted = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket & { readonly server?: EventEmitter } };
    const { server } = socket;
    if (socket.localPort !== port || server === undefined || servers.has(server)) return;
    servers.add(server);
    for (const event of BROKEN) server.on(event, onBroken);
  };
  subscribe(ACCEPTED, accepted);
  return () => {
    unsubscribe(ACCEPTED, accepted);
    for (const server of servers) for (const event of BROKEN) server.off(event, onBroken);
  };
}
