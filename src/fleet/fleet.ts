// The fleet: the machine and demand ledgers with their shared tables. One writer changes it, and a cycle reads it. The
// writer is pending-changes.ts on the controller's thread; the engine gets it as a `FleetView` (view.ts).

import { Changes } from '../collections/changes.ts';
import type { DecisionInput } from '../model/index.ts';
import { DemandLedger } from './demand/demand-ledger.ts';
import { MachineTable } from './machines/machine-table.ts';
import { ClassTable } from './tables/classes.ts';
import { DomainTable } from './tables/domains.ts';
import { KeyTable, NameTable } from './tables/names.ts';
import { PatternTable } from './tables/patterns.ts';
import { Dimensions } from './tables/vectors.ts';

export class Fleet {
  readonly dimensions = new Dimensions();
  readonly clusters = new NameTable();
  readonly keys = new KeyTable(this.clusters);
  readonly classes = new ClassTable(this.dimensions);
  readonly patterns = new PatternTable(this.classes);
  readonly domains = new DomainTable(this.classes);
  /** Publishes clusters whose rows, or whose machines, have changed. */
  readonly changes = new Changes();
  /** The subset of `changes` where the set of rows, which of them may fold, or what they wait for may have changed. */
  readonly reshaped = new Changes();
  readonly machines = new MachineTable(this.classes, this.clusters, this.keys, this.changes, this.reshaped);
  readonly demand = new DemandLedger(this.clusters, this.keys, this.patterns, this.dimensions, [
    this.changes,
    this.reshaped,
  ]);
  /** Measured median drain time by instance type, for new machines. */
  readonly drainSecondsOfType = new Map<string, number>();

  /** Number of writes. Callers that cache numbers of machines, rows or keys compare it to detect stale ones. */
  get revision(): number {
    return this.machines.revision + this.demand.revision;
  }
}

/** A fleet with exactly the machines and Needs of a decision's input. */
export function fleetOf(input: DecisionInput): Fleet {
  const fleet = new Fleet();
  fleet.machines.load(input.machines);
  for (const [cluster, needs] of Map.groupBy(input.needs, (need) => need.cluster))
    fleet.demand.replace(cluster, needs);
  return fleet;
}
