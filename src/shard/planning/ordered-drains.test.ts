// `drain` through a whole shard: the machine is replaced first, then leaves by the ordinary path.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, same, stampOf } from '../../../testing/support/fleets.ts';
import { type Machine, MachineState, type Need, ZONE_KEY } from '../../model/index.ts';

const { Configured, Configuring, Draining, Idle } = MachineState;
const MINUTE_MS = 60_000;
const ROW = aNeed({ aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 1 }) });
const ORDER = { kind: 'drain', machine: 'a', who: 'ann', why: 'disk errors' } as const;

function machine(id: string, state: MachineState = Configured, row: Need = ROW): Machine {
  return record(id, state, {
    resources: resources({ cpu: 2 }),
    allocatable: new Map(),
    ...(state === Idle ? { cluster: '' } : { stamp: stampOf(row) }),
  });
}

/** A cluster whose row has two machines, and `idle` machines beside. */
function scene(...idle: readonly string[]): ControllerScene {
  const made = new ControllerScene().open('c1');
  made.list([machine('a'), machine('b'), ...idle.map((id) => machine(id, Idle))]);
  return made.tick(SETTLED_MS).demand('c1', ROW).tick(2000);
}

const reclaims = (shown: ControllerScene) => shown.of('instruct-reclaim').map(({ machine: id }) => id);

describe('an order to drain a machine', () => {
  it('given an idle machine, then it joins first, and the other leaves without a hold', () => {
    const shown = scene('x');
    expect(shown.order(ORDER)).toMatchObject({ isDone: true });
    shown.tick(2000);
    expect(shown.machine('a')?.drainOrder).toMatchObject({
      who: 'ann',
      why: 'disk errors',
      sentence: expect.stringMatching(/^to be drained for \d s, as ann ordered: disk errors$/) as string,
    });
    expect(shown.of('ask-bootstrap').map(({ machine: id }) => id)).toEqual(['x']);
    shown
      .blobs()
      .tick(2000)
      .accept('configure', Configuring, machine('x', Configuring))
      .tick(5 * MINUTE_MS);
    expect(reclaims(shown)).toEqual([]);

    shown
      .list([])
      .list([machine('x')])
      .tick(5000);
    expect(reclaims(shown)).toEqual(['a']);
    const actions = shown.controller.ask('actions', { limit: 10 }).actions.items;
    expect(actions.find(({ kind }) => kind === 'Reclaim')?.leaving).toMatchObject({ cause: 'ordered' });

    shown.accept('drain', Draining, machine('a', Draining)).tick(2000);
    expect(shown.machine('a')?.drainOrder).toBeNull();
    expect(shown.logged('drain-order-ended')).toMatchObject([{ machine: 'a' }]);
    expect(shown.logged('order')).toMatchObject([{ order: 'drain', machine: 'a', who: 'ann', isDone: true }]);
  });

  it('given no machine that could replace it, then it goes on serving', () => {
    const shown = scene();
    shown.order(ORDER);
    shown.tick(30 * MINUTE_MS);
    expect(reclaims(shown)).toEqual([]);
    expect(shown.machine('a')).toMatchObject({ state: 'CONFIGURED', drainOrder: { who: 'ann' } });
    expect(shown.controller.ask('needs', { onlyUnmet: true, limit: 10 }).total).toBe(0);
  });

  it('given a machine that no Need counts on, then its hold counts as over', () => {
    const shown = scene()
      .demand('c1', { ...ROW, aggregate: resources({ cpu: 2 }) })
      .tick(MINUTE_MS);
    const [free] = ['a', 'b'].filter((id) => shown.machine(id)?.unclaimed !== null);
    expect(reclaims(shown)).toEqual([]);
    shown.order({ ...ORDER, machine: free! });
    shown.tick(15_000);
    expect(reclaims(shown)).toEqual([free]);
  });

  it('given a freeze of Reclaims, then it waits for the end of the freeze', () => {
    const shown = scene().demand('c1').tick(MINUTE_MS);
    const scope = { cluster: null, action: 'Reclaim' } as const;
    shown.order({ kind: 'freeze', scope, who: 'bo', why: 'a look' });
    shown.order(ORDER);
    shown.tick(MINUTE_MS);
    expect(reclaims(shown)).toEqual([]);
    shown.order({ kind: 'unfreeze', id: 'action:Reclaim', who: 'bo' });
    shown.tick(5000);
    expect(reclaims(shown)).toContain('a');
  });

  it('given that it is taken back, then no machine joins and it is used as before', () => {
    const shown = scene();
    shown.order(ORDER);
    expect(shown.order({ kind: 'undrain', machine: 'a', who: 'ann' })).toMatchObject({ isDone: true });
    shown.list([machine('x', Idle)]).tick(2000);
    expect(shown.of('ask-bootstrap')).toEqual([]);
    expect(shown.order({ kind: 'undrain', machine: 'a', who: 'ann' })).toEqual({
      isDone: false,
      message: 'Machine a is not to be drained on order.',
    });
  });

  it('given a machine that cannot be drained by itself, then it is refused with the reason', () => {
    const shown = scene('x');
    const refusal = (id: string) => shown.order({ ...ORDER, machine: id }).message;
    expect(refusal('y')).toBe('There is no machine y.');
    expect(refusal('x')).toContain('is not Configured');
    shown.order(ORDER);
    expect(refusal('a')).toContain('to be drained already, as ann ordered');
    shown.order({ kind: 'quarantine', machine: 'b', who: 'bo', why: 'noise' });
    expect(refusal('b')).toContain('is kept out of decisions (noise)');
  });

  it('given a machine of a gang, then it is refused', () => {
    const gang = aNeed({ ...ROW, requirements: [same(ZONE_KEY)] });
    const shown = new ControllerScene().open('c1');
    shown.list([machine('a', Configured, gang), machine('b', Configured, gang)]);
    shown.tick(SETTLED_MS).demand('c1', gang).tick(2000);
    expect(shown.order(ORDER).message).toContain('serves a gang');
  });
});
