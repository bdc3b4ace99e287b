import { describe, expect, it } from 'vitest';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed } from '../../../testing/support/fleets.ts';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import { wholeRollup } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import { Controller } from './controller.ts';
import { DEFAULT_CONTROLLER } from './options.ts';

describe('cycles', () => {
  it('given a roll-up delta with another base, then the demand stays, and the whole roll-up is requested', () => {
    const scene = new ControllerScene().list([]).tick();
    const source = new DeltaSource('c');
    const report = (priority: number): void => {
      const delta = source.next([aNeed({ cluster: 'c', priority })]);
      scene.controller.handle({ kind: 'demand', delta, rowsSetAside: 0 });
    };
    report(1);
    scene.tick();
    source.next([]);
    report(2);
    report(3);
    scene.tick();
    expect(scene.of('ask-demand')).toEqual([{ kind: 'ask-demand', cluster: 'c' }]);
    expect(scene.controller.ask('status', {})).toMatchObject({ needs: 1 });
    scene.demand('c', aNeed({ cluster: 'c', priority: 3 }), aNeed({ cluster: 'c', priority: 4 })).tick();
    expect(scene.controller.ask('status', {})).toMatchObject({ needs: 2 });
  });

  it('given a clock that advances while it is read, then no timer is set in the past', async () => {
    let nowMs = 1_000_000;
    const asked: number[] = [];
    const clock: Clock = {
      now: () => nowMs++,
      after: (ms) => {
        asked.push(ms);
        return () => {};
      },
    };
    const controller = new Controller({
      ...{ clock, monotonicMs: () => nowMs, store: new MemoryControllerStore() },
      emit: () => {},
      publish: () => {},
      options: { ...DEFAULT_CONTROLLER, shard: 's', epoch: 1n, providers: [], seed: 1 },
    });
    controller.start();
    controller.handle({ kind: 'demand', delta: wholeRollup('c', []), rowsSetAside: 0 });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((ms) => ms < 0)).toEqual([]);
    await controller.close();
  });

  it('given a clock that is set back by an hour, then the next cycle is not delayed', async () => {
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
    const controller = new Controller({
      ...{ clock, monotonicMs: () => 0, store: new MemoryControllerStore() },
      emit: () => {},
      publish: () => {},
      options: { ...DEFAULT_CONTROLLER, shard: 's', epoch: 1n, providers: [], seed: 1 },
    });
    controller.start();
    (due as { run: () => void } | null)?.run();
    nowMs -= 3_600_000;
    controller.handle({ kind: 'demand', delta: wholeRollup('c', []), rowsSetAside: 0 });

    expect((due as { ms: number } | null)?.ms).toBeLessThanOrEqual(DEFAULT_CONTROLLER.cycle.spacingMs);
    await controller.close();
  });
});
