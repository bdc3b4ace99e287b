import { describe, expect, it } from 'vitest';
import { record, Scene, some } from '../../../testing/support/actuation-scene.ts';
import { MachineState } from '../../model/index.ts';
import type { Effect } from '../events.ts';
import { MACHINE_GONE } from '../planning/node-state.ts';
import type { MemoryMachines } from '../storage/controller-store-memory.ts';
import { RECONCILE_LIMITS } from './reconcile-limits.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

describe('reconcile', () => {
  it('given a provider, then the first List is full, later ones are of changes, and one per minute is full again', () => {
    const scene = new Scene();
    const wanted: string[] = [];
    for (let i = 0; i < 70; i++) {
      wanted.push(scene.effects.findLast((effect) => effect.kind === 'list')!.wanted);
      scene.list([]);
      scene.hand.advance(1000);
    }
    expect(wanted.filter((kind) => kind === 'full')).toHaveLength(2);
    expect(wanted[0]).toBe('full');
  });

  it('given several providers, then their full Lists are staggered, each as often as with one provider', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    const full: Record<string, number[]> = { p: [], q: [] };
    for (let second = 0; second < 200; second++) {
      for (const provider of ['p', 'q']) {
        const list = scene.effects.findLast(
          (each) => each.kind === 'list' && each.provider === provider,
        ) as Extract<Effect, { readonly kind: 'list' }>;
        if (list.wanted === 'full') full[provider]!.push(second);
        scene.list([], { provider });
      }
      scene.hand.advance(1000);
    }
    expect(full['p']).toEqual([0, 60, 120, 180]);
    expect(full['q']).toEqual([0, 30, 90, 150]);
  });

  it('given a List that fails, then it is reported, and the shard is ready once every provider has been listed', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    scene.failList();
    scene.list([], { provider: 'q' });
    expect(scene.reconcile.isReady).toBe(false);
    scene.list([]);
    expect(scene.reconcile.isReady).toBe(true);
    expect(scene.reported).toEqual(['list-failed p']);
  });

  it('given a stop, then a List that is cancelled does not count as a failure', () => {
    const scene = new Scene();
    scene.reconcile.stop();
    scene.failList();
    expect(scene.reported).toEqual([]);
    expect(scene.scheduler.breakerOf('p')).toBe('closed');
  });

  it('given a record whose List began before the last mutation ended, then it is dropped, and the machine is read again', () => {
    const scene = new Scene();
    scene.list([record('m', Speculative)]);
    scene.hand.advance(1000);
    scene.decide('Provision', 'm');
    scene.accept('create', Creating);
    // This List began before the Create, and the List reader does not deliver the record again.
    scene.list([record('m', Speculative)]);
    expect(scene.committed('m')).toMatchObject({ state: Creating });
    expect(scene.reported).toContain('dropped m');
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });

  it('given a record that arrives during an action on the machine, then it is dropped, and the machine is read after the action', () => {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    scene.decide('Bootstrap', 'm');
    scene.list([record('m', Idle, { pricePerHour: 7 })]);
    expect(scene.committed('m')).toMatchObject({ state: Configuring, cluster: 'c1', pricePerHour: 1 });
    expect(scene.calls('get')).toEqual([]);
    scene.blob();
    scene.accept('configure', Configuring);
    scene.find(Configured, { pricePerHour: 7 });
    expect(scene.committed('m')).toMatchObject({ state: Configured, pricePerHour: 7 });
  });

  it('given a machine in transition, when a full List delivers no record of it, then it is read, since a List omits unchanged ones', () => {
    const scene = new Scene();
    scene.list([record('m', Idle), record('n', Idle)]);
    // A Get returns a state that no List has delivered, and then the shard moves the machine itself.
    scene.reconcile.check('m');
    scene.find(Configured);
    scene.decide('Reclaim', 'm');
    scene.accept('drain', Draining);
    scene.hand.advance(RECONCILE_LIMITS.fullMs);
    scene.list([]);
    expect(scene.calls('get')).toEqual([]);
    scene.hand.advance(RECONCILE_LIMITS.changesMs);
    // The machine is Idle again, equal to the last record that the List reader delivered.
    scene.list([]);
    expect(scene.calls('get').map(({ machine }) => machine)).toEqual(['m']);
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });

  it('given a Get that a mutation overtook, then its result is dropped, and the machine is read again', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.list([record('m', Idle)]);
    scene.decide('Reclaim', 'm');
    scene.accept('drain', Draining);
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Draining });
    scene.find(Draining);
    expect(scene.committed('m')).toMatchObject({ state: Draining });
  });

  it('given a Get that failed, then the next one waits for the backoff, even if another check is requested', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.list([record('m', Idle)]);
    scene.fail('get');
    scene.reconcile.check('m');
    expect(scene.calls('get')).toEqual([]);

    scene.hand.advance(RECONCILE_LIMITS.retry.baseMs);
    expect(scene.calls('get')).toHaveLength(1);
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
    scene.hand.advance(RECONCILE_LIMITS.retry.maxMs);
    expect(scene.calls('get')).toEqual([]);
  });

  it('given a machine that is lost during an action, then the read that was due for it is cancelled', () => {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    scene.decide('Bootstrap', 'm');
    scene.list([record('m', Idle, { pricePerHour: 7 })]);
    scene.blob();
    scene.answer('configure', { kind: 'unknown-machine' });
    scene.answer('get', { kind: 'unknown-machine' });
    expect(scene.committed('m')).toBeNull();

    scene.list([record('m', Idle)]);
    scene.decide('Delete', 'm');
    scene.accept('delete', Deleting);
    expect(scene.calls('get')).toEqual([]);
  });

  it('given a List without a machine, then a free one is removed at once, and a bound one only after a Get', () => {
    const scene = new Scene();
    scene.list([...some(2), record('b', Configured), record('b2', Configured)]);
    scene.list([], { gone: ['m-0', 'b', 'b2'] });
    expect(scene.committed('m-0')).toBeNull();
    expect(scene.committed('b')).not.toBeNull();
    scene.answer('get', { kind: 'unknown-machine' });
    scene.find(Configured);
    expect(scene.committed('b')).toBeNull();
    expect(scene.committed('b2')).toMatchObject({ state: Configured });
    expect(scene.updatesTo('c1').at(-1)).toMatchObject({ state: Failed, lastError: MACHINE_GONE });
  });

  it('given a machine that is gone, then quarantine and forget are cleared, since a later machine of that id is another one', () => {
    const scene = new Scene();
    scene.list([record('q', Idle), record('f', Failed)]);
    scene.actuation.quarantine('q', 'ada', 'smells of smoke');
    scene.actuation.forget('f');
    scene.list([], { gone: ['q', 'f'] });
    const NOTHING = {
      ...{ quarantine: null, isForgotten: false },
      ...{ drain: null, protectedUntilMs: null, node: null },
    };
    for (const id of ['q', 'f']) expect(scene.machineFacts.verdictsOn(id)).toEqual(NOTHING);

    scene.list([record('q', Idle), record('f', Failed)]);
    expect(scene.committed('q')).toMatchObject({ blocked: false });
    expect(scene.machineFacts.verdictsOn('f').isForgotten).toBe(false);
    expect(scene.store.facts.get('q')).toMatchObject({ quarantine: null });
  });

  it('given a reader without its former state, when a full List lacks a machine, then the machine is removed', () => {
    const scene = new Scene();
    scene.list(some(3));
    // The List in flight when the minute ends is one of changes; the next one is full.
    scene.hand.advance(61_000);
    scene.list([]);
    scene.list([record('m-0', Idle), record('m-1', Idle)], { isFirst: true });
    expect(scene.committed('m-2')).toBeNull();
    expect(scene.committed('m-1')).not.toBeNull();
  });

  it('given an id that another provider owns, then its records are refused, reported once, and only the owner is called', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    scene.list([record('m', Idle)]);
    scene.list([record('m', Failed)], { provider: 'q' });
    scene.list([record('m', Configured)], { provider: 'q' });
    scene.list([], { provider: 'q', gone: ['m'] });
    expect(scene.reported).toEqual(['collided m p q']);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
    scene.decide('Delete', 'm');
    expect(scene.calls('delete')).toMatchObject([{ provider: 'p' }]);
  });

  it('given an id that its provider no longer lists, then another provider can own it', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    scene.list([record('m', Idle)]);
    scene.list([], { gone: ['m'] });
    scene.list([record('m', Idle)], { provider: 'q' });
    scene.decide('Delete', 'm');
    expect(scene.calls('delete')).toMatchObject([{ provider: 'q' }]);
  });

  it('given refused records, then they are counted by reason, and the last valid record stays', () => {
    const scene = new Scene();
    scene.list([record('m', Idle)]);
    const problem = (code: 'BF_MACHINE_PRICE' | 'BF_MACHINE_HOST_MISSING') => ({
      code,
      path: '',
      message: '',
    });
    const problems = [problem('BF_MACHINE_PRICE'), problem('BF_MACHINE_HOST_MISSING')];
    scene.list([], { refused: 5, problems });
    expect(scene.reported).toEqual(['refused p price 1', 'refused p structural 4']);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });

  it('given Lists that succeed or fail, then each provider has the time of the last success and the last error', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    expect(scene.reconcile.readingsOf('p')).toEqual({ hasListed: false, lastListMs: null, lastError: '' });
    scene.failList('p');
    scene.list([]);
    const listed = { hasListed: true, lastListMs: scene.hand.now(), lastError: '' };
    expect(scene.reconcile.readingsOf('p')).toEqual(listed);
    scene.hand.advance(60_000);
    scene.failList('p');
    expect(scene.reconcile.readingsOf('p')).toEqual({ ...listed, lastError: 'no route' });
    expect(scene.reconcile.readingsOf('q')).toMatchObject({ hasListed: false, lastListMs: null });
    expect(scene.reconcile.readingsOf('unknown')).toMatchObject({ hasListed: false });
  });

  it('given a quarantined List, then its time counts as the last List, and its losses as quarantined', () => {
    const scene = new Scene();
    scene.list(some(12));
    scene.list([], { gone: some(12).map(({ id }) => id) });
    expect(scene.reconcile.readingsOf('p')).toMatchObject({ hasListed: true, lastListMs: scene.hand.now() });
    expect(scene.reconcile.heldLosses('p')).toBe(12);
  });
});

describe('the first List after a restart', () => {
  /** Stored facts of a shard that had these machines, the first of them in quarantine. */
  function storeOf(count: number, { provider = 'p', providers = ['p'] } = {}): MemoryMachines {
    const before = new Scene({ providers });
    before.list(some(count), { provider });
    before.actuation.quarantine('m-0', 'ada', 'smells of smoke');
    before.committed('m-0');
    return before.store;
  }

  const listAgain = (scene: Scene, machines: ReturnType<typeof some> = []) =>
    scene.list(machines, { kind: 'full' });

  it.each([3, 20])(
    'given an empty List and %i stored machines, then it is quarantined, and no facts are deleted',
    (count) => {
      const store = storeOf(count);
      const scene = new Scene({ store });
      scene.list([], { isFirst: true });
      expect(scene.reported).toEqual([`list-held p ${count} ${count} 1`]);
      expect(scene.reconcile.isReady).toBe(false);
      expect(scene.reconcile.heldLosses('p')).toBe(count);

      listAgain(scene, some(count));
      expect(scene.reconcile.isReady).toBe(true);
      expect(scene.reconcile.heldLosses('p')).toBe(0);
      expect(scene.committed('m-0')).toMatchObject({ blocked: true });
      expect(store.facts.get('m-0')).toMatchObject({ provider: 'p', quarantine: { by: 'ada' } });
    },
  );

  it('given a List that lacks nearly all stored machines, then it is quarantined twice and accepted the third time', () => {
    const store = storeOf(20);
    const scene = new Scene({ store });
    scene.list(some(1), { isFirst: true });
    listAgain(scene);
    expect(scene.reported).toEqual(['list-held p 20 19 1', 'list-held p 20 19 2']);
    expect(store.facts.size).toBe(20);
    listAgain(scene);
    expect(scene.reconcile.isReady).toBe(true);
    expect([...store.facts.keys()]).toEqual(['m-0']);
  });

  it('given a person who accepts it, then it is accepted, but not before it has been received', () => {
    const store = storeOf(20);
    const scene = new Scene({ store });
    scene.reconcile.acceptList('p');
    expect(scene.reconcile.isReady).toBe(false);
    expect(store.facts.size).toBe(20);
    scene.list([], { isFirst: true });
    scene.reconcile.acceptList('p');
    expect(scene.reconcile.isReady).toBe(true);
    expect(store.facts.size).toBe(0);
  });

  it('given a List with most stored machines, then it is accepted, and facts of the others are deleted', () => {
    const store = storeOf(20);
    const scene = new Scene({ store });
    scene.list(some(15), { isFirst: true });
    expect(scene.reported).toEqual([]);
    expect(store.facts.size).toBe(15);
  });

  it('given stored machines of another provider, configured or not, then an empty List does not affect them', () => {
    const providers = ['p', 'q'];
    const store = storeOf(20, { provider: 'q', providers });
    const alone = new Scene({ store });
    alone.list([], { isFirst: true });
    expect(alone.reconcile.isReady).toBe(true);
    expect(store.facts.size).toBe(20);

    const both = new Scene({ store, providers });
    both.list([], { isFirst: true });
    expect(both.reconcile.readingsOf('p')).toMatchObject({ hasListed: true });
    both.list(some(20), { provider: 'q', isFirst: true });
    expect(both.reported).toEqual([]);
    expect(both.committed('m-0')).toMatchObject({ blocked: true });
  });

  it('given a quarantined List, when accepted, then machines that another provider lists meanwhile stay', () => {
    const store = storeOf(20);
    const scene = new Scene({ store, providers: ['p', 'q'] });
    scene.list([], { isFirst: true });
    scene.list(some(1), { provider: 'q', isFirst: true });
    scene.reconcile.acceptList('p');
    expect(scene.committed('m-0')).toMatchObject({ blocked: true });
  });

  it('given facts without a provider, then an empty List is quarantined once no other provider can own them', () => {
    const store = storeOf(20);
    for (const [id, facts] of store.facts) store.facts.set(id, { ...facts, provider: '' });
    const scene = new Scene({ store, providers: ['p', 'q'] });
    scene.list([], { provider: 'q', isFirst: true });
    scene.list([], { isFirst: true });
    expect(scene.reported).toEqual(['list-held p 20 20 1']);
    listAgain(scene, some(19));
    expect(scene.reconcile.isReady).toBe(true);
    expect(scene.committed('m-0')).toMatchObject({ blocked: true });
    expect(store.facts.size).toBe(19);
    expect(store.facts.get('m-18')).toMatchObject({ provider: 'p' });
  });
});
