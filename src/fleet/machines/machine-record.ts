// The record of a machine as machine-table.ts stores it, and small functions on its fields.

import type { Slice } from '../../collections/sorted-slices.ts';
import type { LedgerMachine } from '../../model/index.ts';
import type { ClassFacts } from '../tables/classes.ts';

/** Bound machines of one cluster, each run in `keepOrder`. */
export interface BoundSlices {
  readonly configured: Slice;
  readonly configuring: Slice;
}

/** The fields of a machine that it does not share with its class. */
export type MachineStatus = Pick<
  LedgerMachine,
  'state' | 'blocked' | 'cluster' | 'stamp' | 'target' | 'idleSinceMs' | 'unclaimedSinceMs' | 'use'
>;

/** A machine as stored in the columns, without host and error text, which no decision reads. */
export type LedgerRecord = Pick<LedgerMachine, 'id'> & ClassFacts & MachineStatus;

/** Of a slot that has no machine. */
export const NOTHING: Partial<MachineStatus> = {
  blocked: false,
  cluster: '',
  stamp: null,
  target: null,
  idleSinceMs: null,
  unclaimedSinceMs: null,
};

/** The time in a column, where NaN means none. */
export function knownTime(ms: number): number | null {
  return Number.isNaN(ms) ? null : ms;
}

/** Handles equal infinities, whose difference is NaN. */
export function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
