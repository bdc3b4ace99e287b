// A provider that returns arbitrary answers: only its own machines are affected, and machines of other providers are
// bound as usual.

import { Server, ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { defaultConfig } from '../../src/shard/index.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { addService, bindService, RpcError, rawBytes, status } from '../../src/wire/index.ts';
import { aCloud, answering, aShard, onEnd, RawOperator, servingNeighbours, until } from './kit.ts';
import { aRow } from './operator.ts';

const service = bindService(CapacityProviderDefinition, {
  list: { response: rawBytes },
  get: { response: rawBytes },
  create: { response: rawBytes },
  configure: { response: rawBytes },
  drain: { response: rawBytes },
  delete: { response: rawBytes },
});

/** Answers every call with the configured bytes or error. */
async function aProvider(
  answer: () => Uint8Array,
): Promise<{ readonly address: string; readonly calls: () => number }> {
  const server = new Server();
  let calls = 0;
  const any = (): Uint8Array => {
    calls++;
    return answer();
  };
  addService(server, service, { list: any, get: any, create: any, configure: any, drain: any, delete: any });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  onEnd(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}`, calls: () => calls };
}

const random = new Random(3);
const noise = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256));

const WAYS: Readonly<Record<string, () => Uint8Array>> = {
  noise: () => noise(2_000),
  'megabytes of nothing': () => new Uint8Array(8 * 2 ** 20),
  'records that are broken inside': () =>
    Buffer.concat(Array.from({ length: 2_000 }, () => Buffer.concat([Buffer.from([0x0a, 20]), noise(20)]))),
  'a code for everything': () => {
    throw new RpcError(random.below(17), 'no');
  },
  'a fence without a shard': () => {
    throw new RpcError(status.UNAUTHENTICATED, '\u001b[31mred\u0000'.repeat(10_000));
  },
};

describe('a hostile provider', () => {
  it.each(Object.keys(WAYS))(
    'given %s, then the shard keeps working with the other providers',
    async (way) => {
      const [good, bad] = [await aCloud(), await aProvider(WAYS[way]!)];
      const { cycle, reconcile } = defaultConfig();
      const shard = await aShard({
        providers: [
          { name: 'good', address: good.address },
          { name: 'bad', address: bad.address },
        ],
        cycle: { ...cycle, intervalMs: 100, spacingMs: 20, readyWaitMs: 1_000 },
        reconcile: { ...reconcile, changesMs: 50, retry: { baseMs: 20, maxMs: 50 } },
      });
      const operator = answering(new RawOperator(shard.addresses.sessions));
      operator.hello('web');
      operator.rollup('web', [aRow(100)]);
      const bound = async (): Promise<boolean> => {
        const all = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };
        const { machines } = await good.fake.kit.list(all);
        return (
          bad.calls() > 2 &&
          machines.some(({ state, cluster }) => state === MachineState.Configured && cluster === 'web')
        );
      };
      await servingNeighbours(shard, () => until(bound));
      const { phase, providers } = await shard.port.ask('status', {});
      expect(phase).toBe('running');
      expect(providers.find(({ name }) => name === 'bad')!.machines).toBe(0);
      const texts = JSON.stringify(providers);
      expect(texts.length).toBeLessThan(10_000);
      expect(texts).not.toContain('\\u001b');
    },
  );
});
