import { describe, expect, it } from 'vitest';
import { NEED, record, Scene, some } from '../../../testing/support/actuation-scene.ts';
import { CapacityType, keyOf, MachineState } from '../../model/index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining } = MachineState;

function sceneWith(state: MachineState): Scene {
  const scene = new Scene().open('c1');
  scene.list([record('m', state)]);
  return scene;
}

const MINUTE_MS = 60_000;

describe('a transient error', () => {
  it('given an unknown result, then the machine is read first, and what happened is adopted', () => {
    const scene = sceneWith(Speculative);
    scene.decide('Provision', 'm');
    scene.fail('create');
    expect(scene.calls().map(({ request }) => request.command)).toEqual(['get']);
    scene.find(Creating);
    expect(scene.committed('m')).toMatchObject({ state: Creating, target: keyOf(NEED), blocked: false });
    scene.list([record('m', Idle)]);
    expect(scene.ended).toMatchObject([{ outcome: 'success', attempts: 1 }]);
  });

  it('given that nothing happened, then it is retried with growing waits, and the machine stays decided meanwhile', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob();
    const waits: number[] = [];
    for (let i = 0; i < 2; i++) {
      scene.fail('configure');
      scene.find(Idle);
      expect(scene.committed('m')).toMatchObject({ state: Configuring, cluster: 'c1' });
      const from = scene.hand.now();
      while (scene.calls('configure').length === 0) scene.hand.advance(50);
      waits.push(scene.hand.now() - from);
    }
    expect(waits[0]).toBeGreaterThanOrEqual(500);
    expect(waits[0]).toBeLessThanOrEqual(1050);
    expect(waits[1]).toBeGreaterThanOrEqual(1000);
    scene.accept('configure', Configuring);
    scene.list([]);
    scene.list([record('m', Configured)]);
    expect(scene.ended).toMatchObject([{ outcome: 'success', attempts: 3 }]);
  });

  it('given a blob that expired meanwhile, then another one is requested', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob({ ttlSeconds: 0.1 });
    scene.fail('configure');
    scene.find(Idle);
    scene.hand.advance(2000);
    expect(scene.calls('configure')).toEqual([]);
    expect(scene.effects.filter(({ kind }) => kind === 'ask-bootstrap')).toHaveLength(2);
    scene.blob();
    expect(scene.calls('configure')).toHaveLength(1);
  });

  it('given too many attempts, then the machine moves back, is blocked, and becomes free again', () => {
    const scene = sceneWith(Speculative);
    scene.decide('Provision', 'm');
    for (let i = 0; i < 3; i++) {
      scene.fail('create');
      scene.find(Speculative);
      if (i < 2) while (scene.calls('create').length === 0) scene.hand.advance(100);
    }
    expect(scene.ended).toMatchObject([{ outcome: 'transient', attempts: 3, message: 'no answer' }]);
    expect(scene.committed('m')).toMatchObject({ state: Speculative, target: null, blocked: true });
    expect([...scene.actuation.blocked]).toMatchObject([{ machine: 'm', kind: 'backing-off' }]);
    expect(scene.decide('Provision', 'm')).toEqual(['held']);
    scene.hand.advance(11_000);
    expect(scene.committed('m')).toMatchObject({ blocked: false });
    expect(scene.decide('Provision', 'm')).toEqual([]);
  });

  it('given a machine that cannot be read, then its row is free, and the machine is blocked until the provider answers', () => {
    const scene = new Scene({ scheduler: { breakerFailures: 100 } });
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.fail('create');
    for (let i = 0; i < 3; i++) {
      scene.fail('get');
      scene.hand.advance(5000);
    }
    expect(scene.ended).toMatchObject([{ outcome: 'transient' }]);
    expect(scene.committed('m')).toMatchObject({ state: Speculative, target: null, blocked: true });
    scene.find(Idle);
    expect(scene.reported).toContain('orphan m p');
    expect(scene.committed('m')).toMatchObject({ state: Idle, blocked: false });
  });

  it('given a drain, then it is never withdrawn, because the operator has begun to evict', () => {
    const scene = new Scene({ scheduler: { breakerFailures: 100 } });
    scene.list([record('m', Configured)]);
    scene.decide('Reclaim', 'm');
    scene.fail('drain');
    for (let i = 0; i < 6; i++) {
      scene.fail('get');
      scene.hand.advance(MINUTE_MS);
    }
    expect(scene.committed('m')).toMatchObject({ state: Draining });
    scene.find(Configured);
    scene.hand.advance(MINUTE_MS);
    expect(scene.calls('drain')).toHaveLength(1);
    expect(scene.effects.filter(({ kind }) => kind === 'instruct-reclaim')).toHaveLength(1);
  });
});

describe('a stock-out', () => {
  const offered = { instanceType: 'big', zone: 'za', capacityType: CapacityType.Spot } as const;

  it('given one, then only that offering is blocked, and waiting actions on it are not tried', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } });
    scene.list([
      ...['a', 'b', 'c'].map((id) => record(id, Speculative, offered)),
      record('other-zone', Speculative, { ...offered, zone: 'zb' }),
      record('bought', Idle, offered),
    ]);
    scene.decide('Provision', 'a');
    scene.decide('Provision', 'b');
    scene.answer('create', { kind: 'stock-out', message: 'none left' });
    scene.find(Speculative, offered);
    expect(scene.calls('create')).toEqual([]);
    const blocked = ['a', 'b', 'c', 'other-zone', 'bought'].filter((id) => scene.committed(id)?.blocked);
    expect(blocked).toEqual(['a', 'b', 'c']);
    expect(scene.actuation.blockedOfferings).toMatchObject([{ provider: 'p', ...offered, why: 'none left' }]);
    scene.hand.advance(MINUTE_MS);
    expect(['a', 'b', 'c'].map((id) => scene.committed(id)?.blocked)).toEqual([false, false, false]);
  });

  it('given repeated ones, then waits grow, and are short again after a purchase', () => {
    const scene = new Scene();
    scene.list([record('a', Speculative, offered)]);
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      scene.decide('Provision', 'a');
      scene.answer('create', { kind: 'stock-out', message: 'none left' });
      scene.find(Speculative, offered);
      waits.push(scene.actuation.blockedOfferings[0]!.untilMs - scene.hand.now());
      scene.hand.advance(waits[i]!);
    }
    expect(waits[2]).toBeGreaterThan(waits[0]!);
    scene.decide('Provision', 'a');
    scene.accept('create', Idle, offered);
    scene.decide('Delete', 'a');
    scene.accept('delete', Speculative, offered);
    scene.decide('Provision', 'a');
    scene.answer('create', { kind: 'stock-out', message: 'none left' });
    const wait = scene.actuation.blockedOfferings[0]!.untilMs - scene.hand.now();
    expect(wait).toBeLessThan(waits[2]!);
  });

  it('given many at once, then they count as one', () => {
    const scene = new Scene();
    scene.list(['a', 'b', 'c'].map((id) => record(id, Speculative, offered)));
    for (const id of ['a', 'b', 'c']) scene.decide('Provision', id);
    for (let i = 0; i < 3; i++) scene.answer('create', { kind: 'stock-out', message: 'none left' });
    for (let i = 0; i < 3; i++) scene.find(Speculative, offered);
    const [blocked] = scene.actuation.blockedOfferings;
    expect(blocked!.untilMs - scene.hand.now()).toBeLessThanOrEqual(30_000);
    expect(['a', 'b', 'c'].map((id) => scene.committed(id)?.blocked)).toEqual([true, true, true]);
  });

  it('given an accepted order that fails for lack of stock, then it counts too', () => {
    const scene = new Scene();
    scene.list([record('a', Speculative, offered), record('b', Speculative, offered)]);
    scene.decide('Provision', 'a');
    scene.accept('create', Creating, offered);
    scene.list([
      record('a', MachineState.Failed, { ...offered, lastError: 'insufficient capacity: no big in za' }),
    ]);
    expect(scene.committed('b')).toMatchObject({ blocked: true });
  });
});

describe('a permanent error', () => {
  it('given one, then the ledger moves back, and the machine is quarantined, also after a restart, until a retry', () => {
    const scene = sceneWith(Configured);
    scene.decide('Reclaim', 'm');
    scene.answer('drain', { kind: 'permanent', message: 'not like this' });
    scene.find(Configured);
    expect(scene.committed('m')).toMatchObject({ state: Configured, blocked: true });
    expect([...scene.actuation.blocked]).toMatchObject([{ kind: 'quarantined', why: 'not like this' }]);

    const after = new Scene({ store: scene.store });
    after.list([record('m', Configured)]);
    expect(after.committed('m')).toMatchObject({ blocked: true });
    expect(after.actuation.retry('m')).toBe(true);
    expect(after.committed('m')).toMatchObject({ blocked: false });
    expect(after.store.facts.get('m')?.quarantine ?? null).toBeNull();
  });
});

describe('other answers', () => {
  it('given fenced, then the shard stops, the ledger moves back, and nothing is called any more', () => {
    const scene = sceneWith(Speculative);
    scene.list([record('n', Speculative)]);
    scene.decide('Provision', 'm');
    scene.answer('create', { kind: 'fenced' });
    expect(scene.effects.at(-1)).toMatchObject({ kind: 'stop', why: 'fenced', provider: 'p', machine: 'm' });
    expect(scene.ended).toMatchObject([{ outcome: 'fenced' }]);
    expect(scene.committed('m')).toMatchObject({ state: Speculative });
    expect(scene.decide('Provision', 'n')).toEqual(['stopped']);
  });

  it('given an unknown machine, then it leaves the ledger', () => {
    const scene = sceneWith(Idle);
    scene.decide('Delete', 'm');
    scene.answer('delete', { kind: 'unknown-machine' });
    scene.answer('get', { kind: 'unknown-machine' });
    expect(scene.committed('m')).toBeNull();
    expect(scene.ended).toMatchObject([{ outcome: 'inventory_miss' }]);
  });

  it('given a machine that is bound elsewhere, then that is adopted, and the action has failed', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob();
    scene.fail('configure');
    scene.find(Configured, { cluster: 'c7' });
    expect(scene.committed('m')).toMatchObject({ state: Configured, cluster: 'c7', target: null });
    expect(scene.ended).toMatchObject([{ outcome: 'transition_error' }]);
  });

  it.each([
    ['disk error', 'machine_failed'],
    ['insufficient capacity: no big in za', 'stock_out'],
  ])('given a machine that is found Failed (%s), then its action ended as %s', (lastError, outcome) => {
    const scene = sceneWith(Speculative);
    scene.decide('Provision', 'm');
    scene.fail('create');
    scene.find(MachineState.Failed, { lastError });
    expect(scene.ended).toMatchObject([{ outcome }]);
  });

  it('given Idle as the answer to a Configure, then it is a race and not an error', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob();
    scene.accept('configure', Idle);
    expect(scene.ended).toMatchObject([{ outcome: 'transition_raced_to_idle' }]);
    expect(scene.committed('m')).toMatchObject({ state: Idle, blocked: false });
  });
});

describe('a cluster that sends no blob', () => {
  it.each([
    ['an error', 'blob_error', (scene: Scene) => scene.blob({ error: 'no template' })],
    ['silence', 'blob_error', (scene: Scene) => scene.hand.advance(30_000)],
  ])('given %s, then it gets no requests for a while, longer each time', (_, outcome, unanswered) => {
    const scene = sceneWith(Idle);
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      scene.decide('Bootstrap', 'm');
      unanswered(scene);
      expect(scene.ended.at(-1)).toMatchObject({ outcome, attempts: 0 });
      expect(scene.actuation.cannotBind(['c1', 'c9'])).toEqual(new Set(['c1', 'c9']));
      waits.push(scene.actuation.mutedClusters[0]!.untilMs - scene.hand.now());
      scene.hand.advance(waits[i]!);
      expect(scene.actuation.cannotBind(['c1'])).toEqual(new Set());
    }
    expect(waits[2]).toBeGreaterThan(waits[0]!);
    expect(scene.calls('configure')).toEqual([]);
  });

  it('given many machines that wait for it, then it fails once', () => {
    const scene = new Scene().open('c1');
    scene.list(some(5));
    for (let i = 0; i < 5; i++) scene.decide('Bootstrap', `m-${i}`);
    scene.hand.advance(30_000);
    expect(scene.ended).toHaveLength(5);
    expect(scene.actuation.mutedClusters[0]!.untilMs - scene.hand.now()).toBeLessThanOrEqual(5000);
  });

  it('given that its operator reconnects, then it can bind again', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob({ error: 'no template' });
    scene.open('c1');
    expect(scene.actuation.cannotBind(['c1'])).toEqual(new Set());
  });

  it('given an answer that is too late, then it is dropped', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.hand.advance(30_000);
    scene.blob();
    expect(scene.calls('configure')).toEqual([]);
    expect(scene.committed('m')).toMatchObject({ state: Idle });
  });

  it('given no session, then its machine moves back, and an old session that ends later changes nothing', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
    scene.hand.advance(30_000);
    expect(scene.ended).toMatchObject([{ outcome: 'no_session' }]);
    scene.open('c1');
    scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
    expect(scene.actuation.cannotBind(['c1'])).toEqual(new Set());
  });
});

describe('a provider that denies mutations, and answers Gets and Lists', () => {
  const denied = { kind: 'denied', message: 'who are you' } as const;

  /** At most two calls in flight: m-0 and m-1 were denied while m-2 was queued. */
  function denying(): Scene {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 2 } });
    scene.list([...some(5, Speculative), record('bound', Configured)]);
    for (let i = 0; i < 3; i++) scene.decide('Provision', `m-${i}`);
    for (let i = 0; i < 2; i++) scene.answer('create', denied);
    for (let i = 0; i < 2; i++) scene.find(Speculative);
    return scene;
  }

  function untilTried(scene: Scene): void {
    while (scene.scheduler.permitOf('p') === 'open') scene.hand.advance(100);
  }

  it('given a denial, then it gets no more mutations, no machine is blamed, and waiting actions free their machines', () => {
    const scene = denying();
    scene.list([]);
    expect(scene.scheduler.breakerOf('p')).toBe('closed');
    expect(scene.calls()).toEqual([]);
    expect(scene.ended.map(({ machine, outcome }) => [machine, outcome])).toEqual([
      ['m-2', 'ctx_canceled'],
      ['m-0', 'denied'],
      ['m-1', 'denied'],
    ]);
    expect([...scene.actuation.blocked]).toEqual([]);
    for (let i = 0; i < 5; i++)
      expect(scene.committed(`m-${i}`)).toMatchObject({ target: null, blocked: true });
    expect(scene.actuation.blockOf('m-4')?.why).toBe('The provider denies it: who are you');
    expect(scene.committed('bound')).toMatchObject({ blocked: false });
  });

  it('given probes, then they are one mutation at a time, each with another machine', () => {
    const scene = denying();
    untilTried(scene);
    expect(scene.decide('Provision', 'm-3')).toEqual([]);
    expect(scene.decide('Provision', 'm-4')).toEqual(['held']);
    expect(scene.calls('create')).toHaveLength(1);
    scene.answer('create', denied);
    scene.find(Speculative);
    expect(scene.scheduler.permitOf('p')).toBe('open');
    expect([...scene.actuation.blocked]).toMatchObject([{ machine: 'm-3', kind: 'backing-off' }]);
    untilTried(scene);
    expect(scene.decide('Provision', 'm-4')).toEqual([]);
  });

  it('given a mutation that succeeds, then it is usable at once', () => {
    const scene = denying();
    untilTried(scene);
    scene.decide('Provision', 'm-3');
    scene.accept('create', Creating);
    expect(scene.scheduler.permitOf('p')).toBe('closed');
    expect(scene.scheduler.denialOf('p')).toBe('');
    for (const id of ['m-0', 'm-1']) expect(scene.decide('Provision', id)).toEqual([]);
    expect(scene.calls('create')).toHaveLength(2);
  });

  it('given only machines that leave, then they are the probes, which wait and are withdrawn after a few attempts', () => {
    const scene = denying();
    scene.decide('Reclaim', 'bound');
    for (let i = 0; i < 3; i++) {
      expect(scene.calls('drain')).toEqual([]);
      while (scene.calls('drain').length === 0) scene.hand.advance(100);
      scene.answer('drain', denied);
      scene.find(Configured);
    }
    expect(scene.ended.at(-1)).toMatchObject({ machine: 'bound', outcome: 'denied', attempts: 3 });
    expect(scene.committed('bound')).toMatchObject({ state: Configured, blocked: true });
  });

  it('given that it stops answering at all, then a Get finds that out', () => {
    const scene = denying();
    // The second denial in a row has a longer back-off than the first unanswered call.
    untilTried(scene);
    scene.decide('Provision', 'm-3');
    scene.answer('create', denied);
    scene.find(Speculative);
    scene.decide('Reclaim', 'bound');
    for (let i = 0; i < 5; i++) scene.scheduler.heard('p', false);
    while (scene.scheduler.breakerOf('p') === 'open') scene.hand.advance(100);
    expect(scene.calls().map(({ request }) => request.command)).toEqual(['get']);
  });
});

describe('a provider that does not answer', () => {
  function silent(): Scene {
    const scene = new Scene({ providers: ['p', 'q'], scheduler: { breakerFailures: 3 } });
    scene.list([...some(4, Speculative), record('bound', Configured)]);
    scene.list([record('q-0', Speculative)], { provider: 'q' });
    for (let i = 0; i < 3; i++) scene.decide('Provision', `m-${i}`);
    for (let i = 0; i < 3; i++) scene.fail('create');
    return scene;
  }

  it('given one, then it gets no calls and its machines are not offered; others are unaffected', () => {
    const scene = silent();
    expect(scene.scheduler.breakerOf('p')).toBe('open');
    expect(scene.committed('m-3')).toMatchObject({ blocked: true });
    expect(scene.committed('bound')).toMatchObject({ blocked: false });
    expect(scene.committed('q-0')).toMatchObject({ blocked: false });
    expect(scene.calls('create')).toEqual([]);
    expect(scene.decide('Provision', 'q-0')).toEqual([]);
  });

  it('given a probe that is answered, then it is usable at once', () => {
    const scene = silent();
    // Two Gets were in flight before the breaker opened.
    scene.fail('get');
    scene.fail('get');
    while (scene.scheduler.breakerOf('p') === 'open') scene.hand.advance(100);
    const open = scene.calls('get').filter(({ provider }) => provider === 'p');
    expect(open).toHaveLength(1);
    scene.fail('get');
    expect(scene.scheduler.breakerOf('p')).toBe('open');
    scene.hand.advance(MINUTE_MS);
    scene.find(Speculative);
    expect(scene.scheduler.breakerOf('p')).toBe('closed');
    expect(scene.committed('m-3')).toMatchObject({ blocked: false });
  });

  it('given a List that succeeds, then it is usable again', () => {
    const scene = silent();
    scene.list([]);
    expect(scene.scheduler.breakerOf('p')).toBe('closed');
  });

  it('given another failure soon after, then it waits its full time', () => {
    const scene = new Scene({
      scheduler: { breakerFailures: 1, breaker: { baseMs: 10_000, maxMs: 10_000 } },
    });
    scene.scheduler.heard('p', false);
    scene.scheduler.heard('p', true);
    scene.hand.advance(4000);
    scene.scheduler.heard('p', false);
    // The back-off of the first opening would have expired by now.
    scene.hand.advance(4900);
    expect(scene.scheduler.breakerOf('p')).toBe('open');
  });
});

describe('commands', () => {
  it('given a quarantine, then the machine is blocked until retry', () => {
    const scene = sceneWith(Idle);
    expect(scene.actuation.quarantine('m', 'ada', 'smells of smoke')).toBe(true);
    expect(scene.decide('Bootstrap', 'm')).toEqual(['held']);
    expect(scene.store.facts.get('m')).toMatchObject({ quarantine: { by: 'ada', why: 'smells of smoke' } });
    scene.actuation.retry('m');
    expect(scene.decide('Bootstrap', 'm')).toEqual([]);
    expect(scene.actuation.quarantine('unknown', 'ada', '')).toBe(false);
  });

  it('given a forgotten Failed machine, then it is hidden, but on record, until it is no longer Failed', () => {
    const scene = sceneWith(MachineState.Failed);
    expect(scene.actuation.forget('m')).toBe(true);
    expect(scene.machineFacts.verdictsOn('m').isForgotten).toBe(true);
    expect(scene.committed('m')).toMatchObject({ state: MachineState.Failed });
    scene.list([record('m', Idle)]);
    expect(scene.machineFacts.verdictsOn('m').isForgotten).toBe(false);
    expect(scene.actuation.forget('m')).toBe(false);
  });
});
