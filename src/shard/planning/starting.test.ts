// Start of a controller: decisions begin once every provider has been listed or has failed to answer in time.

import { describe, expect, it } from 'vitest';
import { batchOf, HandClock, record } from '../../../testing/support/actuation-scene.ts';
import { MachineState } from '../../model/index.ts';
import type { ListReport } from '../../provider/index.ts';
import type { Effect } from '../events.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import type { ShardEvent } from '../views.ts';
import { Controller } from './controller.ts';
import { DEFAULT_CONTROLLER } from './options.ts';

const READY_WAIT_MS = 30_000;

function starting() {
  const hand = new HandClock();
  const effects: Effect[] = [];
  const events: ShardEvent[] = [];
  const controller = new Controller({
    clock: hand,
    monotonicMs: () => hand.now(),
    emit: (effect) => effects.push(effect),
    publish: (each) => events.push(each),
    store: new MemoryControllerStore(),
    options: { ...DEFAULT_CONTROLLER, shard: 's', epoch: 1n, providers: ['p'], seed: 1 },
  });
  controller.start();
  const list = effects.find((effect) => effect.kind === 'list')!;
  const at = { provider: 'p', reading: list.reading };
  let machines = 0;
  return {
    hand,
    /** Delivers one batch of the List. */
    part: () =>
      controller.handle({
        ...{ kind: 'list-changed', ...at },
        batch: batchOf([record(`m-${machines++}`, MachineState.Idle)]),
      }),
    end: () => {
      const report = { kind: 'full', isFirst: true, refused: 0, problems: [] } as unknown as ListReport;
      controller.handle({ kind: 'list-ended', ...at, report, error: '' });
    },
    cycles: () => events.filter(({ kind }) => kind === 'cycle').length,
    logged: (name: string) => events.some((event) => event.kind === 'log' && event.event === name),
    status: () => controller.ask('status', {}),
  };
}

describe('a controller that starts', () => {
  it('given a List that has ended, then it decides on all of it at once', () => {
    const scene = starting();
    scene.part();
    scene.part();
    scene.end();
    scene.hand.advance(1000);

    expect(scene.cycles()).toBeGreaterThan(0);
    expect(scene.status()).toMatchObject({ phase: 'running', machines: 2 });
  });

  it('given a slow List that makes progress, then it waits for its end', () => {
    const scene = starting();
    for (let i = 0; i < 10; i++) {
      scene.part();
      scene.hand.advance(READY_WAIT_MS / 2);
    }
    expect(scene.status().phase).toBe('starting');

    scene.end();
    scene.hand.advance(1000);

    expect(scene.logged('providers-not-read')).toBe(false);
    expect(scene.status()).toMatchObject({ phase: 'running', machines: 10 });
  });

  it('given a List that stops midway, then it decides without the rest, and logs that', () => {
    const scene = starting();
    scene.part();
    scene.hand.advance(READY_WAIT_MS + 2000);

    expect(scene.logged('providers-not-read')).toBe(true);
    expect(scene.status()).toMatchObject({ phase: 'running', machines: 1 });
  });

  it('given a List that never ends, then the wait has an end', () => {
    const scene = starting();
    for (let i = 0; i < 50; i++) {
      scene.part();
      scene.hand.advance(READY_WAIT_MS / 2);
    }

    expect(scene.status().phase).toBe('running');
  });

  it('given a long List, then it logs its progress now and then', () => {
    const scene = starting();
    scene.part();
    scene.hand.advance(6000);

    expect(scene.status()).toMatchObject({ phase: 'starting', machines: 1 });
  });
});
