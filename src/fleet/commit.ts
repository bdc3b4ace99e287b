// A commit of pending changes, in two steps: the machines are written before the commit exists, the rows with
// `writeRows`. In between, other threads may start on clusters that did not report, because nothing that they read
// changes any more. Made by pending-changes.ts; the shard's cycle calls both steps (planning/cycles.ts).

import type { Problem } from '../model/index.ts';
import type { PendingRollUps, WrittenRows } from './demand/pending-roll-ups.ts';
import type { WrittenMachines } from './machines/machine-drafts.ts';
import type { PendingChange } from './pending-changes.ts';

/** An entry that was not applied, with every reason. */
interface RefusedEntry {
  readonly entry: PendingChange;
  readonly problems: readonly Problem[];
}

/** What one commit did to the ledgers. */
export interface AppliedChanges extends WrittenMachines, WrittenRows {
  /** In order of arrival. */
  readonly refused: readonly RefusedEntry[];
}

/** Refused entries by their number among the pending changes. */
export type Refusals = Map<number, RefusedEntry>;

export class Commit {
  readonly machines: WrittenMachines;
  /** Numbers of the reporting clusters, whose rows `writeRows` may change. */
  readonly reporting: ReadonlySet<number>;
  readonly #rollUps: PendingRollUps;
  readonly #refused: Refusals;

  constructor(machines: WrittenMachines, rollUps: PendingRollUps, refused: Refusals) {
    this.machines = machines;
    this.reporting = rollUps.reporting();
    this.#rollUps = rollUps;
    this.#refused = refused;
  }

  /** The second step; once per commit. */
  writeRows(): AppliedChanges {
    const rows = this.#rollUps.write();
    const refused = [...this.#refused].sort(([a], [b]) => a - b).map(([, entry]) => entry);
    return { ...this.machines, ...rows, refused };
  }
}
