import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources } from '../../../testing/support/fleets.ts';
import { keyOf, MachineState, type ResourceVector, wholeRollup } from '../../model/index.ts';
import { Fleet, MAX_DIMENSIONS } from '../index.ts';

const { Idle } = MachineState;

function vector(from: number, to: number): ResourceVector {
  const names = Array.from({ length: to - from }, (_, i) => `r${from + i}`);
  return new Map(names.map((name, i) => [name, from + i + 1]));
}

function machine(id: string, offered: ResourceVector) {
  return aMachine(id, Idle, { resources: offered });
}

/** Fourteen resources in use, so two more fit. One class number is free for reuse. */
function fleetOfFourteen(): Fleet {
  const fleet = new Fleet();
  fleet.machines.load([machine('gone', vector(0, 2)), machine('m', vector(0, 14))]);
  fleet.machines.remove('gone');
  fleet.demand.replace('c1', [aNeed({ aggregate: vector(0, 3), minUnit: vector(0, 1) })]);
  return fleet;
}

/** State that a refusal must not change. */
function viewOf(fleet: Fleet) {
  const { machines, demand, classes, keys, patterns, dimensions } = fleet;
  const slots = Array.from({ length: machines.size }, (_, slot) => slot);
  const lengths = classes.attributes.map((_, number) => machines.idleSlices[number]?.length ?? 0);
  return {
    records: slots.filter((slot) => machines.state[slot] !== 0).map((slot) => machines.recordAt(slot)),
    rows: demand.rowsOf(fleet.clusters.find('c1')),
    aggregate: demand.aggregate.at(demand.rowsOf(fleet.clusters.find('c1')).offset),
    numbers: [machines.count, demand.count, classes.count, classes.size, keys.count, patterns.count],
    dimensions: dimensions.count,
    lengths,
  };
}

describe('dimensions', () => {
  it('given sixteen resources, when vectors of all widths are written, then each is read back complete', () => {
    const fleet = new Fleet();
    for (let width = 1; width <= MAX_DIMENSIONS; width++) {
      fleet.machines.put(machine(`m${width}`, vector(0, width)));
    }
    expect(fleet.dimensions.count).toBe(16);
    for (let width = 1; width <= MAX_DIMENSIONS; width++) {
      const slot = fleet.machines.slotOf(`m${width}`)!;
      const at = fleet.machines.classOf[slot]! * fleet.dimensions.stride;
      expect(fleet.dimensions.vectorOf(fleet.classes.allocatable.data, at)).toEqual(vector(0, width));
    }
  });

  it('given sixteen resources, when a machine has a seventeenth, then it is refused with its name', () => {
    const fleet = new Fleet();
    fleet.machines.put(machine('m', vector(0, 16)));
    const put = () => fleet.machines.put(machine('n', resources({ 'example.com/one\nmore': 1 })));
    expect(put).toThrow(/BF_DIMENSION_LIMIT.*"example.com\/one\\u000amore" would be number 17, after r0, /);
  });

  it.each([
    ['an unknown machine', (f: Fleet) => f.machines.put(machine('n', vector(14, 17)))],
    ['a known machine', (f: Fleet) => f.machines.put(machine('m', vector(14, 17)))],
    [
      'an update of a known machine',
      (f: Fleet) =>
        f.machines.update(f.machines.slotOf('m')!, { blocked: true }, machine('m', vector(14, 17))),
    ],
    [
      'the last machine of a list',
      (f: Fleet) => f.machines.load([machine('a', vector(0, 1)), machine('b', vector(14, 17))]),
    ],
  ])(
    'given room for two resources, when %s has three new ones, then nothing is written and two still fit',
    (_, act) => {
      const fleet = fleetOfFourteen();
      const before = viewOf(fleet);
      expect(() => act(fleet)).toThrow(/BF_DIMENSION_LIMIT/);
      expect(viewOf(fleet)).toEqual(before);
      fleet.machines.put(machine('m', vector(0, 16)));
      fleet.machines.put(machine('z', vector(0, 16)));
      expect(fleet.machines.count).toBe(2);
      expect([fleet.classes.count, fleet.classes.size]).toEqual([1, 2]);
    },
  );

  it('given room for two resources, when a roll-up has three new ones, then rows that fit are accepted and the others set aside', () => {
    const fleet = fleetOfFourteen();
    const fits = aNeed({ priority: 9, aggregate: vector(0, 15), minUnit: vector(0, 1) });
    const tooMuch = aNeed({ priority: 8, aggregate: vector(15, 16), minUnit: vector(16, 17) });
    const fitsToo = aNeed({ priority: 7, aggregate: vector(14, 16), minUnit: vector(0, 1) });
    fleet.demand.apply(wholeRollup('c1', [fits, tooMuch, fitsToo], 1));
    const aside = { ...tooMuch, aggregate: new Map(), minUnit: new Map(), setAside: true };
    expect(fleet.demand.needsOf(fleet.clusters.find('c1'))).toEqual([fits, aside, fitsToo]);
    expect(fleet.demand.needOf(keyOf(tooMuch))).toEqual(aside);
    expect(fleet.dimensions.names).toEqual([...vector(0, 16).keys()]);
    // A row that the ledger set aside stays so for as long as a roll-up keeps it.
    const kept = { cluster: 'c1', base: 1, version: 2, origin: Int32Array.of(1, 0), fresh: [] };
    expect(fleet.demand.apply(kept)).toBe(true);
    expect(fleet.demand.needsOf(fleet.clusters.find('c1'))).toEqual([aside, fits]);
  });
});
