// Bytes that an attacker sends to any port: corrupted frames and meaningless bytes. Used by tests of this folder and by
// bench/hostile.

import { connect } from 'node:net';
import type { Random } from '../../src/runtime/random.ts';

/** A frame with bytes changed, truncated or duplicated. */
export function spoiled(frame: Uint8Array, random: Random): Uint8Array {
  const bytes = Uint8Array.from(frame);
  switch (random.below(3)) {
    case 0:
      for (let left = 1 + random.below(4); left > 0; left--)
        bytes[random.below(bytes.length)] = random.below(256);
      return bytes;
    case 1:
      return bytes.subarray(0, random.below(bytes.length));
    default:
      return Buffer.concat([bytes, bytes.subarray(random.below(bytes.length))]);
  }
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function bytesOf(random: Random, most: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: 1 + random.below(most) }, () => random.below(256)));
}

/** An HTTP/2 frame with a correct length and everything else random. */
function http2Frame(random: Random): Buffer {
  const payload = bytesOf(random, 200);
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = random.below(12);
  head[4] = random.below(256);
  head.writeUInt32BE(random.below(20), 5);
  return Buffer.concat([head, payload]);
}

const WAYS: readonly ((random: Random) => Buffer)[] = [
  (random) => bytesOf(random, 3_000),
  (random) => Buffer.concat([PREFACE, bytesOf(random, 500)]),
  (random) =>
    Buffer.concat([
      PREFACE,
      Buffer.from('000000040000000000', 'hex'),
      ...Array.from({ length: 20 }, () => http2Frame(random)),
    ]),
  (random) => Buffer.from(`GET /${bytesOf(random, 50).toString('hex')} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
  (random) =>
    Buffer.from(
      `POST /v1/freezes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${random.below(99999)}\r\n\r\n{"${bytesOf(random, 300).toString('latin1')}`,
      'latin1',
    ),
  (random) => Buffer.concat([Buffer.from('GET / HTTP/1.1\r\n'), bytesOf(random, 40_000)]),
];

const PATIENCE_MS = 200;

/** One connection that sends meaningless bytes; resolves when it is closed, to the side that closed it. */
export function fuzzOnce(address: string, random: Random): Promise<'closed by the port' | 'closed by us'> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve) => {
    let isOurs = false;
    const socket = connect(Number(port), host, () => socket.end(random.pick(WAYS)(random)));
    socket.resume();
    socket.setTimeout(PATIENCE_MS, () => {
      isOurs = true;
      socket.destroy();
    });
    socket.on('error', () => {}).on('close', () => resolve(isOurs ? 'closed by us' : 'closed by the port'));
  });
}
