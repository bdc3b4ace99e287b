// What happens to a generated fleet between two cycles: some clusters send a roll-up in which some rows changed, some
// bound machines fail and failed ones come back. Step n is the same whenever and wherever it is made. Only counters
// and the last roll-ups are kept: a cluster's rows after its k-th roll-up are made again from the first by repeating
// the k changes. Needs that did not change are the same objects as before, as they are when an intake reads them.

import { type LedgerMachine, MachineState, type Need, Random } from '../model/index.ts';
import type { Change } from './scale-profile.ts';
import type { Workload } from './workload.ts';
import { type Row, STREAM, WORKLOAD_NOW_MS } from './workload-rows.ts';

export interface RollUp {
  readonly cluster: string;
  /** The cluster's complete demand. */
  readonly needs: readonly Need[];
  /** How many of them differ from the roll-up before. */
  readonly changed: number;
}

export interface ChurnStep {
  readonly rollUps: readonly RollUp[];
  /** Records that replace those with the same id. */
  readonly machines: readonly LedgerMachine[];
}

/** A changed plain row grows or shrinks by up to this part of its pods. */
const LARGEST_CHANGE = 0.2;
const CYCLE_MS = 1000;

export class Churn {
  readonly #workload: Workload;
  readonly #change: Change;
  #step = 0;
  /** How often each cluster has sent a new roll-up. */
  readonly #rollUps: Int32Array;
  /** The last roll-up of each cluster. */
  readonly #sent: (readonly Need[])[];
  /** Bound machines that are down, longest first. */
  readonly #failed: LedgerMachine[] = [];

  /** `loaded`: what each cluster has reported so far. */
  constructor(workload: Workload, change: Change, loaded: readonly (readonly Need[])[]) {
    this.#workload = workload;
    this.#sent = [...loaded];
    this.#change = change;
    this.#rollUps = new Int32Array(workload.profile.clusters);
  }

  /** The next step. */
  next(): ChurnStep {
    const { profile, seed } = this.#workload;
    const random = new Random(seed, STREAM.churn, this.#step++);
    const clusters = random.distinct(partOf(this.#change.clusters, profile.clusters), profile.clusters);
    return {
      rollUps: clusters.sort((a, b) => a - b).map((cluster) => this.#rollUp(cluster)),
      machines: this.#machineChanges(random),
    };
  }

  #rollUp(cluster: number): RollUp {
    const times = ++this.#rollUps[cluster]!;
    const rows = [...this.#workload.planOf(cluster).rows];
    let changed: readonly number[] = [];
    for (let i = 1; i <= times; i++) {
      const random = new Random(this.#workload.seed, STREAM.churn, cluster, i);
      changed = changeRows(random, rows, this.#change.rows, i);
    }
    const needs = [...this.#sent[cluster]!];
    for (const place of changed) needs[place] = this.#workload.asNeeds(cluster, [rows[place]!])[0]!;
    this.#sent[cluster] = needs;
    return { cluster: this.#workload.clusterName(cluster), needs, changed: changed.length };
  }

  /** Half of the changes are bound machines that fail, half are machines that come back, as far as any are down. */
  #machineChanges(random: Random): LedgerMachine[] {
    const { profile, machineCount } = this.#workload;
    const count = this.#change.machines > 0 ? partOf(this.#change.machines, machineCount) : 0;
    const repaired = this.#failed.splice(0, Math.floor(count / 2)).map((machine): LedgerMachine => {
      return { ...machine, state: MachineState.Idle, lastError: '' };
    });
    const down = new Set(this.#failed.map(({ id }) => id));
    const failing: LedgerMachine[] = [];
    for (const ordinal of random.distinct(count - repaired.length, profile.configured)) {
      const machine = this.#workload.boundMachine(ordinal);
      if (down.has(machine.id) || repaired.some(({ id }) => id === machine.id)) continue;
      failing.push({
        ...machine,
        state: MachineState.Failed,
        cluster: '',
        stamp: null,
        lastError: 'the host stopped answering',
      });
    }
    this.#failed.push(...failing);
    return [...repaired, ...failing];
  }
}

/**
 * Changes this part of some rows in place, and says which. A gang that changes is a job that ended and one like it that
 * begins; a plain row gets more or fewer pods. `time`: how often these rows have changed, this time included.
 */
export function changeRows(random: Random, rows: Row[], part: number, time: number): readonly number[] {
  const places = random.distinct(partOf(part, rows.length), rows.length);
  for (const place of places) {
    const row = rows[place]!;
    if (row.group !== '') {
      const group = `${row.group.split('.')[0]}.${time}`;
      rows[place] = { ...row, group, firstSeenMs: WORKLOAD_NOW_MS + time * CYCLE_MS };
    } else {
      const most = Math.max(1, Math.floor(row.pods * LARGEST_CHANGE));
      const by = random.between(1, most);
      const pods = random.chance(0.5) && row.pods > by ? row.pods - by : row.pods + by;
      rows[place] = { ...row, pods };
    }
  }
  return places;
}

/** A part of a whole, at least one. */
function partOf(part: number, whole: number): number {
  return Math.min(whole, Math.max(1, Math.round(part * whole)));
}
