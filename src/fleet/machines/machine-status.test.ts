import { describe, expect, it } from 'vitest';
import { resources } from '../../../testing/support/fleets.ts';
import {
  applied,
  fleetWith,
  KEY,
  OTHER,
  observed,
  recordOf,
  STAMP,
  UNBOUND,
} from '../../../testing/support/machine-changes.ts';
import { CapacityType, Command, MachineState, Meaning } from '../../model/index.ts';
import { Fleet } from '../index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

describe('observations', () => {
  it('given an unknown machine, when observed, then it is recorded as reported, without the target', () => {
    const fleet = new Fleet();
    const { sightings } = applied(fleet, observed(Configured, { stamp: STAMP, target: KEY }));
    expect(sightings).toEqual([{ id: 'm', known: null, seen: Configured, meaning: 'discovered' }]);
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c1', stamp: STAMP, target: null, drainSeconds: 30 });
  });

  it.each([
    ['Creating → Idle', Creating, Idle, Meaning.Progress, { target: KEY, ...UNBOUND }],
    ['Creating → Speculative', Creating, Speculative, Meaning.RolledBack, { target: null, ...UNBOUND }],
    ['Creating → Failed', Creating, Failed, Meaning.Failed, { target: null, ...UNBOUND }],
    ['Idle → Speculative', Idle, Speculative, Meaning.Lost, { target: null, ...UNBOUND }],
    ['Idle → Failed', Idle, Failed, Meaning.Lost, { target: null, ...UNBOUND }],
    ['Idle → Deleting', Idle, Deleting, Meaning.Foreign, { target: null, ...UNBOUND }],
    ['Configuring → Idle', Configuring, Idle, Meaning.RolledBack, { target: KEY, ...UNBOUND }],
    [
      'Configuring → Configured',
      Configuring,
      Configured,
      Meaning.Progress,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    [
      'Configuring → Draining',
      Configuring,
      Draining,
      Meaning.Foreign,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    ['Configuring → Failed', Configuring, Failed, Meaning.Failed, { target: null, ...UNBOUND }],
    ['Configured → Idle', Configured, Idle, Meaning.Lost, { target: null, ...UNBOUND }],
    ['Configured → Speculative', Configured, Speculative, Meaning.Lost, { target: null, ...UNBOUND }],
    ['Configured → Deleting', Configured, Deleting, Meaning.Lost, { target: null, ...UNBOUND }],
    ['Configured → Failed', Configured, Failed, Meaning.Lost, { target: null, ...UNBOUND }],
    [
      'Configured → Draining',
      Configured,
      Draining,
      Meaning.Foreign,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    ['Draining → Idle', Draining, Idle, Meaning.Progress, { target: KEY, ...UNBOUND }],
    [
      'Draining → Configured',
      Draining,
      Configured,
      Meaning.RolledBack,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    ['Deleting → Speculative', Deleting, Speculative, Meaning.Progress, { target: null, ...UNBOUND }],
    ['Failed → Idle', Failed, Idle, Meaning.Recovered, { target: null, ...UNBOUND }],
  ])(
    'given %s, then state and meaning are recorded, and cluster, stamp and target are kept or cleared',
    (_, known, seen, meaning, left) => {
      const ends = known === Deleting || known === Failed;
      const fleet = fleetWith(known, ends ? { target: null } : {});
      const { sightings, slots } = applied(fleet, observed(seen));
      expect(sightings).toEqual([{ id: 'm', known, seen, meaning }]);
      expect(recordOf(fleet)).toMatchObject({ state: seen, ...left });
      expect(slots).toEqual([0]);
    },
  );

  it.each([Creating, Idle, Configuring, Draining])(
    'given state %i, when observed again without target and stamp, then those on record stay',
    (state) => {
      const fleet = fleetWith(state);
      const before = recordOf(fleet);
      expect(applied(fleet, observed(state))).toMatchObject({ slots: [], sightings: [] });
      expect(recordOf(fleet)).toEqual(before);
    },
  );

  it('given a Configured machine with a target, when observed Idle, then the target is cleared', () => {
    const fleet = fleetWith(Configured, { target: OTHER });
    applied(fleet, observed(Idle));
    expect(recordOf(fleet)?.target).toBeNull();
  });

  it('given a Configuring machine, when observed without its cluster, then cluster and stamp on record stay', () => {
    const fleet = fleetWith(Configuring);
    applied(fleet, observed(Configuring, { cluster: '' }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c1', stamp: STAMP, target: KEY });
  });

  it('given a machine that another process bound to another cluster, when observed, then stamp and target are cleared', () => {
    const echoed = { ...STAMP, fingerprint: 'echoed' };
    const fleet = fleetWith(Configuring);
    applied(fleet, observed(Configuring, { cluster: 'c2', stamp: echoed }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c2', stamp: echoed, target: null });
    applied(fleet, observed(Configured, { cluster: 'c3' }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c3', stamp: null });
  });

  it('given no stamp on record, when observed with one, then it is recorded; given one on record, then that one stays', () => {
    const echoed = { ...STAMP, priority: 3 };
    const withoutStamp = fleetWith(Configured, { stamp: null });
    applied(withoutStamp, observed(Configured, { stamp: echoed }));
    expect(recordOf(withoutStamp)?.stamp).toEqual(echoed);
    const withStamp = fleetWith(Configured);
    applied(withStamp, observed(Configured, { stamp: echoed }));
    expect(recordOf(withStamp)?.stamp).toEqual(STAMP);
  });

  it('given an unbound machine, when observed with a stamp, then the stamp is ignored', () => {
    const fleet = fleetWith(Draining);
    applied(fleet, observed(Idle, { stamp: STAMP }));
    expect(recordOf(fleet)?.stamp).toBeNull();
  });

  it('given a known machine, when it is gone, then its record is removed; an unknown one is ignored', () => {
    const fleet = fleetWith(Configured);
    const result = applied(fleet, { kind: 'gone', id: 'm' }, { kind: 'gone', id: 'x' });
    expect(result).toMatchObject({ removed: ['m'], slots: [], refused: [] });
    expect(result.sightings).toEqual([{ id: 'm', known: Configured, seen: 'gone', meaning: Meaning.Lost }]);
    expect(recordOf(fleet)).toBeNull();
    expect(fleet.keys.count).toBe(0);
  });

  it('given a machine that is gone and observed again, then no former status remains', () => {
    const fleet = fleetWith(Idle, { blocked: true, idleSinceMs: 7 });
    const { sightings } = applied(fleet, { kind: 'gone', id: 'm' }, observed(Idle));
    expect(sightings.map(({ meaning }) => meaning)).toEqual([Meaning.Lost, 'discovered']);
    expect(recordOf(fleet)).toMatchObject({ blocked: false, target: null, idleSinceMs: 500 });
  });

  it('given an invalid record, then it is refused with every problem, and the last valid one stays', () => {
    const fleet = fleetWith(Configured);
    const before = recordOf(fleet);
    const { refused, slots } = applied(fleet, observed(Configured, { cluster: '', pricePerHour: -1 }));
    const codes = refused[0]?.problems.map(({ code }) => code);
    expect(codes).toEqual(['BF_MACHINE_CLUSTER_MISSING', 'BF_MACHINE_PRICE']);
    expect(slots).toEqual([]);
    expect(recordOf(fleet)).toEqual(before);
  });

  it('given sixteen resources, when a record has a new one, then it is refused, and the last valid one stays', () => {
    const sixteen = resources(Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`r${i}`, 1])));
    const fleet = fleetWith(Idle, { resources: sixteen });
    const before = recordOf(fleet);
    const { refused, sightings } = applied(
      fleet,
      observed(Speculative, { resources: resources({ one: 1 }) }),
    );
    expect(refused[0]?.problems[0]?.code).toBe('BF_DIMENSION_LIMIT');
    expect(sightings).toEqual([]);
    expect(recordOf(fleet)).toEqual(before);
  });

  it('given an unchanged state, when price, probability, labels, capacity type or size change, then the new ones are recorded', () => {
    const fleet = fleetWith(Configured);
    const offer = {
      pricePerHour: 3,
      interruptionProbability: 0.2,
      labels: new Map([['rack', 'r9']]),
      allocatable: resources({ cpu: 2 }),
      capacityType: CapacityType.Spot,
    };
    const { slots, sightings } = applied(fleet, observed(Configured, offer));
    expect(recordOf(fleet)).toMatchObject(offer);
    expect({ slots, sightings }).toEqual({ slots: [0], sightings: [] });
    expect(fleet.classes.count).toBe(1);
  });

  it('given several records of one machine in a commit, then each has a meaning, and the machine is written once', () => {
    const fleet = fleetWith(Configured);
    const result = applied(fleet, observed(Idle, {}, 100), observed(Configured, {}, 200));
    expect(result.sightings.map(({ meaning }) => meaning)).toEqual([Meaning.Lost, Meaning.Foreign]);
    // The machine was lost in between, so its former stamp no longer applies.
    expect(recordOf(fleet)).toMatchObject({ state: Configured, stamp: null });
    expect(result.slots).toEqual([0]);
  });
});

describe('idleSinceMs, which the release hold counts from', () => {
  it.each([
    ['given Creating, when observed Idle, then it starts', Creating, null, [observed(Idle)], 500],
    ['given Draining, when observed Idle, then it starts', Draining, null, [observed(Idle)], 500],
    ['given Idle, when observed Idle again, then it stays', Idle, 7, [observed(Idle)], 7],
    [
      'given a bind that is rolled back, then it is restored',
      Idle,
      7,
      [observed(Configuring, {}, 100), observed(Idle)],
      7,
    ],
    [
      'given a delete that is rolled back, then it is restored',
      Idle,
      7,
      [observed(Deleting, {}, 100), observed(Idle)],
      7,
    ],
    ['given Idle, when bound, then it ends', Idle, 7, [observed(Configuring), observed(Configured)], null],
    [
      'given a machine that was bound and lost, then it starts again',
      Idle,
      7,
      [observed(Configured, {}, 100), observed(Idle)],
      500,
    ],
    ['given Idle, when observed Speculative, then it ends', Idle, 7, [observed(Speculative)], null],
    ['given Idle, when observed Failed, then it ends', Idle, 7, [observed(Failed)], null],
  ])('%s', (_, state, idleSinceMs, entries, expected) => {
    const fleet = fleetWith(state, { idleSinceMs });
    applied(fleet, ...entries);
    expect(recordOf(fleet)?.idleSinceMs).toBe(expected);
  });
});

describe('unclaimedSinceMs, which the reclaim hold counts from', () => {
  const since = (sinceMs: number | null) => ({ kind: 'unclaimed', id: 'm', sinceMs }) as const;
  const drain = { kind: 'command', id: 'm', command: Command.Drain, target: null, atMs: 5 } as const;

  it.each([
    ['given Configured, when it is unclaimed, then it starts', Configured, null, [since(3)], 3],
    ['given a clock, when a row claims the machine, then it ends', Configured, 3, [since(null)], null],
    [
      'given a clock, when observed Configured again, then it stays',
      Configured,
      3,
      [observed(Configured)],
      3,
    ],
    ['given a clock, when observed Failed, then it ends', Configured, 3, [observed(Failed)], null],
    ['given a clock, when drained, then it ends', Configured, 3, [drain], null],
    [
      'given a clock, when observed in another cluster, then it ends',
      Configured,
      3,
      [observed(Configured, { cluster: 'c2' })],
      null,
    ],
    ['given Draining, when it is unclaimed, then no clock starts', Draining, null, [since(3)], null],
  ])('%s', (_, state, unclaimedSinceMs, entries, expected) => {
    const fleet = fleetWith(state, { unclaimedSinceMs });
    applied(fleet, ...entries);
    expect(recordOf(fleet)?.unclaimedSinceMs).toBe(expected);
  });

  it('given a drain that is withdrawn, then the clock is restored', () => {
    const fleet = fleetWith(Configured, { unclaimedSinceMs: 3 });
    const before = fleet.machines.statusOf(0);
    applied(fleet, drain, { kind: 'withdraw', id: 'm', before });
    expect(recordOf(fleet)?.unclaimedSinceMs).toBe(3);
  });

  it('given only a new clock, then the machine is written, but its status and its cluster count as unchanged', () => {
    const fleet = fleetWith(Configured);
    const dirty = fleet.changes.watch();
    dirty.clear();
    const { revision } = fleet;
    expect(applied(fleet, since(3))).toMatchObject({ slots: [0], statusChanged: [] });
    expect([dirty.size, fleet.revision]).toEqual([0, revision]);
    expect(applied(fleet, since(3))).toMatchObject({ slots: [] });
  });
});
