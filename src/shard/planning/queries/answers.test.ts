import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aNeed, resources, same, stampOf } from '../../../../testing/support/fleets.ts';
import { keyOf, MachineState, type Need, Operator, SHARED_OPTIONS, ZONE_KEY } from '../../../model/index.ts';
import type { MachineFilter, MachineSort, Questions } from '../../views.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';
import { needId } from './need-names.ts';

const { Speculative, Creating, Idle, Configured, Failed } = MachineState;

function serving(id: string, need = NEED) {
  return record(id, Configured, { cluster: need.cluster, stamp: stampOf(need) });
}

describe('a query for machines', () => {
  function fleet(): ControllerScene {
    const scene = new ControllerScene({ providers: ['p', 'q'] });
    scene.list([record('i1', Idle), record('i2', Idle), record('s1', Speculative), record('f1', Failed)]);
    scene.list([serving('b1'), serving('b2'), record('i3', Idle)], 'q');
    return scene.tick();
  }

  const found = (scene: ControllerScene, where: MachineFilter, limit = 100) => {
    const { items, total } = scene.controller.ask('machines', { where, limit });
    return { ids: items.map(({ id }) => id).join(' '), total };
  };

  it.each<readonly [MachineFilter, string]>([
    [{}, 'b1 b2 f1 i1 i2 i3 s1'],
    [{ state: 'IDLE' }, 'i1 i2 i3'],
    [{ state: 'IDLE', provider: 'p' }, 'i1 i2'],
    [{ provider: 'q' }, 'b1 b2 i3'],
    [{ provider: 'unknown' }, ''],
    [{ cluster: 'c1' }, 'b1 b2'],
    [{ cluster: 'c1', state: 'IDLE' }, ''],
    [{ cluster: 'unknown' }, ''],
    [{ cluster: '' }, 'f1 i1 i2 i3 s1'],
    [{ state: 'NONSENSE' }, ''],
    [{ id: 'i2' }, 'i2'],
    [{ id: 'unknown' }, ''],
  ])('given %j, then it finds “%s”', (where, ids) => {
    const total = ids === '' ? 0 : ids.split(' ').length;
    expect(found(fleet(), where)).toEqual({ ids, total });
  });

  it('given a limit, then it has the first by id, and the total', () => {
    expect(found(fleet(), {}, 2)).toEqual({ ids: 'b1 b2', total: 7 });
  });

  it('given trouble first, then Failed ones come first on every page, each machine once', () => {
    const scene = fleet();
    scene.list([record('z9', Failed)]).tick();
    const ask = (after?: string) =>
      scene.controller.ask('machines', { where: {}, order: 'trouble', limit: 3, after });
    const pages = [ask()];
    while (pages.at(-1)!.next !== null) pages.push(ask(pages.at(-1)!.next!));
    expect(pages.map(({ items }) => items.map(({ id }) => id).join(' '))).toEqual([
      'f1 z9 b1',
      'b2 i1 i2',
      'i3 s1',
    ]);
    expect(pages[0]!.total).toBe(8);
    expect(
      scene.controller.ask('machines', { where: {}, order: 'trouble', limit: 1, after: '0 f1' }).items,
    ).toMatchObject([{ id: 'z9' }]);
  });

  it('given label conditions, then it has the machines that meet all of them, and their number', () => {
    const scene = new ControllerScene();
    const labelled = (id: string, rack: string) => record(id, Idle, { labels: new Map([['rack', rack]]) });
    scene.list([labelled('a', 'r1'), labelled('b', 'r2'), labelled('c', 'r1')]).tick();
    const rack = { key: 'rack', operator: Operator.In, values: ['r1'] };
    const notR1 = { ...rack, operator: Operator.NotIn };

    expect(found(scene, { labels: [rack] })).toEqual({ ids: 'a c', total: 2 });
    expect(found(scene, { labels: [rack] }, 1)).toEqual({ ids: 'a', total: 2 });
    expect(found(scene, { labels: [rack, notR1] })).toEqual({ ids: '', total: 0 });
  });

  it.each<readonly [MachineSort, string]>([
    [{ by: 'price', isDescending: false }, 'b d a c'],
    [{ by: 'price', isDescending: true }, 'c a d b'],
    [{ by: 'zone', isDescending: false }, 'c a b d'],
    [{ by: 'state', isDescending: true }, 'd c b a'],
    [{ by: 'id', isDescending: true }, 'd c b a'],
  ])('given the sort %j, then each machine is on one page, in this order', (sort, expected) => {
    const scene = new ControllerScene();
    scene.list([
      record('a', Idle, { pricePerHour: 2, zone: 'z2' }),
      record('b', Idle, { pricePerHour: 1, zone: 'z2' }),
      record('c', Idle, { pricePerHour: 2, zone: 'z1' }),
      record('d', Failed, { pricePerHour: 1, zone: 'z3' }),
    ]);
    scene.tick();
    const ask = (after?: string) => scene.controller.ask('machines', { where: {}, sort, limit: 1, after });
    const pages = [ask()];
    while (pages.at(-1)!.next !== null) pages.push(ask(pages.at(-1)!.next!));

    expect(pages.map(({ items }) => items.map(({ id }) => id).join(' ')).join(' ')).toBe(expected);
  });

  it('given machines that changed since the last cycle, then it has their current state', () => {
    const scene = fleet().open('c1');
    scene.list([]).list([record('i1', Failed)]);

    expect(found(scene, { state: 'FAILED' })).toEqual({ ids: 'f1 i1', total: 2 });
    expect(found(scene, { state: 'IDLE' })).toEqual({ ids: 'i2 i3', total: 2 });
  });

  it('given forgotten machines, then they are left out unless requested', () => {
    const scene = fleet();
    scene.order({ kind: 'forget', machine: 'f1', who: 'ada' });

    expect(found(scene, { state: 'FAILED' })).toEqual({ ids: '', total: 0 });
    expect(found(scene, { state: 'FAILED', withForgotten: true })).toEqual({ ids: 'f1', total: 1 });
  });

  it('given one machine, then it has its cluster, offer, row and action in flight', () => {
    const scene = fleet()
      .open('c1')
      .demand('c1', { ...NEED, aggregate: resources({ cpu: 12 }) })
      .tick();
    const [asked] = scene.of('ask-bootstrap');

    expect(scene.machine('b1')).toMatchObject({
      ...{ provider: 'q', state: 'CONFIGURED', cluster: 'c1', capacityType: 'ON_DEMAND' },
      ...{ allocatable: { cpu: '4m' }, need: { id: needId(keyOf(NEED)), priority: 100 }, held: null },
      action: null,
    });
    expect(scene.machine(asked!.machine)).toMatchObject({
      ...{ state: 'CONFIGURING', cluster: 'c1', need: { id: needId(keyOf(NEED)) } },
      action: { kind: 'Bootstrap', outcome: null },
    });
  });
});

describe('a query for Needs', () => {
  const met = aNeed({ cluster: 'c1', priority: 100 });
  const unmet = aNeed({ cluster: 'c1', priority: 50, aggregate: resources({ cpu: 400 }) });
  const other = aNeed({ cluster: 'c2', priority: 70, aggregate: resources({ cpu: 8 }) });

  function scene(): ControllerScene {
    return new ControllerScene()
      .list([serving('m')])
      .demand('c1', met, unmet)
      .demand('c2', other)
      .tick(2500);
  }

  it('given Needs, then they are in rank order, with what is missing', () => {
    const { items, total } = scene().controller.ask('needs', { onlyUnmet: false, limit: 100 });

    expect(items.map(({ id }) => id)).toEqual([met, other, unmet].map((need) => needId(keyOf(need))));
    expect(total).toBe(3);
    expect(items[0]).toMatchObject({ isMet: true, claimed: 1, missing: {}, reason: null, unmetCycles: 0 });
    expect(items[2]).toMatchObject({ isMet: false, missing: { cpu: '400m' }, wants: { cpu: '400m' } });
    expect(items[2]!.unmetCycles).toBeGreaterThan(1);
  });

  it.each<[Questions['needs']['ask'], number, number]>([
    [{ onlyUnmet: true, limit: 100 }, 2, 2],
    [{ onlyUnmet: true, limit: 1 }, 1, 2],
    [{ onlyUnmet: false, limit: 2 }, 2, 3],
    [{ onlyUnmet: false, limit: 100, cluster: 'c1' }, 2, 2],
    [{ onlyUnmet: true, limit: 100, cluster: 'c1' }, 1, 1],
    [{ onlyUnmet: false, limit: 1, cluster: 'c1' }, 1, 2],
    [{ onlyUnmet: false, limit: 100, cluster: 'unknown' }, 0, 0],
    [{ onlyUnmet: false, limit: 100, minPriority: 70 }, 2, 2],
    [{ onlyUnmet: false, limit: 1, minPriority: 70 }, 1, 2],
    [{ onlyUnmet: false, limit: 1, minPriority: 70, after: '1' }, 1, 2],
    [{ onlyUnmet: false, limit: 100, minPriority: 51, cluster: 'c1' }, 1, 1],
    [{ onlyUnmet: false, limit: 100, minPriority: 101 }, 0, 0],
    [{ onlyUnmet: true, limit: 100, minPriority: 51 }, 1, 1],
    [{ onlyUnmet: false, limit: 100, reason: 'cluster-disconnected' }, 2, 2],
    [{ onlyUnmet: false, limit: 100, reason: 'spend-limit' }, 0, 0],
  ])('given %j, then it has %i of %i', (ask, shown, total) => {
    const page = scene().controller.ask('needs', ask);
    expect(page.items).toHaveLength(shown);
    expect(page.total).toBe(total);
    expect(page.next === null).toBe(Number(ask.after ?? 0) + shown === total);
  });

  it('given a Need that shares a machine of another one, then its explanation says which and how much', () => {
    const large = aNeed({ cluster: 'c1', priority: 100, aggregate: resources({ cpu: 3 }) });
    const small = aNeed({ cluster: 'c1', minUnit: resources({ cpu: 1 }), aggregate: resources({ cpu: 1 }) });
    const { controller } = new ControllerScene({ economy: SHARED_OPTIONS })
      .list([serving('m', large)])
      .demand('c1', large, small)
      .tick(2500);
    const explained = (need: Need) => controller.ask('explain', { need: needId(keyOf(need)) });
    expect(explained(large)).toMatchObject({ claimed: ['m'], shares: [], sharesTotal: 0 });
    const shares = [{ machine: 'm', amount: { cpu: '1m' } }];
    expect(explained(small)).toMatchObject({ need: { isMet: true }, claimed: [], shares, sharesTotal: 1 });
    expect(explained(large)?.sentence).toBe('met: keeps 1 machine');
    expect(explained(small)?.sentence).toBe('met: shares 0.001 cpu of m');
    expect(explained(small)?.remainders).toEqual({
      ...{ matching: 1, holdingUnit: 1 },
      sentence: '1 remainder matches, 1 holds its largest pod (0.001 cpu)',
    });
  });

  it('given a Need that no remainder holds, then its explanation says so', () => {
    const large = aNeed({ cluster: 'c1', priority: 100, aggregate: resources({ cpu: 3 }) });
    const other = aNeed({ cluster: 'c1', aggregate: resources({ cpu: 2 }), minUnit: resources({ cpu: 2 }) });
    const { controller } = new ControllerScene({ economy: SHARED_OPTIONS })
      .list([serving('m', large)])
      .demand('c1', large, other)
      .tick(2500);
    expect(controller.ask('explain', { need: needId(keyOf(other)) })).toMatchObject({
      sentence: 'not met: lacks 0.002 cpu',
      remainders: { sentence: '1 remainder matches, none holds its largest pod (0.002 cpu)' },
    });
  });

  it('given a machine that Needs share, then it says who takes how much; in a list it does not', () => {
    const large = aNeed({ cluster: 'c1', priority: 100, aggregate: resources({ cpu: 2 }) });
    const small = aNeed({ cluster: 'c1', minUnit: resources({ cpu: 1 }), aggregate: resources({ cpu: 1 }) });
    const { controller } = new ControllerScene({ economy: SHARED_OPTIONS })
      .list([serving('m', large)])
      .demand('c1', large, small)
      .tick(2500);
    const [of, by] = [large, small].map((need) => needId(keyOf(need)));
    const machines = (id?: string) =>
      controller.ask('machines', { where: id === undefined ? {} : { id }, limit: 10 }).items;
    expect(machines('m')[0]?.usage).toEqual({
      users: [
        { need: expect.objectContaining({ id: of, priority: 100 }), isShare: false, amount: { cpu: '2m' } },
        { need: expect.objectContaining({ id: by }), isShare: true, amount: { cpu: '1m' } },
      ],
      usersTotal: 2,
      leftOver: { cpu: '1m' },
      sentence: `${of} takes 0.002 cpu, ${by} shares 0.001 cpu, 0.001 cpu left over`,
    });
    expect(machines()[0]?.usage).toBeNull();
  });

  it('given no cycle yet, then it is empty', () => {
    const { controller } = new ControllerScene().demand('c1', met);
    expect(controller.ask('needs', { onlyUnmet: false, limit: 1 })).toEqual({
      items: [],
      total: 0,
      next: null,
    });
    expect(controller.ask('explain', { need: needId(keyOf(met)) })).toBeNull();
    expect(controller.ask('inspect', { cluster: '', limit: 0 })).toHaveLength(1);
  });

  it('given shortfalls, then the worst comes first', () => {
    const { items, total } = scene().controller.ask('shortfalls', { limit: 1 });
    expect(total).toBe(2);
    expect(items).toMatchObject([{ cluster: 'c2', priority: 70, isEscalated: false }]);
  });

  it('given InspectNeeds, then it has the rows of the requested cluster', () => {
    const { controller } = scene();
    expect(controller.ask('inspect', { cluster: 'c1', limit: 0 })).toHaveLength(1 + 2);
    expect(controller.ask('inspect', { cluster: '', limit: 0 })).toHaveLength(1 + 3);
    expect(controller.ask('inspect', { cluster: '', limit: 2 })).toHaveLength(1 + 2);
  });
});

describe('the explanation of a Need', () => {
  it('given one that is met, then it has its machines', () => {
    const scene = new ControllerScene()
      .list([serving('m')])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    const story = scene.controller.ask('explain', { need: needId(keyOf(NEED)) });

    expect(story).toMatchObject({ need: { isMet: true }, claimed: ['m'], blocker: null, actions: [] });
    expect(story?.matching).toMatchObject({ configured: 1 });
  });

  it('given one that lost a machine, then it has the action and the row that got the machine, newest first', () => {
    const wide = aNeed({ cluster: 'c1', priority: 100, aggregate: resources({ cpu: 8 }) });
    const scene = new ControllerScene().list([serving('m', wide), record('n', Idle)]).open('c1', 'c2');
    scene.demand('c1', wide).tick(1000);
    const high = aNeed({ cluster: 'c2', priority: 900_000 });
    scene.demand('c2', high).tick();

    const story = scene.controller.ask('explain', { need: needId(keyOf(wide)) });
    expect(story?.actions).toMatchObject([
      { kind: 'Preempt', machine: 'm', from: { id: needId(keyOf(wide)) }, need: { id: needId(keyOf(high)) } },
      { kind: 'Bootstrap', machine: 'n', need: { id: needId(keyOf(wide)) } },
    ]);
  });

  it('given one that is not met, then it has the obstacles, and what would help', () => {
    const high = aNeed({ cluster: 'c2', priority: 900 });
    const scene = new ControllerScene().list([serving('m', high)]).open('c1', 'c2');
    scene.demand('c2', high).demand('c1', NEED).tick();

    expect(scene.controller.ask('explain', { need: needId(keyOf(NEED)) })).toMatchObject({
      need: { isMet: false, missing: { cpu: '4m' } },
      claimed: [],
      extraSupply: { count: 1 },
    });
  });

  it('given one that is served in a fold, then it has the machines and the actions of the fold', () => {
    const small = { aggregate: resources({ cpu: 2 }), minUnit: resources({ cpu: 2 }) };
    const gangs = ['g1', 'g2'].map((group) => aNeed({ group, requirements: [same(ZONE_KEY)], ...small }));
    const scene = new ControllerScene()
      .list(some(1, Speculative))
      .open('c1')
      .demand('c1', ...gangs)
      .tick();
    scene
      .accept('create', Creating)
      .list([])
      .list([record('m-0', Idle)])
      .tick();

    for (const gang of gangs) {
      expect(scene.controller.ask('explain', { need: needId(keyOf(gang)) })).toMatchObject({
        need: { isFolded: true, group: gang.group },
        claimed: ['m-0'],
        actions: [{ kind: 'Bootstrap' }, { kind: 'Provision', machine: 'm-0', outcome: 'success' }],
      });
    }
  });

  it('given one that no cluster reports, then it is null', () => {
    const scene = new ControllerScene().list([]).tick();
    expect(scene.controller.ask('explain', { need: needId(keyOf(NEED)) })).toBeNull();
    expect(scene.controller.ask('explain', { need: 'nonsense' })).toBeNull();
  });
});

describe('a query for actions', () => {
  it('given a machine or a cluster, then it has their actions, newest first, and those that wait', () => {
    const larger = { aggregate: resources({ cpu: 8 }) };
    const scene = new ControllerScene().list(some(2, Speculative)).open('c1').demand('c1', NEED).tick();
    scene
      .accept('create', Creating)
      .demand('c1', { ...NEED, ...larger })
      .tick();
    const ask = (given: { machine?: string; cluster?: string }, limit = 10) =>
      scene.controller.ask('actions', { ...given, limit }).actions;

    expect(ask({}).items.map(({ machine }) => machine)).toEqual(['m-1', 'm-0']);
    expect(ask({}, 1)).toMatchObject({ items: [{ machine: 'm-1' }], total: 2 });
    expect(ask({ machine: 'm-0' })).toMatchObject({
      items: [{ outcome: null, acceptedMs: expect.any(Number) }],
      total: 1,
    });
    expect(ask({ cluster: 'c1' }).total).toBe(2);
    expect(ask({ cluster: 'c2' }).total).toBe(0);
  });
});

describe('pages of actions', () => {
  it('given many that began at once, then each is on one page, also while others begin', () => {
    const many = { aggregate: resources({ cpu: 4 * 40 }) };
    const scene = new ControllerScene()
      .list(some(60, Speculative))
      .open('c1')
      .demand('c1', { ...NEED, ...many })
      .tick();
    const ask = (after?: string) => scene.controller.ask('actions', { limit: 7, after, only: 'actions' });
    const seen: string[] = [];
    const first = ask();
    for (let page = first.actions; ; page = ask(page.next!).actions) {
      seen.push(...page.items.map(({ machine }) => machine));
      // Newer actions sort before all that were shown and must not shift any of those onto the next page.
      if (seen.length === 7) scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 4 * 50 }) }).tick();
      if (page.next === null) break;
    }
    expect(new Set(seen).size).toBe(40);
    expect(seen).toHaveLength(40);
    expect(scene.controller.ask('actions', { limit: 100 }).actions.total).toBe(50);
    expect(first.waiting).toMatchObject({ items: [], next: null });
  });

  it('given many that wait, then they have pages of their own', () => {
    const scene = new ControllerScene({
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true },
    }).open('c1');
    scene
      .list(some(25))
      .demand('c1', { ...NEED, aggregate: resources({ cpu: 100 }) })
      .tick();
    const ask = (after?: string) =>
      scene.controller.ask('actions', { limit: 10, after, only: 'waiting' }).waiting;
    const pages = [ask(), ask('10'), ask('20')];
    expect(pages.map(({ next }) => next)).toEqual(['10', '20', null]);
    expect(new Set(pages.flatMap(({ items }) => items.map(({ machine }) => machine))).size).toBe(25);
  });
});

describe('a query for waiting actions', () => {
  it('given more than are kept, then all are counted', () => {
    const scene = new ControllerScene({
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true },
    }).open('c1');
    scene
      .list(some(1200))
      .demand('c1', { ...NEED, aggregate: resources({ cpu: 4800 }) })
      .tick();

    const { waiting } = scene.controller.ask('actions', { limit: 2000 });
    expect(waiting.total).toBe(1200);
    expect(waiting.items).toHaveLength(1000);
    expect(scene.controller.ask('actions', { machine: 'm-3', limit: 10 }).waiting.total).toBe(1);
  });
});

describe('a query for clusters', () => {
  it('given trouble first, then it has those with unmet Needs, then those that are not connected', () => {
    const scene = new ControllerScene().open('a-fine', 'z-short', 'm-short');
    scene.list([serving('m', aNeed({ cluster: 'b-away' }))]);
    scene.demand('a-fine').demand('m-short', aNeed({ cluster: 'm-short' }));
    scene
      .demand('z-short', aNeed({ cluster: 'z-short' }), aNeed({ cluster: 'z-short', group: 'two' }))
      .tick();
    const ask = (after?: string) =>
      scene.controller.ask('clusters', { order: 'trouble', limit: 2, after, alsoNamed: ['c-refused'] });
    const first = ask();
    const second = ask(first.next!);
    const names = (page: typeof first) => page.items.map(({ cluster }) => cluster);
    expect([names(first), names(second), names(ask(second.next!))]).toEqual([
      ['z-short', 'm-short'],
      ['b-away', 'c-refused'],
      ['a-fine'],
    ]);
    expect(first.total).toBe(5);
  });

  it('given clusters that report, are connected or have machines, then all are listed', () => {
    const scene = new ControllerScene()
      .list([serving('m')])
      .open('c2')
      .demand('c3', aNeed({ cluster: 'c3' }));
    scene.tick();

    expect(scene.controller.ask('clusters', { limit: 100 }).items).toMatchObject([
      { cluster: 'c1', hasSession: false, hasReported: false, machinesByState: { CONFIGURED: 1 } },
      { cluster: 'c2', hasSession: true, needs: 0, cannotBind: '', freeze: null },
      { cluster: 'c3', hasReported: true, needs: 1, unmet: 1, cannotBind: 'It has no session.' },
    ]);
  });
});
