import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import {
  CapacityType,
  keyOf,
  type LedgerMachine,
  type Machine,
  MachineState,
  Meaning,
  type NeedKey,
  type Stamp,
} from '../../model/index.ts';
import {
  type AppliedChanges,
  Fleet,
  type LedgerRecord,
  type PendingChange,
  PendingChanges,
} from '../index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

const row = aNeed({ priority: 100 });
const KEY: NeedKey = keyOf(row);
const STAMP: Stamp = stampOf(row);
const OTHER: NeedKey = { cluster: 'c2', fingerprint: 'other', group: '' };

function applied(fleet: Fleet, ...entries: readonly PendingChange[]): AppliedChanges {
  const pending = new PendingChanges(fleet);
  for (const entry of entries) pending.append(entry);
  return pending.commitMachines().writeRows();
}

/** A fleet with machine m as given, by default as our own commands would have left it in that state. */
function fleetWith(state: MachineState, given: Partial<LedgerMachine> = {}): Fleet {
  const fleet = new Fleet();
  const bound = state === Configuring || state === Configured || state === Draining;
  const ours = { stamp: bound ? STAMP : null, target: state === Configured ? null : KEY };
  fleet.machines.put(aMachine('m', state, { ...ours, ...given }));
  return fleet;
}

function recordOf(fleet: Fleet, id = 'm'): LedgerRecord | null {
  const slot = fleet.machines.slotOf(id);
  return slot === undefined ? null : fleet.machines.recordAt(slot);
}

/** A provider's record: no target, and no stamp unless given. */
function sees(state: MachineState, given: Partial<Machine> = {}, atMs = 500): PendingChange {
  return { kind: 'observe', machine: aMachine('m', state, given), atMs };
}

const unbound = { cluster: '', stamp: null } as const;

describe('observations', () => {
  it('given an unknown machine, when seen, then it is on record as it says, with no target of its own', () => {
    const fleet = new Fleet();
    const { sightings } = applied(fleet, sees(Configured, { stamp: STAMP, target: KEY }));
    expect(sightings).toEqual([{ id: 'm', known: null, seen: Configured, meaning: 'discovered' }]);
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c1', stamp: STAMP, target: null, drainSeconds: 30 });
  });

  it.each([
    ['Creating → Idle', Creating, Idle, Meaning.Progress, { target: KEY, ...unbound }],
    ['Creating → Speculative', Creating, Speculative, Meaning.RolledBack, { target: null, ...unbound }],
    ['Creating → Failed', Creating, Failed, Meaning.Failed, { target: null, ...unbound }],
    ['Idle → Speculative', Idle, Speculative, Meaning.Lost, { target: null, ...unbound }],
    ['Idle → Failed', Idle, Failed, Meaning.Lost, { target: null, ...unbound }],
    ['Idle → Deleting', Idle, Deleting, Meaning.Foreign, { target: null, ...unbound }],
    ['Configuring → Idle', Configuring, Idle, Meaning.RolledBack, { target: KEY, ...unbound }],
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
    ['Configuring → Failed', Configuring, Failed, Meaning.Failed, { target: null, ...unbound }],
    ['Configured → Idle', Configured, Idle, Meaning.Lost, { target: null, ...unbound }],
    ['Configured → Speculative', Configured, Speculative, Meaning.Lost, { target: null, ...unbound }],
    ['Configured → Deleting', Configured, Deleting, Meaning.Lost, { target: null, ...unbound }],
    ['Configured → Failed', Configured, Failed, Meaning.Lost, { target: null, ...unbound }],
    [
      'Configured → Draining',
      Configured,
      Draining,
      Meaning.Foreign,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    ['Draining → Idle', Draining, Idle, Meaning.Progress, { target: KEY, ...unbound }],
    [
      'Draining → Configured',
      Draining,
      Configured,
      Meaning.RolledBack,
      { target: null, stamp: STAMP, cluster: 'c1' },
    ],
    ['Deleting → Speculative', Deleting, Speculative, Meaning.Progress, { target: null, ...unbound }],
    ['Failed → Idle', Failed, Idle, Meaning.Recovered, { target: null, ...unbound }],
  ])('%s: state, meaning, and what is left of cluster, stamp and target', (_, known, seen, meaning, left) => {
    const ends = known === Deleting || known === Failed;
    const fleet = fleetWith(known, ends ? { target: null } : {});
    const { sightings, slots } = applied(fleet, sees(seen));
    expect(sightings).toEqual([{ id: 'm', known, seen, meaning }]);
    expect(recordOf(fleet)).toMatchObject({ state: seen, ...left });
    expect(slots).toEqual([0]);
  });

  it.each([Creating, Idle, Configuring, Draining])(
    'given state %i again, when seen, then target and stamp stay although the record is silent',
    (state) => {
      const fleet = fleetWith(state);
      const before = recordOf(fleet);
      expect(applied(fleet, sees(state))).toMatchObject({ slots: [], sightings: [] });
      expect(recordOf(fleet)).toEqual(before);
    },
  );

  it('given a lost target, when a machine that was bound is seen Idle, then not even a loaded target survives', () => {
    const fleet = fleetWith(Configured, { target: OTHER });
    applied(fleet, sees(Idle));
    expect(recordOf(fleet)?.target).toBeNull();
  });

  it('given a Configuring machine that does not know its cluster yet, when seen, then our cluster and stamp stay', () => {
    const fleet = fleetWith(Configuring);
    applied(fleet, sees(Configuring, { cluster: '' }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c1', stamp: STAMP, target: KEY });
  });

  it('given a machine that another process bound elsewhere, when seen, then stamp and target are dropped', () => {
    const echoed = { ...STAMP, fingerprint: 'echoed' };
    const fleet = fleetWith(Configuring);
    applied(fleet, sees(Configuring, { cluster: 'c2', stamp: echoed }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c2', stamp: echoed, target: null });
    applied(fleet, sees(Configured, { cluster: 'c3' }));
    expect(recordOf(fleet)).toMatchObject({ cluster: 'c3', stamp: null });
  });

  it('given no stamp of ours, then the echo is taken; given one, then ours stays', () => {
    const echoed = { ...STAMP, priority: 3 };
    const without = fleetWith(Configured, { stamp: null });
    applied(without, sees(Configured, { stamp: echoed }));
    expect(recordOf(without)?.stamp).toEqual(echoed);
    const withOurs = fleetWith(Configured);
    applied(withOurs, sees(Configured, { stamp: echoed }));
    expect(recordOf(withOurs)?.stamp).toEqual(STAMP);
  });

  it('given a stamp echoed for an unbound machine, then it is ignored', () => {
    const fleet = fleetWith(Draining);
    applied(fleet, sees(Idle, { stamp: STAMP }));
    expect(recordOf(fleet)?.stamp).toBeNull();
  });

  it('given a machine that is gone, then it is off the record; one that never was is nothing', () => {
    const fleet = fleetWith(Configured);
    const result = applied(fleet, { kind: 'gone', id: 'm' }, { kind: 'gone', id: 'x' });
    expect(result).toMatchObject({ removed: ['m'], slots: [], refused: [] });
    expect(result.sightings).toEqual([{ id: 'm', known: Configured, seen: 'gone', meaning: Meaning.Lost }]);
    expect(recordOf(fleet)).toBeNull();
    expect(fleet.keys.count).toBe(0);
  });

  it('given a machine that is gone and back, then nothing of its former life is left', () => {
    const fleet = fleetWith(Idle, { blocked: true, idleSinceMs: 7 });
    const { sightings } = applied(fleet, { kind: 'gone', id: 'm' }, sees(Idle));
    expect(sightings.map(({ meaning }) => meaning)).toEqual([Meaning.Lost, 'discovered']);
    expect(recordOf(fleet)).toMatchObject({ blocked: false, target: null, idleSinceMs: 500 });
  });

  it('given an impossible record, then it is refused with every reason and the last good one stays', () => {
    const fleet = fleetWith(Configured);
    const before = recordOf(fleet);
    const { refused, slots } = applied(fleet, sees(Configured, { cluster: '', pricePerHour: -1 }));
    const codes = refused[0]?.problems.map(({ code }) => code);
    expect(codes).toEqual(['BF_MACHINE_CLUSTER_MISSING', 'BF_MACHINE_PRICE']);
    expect(slots).toEqual([]);
    expect(recordOf(fleet)).toEqual(before);
  });

  it('given sixteen resources, when a record brings one more, then it is refused and the last good one stays', () => {
    const sixteen = resources(Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`r${i}`, 1])));
    const fleet = fleetWith(Idle, { resources: sixteen });
    const before = recordOf(fleet);
    const { refused, sightings } = applied(fleet, sees(Speculative, { resources: resources({ one: 1 }) }));
    expect(refused[0]?.problems[0]?.code).toBe('BF_DIMENSION_LIMIT');
    expect(sightings).toEqual([]);
    expect(recordOf(fleet)).toEqual(before);
  });

  it('given the same state, when price, probability, labels, type or size moved, then the new ones count', () => {
    const fleet = fleetWith(Configured);
    const offer = {
      pricePerHour: 3,
      interruptionProbability: 0.2,
      labels: new Map([['rack', 'r9']]),
      allocatable: resources({ cpu: 2 }),
      capacityType: CapacityType.Spot,
    };
    const { slots, sightings } = applied(fleet, sees(Configured, offer));
    expect(recordOf(fleet)).toMatchObject(offer);
    expect({ slots, sightings }).toEqual({ slots: [0], sightings: [] });
    expect(fleet.classes.count).toBe(1);
  });

  it('given several records of one machine, then each is understood and the machine is written once', () => {
    const fleet = fleetWith(Configured);
    const result = applied(fleet, sees(Idle, {}, 100), sees(Configured, {}, 200));
    expect(result.sightings.map(({ meaning }) => meaning)).toEqual([Meaning.Lost, Meaning.Foreign]);
    // The machine was lost in between, so its former stamp no longer applies.
    expect(recordOf(fleet)).toMatchObject({ state: Configured, stamp: null });
    expect(result.slots).toEqual([0]);
  });
});

describe('the hold clock', () => {
  it.each([
    ['entry from Creating starts it', Creating, null, [sees(Idle)], 500],
    ['entry from Draining starts it', Draining, null, [sees(Idle)], 500],
    ['Idle again keeps it', Idle, 7, [sees(Idle)], 7],
    ['a rolled back bind restores it', Idle, 7, [sees(Configuring, {}, 100), sees(Idle)], 7],
    ['a rolled back delete restores it', Idle, 7, [sees(Deleting, {}, 100), sees(Idle)], 7],
    ['being bound ends it', Idle, 7, [sees(Configuring), sees(Configured)], null],
    ['being bound and lost starts it', Idle, 7, [sees(Configured, {}, 100), sees(Idle)], 500],
    ['no longer existing ends it', Idle, 7, [sees(Speculative)], null],
    ['failing ends it', Idle, 7, [sees(Failed)], null],
  ])('%s', (_, state, idleSinceMs, entries, expected) => {
    const fleet = fleetWith(state, { idleSinceMs });
    applied(fleet, ...entries);
    expect(recordOf(fleet)?.idleSinceMs).toBe(expected);
  });
});
