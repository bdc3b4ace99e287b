// Meaningless bytes on every port, for a while: the shard survives and keeps serving. BIGFLEET_FUZZ_MS sets the
// duration per port, BIGFLEET_SEED the bytes.

import { describe, expect, it } from 'vitest';
import { Random } from '../../src/runtime/random.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, clientCredentials, connect as grpcConnect } from '../../src/wire/index.ts';
import { fuzzOnce } from './bytes.ts';
import { aCloud, aShard, RawOperator, servingNeighbours, until } from './kit.ts';

const FUZZ_MS = Number(process.env['BIGFLEET_FUZZ_MS'] ?? 1_500);
const SEED = Number(process.env['BIGFLEET_SEED'] ?? 5);

/** Lower bound on the number of connections, so that every kind of input occurs even on a slow machine. */
const LEAST = 100;

/** Keeps a few connections in flight until the time is over. */
async function fuzz(address: string): Promise<void> {
  const random = new Random(SEED);
  const lastMs = Date.now() + FUZZ_MS;
  let connections = 0;
  const worker = async (): Promise<void> => {
    while (Date.now() < lastMs || connections < LEAST) {
      connections++;
      await fuzzOnce(address, random);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const providerService = bindService(CapacityProviderDefinition);

describe('meaningless bytes', () => {
  it.each(['sessions', 'api', 'provider'] as const)(
    'given the port of %s, then this port and all others keep serving',
    async (which) => {
      const cloud = await aCloud();
      const shard = await aShard({ cloud });
      const address = which === 'provider' ? cloud.address : shard.addresses[which];
      await servingNeighbours(shard, () => fuzz(address));
      const broken = () => shard.metric('bigfleet_shard_session_events_total{event="connections_broken"}');
      if (which === 'sessions') await until(async () => (await broken()) > 0);
      else expect(await broken()).toBe(0);
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
      await until(async () => (await shard.port.ask('status', {})).phase === 'running');
    },
  );
});
