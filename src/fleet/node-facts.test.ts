// Node facts in the ledger: which machines they apply to, when they are dropped, and what they make dirty.

import { describe, expect, it } from 'vitest';
import { aMachine } from '../../testing/support/fleets.ts';
import { applied, fleetWith, KEY, observed, recordOf, STAMP } from '../../testing/support/machine-changes.ts';
import { Command, MachineState, type NodeUse } from '../model/index.ts';
import { Fleet, type PendingChange, PendingChanges } from './index.ts';

const { Idle, Configuring, Configured, Draining } = MachineState;

function facts(cluster: string, ...listed: readonly (readonly [string, NodeUse])[]): PendingChange {
  return { kind: 'facts', cluster, facts: new Map(listed) };
}

const PROTECTED = facts('c1', ['m', 'protected']);
const drain = { kind: 'command', id: 'm', command: Command.Drain, target: null, atMs: 5 } as const;

describe('node facts of a cluster', () => {
  it.each([
    ['Configured', Configured, 'protected'],
    ['Configuring', Configuring, 'protected'],
    ['Draining', Draining, undefined],
    ['Idle', Idle, undefined],
  ])('given a %s machine, then a fact about it holds only if it is bound', (_, state, expected) => {
    const fleet = fleetWith(state);
    applied(fleet, PROTECTED);
    expect(recordOf(fleet)?.use).toBe(expected);
  });

  it('given facts of another cluster, or about unknown machines, then they are dropped', () => {
    const fleet = fleetWith(Configured);
    const { refused, slots } = applied(fleet, facts('c2', ['m', 'empty']), facts('c1', ['other', 'empty']));
    expect([recordOf(fleet)?.use, refused, slots]).toEqual([undefined, [], []]);
  });

  it('given a second report, then it replaces the first as a whole', () => {
    const fleet = fleetWith(Configured);
    fleet.machines.put(aMachine('n', Configured));
    applied(fleet, facts('c1', ['m', 'empty'], ['n', 'in-use']));
    applied(fleet, facts('c1', ['n', 'protected']));
    expect([recordOf(fleet)?.use, recordOf(fleet, 'n')?.use]).toEqual([undefined, 'protected']);
    applied(fleet, facts('c1'));
    expect(recordOf(fleet, 'n')?.use).toBeUndefined();
    expect(fleet.machines.protectedCount).toBe(0);
  });

  it('given a machine that became bound since the last commit, then facts apply to it', () => {
    const fleet = fleetWith(Idle);
    const configure = { ...drain, command: Command.Configure, target: KEY, stamp: STAMP } as const;
    applied(fleet, configure, facts('c1', ['m', 'in-use']));
    expect(recordOf(fleet)).toMatchObject({ state: Configuring, use: 'in-use' });
  });

  it.each<[string, readonly PendingChange[], NodeUse | undefined]>([
    ['is observed again', [observed(Configured)], 'protected'],
    ['is blocked', [{ kind: 'block', id: 'm', blocked: true }], 'protected'],
    ['is observed in another cluster', [observed(Configured, { cluster: 'c2' })], undefined],
    ['is lost and listed again', [{ kind: 'gone', id: 'm' }, observed(Configured)], undefined],
    ['drains', [drain], undefined],
    ['drains and is bound again', [drain, observed(Idle, { cluster: '' }), observed(Configured)], undefined],
  ])('given a protected machine, when it %s, then its fact is kept or dropped', (_, entries, expected) => {
    for (const atOnce of [true, false]) {
      const fleet = fleetWith(Configured, { use: 'protected' });
      if (atOnce) applied(fleet, ...entries);
      else for (const entry of entries) applied(fleet, entry);
      expect(recordOf(fleet)?.use).toBe(expected);
    }
  });

  it('given a drain that is withdrawn, then the fact is restored', () => {
    const fleet = fleetWith(Configured, { use: 'protected' });
    const before = fleet.machines.statusOf(0);
    applied(fleet, drain);
    applied(fleet, { kind: 'withdraw', id: 'm', before });
    expect(recordOf(fleet)?.use).toBe('protected');
  });

  it('given facts, then their cluster alone is dirty, and the machine needs no new entry in the store', () => {
    const fleet = fleetWith(Configured);
    fleet.machines.put(aMachine('n', Configured, { cluster: 'c2' }));
    const dirty = fleet.changes.watch();
    expect(applied(fleet, PROTECTED)).toMatchObject({ slots: [0], statusChanged: [] });
    expect([...dirty]).toEqual([fleet.clusters.find('c1')]);
  });

  it('given facts as before, then nothing is dirty or pending', () => {
    const fleet = fleetWith(Configured, { use: 'protected' });
    const dirty = fleet.changes.watch();
    const { revision } = fleet;
    const pending = new PendingChanges(fleet);
    pending.append(PROTECTED);
    expect([...pending.changedMachines()]).toEqual([]);
    expect(pending.commitMachines().writeRows()).toMatchObject({ slots: [], statusChanged: [] });
    expect([dirty.size, fleet.revision]).toEqual([0, revision]);
  });

  it('given facts that change and change back before the commit, then nothing is dirty', () => {
    const fleet = fleetWith(Configured);
    const dirty = fleet.changes.watch();
    applied(fleet, PROTECTED, facts('c1'));
    expect(dirty.size).toBe(0);
  });

  it('given bound machines of one cluster, then protected ones come first, then by price, then by use', () => {
    const fleet = new Fleet();
    const at = (id: string, pricePerHour: number, use?: NodeUse) =>
      aMachine(id, Configured, { pricePerHour, ...(use === undefined ? {} : { use }) });
    fleet.machines.load([
      at('a-dear', 2),
      at('b-empty', 1, 'empty'),
      at('c-unknown', 1),
      at('d-used', 1, 'in-use'),
      at('e-protected', 3, 'protected'),
      at('f-protected', 1, 'protected'),
    ]);
    const { offset, length } = fleet.machines.boundOf(fleet.clusters.find('c1'))!.configured;
    const slots = [...fleet.machines.arena.data.subarray(offset, offset + length)];
    expect(slots.map((slot) => fleet.machines.idOf(slot))).toEqual([
      'f-protected',
      'e-protected',
      'd-used',
      'c-unknown',
      'b-empty',
      'a-dear',
    ]);
  });
});
