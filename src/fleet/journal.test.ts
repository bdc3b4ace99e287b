import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources, stampOf } from '../../test/fleets.ts';
import {
  CapacityType,
  Command,
  keyOf,
  type LedgerMachine,
  type Machine,
  MachineState,
  Meaning,
  type NeedKey,
  type Stamp,
} from '../model/index.ts';
import { type AppliedChanges, Fleet, Journal, type JournalEntry, type LedgerRecord } from './index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

const row = aNeed({ priority: 100 });
const KEY: NeedKey = keyOf(row);
const STAMP: Stamp = stampOf(row);
const OTHER: NeedKey = { cluster: 'c2', fingerprint: 'other', group: '' };

function applied(fleet: Fleet, ...entries: readonly JournalEntry[]): AppliedChanges {
  const journal = new Journal();
  for (const entry of entries) journal.append(entry);
  return fleet.freeze(journal);
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
function sees(state: MachineState, given: Partial<Machine> = {}, atMs = 500): JournalEntry {
  return { kind: 'observe', machine: aMachine('m', state, given), atMs };
}

const command = { kind: 'command', id: 'm', atMs: 500 } as const;
const unbound = { cluster: '', stamp: null } as const;

describe('Journal', () => {
  it('given a limit, when one entry more is appended, then it is refused and the others stay', () => {
    const journal = new Journal(2);
    const entry: JournalEntry = { kind: 'gone', id: 'm' };
    journal.append(entry);
    journal.append(entry);
    expect(() => journal.append(entry)).toThrow(/BF_JOURNAL_FULL: The journal holds 2 entries/);
    expect(journal.length).toBe(2);
    new Fleet().freeze(journal);
    expect(journal.length).toBe(0);
    journal.append(entry);
  });

  it('given nothing written down, when frozen, then nothing has changed', () => {
    const nothing = { clusters: [], slots: [], removed: [], sightings: [], refused: [] };
    expect(applied(fleetWith(Idle))).toEqual(nothing);
  });
});

describe('commands', () => {
  it('create: a quota slot is on its way to the row', () => {
    const fleet = fleetWith(Speculative, { target: null });
    const { slots } = applied(fleet, { ...command, command: Command.Create, target: KEY });
    expect(recordOf(fleet)).toMatchObject({ state: Creating, target: KEY, ...unbound });
    expect(slots).toEqual([0]);
  });

  it('configure: the machine counts for the cluster of its row from the decision on, stamped and on its way', () => {
    const fleet = fleetWith(Idle, { target: null, idleSinceMs: 7 });
    applied(fleet, { ...command, command: Command.Configure, target: KEY, stamp: STAMP });
    expect(recordOf(fleet)).toMatchObject({ state: Configuring, cluster: 'c1', stamp: STAMP, target: KEY });
    expect(fleet.machines.boundOf(fleet.clusters.find('c1'))?.configuring.length).toBe(1);
  });

  it.each([
    ['a Preempt names the row it is for', OTHER],
    ['a Reclaim ends the target', null],
  ])('drain: the machine keeps cluster and stamp until it is out; %s', (_, target) => {
    const fleet = fleetWith(Configured, { target: KEY });
    applied(fleet, { ...command, command: Command.Drain, target });
    expect(recordOf(fleet)).toMatchObject({ state: Draining, cluster: 'c1', stamp: STAMP, target });
  });

  it('delete: the target ends', () => {
    const fleet = fleetWith(Idle);
    applied(fleet, { ...command, command: Command.Delete });
    expect(recordOf(fleet)).toMatchObject({ state: Deleting, target: null });
  });

  it('abandon: unbound again, still on its way, and the hold goes on from where it was', () => {
    const fleet = fleetWith(Idle, { idleSinceMs: 7 });
    applied(
      fleet,
      { ...command, command: Command.Configure, target: KEY, stamp: STAMP },
      { ...command, command: Command.Abandon },
    );
    expect(recordOf(fleet)).toMatchObject({ state: Idle, target: KEY, idleSinceMs: 7, ...unbound });
  });

  it('abandon: given no earlier time, then the hold starts now', () => {
    const fleet = fleetWith(Configuring);
    applied(fleet, { ...command, command: Command.Abandon });
    expect(recordOf(fleet)).toMatchObject({ state: Idle, idleSinceMs: 500 });
  });

  it('given an illegal move between two legal ones, then it alone is refused and the ledger is as without it', () => {
    const fleet = fleetWith(Configured);
    fleet.machines.put(aMachine('n', Idle));
    const illegal = { ...command, command: Command.Configure, target: KEY, stamp: STAMP } as const;
    const { refused } = applied(fleet, { ...command, id: 'n', command: Command.Delete }, illegal, {
      kind: 'hold',
      id: 'm',
      held: true,
    });
    expect(refused).toMatchObject([{ entry: illegal, problems: [{ code: 'BF_MOVE_ILLEGAL' }] }]);
    expect(recordOf(fleet, 'n')?.state).toBe(Deleting);
    expect(recordOf(fleet)).toMatchObject({ state: Configured, held: true, target: null });
  });

  it('given a machine that is not on record, when anything but a record names it, then that is refused', () => {
    const { refused } = applied(
      new Fleet(),
      { ...command, command: Command.Delete },
      { kind: 'hold', id: 'm', held: true },
      { kind: 'drain-seconds', of: { id: 'm' }, seconds: 1 },
    );
    expect(refused.map(({ problems }) => problems[0]?.code)).toEqual(Array(3).fill('BF_MACHINE_UNKNOWN'));
  });
});

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

  it('given a machine that somebody bound elsewhere, when seen, then stamp and target are no longer ours', () => {
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

  it('given a stamp echoed for a machine that is bound to nobody, then it is not taken', () => {
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
    const fleet = fleetWith(Idle, { held: true, idleSinceMs: 7 });
    const { sightings } = applied(fleet, { kind: 'gone', id: 'm' }, sees(Idle));
    expect(sightings.map(({ meaning }) => meaning)).toEqual([Meaning.Lost, 'discovered']);
    expect(recordOf(fleet)).toMatchObject({ held: false, target: null, idleSinceMs: 500 });
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
    // It was lost in between, so what it was bound for is not known any more.
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

describe('our own knowledge', () => {
  const restamp = { kind: 'restamp', id: 'm', priority: 9 } as const;
  const penalties = { interruptionPenaltyDollars: 1, reclamationPenaltyDollars: 2 };

  it.each([Configuring, Configured])('restamp: a bound machine (%i) is now the row’s', (state) => {
    const fleet = fleetWith(state);
    applied(fleet, { ...restamp, ...penalties, key: { ...KEY, group: 'gang' } });
    const stamp = { priority: 9, ...penalties, fingerprint: KEY.fingerprint, group: 'gang' };
    expect(recordOf(fleet)?.stamp).toEqual(stamp);
    expect(fleet.machines.ownedBy(fleet.keys.find({ ...KEY, group: 'gang' }))).toBe(1);
  });

  it.each([
    ['of another cluster', Configured, OTHER],
    ['that is leaving', Draining, KEY],
    ['that is not bound', Idle, KEY],
  ])('restamp: a machine %s is refused', (_, state, key) => {
    const fleet = fleetWith(state);
    const before = recordOf(fleet);
    const { refused } = applied(fleet, { ...restamp, ...penalties, key });
    expect(refused[0]?.problems[0]?.code).toBe('BF_STAMP_MISPLACED');
    expect(recordOf(fleet)).toEqual(before);
  });

  it('hold: a held machine cannot be acquired, whatever the provider says, until it is released', () => {
    const fleet = fleetWith(Idle, { target: null });
    applied(fleet, { kind: 'hold', id: 'm', held: true }, sees(Idle, { pricePerHour: 2 }));
    expect(recordOf(fleet)?.held).toBe(true);
    expect(fleet.machines.idleRuns.map((run) => run?.length ?? 0)).not.toContain(1);
    applied(fleet, { kind: 'hold', id: 'm', held: false });
    expect(fleet.machines.idleRuns.map((run) => run?.length ?? 0)).toContain(1);
  });

  it('row ended: machines on their way to it are on their way to nobody, those just sent off included', () => {
    const fleet = fleetWith(Creating);
    fleet.machines.put(aMachine('n', Idle, { target: OTHER }));
    fleet.machines.put(aMachine('o', Speculative));
    const ended = { kind: 'row-ended', key: KEY } as const;
    const { slots } = applied(fleet, { ...command, id: 'o', command: Command.Create, target: KEY }, ended);
    expect(['m', 'n', 'o'].map((id) => recordOf(fleet, id)?.target)).toEqual([null, OTHER, null]);
    expect(slots.map((slot) => fleet.machines.idOf(slot)).sort()).toEqual(['m', 'o']);
    expect(applied(fleet, ended)).toMatchObject({ slots: [], refused: [] });
  });

  it('drain seconds: of one machine, or of a type with those to come; a record does not reset them', () => {
    const fleet = fleetWith(Idle);
    fleet.machines.put(aMachine('big', Idle, { instanceType: 'big' }));
    applied(
      fleet,
      { kind: 'drain-seconds', of: { instanceType: 'standard' }, seconds: 90 },
      { kind: 'drain-seconds', of: { id: 'big' }, seconds: 5 },
      sees(Idle),
      { kind: 'observe', machine: aMachine('new', Idle), atMs: 1 },
      { kind: 'observe', machine: aMachine('newer', Idle, { instanceType: 'big' }), atMs: 1 },
    );
    const seconds = ['m', 'big', 'new', 'newer'].map((id) => recordOf(fleet, id)?.drainSeconds);
    expect(seconds).toEqual([90, 5, 90, 30]);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('drain seconds: %d is refused', (seconds) => {
    const { refused } = applied(fleetWith(Idle), { kind: 'drain-seconds', of: { id: 'm' }, seconds });
    expect(refused[0]?.problems[0]?.code).toBe('BF_DRAIN_SECONDS');
  });
});

describe('demand', () => {
  const rollUp = (cluster: string, ...priorities: number[]): JournalEntry => ({
    kind: 'demand',
    cluster,
    needs: priorities.map((priority) => aNeed({ cluster, priority })),
  });

  it('given several roll-ups, then the last of each cluster stands, and clusters that say the same are not named', () => {
    const fleet = new Fleet();
    applied(fleet, rollUp('a', 1), rollUp('b', 1));
    const { clusters } = applied(fleet, rollUp('a', 1, 2, 3), rollUp('b', 1), rollUp('a', 5, 6));
    expect(clusters.map((number) => fleet.clusters.nameOf(number))).toEqual(['a']);
    const { offset, length } = fleet.demand.rowsOf(fleet.clusters.find('a'));
    expect(length).toBe(2);
    expect(fleet.demand.keyOf(offset)).toEqual(keyOf(aNeed({ cluster: 'a', priority: 6 })));
  });

  it('given a malformed roll-up after a good one, then it is refused and the good one stands', () => {
    const fleet = new Fleet();
    const stray: JournalEntry = { kind: 'demand', cluster: 'a', needs: [aNeed({ cluster: 'b' })] };
    const { refused, clusters } = applied(fleet, rollUp('a', 1, 2), stray, rollUp('b', 1));
    expect(refused).toMatchObject([{ entry: stray, problems: [{ code: 'BF_CLUSTER_MISMATCH' }] }]);
    expect(clusters).toHaveLength(2);
    expect(fleet.demand.count).toBe(3);
  });
});
