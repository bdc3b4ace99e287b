// Connections to a server of ours that never come to a call: a TLS handshake that fails, bytes that are no HTTP/2. grpc-js
// ends them and says nothing, so they are heard of where Node announces every connection it accepts.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

const ACCEPTED = 'net.server.socket';
/** What the server below grpc-js emits, the first before and the second after there is TLS. */
const BROKEN = ['tlsClientError', 'sessionError'];

/** Calls back for every connection to a port that breaks. Returns what ends this. */
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
