import { afterEach, describe, expect, it, vi } from 'vitest';
import { NEED, record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
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
  it('waits for every provider: what one of them has is not bought at the other', () => {
    const scene = new ControllerScene({ providers: ['p', 'q'] }).open('c1').demand('c1', NEED);
    scene.list([record('m', Speculative)]).tick(5000);
    expect(scene.cycles).toEqual([]);
    expect(scene.controller.ask('status', {})).toMatchObject({ phase: 'starting', cycle: null });

    scene.list([serving('n')], 'q').tick();

    expect(scene.controller.ask('status', {})).toMatchObject({ phase: 'running' });
    expect(scene.calls()).toEqual([]);
    expect(scene.logged('providers-not-read')).toEqual([]);
  });

  it('is made without a silent provider in the end, and says so', () => {
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

  it('takes nothing from a cluster that has not reported since the start', () => {
    const scene = new ControllerScene({
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, reclaimFraction: 1 },
    }).open('c1');
    scene.list([serving('m')]).tick(SETTLED_MS);
    expect(scene.cycles.at(-1)?.decided.Reclaim).toBe(0);

    scene.demand('c1').tick();

    expect(scene.calls('drain').map(({ machine }) => machine)).toEqual(['m']);
  });
});

describe('cycles', () => {
  it('come once an interval where nothing happens', () => {
    const scene = new ControllerScene().list([]).tick();
    const before = scene.cycles.length;

    scene.tick(10_000);

    expect(scene.cycles.length - before).toBe(10);
  });

  it('tell once of each thread of the engine that was given up', () => {
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

  it('come at once for changed demand, and once for a burst of it', () => {
    const scene = new ControllerScene().list([]).tick(10_500);
    const before = scene.cycles.length;
    expect(scene.hand.now() - scene.cycles.at(-1)!.atMs).toBeGreaterThan(DEFAULT_CONTROLLER.cycle.spacingMs);

    for (let i = 0; i < 20; i++) scene.demand(`c${i}`, aNeed({ cluster: `c${i}` }));
    scene.tick(1);

    expect(scene.cycles.length - before).toBe(1);
    expect(scene.controller.ask('status', {})).toMatchObject({ needs: 20 });
  });

  // 7.6.26 of the specification.
  it('keep their distance however often demand changes', () => {
    const scene = new ControllerScene().list([]).tick();
    const before = scene.cycles.length;

    for (let i = 0; i < 200; i++) scene.demand('c1', NEED).tick(10);

    const times = scene.cycles.slice(before).map(({ atMs }) => atMs);
    expect(times).toHaveLength(10);
    for (const [i, at] of times.slice(1).entries()) expect(at - times[i]!).toBe(200);
  });

  it('follow one another while there is more to do than one may', () => {
    const guardrails = { ...DEFAULT_CONTROLLER.guardrails, maxActionsPerCycle: 2 };
    const scene = new ControllerScene({ guardrails }).open('c1').list(some(5)).tick();
    const before = scene.cycles.length;

    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 20 }) }).tick(3 * 200);

    const cycles = scene.cycles.slice(before);
    expect(cycles.map(({ admitted }) => admitted.Bootstrap)).toEqual([2, 2, 1]);
    expect(cycles.map(({ waiting }) => waiting['deferred'] ?? 0)).toEqual([3, 1, 0]);
    expect(scene.of('ask-bootstrap')).toHaveLength(5);
  });

  it('of a dry run decide and make no call', () => {
    const scene = new ControllerScene({
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

  it('write a re-stamp with the priority that the machine was bound at', () => {
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
  it('decides and calls nothing once a provider has seen a newer one', () => {
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

  it('withdraws actions without a call, completes those with one, and starts none', () => {
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

  it('tries nothing again, and is idle when it knows what became of each call', () => {
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

  it('does not wait once it is fenced', () => {
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

  it('remembers what became of the last calls', async () => {
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

describe('what clusters are told', () => {
  it('goes to clusters with a session, and all of it again when one is opened', () => {
    const scene = new ControllerScene().list([serving('a'), serving('b')]).tick();
    expect(scene.of('node-state')).toEqual([]);

    scene.open('c1');
    const told = scene
      .of('node-state')
      .map(({ cluster, update }) => `${cluster} ${update.machineId} ${update.state}`);
    expect(told.sort()).toEqual([`c1 a ${Configured}`, `c1 b ${Configured}`]);

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

  it('is told of machines that were held or re-stamped a moment ago as well', () => {
    const scene = new ControllerScene()
      .list([serving('a'), serving('b')])
      .demand('c1', NEED)
      .tick();

    scene.freeze('c1').open('c1');

    const told = scene.of('node-state').map(({ update }) => update.machineId);
    expect(told.sort()).toEqual(['a', 'b']);
  });

  it('an older session that ends late changes nothing', () => {
    const scene = new ControllerScene().list([]).open('c1', 'c1');

    scene.controller.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });

    expect(scene.controller.ask('status', {}).sessions).toBe(1);
  });

  it('capacity is hinted at to connected clusters alone', () => {
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

  it('ends when its row was absent for a whole cycle', () => {
    const scene = withTarget();
    expect(scene.machine('m')?.need).toMatchObject({ cluster: 'c1' });

    scene.demand('c1', OTHER).tick(3000);

    expect(scene.machine('m')?.need).toBeNull();
  });

  it('outlives an absence that no cycle saw', () => {
    const scene = withTarget();
    scene.tick(1);
    scene.demand('c1', OTHER).demand('c1', NEED, OTHER).tick(3000);

    expect(scene.machine('m')?.need).not.toBeNull();
  });

  it('for a fold lasts as long as a row is in it', () => {
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

  it('stays after a restart until its cluster has reported', () => {
    const { store } = withTarget();
    const scene = new ControllerScene({}, store)
      .list([record('m', Creating)])
      .open('c1')
      .tick(5000);
    expect(scene.machine('m')?.need).not.toBeNull();

    scene.demand('c1').tick(3000);
    expect(scene.machine('m')?.need).toBeNull();
  });

  it('that comes with a provider read late ends although its cluster has nothing new to report', () => {
    const { store } = withTarget();
    const cycle = { ...DEFAULT_CONTROLLER.cycle, readyWaitMs: 2000 };
    const scene = new ControllerScene({ cycle, providers: ['p', 'q'] }, store).list([], 'q').open('c1');
    scene.demand('c1').tick(5000);
    expect(scene.cycles).not.toEqual([]);

    scene.list([record('m', Idle)]).tick(3000);

    expect(scene.machine('m')).toMatchObject({ state: 'IDLE', need: null });
  });

  it('that returns with a move of unknown outcome ends, too', () => {
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

  it('is the row of the machine once it is bound', () => {
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
