// The fleet: machines and demand together, as one writer keeps them and one cycle reads them.

import type { DecisionInput } from '../model/index.ts';
import { ClassTable } from './classes.ts';
import { DomainTable } from './domains.ts';
import { MachineLedger } from './machines.ts';
import { KeyTable, NameTable } from './names.ts';
import { DemandLedger } from './needs.ts';
import { PatternTable } from './patterns.ts';
import { Dimensions } from './vectors.ts';

export class Fleet {
  readonly dimensions = new Dimensions();
  readonly clusters = new NameTable();
  readonly keys = new KeyTable();
  readonly classes = new ClassTable(this.dimensions);
  readonly patterns = new PatternTable(this.classes);
  readonly domains = new DomainTable(this.classes);
  readonly machines = new MachineLedger(this.classes, this.clusters, this.keys);
  readonly demand = new DemandLedger(this.clusters, this.keys, this.patterns, this.dimensions);
}

/** A fleet that holds exactly what a decision's input describes. */
export function fleetOf(input: DecisionInput): Fleet {
  const fleet = new Fleet();
  fleet.machines.load(input.machines);
  for (const [cluster, needs] of Map.groupBy(input.needs, (need) => need.cluster))
    fleet.demand.replace(cluster, needs);
  return fleet;
}
