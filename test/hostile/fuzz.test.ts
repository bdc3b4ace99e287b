// Bytes that mean nothing, on every port there is, for a while: nothing falls over, everybody else is served.
// BIGFLEET_FUZZ_MS says for how long on each port; BIGFLEET_SEED which bytes.

import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/model/index.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, clientCredentials, connect as grpcConnect } from '../../src/wire/index.ts';
import { aCloud, aShard, expectServed, felt, Neighbour, RawOperator } from './kit.ts';

const FUZZ_MS = Number(process.env['BIGFLEET_FUZZ_MS'] ?? 1_500);
const SEED = Number(process.env['BIGFLEET_SEED'] ?? 5);
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function bytesOf(random: Random, most: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: 1 + random.below(most) }, () => random.below(256)));
}

/** A frame of HTTP/2 with an honest length and everything else drawn. */
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

/** Until the time is over, a few connections at once. */
async function fuzz(address: string): Promise<number> {
  const random = new Random(SEED);
  const [host = '', port] = address.split(':');
  const lastMs = Date.now() + FUZZ_MS;
  let connections = 0;
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      connections++;
      const socket = connect(Number(port), host, () => socket.end(random.pick(WAYS)(random)));
      socket.resume();
      socket.setTimeout(200, () => socket.destroy());
      socket.on('error', () => {}).on('close', () => resolve());
    });
  const worker = async (): Promise<void> => {
    while (Date.now() < lastMs) await one();
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return connections;
}

const providerService = bindService(CapacityProviderDefinition);

describe('bytes that mean nothing', () => {
  it.each(['sessions', 'api', 'provider'] as const)(
    'given the port of %s, then it goes on, and so do all others',
    async (which) => {
      const cloud = await aCloud();
      const shard = await aShard({ cloud });
      const neighbour = new Neighbour(shard, 'neighbour');
      const address = which === 'provider' ? cloud.address : shard.addresses[which];
      let connections = 0;
      const attack = async (): Promise<void> => {
        connections = await fuzz(address);
      };
      expectServed(await felt(`fuzzed ${which}`, neighbour, attack));
      expect(connections).toBeGreaterThan(8);
      const operator = new RawOperator(shard.addresses.sessions);
      operator.hello('web');
      await operator.acked('hello');
      expect((await fetch(`http://${shard.addresses.api}/healthz`)).status).toBe(200);
      const client = grpcConnect(
        providerService,
        cloud.address,
        clientCredentials(cloud.address, { tls: null }),
      );
      const { machines } = await client.rpc.list({
        states: [],
        maxResults: 0,
        sinceRevision: new Uint8Array(),
      });
      client.close();
      expect(machines.length).toBeGreaterThan(0);
      expect((await shard.port.ask('status', {})).phase).toBe('running');
    },
  );
});
