// Peers that never read, and requests that never end. Each returns a way to disconnect, and when the other end did.
// Used by readers.test.ts and bench/hostile.

import { connect as http2Connect } from 'node:http2';
import { connect, type Socket } from 'node:net';

export interface MutePeer {
  readonly closed: Promise<void>;
  close(): void;
}

/** Calls a gRPC method, writes messages and reads nothing. */
function muteCall(address: string, path: string, messages: readonly Uint8Array[]) {
  const session = http2Connect(`http://${address}`);
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.pause();
  stream.on('error', () => {});
  for (const message of messages) {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    stream.write(Buffer.concat([head, message]));
  }
  const closed = new Promise<void>((resolve) => stream.on('close', () => resolve()));
  return { stream, closed, close: () => session.destroy() };
}

/** Requests all Needs. */
export function muteCaller(address: string): MutePeer {
  const call = muteCall(address, '/bigfleet.v1alpha1.ShardRead/InspectNeeds', [new Uint8Array()]);
  call.stream.end();
  return call;
}

/** An operator that writes frames. */
export function muteOperator(address: string, frames: readonly Uint8Array[]): MutePeer {
  return muteCall(address, '/bigfleet.v1alpha1.Shard/Session', frames);
}

/** Bytes to a port; `listens` unless it never reads. */
export function speak(address: string, text: string, listens = true): Promise<Socket> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', reject);
    if (listens) socket.resume();
  });
}

const DRIP_MS = 1_000;

/** A request whose header never ends. */
export async function slowRequest(address: string): Promise<Socket> {
  const socket = await speak(address, 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
  const drip = setInterval(() => socket.write('x'), DRIP_MS);
  return socket.on('close', () => clearInterval(drip)).on('error', () => {});
}

/** Subscribes to live events. */
export function muteReader(address: string): Promise<Socket> {
  return speak(address, `GET /v1/events HTTP/1.1\r\nHost: ${address}\r\n\r\n`, false);
}
