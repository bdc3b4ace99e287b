import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMachine, resources } from '../../../testing/support/fleets.ts';
import { MachineState, Operator } from '../../model/index.ts';
import { Fleet } from '../index.ts';

describe('the classes of a pattern', () => {
  it('given classes that are added and removed, then its lists equal those computed from scratch', () => {
    const moves = fc.array(
      fc.record({
        id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
        zone: fc.constantFrom('za', 'zb', null),
        price: fc.integer({ min: 1, max: 4 }),
        cpu: fc.constantFrom(2, 4),
        examined: fc.nat({ max: 2 }),
        compare: fc.boolean(),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(moves, (steps) => {
        const fleet = new Fleet();
        const requirements = [
          { key: 'topology.kubernetes.io/zone', operator: Operator.In, values: ['za'] },
        ] as const;
        const kept = fleet.patterns.patternOf(
          fleet.patterns.retain(requirements, resources({ cpu: 3 }), 'cpu=3'),
        );
        for (const { id, zone, price, cpu, examined, compare } of steps) {
          if (zone === null) fleet.machines.remove(id);
          else {
            const facts = { zone, pricePerHour: price, resources: resources({ cpu }) };
            fleet.machines.put(aMachine(id, MachineState.Idle, facts));
          }
          kept.examine(examined);
          if (!compare) continue;
          const { attributes, offered } = fleet.classes;
          const inZone = [...attributes.keys()].filter((c) => attributes[c]?.zone === 'za');
          expect([...kept.matchingClasses()]).toEqual(inZone);
          expect([...kept.fittingClasses()]).toEqual(inZone.filter((c) => offered[c]!.get('cpu') === 4));
        }
      }),
    );
  });

  it('given patterns that share a requirement, one of which is dropped, then the other one still sees a reused class number', () => {
    const fleet = new Fleet();
    const requirements = [
      { key: 'topology.kubernetes.io/zone', operator: Operator.In, values: ['za'] },
    ] as const;
    const dropped = fleet.patterns.retain(requirements, resources({ cpu: 1 }), 'cpu=1');
    const kept = fleet.patterns.patternOf(
      fleet.patterns.retain(requirements, resources({ cpu: 3 }), 'cpu=3'),
    );
    fleet.machines.put(aMachine('m', MachineState.Idle, { zone: 'zb' }));
    expect(fleet.patterns.patternOf(dropped).matches(0)).toBe(false);
    expect(kept.matches(0)).toBe(false);

    fleet.patterns.drop(dropped);
    fleet.machines.remove('m');
    fleet.machines.put(aMachine('m', MachineState.Idle, { zone: 'za' }));

    expect(fleet.classes.size).toBe(1);
    expect(kept.matches(0)).toBe(true);
  });

  it('given classes and more requirements than a mask has bits, then a class that matches has all bits of the pattern', () => {
    const zones = Array.from({ length: 40 }, (_, i) => `z${i}`);
    const steps = fc.array(
      fc.record({
        id: fc.constantFrom('a', 'b', 'c', 'd'),
        machineIn: fc.constantFrom(...zones),
        wanted: fc.constantFrom(...zones),
        isAdded: fc.boolean(),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const fleet = new Fleet();
        const numbers = new Map<string, number>();
        for (const { id, machineIn, wanted, isAdded } of all) {
          fleet.machines.put(aMachine(id, MachineState.Idle, { zone: machineIn }));
          const known = numbers.get(wanted);
          if (known !== undefined) fleet.patterns.drop(known);
          numbers.delete(wanted);
          if (isAdded) {
            const inZone = { key: 'topology.kubernetes.io/zone', operator: Operator.In, values: [wanted] };
            numbers.set(wanted, fleet.patterns.retain([inZone], resources({}), ''));
          }
          for (const c of fleet.classes.attributes.keys()) {
            if (fleet.classes.attributes[c] === undefined) continue;
            for (const number of numbers.values()) {
              const pattern = fleet.patterns.patternOf(number);
              const passes = (fleet.patterns.maskOf(c) & pattern.mask) === pattern.mask;
              expect(passes || !pattern.matches(c)).toBe(true);
            }
          }
        }
      }),
    );
  });
});
