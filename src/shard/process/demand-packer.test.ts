// Demand packed in turns: the order of messages, and that a large roll-up is split.

import { describe, expect, it } from 'vitest';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import { makeProfile, type Need, rowsAfter } from '../../model/index.ts';
import type { ToController } from './controller-protocol.ts';
import { DemandReceiver } from './demand-codec.ts';
import { DemandPacker } from './demand-packer.ts';

function rows(cluster: string, count: number, firstPriority = 0): Need[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{ cluster, profile: makeProfile({ priority: firstPriority + i }), group: '', firstSeenMs: 1 },
    ...{ aggregate: new Map([['cpu', 1]]), minUnit: new Map() },
  }));
}

/** A packer, and the demand that arrives at the other end, by cluster. */
function aPacker() {
  const receiver = new DemandReceiver();
  const sent: ToController['item']['kind'][] = [];
  const sources = new Map<string, DeltaSource>();
  const received = new Map<string, readonly Need[]>();
  const arrived: { cluster: string; needs: readonly Need[]; rowsSetAside: number }[] = [];
  const packer = new DemandPacker((item) => {
    sent.push(item.kind);
    if (item.kind === 'demand-part') receiver.receive(structuredClone(item.part));
    if (item.kind !== 'demand-delta') return;
    const { delta, rowsSetAside } = structuredClone(item);
    const { cluster } = delta;
    received.set(cluster, rowsAfter(received.get(cluster) ?? [], receiver.unpack(delta)));
    arrived.push({ cluster, needs: received.get(cluster)!, rowsSetAside });
  });
  const post = (cluster: string, needs: readonly Need[], rowsSetAside = 0): void => {
    const source = sources.get(cluster) ?? new DeltaSource(cluster);
    sources.set(cluster, source);
    packer.post({ kind: 'demand', delta: source.next(needs), rowsSetAside });
  };
  return { post, sent, arrived };
}

const settled = async (isSettled: () => boolean): Promise<void> => {
  while (!isSettled()) await new Promise((resolve) => setImmediate(resolve));
};

describe('demand on its way to the controller', () => {
  it('given a few rows, then they are sent at once in one message', () => {
    const { post, sent, arrived } = aPacker();
    post('c1', rows('c1', 3), 2);
    expect(sent).toEqual(['demand-delta']);
    expect(arrived).toEqual([{ cluster: 'c1', needs: rows('c1', 3), rowsSetAside: 2 }]);
  });

  it('given very many rows, then they are sent in parts, a small roll-up of another cluster overtakes them, and all arrive', async () => {
    const { post, sent, arrived } = aPacker();
    const many = rows('large', 20_000);
    post('large', many);
    post('small', rows('small', 3, 50_000));
    expect(arrived.map(({ cluster }) => cluster)).toEqual(['small']);
    await settled(() => arrived.length === 2);
    expect(arrived[1]!.needs).toEqual(many);
    expect(sent.filter((kind) => kind === 'demand-part').length).toBeGreaterThan(50);
  });

  it('given newer demand while the older is being packed, then the older arrives complete, and only the newest of the newer', async () => {
    const { post, arrived } = aPacker();
    post('large', rows('large', 20_000));
    for (const count of [1, 2, 3]) post('large', rows('large', count));
    await settled(() => arrived.length === 2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(arrived.map(({ needs }) => needs.length)).toEqual([20_000, 3]);
    expect(arrived[1]!.needs).toEqual(rows('large', 3));
  });
});
