// Changes of a generated fleet between two cycles: some clusters send a roll-up with changed rows, some bound machines
// fail and failed ones recover. Step n is deterministic. A step is derived from the last roll-ups and the fleet's
// records, not by generating the workload again: that would leave enough garbage to burden the cycles measured next to
// it. Changed rows are known when they are made, so no roll-up is compared with the one before it. Used by bench/ladder
// and bench/shard.

import { type Row, STREAM, WORKLOAD_NOW_MS } from '../../src/demo/workload/rows.ts';
import type { Change } from '../../src/demo/workload/scale-profile.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { FRESH, type LedgerMachine, type Need, type RollupDelta } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import type { Workload } from './workload.ts';
import { hostOf, STATUS } from './workload-machines.ts';

export interface RollUp {
  readonly cluster: string;
  /** The cluster's complete demand. */
  readonly needs: readonly Need[];
  readonly delta: RollupDelta;
}

export interface ChurnStep {
  readonly rollUps: readonly RollUp[];
  /** Records that replace those with the same id. */
  readonly machines: readonly LedgerMachine[];
}

/** Bound of the change of a plain row, as a fraction of its pods. */
const LARGEST_CHANGE = 0.2;
const CYCLE_MS = 1000;

export class Churn {
  readonly #workload: Workload;
  readonly #fleet: Fleet;
  readonly #change: Change;
  #step = 0;
  /** Roll-ups sent so far, by cluster. */
  readonly #rollUps: Int32Array;
  /** The last roll-up of each cluster. */
  readonly #sent: readonly Need[][];
  /** Bound machines that are down, longest first. */
  readonly #failed: LedgerMachine[] = [];

  /** `fleet`: has the workload loaded; `loaded`: the last report of each cluster. */
  constructor(workload: Workload, change: Change, fleet: Fleet, loaded: readonly (readonly Need[])[]) {
    this.#workload = workload;
    this.#fleet = fleet;
    this.#sent = loaded.map((needs) => [...needs]);
    this.#change = change;
    this.#rollUps = new Int32Array(workload.profile.clusters);
  }

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
    const time = ++this.#rollUps[cluster]!;
    const { seed, rowObjects } = this.#workload;
    const random = new Random(seed, STREAM.churn, cluster, time);
    // Changed in place: a copy of each roll-up would be garbage that a shard does not have.
    const needs = this.#sent[cluster]!;
    const places = placesIn(random, needs, this.#change.rows);
    for (const place of places) {
      const need = needs[place]!;
      const { group, firstSeenMs } = need;
      const row = changed(random, { group, firstSeenMs, pods: podsOf(need) }, time);
      // Fields in the order of `RowObjects.needOf`: objects of two shapes would slow down every reader of Needs.
      needs[place] = {
        cluster: need.cluster,
        profile: need.profile,
        group: row.group,
        aggregate: rowObjects.times(need.minUnit, row.pods),
        minUnit: need.minUnit,
        firstSeenMs: row.firstSeenMs,
      };
    }
    const name = this.#workload.clusterName(cluster);
    return { cluster: name, needs, delta: this.#deltaOf(name, needs, places, time) };
  }

  /** `time`: number of the roll-up; the loaded one is version 1. */
  #deltaOf(cluster: string, needs: readonly Need[], places: readonly number[], time: number): RollupDelta {
    const origin = Int32Array.from(needs.keys());
    for (const place of places) origin[place] = FRESH;
    const fresh = needs.filter((_, i) => origin[i] === FRESH);
    return { cluster, base: time, version: time + 1, origin, fresh };
  }

  /** Half of the changes are bound machines that fail, half are machines that recover, as far as any are down. */
  #machineChanges(random: Random): LedgerMachine[] {
    const { profile, machineCount } = this.#workload;
    const count = this.#change.machines > 0 ? partOf(this.#change.machines, machineCount) : 0;
    const repaired = this.#failed.splice(0, Math.floor(count / 2)).map((machine): LedgerMachine => {
      return { ...machine, ...STATUS.idle };
    });
    const down = new Set(this.#failed.map(({ id }) => id));
    const failing: LedgerMachine[] = [];
    for (const ordinal of random.distinct(count - repaired.length, profile.configured)) {
      const id = this.#workload.machineId(ordinal);
      if (down.has(id) || repaired.some((machine) => machine.id === id)) continue;
      failing.push(this.#failing(id));
    }
    this.#failed.push(...failing);
    return [...repaired, ...failing];
  }

  /** The record of a machine that fails: keeps its hardware and drops everything the fleet has done with it. */
  #failing(id: string): LedgerMachine {
    const { machines } = this.#fleet;
    const made = machines.recordAt(machines.slotOf(id)!);
    return {
      ...made,
      ...STATUS.failed,
      host: hostOf(id, STATUS.failed.state),
      blocked: false,
      target: null,
      idleSinceMs: null,
      unclaimedSinceMs: null,
    };
  }
}

/** Pods of a Need whose aggregate is a multiple of min_unit. */
function podsOf({ aggregate, minUnit }: Need): number {
  for (const [name, units] of minUnit) return aggregate.get(name)! / units;
  return 0;
}

/**
 * Changes the fraction `part` of the rows in place and returns their indexes. `time`: how often they have changed,
 * including now.
 */
export function changeRows(random: Random, rows: Row[], part: number, time: number): readonly number[] {
  const places = placesIn(random, rows, part);
  for (const place of places) rows[place] = changed(random, rows[place]!, time);
  return places;
}

function placesIn(random: Random, { length }: readonly unknown[], part: number): number[] {
  return random.distinct(partOf(part, length), length);
}

/** A changed gang is a job that ended and a similar one that starts; a plain row gets more or fewer pods. */
function changed<Of extends Pick<Row, 'group' | 'pods' | 'firstSeenMs'>>(
  random: Random,
  row: Of,
  time: number,
): Of {
  if (row.group !== '') {
    const group = inOnePiece(`${row.group.split('.')[0]}.${time}`);
    return { ...row, group, firstSeenMs: WORKLOAD_NOW_MS + time * CYCLE_MS };
  }
  const most = Math.max(1, Math.floor(row.pods * LARGEST_CHANGE));
  const by = random.between(1, most);
  const pods = random.chance(0.5) && row.pods > by ? row.pods - by : row.pods + by;
  return { ...row, pods };
}

/** A flat copy, as a decoder creates it: V8 keeps a concatenated string as a chain of parts until it is first read. */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** A fraction of a whole, at least one. */
function partOf(part: number, whole: number): number {
  return Math.min(whole, Math.max(1, Math.round(part * whole)));
}
