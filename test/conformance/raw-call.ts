// A gRPC call down to its bytes, for requests that no client of ours would send.

import { connect, constants } from 'node:http2';

export interface RawAnswer {
  /** The gRPC status; undefined if the stream ended without one. */
  readonly status: number | undefined;
  readonly message: string;
}

/** Sends bytes as the body of a call and returns how the server ended it. */
export async function rawCall(address: string, method: string, body: Uint8Array): Promise<RawAnswer> {
  const session = connect(`http://${address}`);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({
        ':method': 'POST',
        ':path': `/bigfleet.v1alpha1.CapacityProvider/${method}`,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      let answer: RawAnswer = { status: undefined, message: '' };
      const read = (headers: Record<string, unknown>) => {
        const status = headers['grpc-status'];
        if (status === undefined) return;
        answer = {
          status: Number(status),
          message: decodeURIComponent(String(headers['grpc-message'] ?? '')),
        };
      };
      stream.on('response', read);
      stream.on('trailers', read);
      stream.on('error', () => {});
      stream.on('close', () => resolve(answer));
      stream.resume();
      stream.end(body);
      // A server that waits for bytes that never come would wait for ever.
      stream.setTimeout(5_000, () => stream.close(constants.NGHTTP2_CANCEL));
    });
  } finally {
    session.close();
  }
}

/** A message as gRPC frames it, with a length of its own choice. */
export function frame(message: Uint8Array, length = message.length): Uint8Array {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(length, 1);
  return Buffer.concat([header, message]);
}
