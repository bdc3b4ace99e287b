import { describe, expect, it } from 'vitest';
import { batchOf, NEED, REPORT, some } from '../../../testing/support/actuation-scene.ts';
import { keyOf, MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import type { Effect } from '../events.ts';
import { DEFAULT_BRAIN } from '../planning/options.ts';
import { MemoryBrainStore } from '../storage/controller-store-memory.ts';
import type { News } from '../views.ts';
import { InlineBrain } from './inline-controller.ts';

interface Started {
  readonly clock: VirtualClock;
  readonly store: MemoryBrainStore;
  readonly effects: readonly Effect[];
  readonly brain: InlineBrain;
}

/** A brain whose only provider has a machine to sell that its only cluster needs. */
async function start(): Promise<Started> {
  const clock = new VirtualClock(1_000_000);
  const store = new MemoryBrainStore();
  const effects: Effect[] = [];
  const brain: InlineBrain = new InlineBrain({
    ...{ clock, store, monotonicMs: () => clock.now() },
    onEffect: (effect) => {
      effects.push(effect);
      if (effect.kind !== 'list') return;
      const { provider, reading, wanted: kind } = effect;
      const machines = some(1, MachineState.Speculative);
      brain.post({ kind: 'list-changed', provider, reading, batch: batchOf(machines) });
      brain.post({ kind: 'list-ended', provider, reading, error: '', report: { ...REPORT, kind } });
    },
    options: { ...DEFAULT_BRAIN, shard: 's', epoch: 1n, providers: ['p'], seed: 1 },
  });
  brain.post({ kind: 'session-opened', cluster: 'c1', session: 1 });
  brain.post({ kind: 'demand', cluster: 'c1', needs: [NEED], rowsSetAside: 0 });
  brain.start();
  await clock.advance(500);
  return { clock, store, effects, brain };
}

describe('a brain on the thread of its hands', () => {
  it('hears and speaks in turns of the clock, never from within a call', async () => {
    const { brain, effects, clock } = await start();
    await clock.advance(1000);
    expect(effects).toContainEqual(expect.objectContaining({ kind: 'call', request: { command: 'create' } }));

    const { length } = effects;
    brain.post({ kind: 'session-opened', cluster: 'c2', session: 2 });
    expect((await brain.ask('status', {})).sessions).toBe(1);
    expect(effects).toHaveLength(length);

    await clock.advance(0);
    expect((await brain.ask('status', {})).sessions).toBe(2);
  });

  it('tells who listens, for as long as they do', async () => {
    const { brain, clock } = await start();
    const news: News[] = [];
    const end = brain.listen((each) => news.push(each));
    await brain.order({ kind: 'freeze', scope: { cluster: 'c1', action: null }, who: 'ada', why: 'x' });
    expect(news).toMatchObject([{ kind: 'log', event: 'order' }]);

    end();
    await clock.advance(5000);

    expect(news).toHaveLength(1);
  });

  it('that is killed leaves everything as it was: nothing is called, written or given back', async () => {
    const { brain, clock, effects, store } = await start();
    await clock.advance(1000);
    const facts = [...store.machines.load()];
    expect(facts).toMatchObject([{ id: 'm-0', target: keyOf(NEED) }]);
    const { length } = effects;

    brain.kill();
    brain.post({ kind: 'demand', cluster: 'c1', needs: [], rowsSetAside: 0 });
    const ordered = await brain.order({ kind: 'quarantine', machine: 'm-0', who: 'ada', why: 'late' });
    await clock.advance(60_000);

    expect(ordered).toEqual({ isDone: false, message: 'The shard is gone.' });
    expect(effects).toHaveLength(length);
    expect([...store.machines.load()]).toEqual(facts);
  });
});
