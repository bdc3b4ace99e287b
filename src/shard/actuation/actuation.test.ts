import { describe, expect, it } from 'vitest';
import { action, NEED, OTHER_NEED, record, Scene, some } from '../../../testing/support/actuation-scene.ts';
import { keyOf, MachineState } from '../../model/index.ts';
import { stampFromMetadata } from '../../wire/index.ts';
import { ACTUATION_LIMITS } from './actuation-limits.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting } = MachineState;

function sceneWith(state: MachineState): Scene {
  const scene = new Scene().open('c1', 'c2');
  scene.list([record('m', state)]);
  return scene;
}

describe('actuation', () => {
  it('given an accepted action, then the ledger has its target at once, so that it is not decided twice', () => {
    const scene = sceneWith(Speculative);
    expect(scene.decide('Provision', 'm')).toEqual([]);
    expect(scene.committed('m')).toMatchObject({ state: Creating, target: keyOf(NEED) });
    expect(scene.decide('Provision', 'm')).toEqual(['deduped']);
    expect(scene.calls('create')).toHaveLength(1);
  });

  it('given a decision, then it is durable before the provider is called', () => {
    const scene = sceneWith(Speculative);
    const calledAtSave: number[] = [];
    const save = scene.store.save.bind(scene.store);
    scene.store.save = (changed, dropped) => {
      calledAtSave.push(scene.calls('create').length);
      save(changed, dropped);
    };
    scene.decide('Provision', 'm');
    expect(calledAtSave).toEqual([0]);
    expect(scene.store.facts.get('m')).toMatchObject({ target: keyOf(NEED) });
  });

  it('given a provision, when Idle arrives by ack or by List, then the target stays until a cycle binds the machine', () => {
    const scene = sceneWith(Speculative);
    scene.decide('Provision', 'm');
    scene.accept('create', Creating);
    scene.list([record('m', Idle)]);
    expect(scene.committed('m')).toMatchObject({ state: Idle, target: keyOf(NEED) });
    expect(scene.ended).toMatchObject([{ kind: 'Provision', outcome: 'success', attempts: 1 }]);

    const prompt = sceneWith(Speculative);
    prompt.decide('Provision', 'm');
    prompt.accept('create', Idle);
    expect(prompt.committed('m')).toMatchObject({ state: Idle, target: keyOf(NEED) });
  });

  it('given a bootstrap, then the machine counts for the cluster at once, and is configured with blob and stamp', () => {
    const scene = sceneWith(Idle);
    scene.decide('Bootstrap', 'm');
    expect(scene.committed('m')).toMatchObject({ state: Configuring, cluster: 'c1', target: keyOf(NEED) });
    expect(scene.calls('configure')).toEqual([]);
    scene.blob();
    const [call] = scene.calls('configure');
    const request = call!.request as Extract<typeof call, object>['request'] & { command: 'configure' };
    expect(Buffer.from(request.blob).toString()).toBe('join');
    expect(stampFromMetadata(request.metadata)).toMatchObject({ priority: 100, group: '' });
    scene.accept('configure', Configuring, { cluster: '' });
    scene.list([record('m', Configured)]);
    expect(scene.committed('m')).toMatchObject({ state: Configured, cluster: 'c1', target: null });
    expect(scene.heardBy('c1')).toEqual([Configuring, Configured]);
  });

  it('given a preemption, then the operator is notified without a wait, the drain has grace, and the row keeps the machine', () => {
    const scene = sceneWith(Configured);
    const need = keyOf(OTHER_NEED);
    scene.decide('Preempt', 'm', { need, graceSeconds: 30, preemptorPriority: 900_000 });
    const sent = scene.effects.filter(({ kind }) => kind === 'instruct-reclaim' || kind === 'call');
    expect(sent).toMatchObject([
      { kind: 'instruct-reclaim', cluster: 'c1', graceSeconds: 30, preemptorPriority: 900_000 },
      { kind: 'call', request: { command: 'drain', graceSeconds: 30 } },
    ]);
    scene.accept('drain', Draining);
    scene.list([record('m', Idle)]);
    expect(scene.committed('m')).toMatchObject({ state: Idle, target: need, stamp: null, cluster: '' });
    expect(scene.heardBy('c1')).toEqual([Configured, Draining, Idle]);
  });

  it('given a reclaim, when the cluster has no session, then the machine drains', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    expect(scene.decide('Reclaim', 'm')).toEqual([]);
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it('given a delete, then the host is returned', () => {
    const scene = sceneWith(Idle);
    scene.decide('Delete', 'm');
    expect(scene.committed('m')).toMatchObject({ state: Deleting });
    scene.accept('delete', Speculative);
    expect(scene.committed('m')).toMatchObject({ state: Speculative, idleSinceMs: null });
  });

  it.each([
    ['stale_state', 'Bootstrap', 'm', {}],
    ['inventory_miss', 'Bootstrap', 'unknown', {}],
    ['missing_profile', 'Bootstrap', 'i', { need: { cluster: 'c1', fingerprint: 'x', group: '' } }],
    ['no_session', 'Bootstrap', 'i', { cluster: 'c9' }],
  ] as const)(
    'given an action that is refused with %s, then the ledger is unchanged',
    (why, kind, machine, given) => {
      const scene = sceneWith(Configured);
      scene.list([record('i', Idle)]);
      expect(scene.decide(kind, machine, given)).toEqual([why]);
      expect(scene.calls()).toEqual([]);
      expect(scene.committed('i')).toMatchObject({ state: Idle });
    },
  );

  it('given more actions than the pool or a provider may run, then the rest waits, and too many are refused', () => {
    const scene = new Scene({
      limits: { queuePerProvider: 2 },
      scheduler: { mutations: 3, mutationsPerProvider: 2 },
      providers: ['p', 'q'],
    });
    scene.list(some(8, Speculative));
    scene.list([record('q-0', Speculative), record('q-1', Speculative)], { provider: 'q' });
    scene.ledger.commitMachines().writeRows();
    const names = ['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'q-0', 'q-1'];
    const refused = scene.actuation.accept(names.map((name) => action('Provision', name)));
    expect(scene.calls('create').map(({ machine }) => machine)).toEqual(['m-0', 'm-1', 'q-0']);
    expect(refused).toEqual([]);
    expect(scene.decide('Provision', 'm-5')).toEqual(['dropped']);
    scene.accept('create', Creating);
    expect(scene.calls('create').map(({ machine }) => machine)).toEqual(['m-1', 'q-0', 'm-2']);
  });

  it('given actions that wait, then a preemption passes them', () => {
    const scene = new Scene({ limits: { queuePerProvider: 2 }, scheduler: { mutationsPerProvider: 1 } });
    scene.list([...some(4, Speculative), record('victim', Configured)]);
    for (let i = 0; i < 3; i++) scene.decide('Provision', `m-${i}`);
    expect(scene.decide('Provision', 'm-3')).toEqual(['dropped']);
    expect(scene.decide('Preempt', 'victim', { need: keyOf(OTHER_NEED) })).toEqual([]);
    scene.accept('create', Creating);
    expect(scene.calls().map(({ machine }) => machine)).toEqual(['victim']);
  });

  it('given drains, then the ledger learns how long machines of a type take', () => {
    const scene = new Scene();
    scene.list(some(3, Configured));
    for (const [i, seconds] of [40, 80, 60].entries()) {
      scene.decide('Reclaim', `m-${i}`);
      scene.accept('drain', Draining);
      scene.hand.advance(seconds * 1000);
      scene.list([record(`m-${i}`, Idle)]);
    }
    // Readings are 1 s apart, hence the tolerance.
    expect(scene.committed('m-0')?.drainSeconds).toBeCloseTo(60, -1);
  });

  // 7.6.23 of the specification.
  it('given actions, then all are listed, and those that ended are bounded', () => {
    const scene = new Scene({ limits: { records: 2 } }).open('c1');
    scene.list(some(4));
    for (let i = 0; i < 3; i++) {
      scene.decide('Delete', `m-${i}`);
      scene.accept('delete', Speculative);
    }
    scene.decide('Bootstrap', 'm-3');
    const shown = [...scene.actuation.actions()];
    expect(shown.map(({ machine, outcome }) => [machine, outcome])).toEqual([
      ['m-3', null],
      ['m-1', 'success'],
      ['m-2', 'success'],
    ]);
    expect(new Set(shown.map(({ id }) => id)).size).toBe(3);
  });

  it('given a shutdown, then actions without a call are withdrawn, and those with a call are completed', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } }).open('c1');
    scene.list([...some(2, Speculative), record('i', Idle)]);
    scene.decide('Provision', 'm-0');
    scene.decide('Provision', 'm-1');
    scene.decide('Bootstrap', 'i');
    scene.actuation.stop();
    expect(scene.ended.map(({ machine, outcome }) => [machine, outcome])).toEqual([
      ['m-1', 'ctx_canceled'],
      ['i', 'ctx_canceled'],
    ]);
    expect(scene.committed('m-1')).toMatchObject({ state: Speculative, target: null });
    expect(scene.committed('i')).toMatchObject({ state: Idle });
    scene.accept('create', Creating);
    scene.list([record('m-0', Idle)]);
    expect(scene.ended.at(-1)).toMatchObject({ machine: 'm-0', outcome: 'success' });
    expect(scene.decide('Provision', 'm-1')).toEqual(['stopped']);
  });

  it('given a restart, then earlier decisions are reported', () => {
    const before = new Scene().open('c1');
    before.list([record('m', Speculative), record('i', Idle)]);
    before.decide('Provision', 'm');
    before.committed('m');
    const idleSince = before.committed('i')!.idleSinceMs;
    const after = new Scene({ store: before.store });
    after.hand.advance(60_000);
    after.list([record('m', Creating), record('i', Idle)]);
    expect(after.committed('m')).toMatchObject({ state: Creating, target: keyOf(NEED) });
    expect(after.committed('i')).toMatchObject({ idleSinceMs: idleSince });
  });

  it('given actions, then it reports which one has a machine, how many wait and how many run', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } }).open('c1');
    scene.list([...some(3, Speculative), record('i', Idle)]);
    expect(scene.actuation.counts).toEqual({ queued: 0, evicting: 0, inFlight: 0, accepted: 0 });
    for (let i = 0; i < 3; i++) scene.decide('Provision', `m-${i}`);
    scene.decide('Bootstrap', 'i');
    expect(scene.actuation.counts).toEqual({ queued: 2, evicting: 0, inFlight: 2, accepted: 0 });
    expect(scene.actuation.actionOf('m-0')).toMatchObject({ kind: 'Provision', attempts: 1, endedMs: null });
    expect(scene.actuation.actionOf('m-1')).toMatchObject({ kind: 'Provision', attempts: 0 });
    scene.accept('create', Creating);
    expect(scene.actuation.actionOf('m-0')).toMatchObject({ outcome: null, acceptedMs: scene.hand.now() });
    expect(scene.actuation.counts).toEqual({ queued: 1, evicting: 0, inFlight: 2, accepted: 1 });
    scene.list([record('m-0', Idle)]);
    expect(scene.actuation.actionOf('m-0')).toBeNull();
  });
});

describe('the reason why a machine is blocked', () => {
  it('given a free or a blocked machine, then there is no reason, or its own with an end if it has one', () => {
    const scene = sceneWith(Idle);
    expect(scene.actuation.blockOf('m')).toBeNull();
    expect(scene.actuation.blockOf('unknown')).toBeNull();
    scene.actuation.quarantine('m', 'ann', 'it smokes');
    expect(scene.actuation.blockOf('m')).toEqual({ kind: 'quarantined', why: 'it smokes', untilMs: null });
    scene.actuation.retry('m');
    scene.find(Idle);
    expect(scene.actuation.blockOf('m')).toBeNull();
    scene.decide('Delete', 'm');
    for (let i = 0; i < ACTUATION_LIMITS.attempts; i++) {
      scene.hand.advance(ACTUATION_LIMITS.retry.maxMs);
      scene.fail('delete', 'busy');
      scene.find(Idle);
    }
    const { why, untilMs } = scene.actuation.blockOf('m')!;
    expect(why).toBe('busy');
    expect(untilMs).toBeGreaterThan(scene.hand.now());
    scene.hand.advance(untilMs! - scene.hand.now());
    expect(scene.actuation.blockOf('m')).toBeNull();
  });

  it('given an offering out of stock, then that is the reason', () => {
    const scene = new Scene();
    scene.list([...some(2, Speculative), record('i', Idle), record('dear', Speculative, { zone: 'zb' })]);
    scene.decide('Provision', 'm-0');
    scene.answer('create', { kind: 'stock-out', message: 'sold out' });
    const { untilMs } = scene.actuation.blockedOfferings[0]!;
    expect(scene.actuation.blockOf('m-1')).toEqual({ kind: 'out-of-stock', why: 'sold out', untilMs });
    for (const other of ['i', 'dear']) expect(scene.actuation.blockOf(other)).toBeNull();
  });

  it('given an unreachable provider, then that is the reason, unless the machine is bound', () => {
    const scene = new Scene({ scheduler: { breakerFailures: 1 } });
    scene.list([record('i', Idle), record('b', Configured)]);
    scene.failList();
    expect(scene.actuation.blockOf('i')).toMatchObject({
      kind: 'provider-unreachable',
      why: 'The provider does not answer.',
    });
    expect(scene.actuation.blockOf('b')).toBeNull();
  });
});
