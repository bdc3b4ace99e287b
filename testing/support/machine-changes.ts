// Test support: pending changes of one machine `m`, applied to a fleet, and the record that results. Imported by
// pending-changes.test.ts and machine-status.test.ts of src/fleet.

import {
  type AppliedChanges,
  Fleet,
  type LedgerRecord,
  type PendingChange,
  PendingChanges,
} from '../../src/fleet/index.ts';
import {
  keyOf,
  type LedgerMachine,
  type Machine,
  MachineState,
  type NeedKey,
  type Stamp,
} from '../../src/model/index.ts';
import { aMachine, aNeed, stampOf } from './fleets.ts';

const { Configuring, Configured, Draining } = MachineState;

/** The row that machine `m` serves or is on its way to. */
export const ROW = aNeed({ priority: 100 });
export const KEY: NeedKey = keyOf(ROW);
export const STAMP: Stamp = stampOf(ROW);
export const OTHER: NeedKey = { cluster: 'c2', fingerprint: 'other', group: '' };
export const UNBOUND = { cluster: '', stamp: null } as const;

export function applied(fleet: Fleet, ...entries: readonly PendingChange[]): AppliedChanges {
  const pending = new PendingChanges(fleet);
  for (const entry of entries) pending.append(entry);
  return pending.commitMachines().writeRows();
}

/** A fleet with machine `m`, by default with the stamp and target that the shard's own commands lead to in that state. */
export function fleetWith(state: MachineState, given: Partial<LedgerMachine> = {}): Fleet {
  const fleet = new Fleet();
  const bound = state === Configuring || state === Configured || state === Draining;
  const ours = { stamp: bound ? STAMP : null, target: state === Configured ? null : KEY };
  fleet.machines.put(aMachine('m', state, { ...ours, ...given }));
  return fleet;
}

export function recordOf(fleet: Fleet, id = 'm'): LedgerRecord | null {
  const slot = fleet.machines.slotOf(id);
  return slot === undefined ? null : fleet.machines.recordAt(slot);
}

/** An observation of a provider's record of `m`: no target, and no stamp unless given. */
export function observed(state: MachineState, given: Partial<Machine> = {}, atMs = 500): PendingChange {
  return { kind: 'observe', machine: aMachine('m', state, given), atMs };
}
