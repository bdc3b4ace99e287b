import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { resources } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';
import type { Order } from '../views.ts';
import { DEFAULT_CONTROLLER } from './options.ts';

const { Idle, Failed, Speculative, Creating } = MachineState;
const who = 'ada';
const SILENCE = { kind: 'transient', message: 'no answer' } as const;

describe('an order', () => {
  it.each<readonly [Order, string]>([
    [{ kind: 'retry', machine: 'x', who }, 'There is no machine x.'],
    [{ kind: 'quarantine', machine: 'x', who, why: '' }, 'There is no machine x.'],
    [{ kind: 'forget', machine: 'x', who }, 'There is no machine x.'],
    [{ kind: 'forget', machine: 'idle', who }, 'Machine idle is not Failed.'],
    [{ kind: 'unfreeze', id: 'fleet', who }, 'There is no freeze "fleet".'],
    [{ kind: 'accept-list', provider: 'x', who }, 'There is no provider x.'],
  ])('given an order that cannot be carried out, then it is refused: %j', (order, message) => {
    const scene = new ControllerScene().list([record('idle', Idle)]).tick();

    expect(scene.order(order)).toEqual({ isDone: false, message });
    expect(scene.logged('order')).toMatchObject([{ order: order.kind, who, isDone: false, message }]);
  });

  it('given one that is carried out, then the answer confirms it, it is logged, and a cycle starts', () => {
    const scene = new ControllerScene().list([record('idle', Idle)]).tick(5500);
    const { length } = scene.cycles;

    const done = scene.order({ kind: 'quarantine', machine: 'idle', who, why: 'noisy' });
    scene.tick(1);

    expect(done).toMatchObject({ isDone: true, message: expect.stringContaining('kept out') });
    expect(scene.logged('order')).toMatchObject([{ order: 'quarantine', machine: 'idle', isDone: true }]);
    expect(scene.cycles).toHaveLength(length + 1);
    expect(scene.machine('idle')).toMatchObject({ held: { why: 'noisy' }, quarantine: { by: who } });
  });

  it.each<Order>([
    { kind: 'retry', machine: 'bad', who, why: 'a new disk' },
    { kind: 'forget', machine: 'bad', who, why: 'a new disk' },
    { kind: 'accept-list', provider: 'p', who, why: 'a new disk' },
  ])('given a reason, then it is logged with it: %j', (order) => {
    const scene = new ControllerScene().list([record('bad', Failed)]).tick();

    scene.order(order);

    expect(scene.logged('order')).toMatchObject([
      { order: order.kind, who, why: 'a new disk', isDone: true },
    ]);
  });

  it('given a retry, then the quarantine ends and the machine is read again', () => {
    const scene = new ControllerScene().list([record('idle', Idle)]).tick();
    scene.order({ kind: 'quarantine', machine: 'idle', who, why: 'noisy' });

    scene.order({ kind: 'retry', machine: 'idle', who });

    expect(scene.machine('idle')).toMatchObject({ held: null, quarantine: null });
    expect(scene.calls('get').map(({ machine }) => machine)).toEqual(['idle']);
  });

  it('given a retry after a read that failed, then it does not wait for the next read', () => {
    const scene = new ControllerScene().list([record('idle', Idle)]).tick();
    scene.order({ kind: 'retry', machine: 'idle', who });
    for (let i = 0; i < 4; i++) {
      scene.tick(60_000);
      scene.answer('get', SILENCE);
    }
    expect(scene.calls('get')).toEqual([]);

    const { message } = scene.order({ kind: 'retry', machine: 'idle', who });

    expect(message).toBe('Machine idle is looked at afresh.');
    expect(scene.calls('get')).toHaveLength(1);
    scene.answer('get', { kind: 'found', machine: record('idle', Idle) });
    expect(scene.tick(120_000).calls('get')).toEqual([]);
  });

  it('given a retry at a silent provider, then the answer says that it waits for that', () => {
    const scheduler = { ...DEFAULT_CONTROLLER.scheduler, breakerFailures: 1 };
    const scene = new ControllerScene({ scheduler }).list([record('idle', Idle)]).tick();
    scene.order({ kind: 'retry', machine: 'idle', who });
    scene.answer('get', SILENCE);

    expect(scene.order({ kind: 'retry', machine: 'idle', who })).toEqual({
      isDone: true,
      message: 'Machine idle is looked at afresh when its provider p answers again.',
    });
  });

  it('given a retry of a busy machine, then the answer says that it waits for that', () => {
    const scene = new ControllerScene().list(some(1, Speculative)).open('c1').demand('c1', NEED).tick();
    const { id } = some(1)[0]!;

    expect(scene.order({ kind: 'retry', machine: id, who }).message).toBe(
      `Machine ${id} is looked at afresh when the action that is under way with it has ended.`,
    );
  });

  it('given forget, then a Failed machine is hidden', () => {
    const scene = new ControllerScene().list([record('bad', Failed)]).tick();
    expect(scene.order({ kind: 'forget', machine: 'bad', who })).toMatchObject({ isDone: true });
    expect(scene.machine('bad')?.isForgotten).toBe(true);
  });

  it('given a freeze of what is frozen, then the answer names who was first', () => {
    const scene = new ControllerScene().open('c1').freeze('c1');
    const scope = { cluster: 'c1', action: null };

    expect(scene.order({ kind: 'freeze', scope, who: 'ada', why: 'a test' }).message).toBe(
      'cluster:c1 is frozen.',
    );
    const again = scene.order({ kind: 'freeze', scope, who: 'bob', why: 'me too' });
    expect(again).toEqual({ isDone: true, message: expect.stringMatching(/since .*Z by ada: a test$/) });
    expect(scene.order({ kind: 'unfreeze', id: 'cluster:c1', who })).toMatchObject({ isDone: true });
    expect(scene.controller.ask('freezes', { limit: 100 }).items).toEqual([]);
  });

  it('given a freeze of an unknown cluster, then it takes effect, and the answer says that it is unknown', () => {
    const scene = new ControllerScene()
      .list([record('m', MachineState.Configured, { cluster: 'gone' })])
      .open('c1');
    scene.tick();
    const frozen = (cluster: string | null): string =>
      scene.order({ kind: 'freeze', scope: { cluster, action: null }, who, why: 'a test' }).message;

    expect([frozen('c1'), frozen('gone'), frozen(null)]).toEqual([
      'cluster:c1 is frozen.',
      'cluster:gone is frozen.',
      'fleet is frozen.',
    ]);
    expect(frozen('c2')).toBe(
      'cluster:c2 is frozen. The shard does not know a cluster c2 yet; it is frozen should it connect. "bigfleet get clusters" lists those that are known.',
    );
    expect(scene.controller.ask('freezes', { limit: 100 }).items).toContainEqual(
      expect.objectContaining({ cluster: 'c2' }),
    );
  });

  it.each([null, 'c1'])(
    'given a freeze, then actions that wait at a provider are stopped: cluster %s',
    (cluster) => {
      const scheduler = { ...DEFAULT_CONTROLLER.scheduler, mutationsPerProvider: 1 };
      const scene = new ControllerScene({ scheduler }).list(some(2, Speculative)).open('c1');
      scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 8 }) }).tick();
      expect(some(2).map(({ id }) => scene.machine(id)?.state)).toEqual(['CREATING', 'CREATING']);

      scene.order({ kind: 'freeze', scope: { cluster, action: null }, who, why: 'a test' });
      scene.accept('create', Creating).tick(60_000);

      expect(scene.of('call').filter(({ request }) => request.command !== 'get')).toHaveLength(1);
      const states = some(2).map(({ id }) => scene.machine(id)?.state);
      expect(new Set(states)).toEqual(new Set(['CREATING', 'SPECULATIVE']));
    },
  );

  it('given the acceptance of a List, then the machines that it lacks are removed', () => {
    const machines = Array.from({ length: 20 }, (_, i) => record(`m${i}`, Idle));
    const scene = new ControllerScene().list(machines).tick();
    scene
      .list(
        [],
        'p',
        machines.map(({ id }) => id),
      )
      .tick();
    expect(scene.controller.ask('status', {})).toMatchObject({
      machines: 20,
      providers: [{ heldLosses: 20 }],
    });

    expect(scene.order({ kind: 'accept-list', provider: 'p', who })).toMatchObject({ isDone: true });
    scene.tick();

    expect(scene.controller.ask('status', {})).toMatchObject({ machines: 0, providers: [{ heldLosses: 0 }] });
  });
});
