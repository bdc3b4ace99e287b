import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources } from '../../testing/support/fleets.ts';
import {
  applied,
  fleetWith,
  KEY,
  OTHER,
  observed,
  ROW,
  recordOf,
  STAMP,
  UNBOUND,
} from '../../testing/support/machine-changes.ts';
import { Command, keyOf, MachineState, type Need, wholeRollup } from '../model/index.ts';
import { Fleet, type PendingChange, PendingChanges } from './index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting } = MachineState;

const command = { kind: 'command', id: 'm', atMs: 500 } as const;

describe('PendingChanges', () => {
  it('given as many changes as the limit allows, when another is appended, then it is refused and the others stay', () => {
    const pending = new PendingChanges(new Fleet(), 2);
    const entry: PendingChange = { kind: 'gone', id: 'm' };
    pending.append(entry);
    pending.append(entry);
    expect(() => pending.append(entry)).toThrow(/BF_JOURNAL_FULL: 2 changes are pending/);
    expect(pending.length).toBe(2);
    pending.commitMachines();
    expect(pending.length).toBe(0);
    pending.append(entry);
  });

  it('given no pending changes, when committed, then nothing is reported as changed', () => {
    const nothing = {
      clusters: [],
      slots: [],
      statusChanged: [],
      retimed: new Map(),
      removed: [],
      sightings: [],
      refused: [],
      rollUps: new Map(),
      rowsSetAside: new Map(),
    };
    expect(applied(fleetWith(Idle))).toEqual(nothing);
  });

  it('given a commit whose rows are not written yet, then its machines are on record, and later changes stay pending', () => {
    const fleet = fleetWith(Idle);
    const pending = new PendingChanges(fleet);
    pending.append({ kind: 'block', id: 'm', blocked: true });
    pending.append({ kind: 'demand', delta: wholeRollup('c1', [ROW]) });
    const commit = pending.commitMachines();
    pending.append({ kind: 'block', id: 'm', blocked: false });
    expect(recordOf(fleet)?.blocked).toBe(true);
    expect(commit.machines).toMatchObject({ slots: [0], statusChanged: [0] });
    expect([...commit.reporting]).toEqual([fleet.clusters.find('c1')]);
    expect(fleet.demand.count).toBe(0);
    expect(commit.writeRows()).toMatchObject({ slots: [0], clusters: [fleet.clusters.find('c1')] });
    expect(fleet.demand.count).toBe(1);
    expect([recordOf(fleet)?.blocked, pending.statusOf('m')?.blocked, pending.length]).toEqual([
      true,
      false,
      1,
    ]);
  });

  it('given an illegal move or an unknown machine, then the call throws and no commit reports it', () => {
    const pending = new PendingChanges(fleetWith(Idle));
    expect(() => pending.move('m', { command: Command.Abandon }, 1)).toThrow(/BF_MOVE_ILLEGAL/);
    expect(() => pending.move('n', { command: Command.Delete }, 1)).toThrow(/BF_MACHINE_UNKNOWN/);
    expect(pending.commitMachines().writeRows()).toMatchObject({ slots: [], refused: [] });
  });

  it('given changes refused on append and roll-ups refused on commit, then they are reported in the order of appending', () => {
    const fleet = fleetWith(Idle);
    const stray: PendingChange = { kind: 'demand', delta: wholeRollup('a', [aNeed({ cluster: 'b' })]) };
    const unknown: PendingChange = { kind: 'block', id: 'n', blocked: true };
    const { refused } = applied(fleet, stray, unknown, stray, observed(Idle, { pricePerHour: -1 }));
    expect(refused.map(({ entry }) => entry.kind)).toEqual(['demand', 'block', 'demand', 'observe']);
  });

  it('given sixteen resources, when rows name more, then the commit reports the rows set aside by cluster, until there are none', () => {
    const sixteen = resources(Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`r${i}`, 1])));
    const fleet = fleetWith(Idle, { resources: sixteen });
    const fits = aNeed({ cluster: 'c1', priority: 9, aggregate: sixteen, minUnit: resources({}) });
    const odd = (name: string) => aNeed({ cluster: 'c1', group: name, aggregate: resources({ [name]: 1 }) });
    const demand = (...needs: readonly Need[]): PendingChange => ({
      kind: 'demand',
      delta: wholeRollup('c1', needs),
    });
    const first = odd('odd');
    const { refused, rowsSetAside } = applied(fleet, demand(first, fits, odd('odder')));
    expect(refused).toEqual([]);
    expect(rowsSetAside).toEqual(new Map([['c1', { rows: 2, resource: 'odd' }]]));
    expect(fleet.demand.needsOf(fleet.clusters.find('c1')).map((need) => need.setAside)).toEqual([
      true,
      undefined,
      true,
    ]);
    const again = applied(fleet, demand(first, fits));
    expect(again.rowsSetAside).toEqual(new Map([['c1', { rows: 1, resource: 'odd' }]]));
    expect(applied(fleet).rowsSetAside).toEqual(new Map());
    expect(applied(fleet, demand(fits)).rowsSetAside).toEqual(new Map([['c1', { rows: 0, resource: '' }]]));
    expect(applied(fleet, demand(fits)).rowsSetAside).toEqual(new Map());
  });

  it('given a new price, then the machine is listed as changed but not its status; given a new state, then both are', () => {
    const fleet = fleetWith(Idle);
    expect(applied(fleet, observed(Idle, { pricePerHour: 9 }))).toMatchObject({
      slots: [0],
      statusChanged: [],
    });
    expect(applied(fleet, observed(MachineState.Failed, { lastError: 'x' }))).toMatchObject({
      slots: [0],
      statusChanged: [0],
    });
  });
});

describe('commands', () => {
  it('given a create, then the quota slot is Creating, with the row as target', () => {
    const fleet = fleetWith(Speculative, { target: null });
    const { slots } = applied(fleet, { ...command, command: Command.Create, target: KEY });
    expect(recordOf(fleet)).toMatchObject({ state: Creating, target: KEY, ...UNBOUND });
    expect(slots).toEqual([0]);
  });

  it('given a configure, then the machine is at once bound to the cluster of its row, with stamp and target', () => {
    const fleet = fleetWith(Idle, { target: null, idleSinceMs: 7 });
    applied(fleet, { ...command, command: Command.Configure, target: KEY, stamp: STAMP });
    expect(recordOf(fleet)).toMatchObject({ state: Configuring, cluster: 'c1', stamp: STAMP, target: KEY });
    expect(fleet.machines.boundOf(fleet.clusters.find('c1'))?.configuring.length).toBe(1);
  });

  it.each([
    ['its target is the row of the Preempt', OTHER],
    ['its target is cleared by a Reclaim', null],
  ])('given a drain, then the machine keeps cluster and stamp, and %s', (_, target) => {
    const fleet = fleetWith(Configured, { target: KEY });
    applied(fleet, { ...command, command: Command.Drain, target });
    expect(recordOf(fleet)).toMatchObject({ state: Draining, cluster: 'c1', stamp: STAMP, target });
  });

  it.each([
    ['create', Speculative],
    ['drain', Configured],
    ['delete', Idle],
  ] as const)(
    'given a %s that is withdrawn, then the machine is as before, except that it stays blocked',
    (name, state) => {
      const fleet = fleetWith(state, { idleSinceMs: state === Idle ? 7 : null });
      const { id, ...before } = recordOf(fleet)!;
      const move = {
        ...command,
        command: Command[name === 'create' ? 'Create' : name === 'drain' ? 'Drain' : 'Delete'],
      };
      applied(fleet, { ...move, target: OTHER } as PendingChange, { kind: 'block', id, blocked: true });
      expect(recordOf(fleet)?.state).not.toBe(state);
      applied(fleet, { kind: 'withdraw', id, before });
      expect(recordOf(fleet)).toEqual({ id, ...before, blocked: true });
    },
  );

  it('given a machine that is gone meanwhile, when a command is withdrawn, then that is refused', () => {
    const fleet = fleetWith(Idle);
    const { id, ...before } = recordOf(fleet)!;
    const { refused } = applied(fleet, { kind: 'gone', id }, { kind: 'withdraw', id, before });
    expect(refused).toMatchObject([{ problems: [{ code: 'BF_MACHINE_UNKNOWN' }] }]);
  });

  it.each([Creating, Idle, Configuring, Draining])(
    'given an unknown machine in state %i, when observed with a stored target, then the target is recorded',
    (state) => {
      const fleet = new Fleet();
      applied(fleet, { kind: 'observe', machine: aMachine('m', state, { target: KEY }), atMs: 1 });
      expect(recordOf(fleet)?.target).toEqual(KEY);
    },
  );

  it('given an unknown machine that is Speculative, Configured or Deleting, when observed with a stored target, then it has none', () => {
    const fleet = new Fleet();
    for (const state of [Speculative, Configured, Deleting]) {
      applied(fleet, { kind: 'gone', id: 'm' });
      applied(fleet, { kind: 'observe', machine: aMachine('m', state, { target: KEY }), atMs: 1 });
      expect(recordOf(fleet)?.target).toBeNull();
    }
  });

  it('given a delete, then the target is cleared', () => {
    const fleet = fleetWith(Idle);
    applied(fleet, { ...command, command: Command.Delete });
    expect(recordOf(fleet)).toMatchObject({ state: Deleting, target: null });
  });

  it('given an abandon, then the machine is unbound and keeps its target and its former idleSinceMs', () => {
    const fleet = fleetWith(Idle, { idleSinceMs: 7 });
    applied(
      fleet,
      { ...command, command: Command.Configure, target: KEY, stamp: STAMP },
      { ...command, command: Command.Abandon },
    );
    expect(recordOf(fleet)).toMatchObject({ state: Idle, target: KEY, idleSinceMs: 7, ...UNBOUND });
  });

  it('given an abandon without an earlier idleSinceMs, then it is the time of the abandon', () => {
    const fleet = fleetWith(Configuring);
    applied(fleet, { ...command, command: Command.Abandon });
    expect(recordOf(fleet)).toMatchObject({ state: Idle, idleSinceMs: 500 });
  });

  it('given an illegal command between two legal changes, then it alone is refused and has no effect', () => {
    const fleet = fleetWith(Configured);
    fleet.machines.put(aMachine('n', Idle));
    const illegal = { ...command, command: Command.Configure, target: KEY, stamp: STAMP } as const;
    const { refused } = applied(fleet, { ...command, id: 'n', command: Command.Delete }, illegal, {
      kind: 'block',
      id: 'm',
      blocked: true,
    });
    expect(refused).toMatchObject([{ entry: illegal, problems: [{ code: 'BF_MOVE_ILLEGAL' }] }]);
    expect(recordOf(fleet, 'n')?.state).toBe(Deleting);
    expect(recordOf(fleet)).toMatchObject({ state: Configured, blocked: true, target: null });
  });

  it('given an unknown machine, when a change other than an observation names it, then that is refused', () => {
    const { refused } = applied(
      new Fleet(),
      { ...command, command: Command.Delete },
      { kind: 'block', id: 'm', blocked: true },
      { kind: 'drain-seconds', of: { id: 'm' }, seconds: 1 },
    );
    expect(refused.map(({ problems }) => problems[0]?.code)).toEqual(Array(3).fill('BF_MACHINE_UNKNOWN'));
  });
});

describe('facts that only the shard keeps', () => {
  const restamp = { kind: 'restamp', id: 'm', priority: 9 } as const;
  const penalties = { interruptionPenaltyDollars: 1, reclamationPenaltyDollars: 2 };

  it.each([Configuring, Configured])(
    'given a bound machine (%i), when re-stamped, then the row owns it',
    (state) => {
      const fleet = fleetWith(state);
      applied(fleet, { ...restamp, ...penalties, key: { ...KEY, group: 'gang' } });
      const stamp = { priority: 9, ...penalties, fingerprint: KEY.fingerprint, group: 'gang' };
      expect(recordOf(fleet)?.stamp).toEqual(stamp);
      expect(fleet.machines.ownedBy(fleet.keys.find({ ...KEY, group: 'gang' }))).toBe(1);
    },
  );

  it.each([
    ['of another cluster', Configured, OTHER],
    ['that is draining', Draining, KEY],
    ['that is not bound', Idle, KEY],
  ])('given a machine %s, when re-stamped, then that is refused', (_, state, key) => {
    const fleet = fleetWith(state);
    const before = recordOf(fleet);
    const { refused } = applied(fleet, { ...restamp, ...penalties, key });
    expect(refused[0]?.problems[0]?.code).toBe('BF_STAMP_MISPLACED');
    expect(recordOf(fleet)).toEqual(before);
  });

  it('given a draining machine, when re-targeted, then it is on its way to the other row, also once it has drained', () => {
    const fleet = fleetWith(Draining);
    applied(fleet, { kind: 'row-ended', key: KEY }, { kind: 'retarget', id: 'm', key: OTHER });
    expect(recordOf(fleet)).toMatchObject({ state: Draining, target: OTHER });
    applied(fleet, observed(Idle));
    expect(recordOf(fleet)).toMatchObject({ state: Idle, target: OTHER });
  });

  it.each([Creating, Idle, Configuring, Configured])(
    'given a machine that does not drain (%i), when re-targeted, then that is refused',
    (state) => {
      const fleet = fleetWith(state);
      const before = recordOf(fleet);
      const { refused } = applied(fleet, { kind: 'retarget', id: 'm', key: OTHER });
      expect(refused[0]?.problems[0]?.code).toBe('BF_TARGET_MISPLACED');
      expect(recordOf(fleet)).toEqual(before);
    },
  );

  it('given a blocked machine, then it cannot be acquired, whatever is observed, until it is unblocked', () => {
    const fleet = fleetWith(Idle, { target: null });
    applied(fleet, { kind: 'block', id: 'm', blocked: true }, observed(Idle, { pricePerHour: 2 }));
    expect(recordOf(fleet)?.blocked).toBe(true);
    expect(fleet.machines.idleSlices.map((run) => run?.length ?? 0)).not.toContain(1);
    applied(fleet, { kind: 'block', id: 'm', blocked: false });
    expect(fleet.machines.idleSlices.map((run) => run?.length ?? 0)).toContain(1);
  });

  it('given a row that ends, then machines with it as target lose the target, those with pending changes included', () => {
    const fleet = fleetWith(Creating);
    fleet.machines.put(aMachine('n', Idle, { target: OTHER }));
    fleet.machines.put(aMachine('o', Speculative));
    const ended = { kind: 'row-ended', key: KEY } as const;
    const { slots } = applied(fleet, { ...command, id: 'o', command: Command.Create, target: KEY }, ended);
    expect(['m', 'n', 'o'].map((id) => recordOf(fleet, id)?.target)).toEqual([null, OTHER, null]);
    expect(slots.map((slot) => fleet.machines.idOf(slot)).sort()).toEqual(['m', 'o']);
    expect(applied(fleet, ended)).toMatchObject({ slots: [], refused: [] });
  });

  it('given drain seconds of a machine, or of a type and its future machines, then an observation does not reset them', () => {
    const fleet = fleetWith(Idle);
    fleet.machines.put(aMachine('big', Idle, { instanceType: 'big' }));
    applied(
      fleet,
      { kind: 'drain-seconds', of: { instanceType: 'standard' }, seconds: 90 },
      { kind: 'drain-seconds', of: { id: 'big' }, seconds: 5 },
      observed(Idle),
      { kind: 'observe', machine: aMachine('new', Idle), atMs: 1 },
      { kind: 'observe', machine: aMachine('newer', Idle, { instanceType: 'big' }), atMs: 1 },
    );
    const seconds = ['m', 'big', 'new', 'newer'].map((id) => recordOf(fleet, id)?.drainSeconds);
    expect(seconds).toEqual([90, 5, 90, 30]);
  });

  it('given drain seconds of a type and then of one of its machines, then the later applies, until the type has new ones', () => {
    const fleet = fleetWith(Idle);
    const ofType = { kind: 'drain-seconds', of: { instanceType: 'standard' } } as const;
    const ofMachine: PendingChange = { kind: 'drain-seconds', of: { id: 'm' }, seconds: 5 };
    applied(fleet, { ...ofType, seconds: 90 }, ofMachine);
    expect(recordOf(fleet)?.drainSeconds).toBe(5);
    applied(fleet, ofMachine, { ...ofType, seconds: 70 });
    expect(recordOf(fleet)?.drainSeconds).toBe(70);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    'given drain seconds of %d, then they are refused',
    (seconds) => {
      const { refused } = applied(fleetWith(Idle), { kind: 'drain-seconds', of: { id: 'm' }, seconds });
      expect(refused[0]?.problems[0]?.code).toBe('BF_DRAIN_SECONDS');
    },
  );
});

describe('demand', () => {
  const rollUp = (cluster: string, ...priorities: number[]): PendingChange => ({
    kind: 'demand',
    delta: wholeRollup(
      cluster,
      priorities.map((priority) => aNeed({ cluster, priority })),
    ),
  });

  it('given several roll-ups, then the last of each cluster applies, and only changed clusters are listed', () => {
    const fleet = new Fleet();
    applied(fleet, rollUp('a', 1), rollUp('b', 1));
    const { clusters } = applied(fleet, rollUp('a', 1, 2, 3), rollUp('b', 1), rollUp('a', 5, 6));
    expect(clusters.map((number) => fleet.clusters.nameOf(number))).toEqual(['a']);
    const { offset, length } = fleet.demand.rowsOf(fleet.clusters.find('a'));
    expect(length).toBe(2);
    expect(fleet.demand.keyOf(fleet.demand.ranked[offset]!)).toEqual(
      keyOf(aNeed({ cluster: 'a', priority: 6 })),
    );
  });

  it('given a malformed roll-up after a valid one, then it is refused and the valid one stays', () => {
    const fleet = new Fleet();
    const stray: PendingChange = { kind: 'demand', delta: wholeRollup('a', [aNeed({ cluster: 'b' })]) };
    const { refused, clusters } = applied(fleet, rollUp('a', 1, 2), stray, rollUp('b', 1));
    expect(refused).toMatchObject([{ entry: stray, problems: [{ code: 'BF_CLUSTER_MISMATCH' }] }]);
    expect(clusters).toHaveLength(2);
    expect(fleet.demand.count).toBe(3);
  });
});
