// The fleet: machines and demand together, as one writer keeps them and one cycle reads them.

import type { DecisionInput } from '../model/index.ts';
import { Changes } from './changes.ts';
import { ClassTable } from './classes.ts';
import { DemandLedger } from './demand.ts';
import { DomainTable } from './domains.ts';
import { type AppliedChanges, applyJournal, type Meanwhile } from './freeze.ts';
import type { Journal } from './journal.ts';
import { MachineLedger } from './machines.ts';
import { KeyTable, NameTable } from './names.ts';
import { PatternTable } from './patterns.ts';
import { Dimensions } from './vectors.ts';

export class Fleet {
  readonly dimensions = new Dimensions();
  readonly clusters = new NameTable();
  readonly keys = new KeyTable(this.clusters);
  readonly classes = new ClassTable(this.dimensions);
  readonly patterns = new PatternTable(this.classes);
  readonly domains = new DomainTable(this.classes);
  /** Tells everyone who watches which clusters' rows, or whose view of the machines, have changed. */
  readonly changes = new Changes();
  /** Of these, those where it may have changed which rows there are, which of them may fold, or what they wait for. */
  readonly reshaped = new Changes();
  readonly machines = new MachineLedger(this.classes, this.clusters, this.keys, this.changes, this.reshaped);
  readonly demand = new DemandLedger(this.clusters, this.keys, this.patterns, this.dimensions, [
    this.changes,
    this.reshaped,
  ]);
  /** Measured median drain by instance type, for machines that arrive. */
  readonly drainSecondsOfType = new Map<string, number>();

  /** Counts what was written: whoever keeps numbers of machines, rows or keys sees whether they still mean the same. */
  get revision(): number {
    return this.machines.revision + this.demand.revision;
  }

  /** Makes the view that the next cycle reads: applies the journal and empties it. */
  freeze(journal: Journal, meanwhile?: Meanwhile): AppliedChanges {
    return applyJournal(this, journal, meanwhile);
  }
}

/** A fleet that holds exactly what a decision's input describes. */
export function fleetOf(input: DecisionInput): Fleet {
  const fleet = new Fleet();
  fleet.machines.load(input.machines);
  for (const [cluster, needs] of Map.groupBy(input.needs, (need) => need.cluster))
    fleet.demand.replace(cluster, needs);
  return fleet;
}
