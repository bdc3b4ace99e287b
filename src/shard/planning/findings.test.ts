// Defects of the reference implementation, by their numbers in the specification, and what a shard does instead.

import { describe, expect, it } from 'vitest';
import { NEED, record, Scene, some } from '../../../testing/support/actuation-scene.ts';
import { keyOf, MachineState } from '../../model/index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

// 7.6.1 of the specification.
describe('a Failed machine', () => {
  it('given a Create that timed out in the shard and succeeded in the cloud, then it is adopted', () => {
    const scene = new Scene();
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.fail('create', 'timed out');
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Idle, target: keyOf(NEED) });
  });

  it('given a paid host that was given up as lost, then the next List finds it', () => {
    const scene = new Scene({ scheduler: { breakerFailures: 100 } });
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.fail('create');
    for (let i = 0; i < 3; i++) {
      scene.fail('get');
      scene.hand.advance(5000);
    }
    expect(scene.committed('m')).toMatchObject({ state: Speculative, blocked: true });
    scene.list([record('m', Idle)]);
    expect(scene.reported).toContain('orphan m p');
    expect(scene.committed('m')).toMatchObject({ state: Idle, blocked: false });
  });

  it.each([Speculative, Idle, Configured])('given that it is seen as %i, then it has that state', (state) => {
    const scene = new Scene();
    scene.list([record('m', Failed)]);
    scene.list([record('m', state)]);
    expect(scene.committed('m')).toMatchObject({ state });
  });
});

// 7.6.2 of the specification.
describe('a bound machine that is lost in place', () => {
  it.each([Failed, Idle, Deleting, Speculative])(
    'given that it is seen as %i and a Get confirms it, then it is lost',
    (state) => {
      const scene = new Scene();
      scene.list([record('m', Configured)]);
      scene.list([record('m', state)]);
      expect(scene.committed('m')).toMatchObject({ state: Configured });
      scene.find(state);
      expect(scene.committed('m')).toMatchObject({ state, cluster: '' });
      expect(scene.heardBy('c1')).toEqual([Configured, state]);
    },
  );

  it('given a Get that does not confirm it, then it is kept', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.list([record('m', Idle)]);
    scene.find(Configured);
    expect(scene.committed('m')).toMatchObject({ state: Configured, cluster: 'c1' });
  });
});

// 7.6.3 of the specification.
describe('a cluster that sends no blob', () => {
  it.each([
    ['an error', (scene: Scene) => scene.blob({ error: 'cannot render' })],
    ['silence', (scene: Scene) => scene.hand.advance(30_000)],
    [
      'a lost session',
      (scene: Scene) => {
        scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
        scene.hand.advance(30_000);
      },
    ],
  ])(
    'given %s instead of a blob, then the machine is Idle, free, and untouched by its provider',
    (_, happens) => {
      const scene = new Scene().open('c1', 'c2');
      scene.list(some(2));
      scene.decide('Bootstrap', 'm-0');
      happens(scene);
      expect(scene.committed('m-0')).toMatchObject({ state: Idle, cluster: '', stamp: null, blocked: false });
      expect(scene.calls()).toEqual([]);
      expect(scene.actuation.cannotBind(['c1', 'c2'])).toEqual(new Set(['c1']));
      expect(scene.decide('Bootstrap', 'm-1')).toEqual(['no_session']);
    },
  );
});

// 7.6.4 of the specification.
describe('a transient error of Create', () => {
  it('given one, then the quota slot is blocked for a while and then usable again', () => {
    const scene = new Scene({ limits: { attempts: 1 } });
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.fail('create', 'rate limit');
    scene.find(Speculative);
    expect(scene.committed('m')).toMatchObject({ state: Speculative, blocked: true });
    scene.hand.advance(10_000);
    expect(scene.committed('m')).toMatchObject({ state: Speculative, blocked: false });
  });
});

// 7.6.5 of the specification.
describe('an empty or sharply shrunken List', () => {
  const ids = some(20).map(({ id }) => id);
  const full = (scene: Scene, gone: readonly string[] = []) => scene.list([], { gone, kind: 'full' });

  it('given one, then it is quarantined and logged, and accepted the third time in a row', () => {
    const scene = new Scene();
    scene.list(some(20));
    full(scene, ids);
    full(scene);
    expect(scene.reported).toEqual(['list-held p 20 20 1', 'list-held p 20 20 2']);
    expect(scene.committed('m-0')).not.toBeNull();
    expect(scene.reconcile.heldLosses('p')).toBe(20);
    full(scene);
    expect(scene.committed('m-0')).toBeNull();
  });

  it('given that the machines are listed again, then the quarantine ends', () => {
    const scene = new Scene();
    scene.list(some(20));
    full(scene, ids);
    scene.list(some(20));
    full(scene);
    full(scene);
    expect(scene.reconcile.heldLosses('p')).toBe(0);
    expect(scene.committed('m-0')).not.toBeNull();
  });

  it('given an order of a person, then it is accepted', () => {
    const scene = new Scene();
    scene.list(some(20));
    full(scene, ids);
    expect(scene.reconcile.acceptList('p')).toBe(true);
    expect(scene.committed('m-0')).toBeNull();
  });

  it('given that a tenth is left, or a small inventory, then missing machines are removed', () => {
    const scene = new Scene({ providers: ['p', 'q'] });
    scene.list(some(20));
    full(scene, ids.slice(0, 18));
    expect(scene.committed('m-0')).toBeNull();
    scene.list(
      Array.from({ length: 9 }, (_, i) => record(`q-${i}`, Idle)),
      { provider: 'q' },
    );
    scene.list([], { provider: 'q', gone: Array.from({ length: 9 }, (_, i) => `q-${i}`) });
    expect(scene.committed('q-0')).toBeNull();
  });

  it('given an action on a machine, then the machine is not removed', () => {
    const scene = new Scene();
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.list([], { gone: ['m'] });
    expect(scene.committed('m')).toMatchObject({ state: Creating });
    scene.accept('create', Creating);
    scene.find(Creating);
    expect(scene.committed('m')).toMatchObject({ state: Creating });
  });

  it('given a removal, then the cluster is notified', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.list([], { gone: ['m'] });
    scene.answer('get', { kind: 'unknown-machine' });
    expect(scene.heardBy('c1')).toEqual([Configured, Failed]);
  });
});

// 7.6.6 of the specification.
describe('changes of a machine without a transition', () => {
  it('given a new price, probability, labels, allocatable or host, then the ledger has it', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    const changed = {
      pricePerHour: 0.3,
      interruptionProbability: 0.2,
      labels: new Map([['rack', 'r9']]),
      allocatable: new Map([['cpu', 3]]),
    };
    scene.list([record('m', Configured, { ...changed, host: { provider: 'fake', ref: 'moved' } })]);
    expect(scene.committed('m')).toMatchObject(changed);
    expect(scene.ledger.particularsOf('m').host?.ref).toBe('moved');
  });
});

// 7.6.7 of the specification.
describe('a change between a cursor and an action', () => {
  it('given one that came while the machine was busy, then the machine is read again', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.decide('Reclaim', 'm');
    scene.list([record('m', Failed)], { kind: 'changes' });
    scene.accept('drain', Draining);
    expect(scene.calls('get')).toHaveLength(1);
    scene.find(Failed);
    expect(scene.committed('m')).toMatchObject({ state: Failed });
  });

  it('given that the first Get fails, then the machine is read again as well', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.decide('Reclaim', 'm');
    scene.list([record('m', Idle)], { kind: 'changes' });
    scene.accept('drain', Draining);
    scene.fail('get');
    scene.hand.advance(2000);
    scene.find(Idle);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });
});

// 7.6.8 of the specification.
describe('a machine that cannot be bound', () => {
  it('given an abandoned bind, then it has neither stamp nor cluster, and its hold continues from when it became Idle', () => {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    const { idleSinceMs } = scene.committed('m')!;
    for (let i = 0; i < 3; i++) {
      scene.hand.advance(400_000);
      scene.decide('Bootstrap', 'm');
      scene.blob({ error: 'cannot render' });
      expect(scene.committed('m')).toMatchObject({ state: Idle, stamp: null, cluster: '', idleSinceMs });
    }
  });

  it('given a restart of the shard, then the hold is not restarted', () => {
    const scene = new Scene();
    scene.list([record('m', Idle)]);
    const { idleSinceMs } = scene.committed('m')!;
    const after = new Scene({ store: scene.store });
    after.hand.advance(100_000);
    after.list([record('m', Idle)]);
    expect(after.committed('m')?.idleSinceMs).toBe(idleSinceMs);
  });
});

// 7.6.9 of the specification.
describe('a machine that is stuck in transit', () => {
  it.each([Creating, Configuring, Draining, Deleting])('given state %i, then a Get decides', (state) => {
    const scene = new Scene();
    scene.list([record('m', state)]);
    scene.hand.advance(30 * 60_000);
    scene.find(state);
    expect(scene.committed('m')).toMatchObject({ state: Failed, target: null, cluster: '' });
    expect(scene.reported).toEqual([`overdue m ${state}`]);
    expect(scene.ledger.particularsOf('m').lastError).toMatch(/has been \w+ for \d+ s/);
  });

  it('given that the provider reports the same, then it stays blocked until it reports another state', () => {
    const scene = new Scene();
    scene.list([record('m', Creating)]);
    scene.hand.advance(10 * 60_000);
    scene.find(Creating);
    scene.list([record('m', Creating, { pricePerHour: 3 })]);
    expect(scene.committed('m')).toMatchObject({ state: Failed });
    scene.list([record('m', Idle)]);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });

  it('given one that has arrived in time, then no Get is made', () => {
    const scene = new Scene();
    scene.list([record('m', Creating)]);
    scene.list([record('m', Idle)]);
    scene.hand.advance(60 * 60_000);
    expect(scene.calls('get')).toEqual([]);
  });

  it('given a transition that has ended unseen, then the Get is adopted', () => {
    const scene = new Scene();
    scene.list([record('m', Configuring)]);
    scene.hand.advance(10 * 60_000);
    scene.find(Configured);
    expect(scene.committed('m')).toMatchObject({ state: Configured });
    expect(scene.reported).toEqual([]);
  });

  it('given a retry, then it is read at once', () => {
    const scene = new Scene();
    scene.list([record('m', Creating)]);
    scene.hand.advance(10 * 60_000);
    scene.find(Creating);
    scene.actuation.retry('m');
    scene.find(Creating);
    expect(scene.committed('m')).toMatchObject({ state: Creating });
  });
});
