// Which clusters count as reporting drains without a session, and how often that is written.

import { describe, expect, it } from 'vitest';
import { HandClock } from '../../../testing/support/actuation-scene.ts';
import { MemoryDrainReporters } from '../storage/controller-store-memory.ts';
import { DrainReporters, MAX_DRAIN_REPORTERS } from './drain-reporters.ts';

class CountingStore extends MemoryDrainReporters {
  writes = 0;

  override saveDrainReporters(added: readonly string[], dropped: readonly string[]): void {
    this.writes++;
    super.saveDrainReporters(added, dropped);
  }
}

function given() {
  const clock = new HandClock();
  const store = new CountingStore();
  return { clock, store, reporters: new DrainReporters({ store, clock }) };
}

describe('clusters whose operator reports drains', () => {
  it('given hellos of many at once, then they share a write', () => {
    const { clock, store, reporters } = given();
    for (const cluster of ['a', 'b', 'c']) reporters.greeted(cluster, true);
    reporters.greeted('b', false);
    clock.advance(1000);
    expect([...store.drainReporters()]).toEqual(['a', 'c']);
    expect(store.writes).toBe(1);
  });

  it('given hellos that change nothing, then nothing is written', () => {
    const { clock, store, reporters } = given();
    reporters.greeted('a', true);
    clock.advance(1000);
    reporters.greeted('a', true);
    reporters.greeted('old', false);
    clock.advance(1000);
    expect(store.writes).toBe(1);
  });

  it('given more clusters than a shard has, then those with the oldest hello are dropped', () => {
    const { clock, store, reporters } = given();
    for (let i = 0; i < MAX_DRAIN_REPORTERS; i++) reporters.greeted(`c${i}`, true);
    clock.advance(1000);
    reporters.greeted('c0', true);
    reporters.greeted('one-more', true);
    clock.advance(1000);
    const restarted = new DrainReporters({ store, clock });
    expect(['c0', 'c1', 'one-more'].map((cluster) => restarted.has(cluster))).toEqual([true, false, true]);
    expect([...store.drainReporters()]).toHaveLength(MAX_DRAIN_REPORTERS);
  });
});
