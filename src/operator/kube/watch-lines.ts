// Splits the body of a watch into lines. Each line is one event; its length is bounded, because an endless line would
// fill the memory. Used by http-client.ts.

import { KubeError } from './client.ts';
import type { Attempt } from './failures.ts';

const NEWLINE = 0x0a;

/** Yields complete lines; a rest without a newline is an event that was cut off, which the resumed watch repeats. */
export async function* watchLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  { path, server }: Attempt,
): AsyncGenerator<string, void, undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const read of stream) {
    const chunk = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const last = chunk.subarray(from, end);
      from = end + 1;
      // Joined as bytes, since a chunk may end inside a character.
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      bytes = 0;
      if (line.length > maxBytes) throw tooLong();
      if (line.length > 0) yield line.toString('utf8');
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > maxBytes) throw tooLong();
  }

  function tooLong(): KubeError {
    return new KubeError(`WATCH ${path} at ${server}: an object exceeds ${maxBytes} bytes and was not read`, {
      status: 0,
      reason: 'ResponseTooLarge',
    });
  }
}
