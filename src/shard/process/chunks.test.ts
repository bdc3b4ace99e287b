// Messages of the controller to its owner: all items in order, with a bounded amount of work per message.

import { describe, expect, it } from 'vitest';
import type { Batch, Envelope } from '../../runtime/message-exchange.ts';
import { AvailableCapacityUpdate_Confidence as Confidence } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { chunksOf } from './chunks.ts';
import type { FromController } from './controller-protocol.ts';

function hints(cluster: string, count: number): Envelope<FromController> {
  const update = (i: number) => ({
    ...{ supersedesKey: `available:${cluster}-${i}`, requirements: [], resources: undefined },
    ...{ availableCount: i, confidence: Confidence.CONFIDENCE_HIGH, costPerHour: 0 },
  });
  const updates = Array.from({ length: count }, (_, i) => update(i));
  return { kind: 'effect', effect: { kind: 'available-capacity', cluster, updates } };
}

function answer(id: number): Envelope<FromController> {
  return { kind: 'answer', id, answer: id };
}

/** One text per unit of work that the owner does, in order. */
function workOf(items: Batch<FromController>): readonly string[] {
  return items.flatMap((item) => {
    if (item.kind === 'answer') return [`answer ${item.id}`];
    if (item.kind !== 'effect' || item.effect.kind !== 'available-capacity') return [];
    return item.effect.updates.map(({ supersedesKey }) => supersedesKey);
  });
}

describe('messages of the controller', () => {
  it('given effects of any size, then the order is kept and the work per message is bounded', () => {
    const items = [
      answer(1),
      hints('a', 388),
      answer(2),
      hints('b', 3),
      ...Array.from({ length: 200 }, () => answer(3)),
    ];

    const chunks = [...chunksOf(items)];

    expect(chunks.flatMap(workOf)).toEqual(workOf(items));
    expect(Math.max(...chunks.map((chunk) => workOf(chunk).length))).toBeLessThanOrEqual(64);
  });

  it('given few items, then there is one message; given none, then there is none', () => {
    expect([...chunksOf([answer(1), hints('a', 3)])]).toHaveLength(1);
    expect([...chunksOf([])]).toEqual([]);
  });

  it('given hints that fit into one message, then their effect is not split', () => {
    const items = [answer(1), hints('a', 64), hints('b', 0)];

    expect([...chunksOf(items)].map((chunk) => chunk.length)).toEqual([1, 2]);
  });
});
