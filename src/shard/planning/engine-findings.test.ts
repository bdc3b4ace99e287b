// Defects in the decisions of the reference implementation, by their numbers in the specification, and what a shard does
// instead. Input are demand and machines; output are provider calls and requests to operators.

import { describe, expect, it } from 'vitest';
import { record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, RACK_KEY, resources, same, stampOf, strictSpread } from '../../../testing/support/fleets.ts';
import {
  BUCKET_PINNED,
  type Machine,
  MachineState,
  type Need,
  Operator,
  ZONE_KEY,
} from '../../model/index.ts';

const { Speculative, Creating, Idle, Configured, Draining } = MachineState;

const cpu = (count: number) => resources({ cpu: count });

/** A machine that was bound for a row and serves its cluster. */
function serving(id: string, need: Need, given: Partial<Machine> = {}): Machine {
  return record(id, Configured, { cluster: need.cluster, stamp: stampOf(need), ...given });
}

/** A shard that has listed its provider, with a session and this demand for each cluster. */
function deciding(machines: readonly Machine[], needs: readonly Need[]): ControllerScene {
  return report(new ControllerScene(NO_HOLD).list(machines), needs).tick();
}

function report(scene: ControllerScene, needs: readonly Need[]): ControllerScene {
  for (const [cluster, rows] of Map.groupBy(needs, (need) => need.cluster)) {
    scene.open(cluster).demand(cluster, ...rows);
  }
  return scene;
}

/** Delivers machines in a reading that begins now; the one in flight may have begun before the last call ended. */
function find(scene: ControllerScene, ...machines: readonly Machine[]): ControllerScene {
  return scene.list([]).list(machines).tick();
}

/** Machines for which a provider was called, answered or not. */
function called(scene: ControllerScene, command: 'create' | 'drain'): readonly string[] {
  return scene.of('call').flatMap(({ request, machine }) => (request.command === command ? [machine] : []));
}

/** Machines with a bootstrap request, each with its cluster. */
function joining(scene: ControllerScene): readonly (readonly [string, string])[] {
  return scene.of('ask-bootstrap').map(({ machine, cluster }) => [machine, cluster]);
}

function metOf(scene: ControllerScene): readonly (readonly [string, boolean])[] {
  const { items } = scene.controller.ask('needs', { onlyUnmet: false, limit: 100 });
  return items.map(({ group, isMet }) => [group, isMet]);
}

// 5.2.12 of the specification.
describe('the victims of one shortage', () => {
  const low = aNeed({ cluster: 'c2', priority: 100, aggregate: cpu(12) });
  const high = aNeed({ cluster: 'c1', priority: 900_000 });
  const fleet = ['a', 'b', 'c'].map((id) => serving(id, low));

  it('given a slow drain, then no cycle picks another victim, and the machine goes to the waiting row', () => {
    const scene = deciding(fleet, [low, high]);
    expect(called(scene, 'drain')).toEqual(['a']);

    scene.accept('drain', Draining, { cluster: 'c2' }).tick(60_000);

    expect(scene.cycles.length).toBeGreaterThan(50);
    expect(called(scene, 'drain')).toEqual(['a']);
    find(scene, record('a', Idle));
    expect(joining(scene)).toEqual([['a', 'c1']]);
    expect(called(scene, 'drain')).toEqual(['a']);
  });

  it('given a restart during the drain, then the next process picks no victim either', () => {
    const before = deciding(fleet, [low, high]).accept('drain', Draining, { cluster: 'c2' });
    const after = new ControllerScene({ ...NO_HOLD, epoch: 2n }, before.store);

    after.list([record('a', Draining, { cluster: 'c2' }), ...fleet.slice(1)]);
    report(after, [low, high]).tick(SETTLED_MS);

    expect(called(after, 'drain')).toEqual([]);
  });
});

// 5.2.13 of the specification.
describe('the priority of a bound machine', () => {
  it('given an old stamp of low priority, then it is not a victim of the row it serves or of an equal one', () => {
    const old = stampOf(aNeed({ priority: 10, group: 'old' }));
    const rows = [
      aNeed({ cluster: 'c1', priority: 1000, aggregate: cpu(8) }),
      aNeed({ cluster: 'c2', priority: 1000 }),
    ];
    const scene = deciding(
      rows.map(({ cluster }) => record(`of-${cluster}`, Configured, { cluster, stamp: old })),
      rows,
    ).tick(SETTLED_MS);

    expect(called(scene, 'drain')).toEqual([]);
    expect(scene.controller.ask('status', {})).toMatchObject({ shortfalls: 1 });
  });

  it('given no stamp, as after the loss of the data directory, then machines of clusters that have not reported are not victims', () => {
    const [low, high] = [aNeed({ cluster: 'c2', priority: 100 }), aNeed({ cluster: 'c1', priority: 1000 })];
    const scene = deciding([serving('m', low, { stamp: null })], [high]).tick(SETTLED_MS);
    expect(called(scene, 'drain')).toEqual([]);

    report(scene, [{ ...low, profile: high.profile }]).tick();
    expect(called(scene, 'drain')).toEqual([]);

    report(scene, [low]).tick();
    expect(called(scene, 'drain')).toEqual(['m']);
  });
});

// 5.2.14 of the specification.
describe('a machine in creation', () => {
  it('given equal rows of two clusters, then each buys its own machine and gets it', () => {
    const rows = ['c2', 'c1'].map((cluster) => aNeed({ cluster, group: 'g' }));
    const scene = deciding(some(3, Speculative), rows.slice(0, 1)).accept('create', Creating);
    expect(called(scene, 'create')).toEqual(['m-0']);

    report(scene, rows.slice(1)).tick().accept('create', Creating).tick(5000);
    expect(called(scene, 'create')).toEqual(['m-0', 'm-1']);

    find(scene, record('m-0', Idle), record('m-1', Idle)).tick(5000);
    expect(new Map(joining(scene))).toEqual(
      new Map([
        ['m-0', 'c2'],
        ['m-1', 'c1'],
      ]),
    );
    expect(called(scene, 'create')).toEqual(['m-0', 'm-1']);
  });

  it('given one that has arrived, then its row claims it and leaves cheaper ones to others', () => {
    const [first, behind] = [aNeed({ cluster: 'c1', priority: 100 }), aNeed({ cluster: 'c2', priority: 50 })];
    const scene = deciding(some(1, Speculative), [first]).accept('create', Creating);

    scene.list([]);
    report(scene, [behind]);
    scene.list([record('m-0', Idle), record('cheap', Idle, { pricePerHour: 0.1 })]).tick();

    expect(new Map(joining(scene))).toEqual(
      new Map([
        ['m-0', 'c1'],
        ['cheap', 'c2'],
      ]),
    );
  });
});

// 5.2.15 of the specification.
describe('machines that add nothing', () => {
  it('given a row that is short of GPUs, then cheap machines without GPUs stay free', () => {
    const gpus = resources({ cpu: 4, 'nvidia.com/gpu': 8 });
    const scene = deciding(
      [...some(3), record('gpu', Idle, { pricePerHour: 9, resources: gpus })],
      [aNeed({ aggregate: resources({ 'nvidia.com/gpu': 8 }), minUnit: resources({}) })],
    );

    expect(joining(scene)).toEqual([['gpu', 'c1']]);
  });
});

// 5.2.16 of the specification.
describe('edge values', () => {
  it('given pinned work, then it buys machines that are never interrupted, and no cost is NaN', () => {
    const scene = deciding(
      [
        record('a-spot', Speculative, { pricePerHour: 0.1, interruptionProbability: 0.5 }),
        record('b-steady', Speculative, { pricePerHour: 9 }),
      ],
      [aNeed({ interruptionBucket: BUCKET_PINNED })],
    ).tick(SETTLED_MS);

    expect(called(scene, 'create')).toEqual(['b-steady']);
    const hints = scene.of('available-capacity').flatMap(({ updates }) => updates);
    expect(hints.length).toBeGreaterThan(0);
    expect(hints.filter(({ costPerHour }) => !Number.isFinite(costPerHour))).toEqual([]);
  });

  it('given a priority gap beyond 32 bits, then the grace of the drain is the shortest', () => {
    const low = aNeed({ cluster: 'c2', priority: -1_000_000_000 });
    const scene = deciding([serving('m', low)], [low, aNeed({ priority: 2_000_000_000 })]);

    expect(scene.calls('drain')).toMatchObject([{ machine: 'm', request: { graceSeconds: 10 } }]);
  });

  it('given machines without an instance type, then they can be victims', () => {
    const low = aNeed({ cluster: 'c2', priority: 100 });
    const scene = deciding([serving('m', low, { instanceType: '' })], [low, aNeed({ priority: 1000 })]);

    expect(called(scene, 'drain')).toEqual(['m']);
  });

  it('given racks with an empty name, then they are one rack, and machines without a rack are in none', () => {
    const inNone = some(2);
    const inEmpty = ['y', 'z'].map((id) => record(id, Idle, { labels: new Map([[RACK_KEY, '']]) }));
    const scene = deciding(
      [...inNone, ...inEmpty],
      [aNeed({ aggregate: cpu(8), requirements: [same(RACK_KEY)] })],
    );

    expect(joining(scene).map(([machine]) => machine)).toEqual(['y', 'z']);
  });

  it('given a value that is listed twice, then no machine counts twice', () => {
    const zones = { key: ZONE_KEY, operator: Operator.In, values: ['za', 'za'] };
    const scene = deciding(some(3), [aNeed({ aggregate: cpu(8), requirements: [zones] })]);

    expect(joining(scene).map(([machine]) => machine)).toEqual(['m-0', 'm-1']);
  });

  it('given values that contain separators, then different rows stay different', () => {
    const among = (...values: string[]): Need =>
      aNeed({ requirements: [{ key: 'disk', operator: Operator.In, values }] });
    const terms = [
      { key: 'disk', operator: Operator.In, values: ['a'] },
      { key: 'disk', operator: Operator.In, values: ['b'] },
    ];
    const twice = [terms, terms.toReversed()].map((requirements) => aNeed({ requirements }));
    const scene = deciding([], [among('a', 'b'), among('a,b'), among('a|b'), among('a;b'), ...twice]);

    expect(scene.controller.ask('status', {})).toMatchObject({ needs: 5 });
  });
});

// 5.2.17 of the specification.
describe('spread', () => {
  const spread = [strictSpread(ZONE_KEY)];

  it('given three machines bound in one zone, then the fourth comes from another zone, at a higher price', () => {
    const row = aNeed({ aggregate: cpu(16), spread });
    const scene = deciding(
      [
        ...['a1', 'a2', 'a3'].map((id) => serving(id, row)),
        record('a4', Idle),
        record('b1', Idle, { zone: 'zb', pricePerHour: 5 }),
      ],
      [row],
    );

    expect(joining(scene)).toEqual([['b1', 'c1']]);
  });

  it('given one zone to bind in and one to buy in, then both together keep the skew', () => {
    const scene = deciding(
      [
        ...['a1', 'a2', 'a3'].map((id) => record(id, Idle)),
        ...['b1', 'b2'].map((id) => record(id, Speculative, { zone: 'zb' })),
      ],
      [aNeed({ aggregate: cpu(16), spread })],
    );

    expect(joining(scene).map(([machine]) => machine)).toEqual(['a1', 'a2']);
    expect(called(scene, 'create')).toEqual(['b1', 'b2']);
  });
});

// 5.2.18 of the specification.
describe('the cheapest machine for a row', () => {
  const risky = { pricePerHour: 1, interruptionProbability: 0.5 };

  it.each([
    ['spread', { spread: [strictSpread(RACK_KEY)] }],
    ['Same', { aggregate: cpu(8), requirements: [same(RACK_KEY)] }],
    ['neither', {}],
  ])(
    'given rows with %s and a high interruption penalty, then the list price does not decide',
    (_, parts) => {
      const slots = [1, 2].flatMap((i) => [
        record(`a-${i}`, Speculative, { ...risky, labels: new Map([[RACK_KEY, 'a']]) }),
        record(`b-${i}`, Speculative, { pricePerHour: 2, labels: new Map([[RACK_KEY, 'b']]) }),
      ]);
      const scene = deciding(slots, [aNeed({ ...parts, interruptionBucket: 7 })]);

      expect(called(scene, 'create').map((id) => id[0])).toEqual('aggregate' in parts ? ['b', 'b'] : ['b']);
    },
  );
});

// 5.2.19 of the specification.
describe('contention', () => {
  it('given thirty rows that prefer the one Idle machine, then one gets it and the others buy in the same cycle', () => {
    const rows = Array.from({ length: 30 }, (_, i) => aNeed({ cluster: `c${i}` }));
    const scene = deciding([record('idle', Idle), ...some(29, Speculative)], rows);

    const first = scene.cycles.find(({ decided }) => decided.Bootstrap > 0);
    expect(first).toMatchObject({ unmet: 0, decided: { Bootstrap: 1, Provision: 29 } });
  });
});

// 5.2.20 of the specification.
describe('the order of rows', () => {
  it.each([
    ['is bound', record('m', Configured)],
    ['is Idle', record('m', Idle)],
    ['can be bought', record('m', Speculative)],
  ])('given rows of one priority and one machine that %s, then the same row gets it', (_, machine) => {
    const scene = deciding(
      [machine],
      [
        aNeed({ group: 'early', firstSeenMs: 1 }),
        aNeed({ group: 'dear', firstSeenMs: 2, interruptionBucket: 5 }),
      ],
    );

    expect(new Map(metOf(scene))).toEqual(
      new Map([
        ['early', false],
        ['dear', true],
      ]),
    );
  });
});

// 5.2.22 of the specification.
describe('an incomplete gang', () => {
  it('given a rack that is too small for it, then rows of lower priority get the machines', () => {
    const rack = { labels: new Map([[RACK_KEY, 'r']]) };
    const scene = deciding(
      [record('a', Idle, rack), record('b', Speculative, rack)],
      [
        aNeed({ priority: 900, aggregate: cpu(12), requirements: [same(RACK_KEY)] }),
        aNeed({ cluster: 'c2', priority: 100, aggregate: cpu(8) }),
      ],
    );

    expect(joining(scene)).toEqual([['a', 'c2']]);
    expect(called(scene, 'create')).toEqual(['b']);
    expect(scene.machine('b')?.need).toMatchObject({ cluster: 'c2' });
  });
});

// 5.2.23 of the specification.
describe('unnecessary moves', () => {
  it('given an excess machine that is just as good, then it leaves and the serving machines stay', () => {
    const row = aNeed({ aggregate: cpu(8) });
    const stranger = serving('m0', aNeed({ group: 'gone' }));
    const scene = deciding([stranger, serving('m1', row), serving('m2', row)], [row]).tick(3 * SETTLED_MS);

    expect(called(scene, 'drain')).toEqual(['m0']);
  });

  it('given a rack that would hold more of a gang, but not all of it, then the gang stays where it is', () => {
    const gang = aNeed({ aggregate: cpu(16), requirements: [same(RACK_KEY)] });
    const inRack = (rack: string): Partial<Machine> => ({ labels: new Map([[RACK_KEY, rack]]) });
    const scene = deciding(
      [
        ...['a1', 'a2'].map((id) => serving(id, gang, inRack('a'))),
        ...['b1', 'b2', 'b3'].map((id) => record(id, Idle, { ...inRack('b'), pricePerHour: 0.1 })),
      ],
      [gang],
    ).tick(SETTLED_MS);

    expect([...called(scene, 'drain'), ...joining(scene)]).toEqual([]);
  });
});
