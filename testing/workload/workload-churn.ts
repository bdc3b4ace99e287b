// Changes of a generated fleet between two cycles: some clusters send a roll-up with changed rows, some bound machines
// fail and failed ones recover. Step n is deterministic. A step is derived from the fleet's rows and records, so each step
// has to be applied before the next one is made. Generating the workload again would leave enough garbage to burden the
// cycles measured next to it, and a list of all Needs would burden every collection; a shard has neither on the thread of its
// cycles. Changed rows are known when they are made, so no roll-up is compared with the one before it. Used by
// bench/ladder and bench/shard.

import { type Row, STREAM, WORKLOAD_NOW_MS } from '../../src/demo/workload/rows.ts';
import type { Change } from '../../src/demo/workload/scale-profile.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { FRESH, type LedgerMachine, type Need, type RollupDelta, scale } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import type { Workload } from './workload.ts';
import { hostOf, STATUS } from './workload-machines.ts';

export interface ChurnStep {
  readonly rollUps: readonly RollupDelta[];
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
  /** Bound machines that are down, longest first. */
  readonly #failed: LedgerMachine[] = [];

  /** `fleet`: has the workload loaded, and every step applied before the next one. */
  constructor(workload: Workload, change: Change, fleet: Fleet) {
    this.#workload = workload;
    this.#fleet = fleet;
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

  /** The loaded roll-up is version 1. */
  #rollUp(number: number): RollupDelta {
    const time = ++this.#rollUps[number]!;
    const { clusters, demand } = this.#fleet;
    const random = new Random(this.#workload.seed, STREAM.churn, number, time);
    const cluster = this.#workload.clusterName(number);
    const known = clusters.find(cluster);
    const { length } = demand.rowsOf(known);
    const needs = new Map<number, Need>();
    for (const place of placesIn(random, length, this.#change.rows))
      needs.set(place, this.#changed(random, demand.needIn(known, place), time));
    const origin = Int32Array.from({ length }, (_, place) => (needs.has(place) ? FRESH : place));
    const fresh = [...needs.keys()].sort((a, b) => a - b).map((place) => needs.get(place)!);
    return { cluster, base: time, version: time + 1, origin, fresh };
  }

  #changed(random: Random, need: Need, time: number): Need {
    const { cluster, profile, minUnit } = need;
    const { group, pods, firstSeenMs } = changed(random, { ...need, pods: podsOf(need) }, time);
    const aggregate = scale(minUnit, pods);
    // Fields in the order of `RowObjects.needOf`: objects of two shapes would slow down every reader of Needs.
    return { cluster, profile, group, aggregate, minUnit, firstSeenMs };
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
  const places = placesIn(random, rows.length, part);
  for (const place of places) rows[place] = changed(random, rows[place]!, time);
  return places;
}

function placesIn(random: Random, length: number, part: number): number[] {
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
