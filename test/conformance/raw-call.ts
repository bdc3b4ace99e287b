// A gRPC call at the byte level, for requests that our clients never send. Used by bad-input.test.ts.

import { connect, constants, type IncomingHttpHeaders } from 'node:http2';

/** Sends bytes as the body of a call and returns the gRPC status; undefined if there was none. */
export async function rawCall(
  address: string,
  method: string,
  body: Uint8Array,
): Promise<number | undefined> {
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
      let status: number | undefined;
      const read = (headers: IncomingHttpHeaders) => {
        if (headers['grpc-status'] !== undefined) status = Number(headers['grpc-status']);
      };
      stream.on('response', read);
      stream.on('trailers', read);
      stream.on('error', () => {});
      stream.on('close', () => resolve(status));
      stream.resume();
      stream.end(body);
      // Timeout for a server that waits for bytes that never arrive.
      stream.setTimeout(25_000, () => stream.close(constants.NGHTTP2_CANCEL));
    });
  } finally {
    session.close();
  }
}

/** A gRPC message frame, with an arbitrary declared length. */
export function frame(message: Uint8Array, length = message.length): Uint8Array {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(length, 1);
  return Buffer.concat([header, message]);
}
