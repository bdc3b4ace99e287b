import { describe, expect, it } from 'vitest';
import type { Clock } from '../../runtime/clock.ts';
import { MemoryBrainStore } from '../storage/controller-store-memory.ts';
import { Brain } from './controller.ts';
import { DEFAULT_BRAIN } from './options.ts';

describe('cycles', () => {
  it('given a clock that moves on while it is read, then no timer is asked for in the past', async () => {
    let nowMs = 1_000_000;
    const asked: number[] = [];
    const clock: Clock = {
      now: () => nowMs++,
      after: (ms) => {
        asked.push(ms);
        return () => {};
      },
    };
    const brain = new Brain({
      ...{ clock, monotonicMs: () => nowMs, store: new MemoryBrainStore() },
      emit: () => {},
      tell: () => {},
      options: { ...DEFAULT_BRAIN, shard: 's', epoch: 1n, providers: [], seed: 1 },
    });
    brain.start();
    brain.handle({ kind: 'demand', cluster: 'c', needs: [], rowsSetAside: 0 });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((ms) => ms < 0)).toEqual([]);
    await brain.close();
  });

  it('given a clock that is set back by an hour, then the next cycle comes as soon as ever', async () => {
    let nowMs = 10_000_000;
    let due: { readonly ms: number; readonly run: () => void } | null = null;
    const clock: Clock = {
      now: () => nowMs,
      after: (ms, run) => {
        const timer = { ms, run };
        due = timer;
        return () => {
          if (due === timer) due = null;
        };
      },
    };
    const brain = new Brain({
      ...{ clock, monotonicMs: () => 0, store: new MemoryBrainStore() },
      emit: () => {},
      tell: () => {},
      options: { ...DEFAULT_BRAIN, shard: 's', epoch: 1n, providers: [], seed: 1 },
    });
    brain.start();
    (due as { run: () => void } | null)?.run();
    nowMs -= 3_600_000;
    brain.handle({ kind: 'demand', cluster: 'c', needs: [], rowsSetAside: 0 });

    expect((due as { ms: number } | null)?.ms).toBeLessThanOrEqual(DEFAULT_BRAIN.cycle.spacingMs);
    await brain.close();
  });
});
