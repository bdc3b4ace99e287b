import { describe, expect, it } from 'vitest';
import { aMachine, aNeed } from '../../../testing/support/fleets.ts';
import { Fleet } from '../../fleet/index.ts';
import { type LedgerMachine, MachineState, Operator } from '../../model/index.ts';
import { Cycle } from '../cycle.ts';
import { type PassRows, Separations } from './separations.ts';

const REGIONS = ['east', 'west'];
const MACHINES = 400;
const ROWS = 20;

/** Idle machines of both regions, each a class of its own. */
function machines(firstPrice: number): LedgerMachine[] {
  return Array.from({ length: MACHINES }, (_, i) =>
    aMachine(`m${i}`, MachineState.Idle, {
      pricePerHour: firstPrice + i / MACHINES,
      labels: new Map([['region', REGIONS[i % 2]!]]),
    }),
  );
}

/** A fleet with a cluster in each region, whose rows are bound to it. */
function regionalFleet(): Fleet {
  const fleet = new Fleet();
  fleet.machines.load(machines(1));
  for (const region of REGIONS) {
    const requirements = [{ key: 'region', operator: Operator.In, values: [region] }];
    const rows = Array.from({ length: ROWS / 2 }, (_, i) =>
      aNeed({ cluster: region, priority: i, requirements }),
    );
    fleet.demand.replace(region, rows);
  }
  return fleet;
}

/** The first rows of each cluster. */
function passOf({ clusters, demand }: Fleet, rowsPerCluster: number): PassRows {
  const rows = REGIONS.flatMap((region) => {
    const cluster = clusters.find(region);
    const { offset } = demand.rowsOf(cluster);
    return [...demand.ranked.slice(offset, offset + rowsPerCluster)].map((row) => ({ cluster, row }));
  });
  return {
    rankedRow: Uint32Array.from(rows.keys()),
    cluster: Uint32Array.from(rows, ({ cluster }) => cluster),
    pattern: Uint32Array.from(rows, ({ row }) => demand.pattern[row]!),
  };
}

/** Parts that a pass is divided into; one more than the regions, for machines without one. */
function partsOf(separations: Separations, fleet: Fleet, rowsPerCluster: number): number {
  return separations.best(new Cycle(fleet), passOf(fleet, rowsPerCluster), 1).parts;
}

describe('the label that divided the last pass', () => {
  it('given a pass of few rows and classes that are all new, then it is not tried: reading them would take longer than serving', () => {
    const fleet = regionalFleet();
    const separations = new Separations();
    expect(partsOf(separations, fleet, ROWS / 2)).toBe(3);
    fleet.machines.load(machines(2));
    expect(partsOf(separations, fleet, 1)).toBe(1);
    expect(partsOf(separations, fleet, ROWS / 2)).toBe(3);
  });

  it('given a pass of few rows and classes that were read before, then it divides these rows as well', () => {
    const fleet = regionalFleet();
    const separations = new Separations();
    expect(partsOf(separations, fleet, ROWS / 2)).toBe(3);
    expect(partsOf(separations, fleet, 1)).toBe(3);
  });
});
