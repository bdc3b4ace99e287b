import { afterEach, describe, expect, it, vi } from 'vitest';
import { NEED, record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, same, stampOf } from '../../../testing/support/fleets.ts';
import { Engine } from '../../engine/index.ts';
import { keyOf, MachineState, ZONE_KEY } from '../../model/index.ts';
import { DEFAULT_CONTROLLER } from './options.ts';

const { Speculative, Creating, Idle, Configuring, Configured } = MachineState;

afterEach(() => vi.restoreAllMocks());

/** A machine of the cluster that was bound for its row. */
function serving(id: string, need = NEED) {
  return record(id, Configured, { cluster: need.cluster, stamp: stampOf(need) });
}

describe('the first decision', () => {
  it('given several providers, then it waits for the inventory of all, and does not buy what one of them has', () => {
    const scene = new ControllerScene({ providers: ['p', 'q'] }).open('c1').demand('c1', NEED);
    scene.list([record('m', Speculative)]).tick(5000);
    expect(scene.cycles).toEqual([]);
    expect(scene.controller.ask('status', {})).toMatchObject({ phase: 'starting', cycle: null });

    scene.list([serving('n')], 'q').tick();

    expect(scene.controller.ask('status', {})).toMatchObject({ phase: 'running' });
    expect(scene.calls()).toEqual([]);
    expect(scene.logged('providers-not-read')).toEqual([]);
  });

  it('given a silent provider, then it is made without it after a while, and that is logged', () => {
    const cycle = { ...DEFAULT_CONTROLLER.cycle, readyWaitMs: 5000 };
    const scene = new ControllerScene({ providers: ['p', 'q'], cycle }).open('c1').demand('c1', NEED);
    scene.list([record('m', Speculative)]);

    scene.tick(4900);
    expect(scene.cycles).toEqual([]);
    scene.tick(1200);

    expect(scene.cycles).not.toEqual([]);
    expect(scene.calls('create')).toHaveLength(1);
    expect(scene.logged('providers-not-read')).toMatchObject([{ unread: ['q'] }]);
  });

  it('given a cluster that has not reported since the start, then it keeps its machines', () => {
    const scene = new ControllerScene({
      ...NO_HOLD,
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, reclaimFraction: 1 },
    }).open('c1');
    scene.list([serving('m')]).tick(SETTLED_MS);
    expect(scene.cycles.at(-1)?.decided.Reclaim).toBe(0);

    scene.demand('c1').tick();

    expect(scene.calls('drain').map(({ machine }) => machine)).toEqual(['m']);
  });
});

describe('cycles', () => {
  it('given no changes, then there is one per interval', () => {
    const scene = new ControllerScene().list([]).tick();
    const before = scene.cycles.length;

    scene.tick(10_000);

    expect(scene.cycles.length - before).toBe(10);
  });

  it('given threads of the engine that failed, then each is reported once', () => {
    const failures: string[] = [];
    vi.spyOn(Engine.prototype, 'threadFailures', 'get').mockReturnValue(failures);
    const scene = new ControllerScene().list([]).tick(2000);
    expect(scene.logged('thread-failed')).toEqual([]);

    failures.push('TypeError: one');
    scene.tick(3000);
    failures.push('TypeError: two');
    scene.tick(3000);

    expect(scene.logged('thread-failed')).toEqual([{ why: 'TypeError: one' }, { why: 'TypeError: two' }]);
  });

  it('given changed demand, then a cycle starts at once, and one for a burst', () => {
    const scene = new ControllerScene().list([]).tick(10_500);
    const before = scene.cycles.length;
    expect(scene.hand.now() - scene.cycles.at(-1)!.atMs).toBeGreaterThan(DEFAULT_CONTROLLER.cycle.spacingMs);

    for (let i = 0; i < 20; i++) scene.demand(`c${i}`, aNeed({ cluster: `c${i}` }));
    scene.tick(1);

    expect(scene.cycles.length - before).toBe(1);
    expect(scene.controller.ask('status', {})).toMatchObject({ needs: 20 });
  });

  // 7.6.26 of the specification.
  it('given frequent changes of demand, then cycles keep their distance', () => {
    const scene = new ControllerScene().list([]).tick();
    const before = scene.cycles.length;

    for (let i = 0; i < 200; i++) scene.demand('c1', NEED).tick(10);

    const times = scene.cycles.slice(before).map(({ atMs }) => atMs);
    expect(times).toHaveLength(10);
    for (const [i, at] of times.slice(1).entries()) expect(at - times[i]!).toBe(200);
  });

  it('given more actions than a cycle may begin, then cycles follow one another', () => {
    const guardrails = { ...DEFAULT_CONTROLLER.guardrails, maxActionsPerCycle: 2 };
    const scene = new ControllerScene({ guardrails }).open('c1').list(some(5)).tick();
    const before = scene.cycles.length;

    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 20 }) }).tick(3 * 200);

    const cycles = scene.cycles.slice(before);
    expect(cycles.map(({ admitted }) => admitted.Bootstrap)).toEqual([2, 2, 1]);
    expect(cycles.map(({ waiting }) => waiting['deferred'] ?? 0)).toEqual([3, 1, 0]);
    expect(scene.of('ask-bootstrap')).toHaveLength(5);
  });

  it('given a dry run, then they decide and make no call', () => {
    const scene = new ControllerScene({
      ...NO_HOLD,
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true },
    }).open('c1', 'c2');
    scene.list([record('a', Idle), record('b', Speculative), serving('c')]);
    scene.demand('c1').demand('c2', aNeed({ cluster: 'c2', aggregate: resources({ cpu: 8 }) }));

    scene.tick(SETTLED_MS);

    expect(scene.cycles.at(-1)).toMatchObject({
      decided: { Bootstrap: 1, Provision: 1, Reclaim: 1 },
      admitted: { Bootstrap: 0, Provision: 0, Reclaim: 0 },
      waiting: { 'dry-run': 3 },
    });
    const said = new Set(scene.effects.map(({ kind }) => kind));
    expect([...said].filter((kind) => kind !== 'available-capacity').sort()).toEqual(['list', 'node-state']);
    expect(scene.controller.ask('actions', { limit: 10 }).waiting.items.map(({ why }) => why)).toEqual([
      'dry-run',
      'dry-run',
      'dry-run',
    ]);
  });

  it('given a re-stamp, then it has the priority that the machine was bound at', () => {
    const low = aNeed({ priority: 100, group: 'old', reclamationBucket: 5 });
    const gang = aNeed({
      ...{ priority: 900, group: 'gang', requirements: [same(ZONE_KEY)] },
      ...{ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 4 }) },
    });
    const scene = new ControllerScene().open('c1').list([serving('a', low), serving('b', low)]);

    scene.demand('c1', gang).tick(2000);

    const facts = [...scene.store.machines.load()].map(({ stamp }) => stamp);
    expect(facts).toHaveLength(2);
    for (const stamp of facts) expect(stamp).toMatchObject({ group: 'gang', priority: 100 });
    expect(scene.machine('a')?.need).toMatchObject({ group: 'gang' });
  });
});

describe('a controller that ends', () => {
  it('given that a provider has seen a newer process, then it decides and calls nothing', () => {
    const scene = new ControllerScene().list(some(3, Speculative)).open('c1').demand('c1', NEED).tick();
    scene.answer('create', { kind: 'fenced' });
    expect(scene.of('stop')).toMatchObject([{ why: 'fenced', provider: 'p' }]);
    const { length } = scene.effects;
    const cycles = scene.cycles.length;

    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 12 }) });
    scene.order({ kind: 'retry', machine: 'm-1', who: 'ada' });
    scene.tick(120_000);

    expect(scene.effects.slice(length)).toEqual([]);
    expect(scene.cycles).toHaveLength(cycles);
    expect(scene.controller.ask('status', {}).phase).toBe('fenced');
    scene.controller.stop();
    expect(scene.controller.ask('status', {}).phase).toBe('fenced');
  });

  it('given actions, then it withdraws those without a call, completes those with one, and starts none', () => {
    const scheduler = { ...DEFAULT_CONTROLLER.scheduler, mutationsPerProvider: 1 };
    const scene = new ControllerScene({ scheduler }).list(some(3, Speculative)).open('c1');
    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 12 }) }).tick();
    expect(scene.calls('create')).toHaveLength(1);
    expect(scene.controller.isIdle).toBe(false);

    scene.controller.stop();
    const [called] = scene.calls('create');
    const states = some(3).map(({ id }) => scene.machine(id)?.state);
    expect(states.filter((state) => state === 'SPECULATIVE')).toHaveLength(2);
    expect(states).toContain('CREATING');
    scene.accept('create', Creating);
    scene.tick(60_000);

    expect(scene.controller.isIdle).toBe(true);
    expect(scene.of('call')).toHaveLength(1);
    expect(scene.controller.ask('status', {}).phase).toBe('stopping');
    const targets = [...scene.store.machines.load()].flatMap(({ id, target }) => (target === null ? [] : id));
    expect(targets).toEqual([called!.machine]);
  });

  it('given calls that fail, then it retries nothing, and is idle once the result of each call is known', () => {
    const scheduler = { ...DEFAULT_CONTROLLER.scheduler, breakerFailures: 100 };
    const scene = new ControllerScene({ scheduler }).list(some(2, Speculative)).open('c1');
    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 8 }) }).tick();
    const failure = { kind: 'transient', message: 'no answer' } as const;
    const { machine } = scene.answer('create', failure);
    scene.answer('get', { kind: 'found', machine: record(machine, Speculative) });
    const mutations = () => scene.of('call').filter(({ request }) => request.command !== 'get');

    scene.controller.stop();
    // The action that waited for its retry is read with a Get. The other fails later, and its first Get fails too.
    scene.answer('get', { kind: 'found', machine: record(machine, Speculative) });
    const other = scene.answer('create', failure);
    scene.answer('get', failure);
    expect(scene.calls()).toEqual([]);
    expect(scene.controller.isIdle).toBe(false);
    scene.tick(10_000);
    scene.answer('get', { kind: 'found', machine: record(other.machine, Speculative) });
    expect(scene.controller.isIdle).toBe(true);
    scene.tick(600_000);

    expect(mutations()).toHaveLength(2);
    expect(some(2).map(({ id }) => scene.machine(id)?.state)).toEqual(['SPECULATIVE', 'SPECULATIVE']);
  });

  it('given that it is fenced, then it does not wait', () => {
    const scene = new ControllerScene().list(some(2, Speculative)).open('c1');
    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 8 }) }).tick();
    scene.answer('create', { kind: 'transient', message: 'no answer' });
    scene.answer('get', { kind: 'transient', message: 'no answer' });
    scene.answer('create', { kind: 'fenced' });
    scene.controller.stop();
    expect(scene.controller.isIdle).toBe(true);
    const { length } = scene.of('call');
    scene.tick(600_000);
    expect(scene.of('call')).toHaveLength(length);
  });

  it('given the last calls, then their results are stored', async () => {
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.controller.stop();
    scene.answer('create', { kind: 'stock-out', message: 'none left' });
    scene.answer('get', { kind: 'found', machine: record('m', Speculative) });
    expect(scene.controller.isIdle).toBe(true);

    await scene.controller.close();

    expect([...scene.store.machines.load()].filter(({ target }) => target !== null)).toEqual([]);
  });
});

describe('messages to clusters', () => {
  it('given a session, then its cluster gets them, and all of them again on a new session', () => {
    const scene = new ControllerScene().list([serving('a'), serving('b')]).tick();
    expect(scene.of('node-state')).toEqual([]);

    scene.open('c1');
    const sent = scene
      .of('node-state')
      .map(({ cluster, update }) => `${cluster} ${update.machineId} ${update.state}`);
    expect(sent.sort()).toEqual([`c1 a ${Configured}`, `c1 b ${Configured}`]);

    scene.close('c1');
    const { length } = scene.of('node-state');
    scene.list([], 'p', ['a']);
    scene.answer('get', { kind: 'unknown-machine' });
    expect(scene.of('node-state')).toHaveLength(length);

    scene.open('c1');
    expect(
      scene
        .of('node-state')
        .slice(length)
        .map(({ update }) => update.machineId),
    ).toEqual(['b']);
  });

  it('given machines that were blocked or re-stamped a moment ago, then their cluster gets those as well', () => {
    const scene = new ControllerScene()
      .list([serving('a'), serving('b')])
      .demand('c1', NEED)
      .tick();

    scene.freeze('c1').open('c1');

    const sent = scene.of('node-state').map(({ update }) => update.machineId);
    expect(sent.sort()).toEqual(['a', 'b']);
  });

  it('given an older session that ends late, then nothing changes', () => {
    const scene = new ControllerScene().list([]).open('c1', 'c1');

    scene.controller.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });

    expect(scene.controller.ask('status', {}).sessions).toBe(1);
  });

  it('given capacity hints, then only connected clusters get them', () => {
    const scene = new ControllerScene()
      .list(some(2))
      .demand('c1', NEED)
      .demand('c2', aNeed({ cluster: 'c2' }));
    scene.tick();
    expect(scene.of('available-capacity')).toEqual([]);

    scene.open('c2').tick();
    expect(scene.of('available-capacity').map(({ cluster }) => cluster)).toEqual(['c2']);

    const { length } = scene.of('available-capacity');
    scene.close('c2').open('c2').tick();
    expect(scene.of('available-capacity').slice(length)).toHaveLength(1);
  });
});

describe('a target', () => {
  const OTHER = aNeed({ group: 'other' });

  function withTarget(need = NEED): ControllerScene {
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', need)
      .tick();
    return scene.accept('create', Creating).tick();
  }

  it('given a row that is absent for a whole cycle, then it ends', () => {
    const scene = withTarget();
    expect(scene.machine('m')?.need).toMatchObject({ cluster: 'c1' });

    scene.demand('c1', OTHER).tick(3000);

    expect(scene.machine('m')?.need).toBeNull();
  });

  it('given an absence that no cycle saw, then it stays', () => {
    const scene = withTarget();
    scene.tick(1);
    scene.demand('c1', OTHER).demand('c1', NEED, OTHER).tick(3000);

    expect(scene.machine('m')?.need).not.toBeNull();
  });

  it('given a fold, then it lasts while a row is in the fold', () => {
    const gangs = ['g1', 'g2'].map((group) =>
      aNeed({
        group,
        requirements: [same(ZONE_KEY)],
        aggregate: resources({ cpu: 2 }),
        minUnit: resources({ cpu: 2 }),
      }),
    );
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', ...gangs)
      .tick();
    scene.accept('create', Creating).tick();
    expect(scene.machine('m')?.need?.group).toMatch(/^fold:/);

    scene.demand('c1', gangs[1]!).tick(3000);
    expect(scene.machine('m')?.need).not.toBeNull();

    scene.demand('c1').tick(3000);
    expect(scene.machine('m')?.need).toBeNull();
  });

  it('given a restart, then it stays until its cluster has reported', () => {
    const { store } = withTarget();
    const scene = new ControllerScene({}, store)
      .list([record('m', Creating)])
      .open('c1')
      .tick(5000);
    expect(scene.machine('m')?.need).not.toBeNull();

    scene.demand('c1').tick(3000);
    expect(scene.machine('m')?.need).toBeNull();
  });

  it('given a provider that is read late, then it ends although its cluster reports nothing new', () => {
    const { store } = withTarget();
    const cycle = { ...DEFAULT_CONTROLLER.cycle, readyWaitMs: 2000 };
    const scene = new ControllerScene({ cycle, providers: ['p', 'q'] }, store).list([], 'q').open('c1');
    scene.demand('c1').tick(5000);
    expect(scene.cycles).not.toEqual([]);

    scene.list([record('m', Idle)]).tick(3000);

    expect(scene.machine('m')).toMatchObject({ state: 'IDLE', need: null });
  });

  it('given a move of unknown result that is undone, then it ends too', () => {
    const scheduler = { ...DEFAULT_CONTROLLER.scheduler, breakerFailures: 100 };
    const scene = new ControllerScene({ scheduler })
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED);
    scene
      .tick()
      .accept('create', Creating)
      .list([])
      .list([record('m', Idle)])
      .tick();
    scene.blobs();
    expect(scene.calls('configure')).toHaveLength(1);
    scene.demand('c1').tick(3000);

    scene.answer('configure', { kind: 'transient', message: 'no answer' });
    for (let i = 0; i < 3; i++) {
      scene.answer('get', { kind: 'transient', message: 'no answer' });
      scene.tick(5000);
    }

    expect(scene.machine('m')).toMatchObject({ state: 'IDLE', need: null });
  });

  it('given that the machine is bound, then it becomes the row of the machine', () => {
    const scene = new ControllerScene()
      .list([record('m', Idle)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.blobs().accept('configure', Configuring, { stamp: stampOf(NEED) });
    // The reading in flight is stale: it began before the call ended.
    scene
      .list([])
      .list([serving('m')])
      .tick();

    const { fingerprint, group } = keyOf(NEED);
    expect([...scene.store.machines.load()]).toMatchObject([{ target: null, stamp: { fingerprint, group } }]);
    expect(scene.calls()).toEqual([]);
  });
});
