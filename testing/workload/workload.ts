// Generates a fleet from a profile and a seed, byte-identical on every machine. Parts that can be regenerated are not
// kept, so the largest profile is streamed: a cluster's rows are generated on request, machines one after the other.
// Used by the benchmarks, `npm run verify:oracle` and test/engine/rungs.ts.

import { RowObjects } from '../../src/demo/workload/row-objects.ts';
import { type ClusterPlan, holdingsOf, type Row, RowMaker } from '../../src/demo/workload/rows.ts';
import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { Fleet } from '../../src/fleet/index.ts';
import { type LedgerMachine, MachineState, type Need, wholeRollup } from '../../src/model/index.ts';
import { MachineMaker, type MachineStatus, STATUS } from './workload-machines.ts';
import { type ExpectedActions, NOTHING_EXPECTED, Planting } from './workload-planted.ts';

/**
 * How the fleet starts out:
 *  quiet   every row has exactly the machines it needs, stamped for it: nothing to do
 *  full    quiet, with losses, surpluses, shortfalls and inversions planted in it
 *  cold    the same machines, none of them bound: everything is unmet
 */
export type Beginning = 'quiet' | 'full' | 'cold';

export class Workload {
  readonly profile: ScaleProfile;
  readonly seed: number;
  readonly beginning: Beginning;
  readonly maker: RowMaker;
  readonly rowObjects: RowObjects;
  readonly #machines: MachineMaker;
  readonly #planting: Planting | null;

  constructor(profile: ScaleProfile, seed: number, beginning: Beginning) {
    this.profile = profile;
    this.seed = seed;
    this.beginning = beginning;
    this.maker = new RowMaker(profile, seed);
    this.rowObjects = new RowObjects(this.maker);
    this.#machines = new MachineMaker(this.maker, this.rowObjects);
    this.#planting =
      beginning === 'full'
        ? new Planting(this.maker, this.rowObjects, this.#machines, (cluster) => this.#unplanted(cluster))
        : null;
  }

  /** The actions one cycle must produce for this fleet; null if unknown, which is the case for a cold one. */
  get expected(): ExpectedActions | null {
    if (this.beginning === 'cold') return null;
    return this.#planting?.expected ?? NOTHING_EXPECTED;
  }

  get machineCount(): number {
    const { configured, idle, speculative } = this.profile;
    return configured + idle + speculative;
  }

  clusterName(cluster: number): string {
    return `cluster-${String(cluster).padStart(4, '0')}`;
  }

  planOf(cluster: number): ClusterPlan {
    const plan = this.#unplanted(cluster);
    this.#planting?.apply(cluster, plan);
    return plan;
  }

  #unplanted(cluster: number): ClusterPlan {
    const { needs, configured } = this.profile;
    const rows = this.maker.rowsOf(cluster, this.#part(needs, cluster), this.#part(configured, cluster));
    return { rows, holdings: holdingsOf(this.maker, rows) };
  }

  /** A cluster's part of a total, as even as integers allow; the first clusters get the remainder. */
  #part(total: number, cluster: number): number {
    const { clusters } = this.profile;
    return Math.floor(total / clusters) + (cluster < total % clusters ? 1 : 0);
  }

  needsOf(cluster: number): Need[] {
    return this.asNeeds(cluster, this.planOf(cluster).rows);
  }

  asNeeds(cluster: number, rows: readonly Row[]): Need[] {
    const name = this.clusterName(cluster);
    return rows.map((row) => this.rowObjects.needOf(row, name));
  }

  /** Rows the engine serves: plain rows, gangs of several machines, and one for each set of equal small gangs. */
  rowsAfterFold(cluster: number): number {
    return this.planOf(cluster).holdings.length;
  }

  /** The id of the n-th record. Those that are bound at the start come first. */
  machineId(ordinal: number): string {
    return this.#machines.idOf(ordinal);
  }

  /** Every record once: bound ones cluster by cluster, then Idle ones, then quota slots. */
  *machines(): Generator<LedgerMachine> {
    let ordinal = 0;
    for (let cluster = 0; cluster < this.profile.clusters; cluster++) {
      for (const machine of this.boundOf(cluster, ordinal)) {
        ordinal++;
        yield machine;
      }
    }
    for (const pool of ['idle', 'speculative'] as const) {
      for (const site of this.#machines.poolSites(pool)) {
        yield this.#machines.machine(ordinal++, site, STATUS[pool]);
      }
    }
  }

  /** Machines bound to a cluster, numbered from `ordinal` on. */
  *boundOf(cluster: number, ordinal: number): Generator<LedgerMachine> {
    const name = this.clusterName(cluster);
    const placement = this.#machines.placement(cluster);
    for (const holding of this.planOf(cluster).holdings) {
      const bound: MachineStatus =
        this.beginning === 'cold'
          ? STATUS.idle
          : {
              state: MachineState.Configured,
              cluster: name,
              stamp: this.rowObjects.stampOf(holding),
              lastError: '',
            };
      let i = 0;
      for (const site of this.#machines.boundSites(holding, placement)) {
        yield this.#machines.machine(ordinal++, site, i++ < holding.lost ? STATUS.failed : bound);
      }
    }
  }

  newFleet(): Fleet {
    const fleet = new Fleet();
    this.load(fleet);
    return fleet;
  }

  /** Fills an empty fleet, one record at a time. */
  load(fleet: Fleet): void {
    fleet.machines.batch(() => {
      for (const machine of this.machines()) fleet.machines.put(machine);
    });
    for (let cluster = 0; cluster < this.profile.clusters; cluster++)
      fleet.demand.apply(wholeRollup(this.clusterName(cluster), this.needsOf(cluster), 1));
  }
}
