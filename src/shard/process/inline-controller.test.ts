import { describe, expect, it } from 'vitest';
import { batchOf, NEED, REPORT, some } from '../../../testing/support/actuation-scene.ts';
import { NO_FEATURES } from '../../../testing/support/session-defaults.ts';
import { keyOf, MachineState, wholeRollup } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import type { Effect } from '../events.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import type { ShardEvent } from '../views.ts';
import { InlineController } from './inline-controller.ts';

interface Started {
  readonly clock: VirtualClock;
  readonly store: MemoryControllerStore;
  readonly effects: readonly Effect[];
  readonly controller: InlineController;
}

/** A controller with one provider, which offers a machine that its only cluster needs. */
async function start(): Promise<Started> {
  const clock = new VirtualClock(1_000_000);
  const store = new MemoryControllerStore();
  const effects: Effect[] = [];
  const controller: InlineController = new InlineController({
    ...{ clock, store, monotonicMs: () => clock.now() },
    onEffect: (effect) => {
      effects.push(effect);
      if (effect.kind !== 'list') return;
      const { provider, reading, wanted: kind } = effect;
      const machines = some(1, MachineState.Speculative);
      controller.post({ kind: 'list-changed', provider, reading, batch: batchOf(machines) });
      controller.post({ kind: 'list-ended', provider, reading, error: '', report: { ...REPORT, kind } });
    },
    options: { ...DEFAULT_CONTROLLER, shard: 's', epoch: 1n, providers: ['p'], seed: 1 },
  });
  controller.post({ kind: 'session-opened', cluster: 'c1', session: 1, features: NO_FEATURES });
  controller.post({ kind: 'demand', delta: wholeRollup('c1', [NEED]), rowsSetAside: 0 });
  controller.start();
  await clock.advance(500);
  return { clock, store, effects, controller };
}

describe('a controller on the thread of its sessions', () => {
  it('given events, then effects follow through the clock and never from within a call', async () => {
    const { controller, effects, clock } = await start();
    await clock.advance(1000);
    expect(effects).toContainEqual(expect.objectContaining({ kind: 'call', request: { command: 'create' } }));

    const { length } = effects;
    controller.post({ kind: 'session-opened', cluster: 'c2', session: 2, features: NO_FEATURES });
    expect((await controller.ask('status', {})).sessions).toBe(1);
    expect(effects).toHaveLength(length);

    await clock.advance(0);
    expect((await controller.ask('status', {})).sessions).toBe(2);
  });

  it('given a listener, then it receives events until it unsubscribes', async () => {
    const { controller, clock } = await start();
    const event: ShardEvent[] = [];
    const end = controller.listen((each) => event.push(each));
    await controller.order({ kind: 'freeze', scope: { cluster: 'c1', action: null }, who: 'ada', why: 'x' });
    expect(event).toMatchObject([{ kind: 'log', event: 'order' }]);

    end();
    await clock.advance(5000);

    expect(event).toHaveLength(1);
  });

  it('given a kill, then no call, write or release follows', async () => {
    const { controller, clock, effects, store } = await start();
    await clock.advance(1000);
    const facts = [...store.machines.load()];
    expect(facts).toMatchObject([{ id: 'm-0', target: keyOf(NEED) }]);
    const { length } = effects;

    controller.kill();
    controller.post({ kind: 'demand', delta: wholeRollup('c1', []), rowsSetAside: 0 });
    const ordered = await controller.order({ kind: 'quarantine', machine: 'm-0', who: 'ada', why: 'late' });
    await clock.advance(60_000);

    expect(ordered).toEqual({ isDone: false, message: 'The shard is gone.' });
    expect(effects).toHaveLength(length);
    expect([...store.machines.load()]).toEqual(facts);
  });
});
