import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, resources, stampOf } from '../../../testing/support/fleets.ts';
import { type Fleet, fleetOf } from '../../fleet/index.ts';
import {
  covers,
  effectiveAllocatable,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  Operator,
  type Requirement,
  ZONE_KEY,
} from '../../model/index.ts';
import {
  AvailableCapacityUpdate,
  AvailableCapacityUpdate_Confidence as Confidence,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { AvailableCapacity } from './available-capacity.ts';

const { Idle, Speculative, Configured } = MachineState;
const { CONFIDENCE_HIGH, CONFIDENCE_MEDIUM, CONFIDENCE_LOW, CONFIDENCE_NONE } = Confidence;
const IN_ZA: Requirement = { key: ZONE_KEY, operator: Operator.In, values: ['za'] };

/** The frame that cluster c1 gets for its only profile. */
function hintOf(machines: readonly LedgerMachine[], ...needs: readonly Need[]): AvailableCapacityUpdate {
  const [frame] = capacityOf(machines, needs).updates(['c1'], 0);
  expect(frame?.updates).toHaveLength(1);
  return frame!.updates[0]!;
}

function capacityOf(machines: readonly LedgerMachine[], needs: readonly Need[]): AvailableCapacity {
  return new AvailableCapacity(fleetOf(anInput(machines, needs)));
}

function serving(id: string, cluster: string, priority: number | null): LedgerMachine {
  return aMachine(id, Configured, { cluster, stamp: stampOf(aNeed(), priority) });
}

describe('available capacity', () => {
  it('given Idle machines, then it is certain, and also counts machines that could be bought', () => {
    const machines = [aMachine('a', Idle, { pricePerHour: 3 }), aMachine('b', Speculative)];

    expect(hintOf(machines, aNeed())).toMatchObject({
      availableCount: 2,
      confidence: CONFIDENCE_HIGH,
      costPerHour: 3,
    });
  });

  it('given no Idle machine, then it has to be bought', () => {
    expect(hintOf([aMachine('b', Speculative)], aNeed())).toMatchObject({
      availableCount: 1,
      confidence: CONFIDENCE_MEDIUM,
      costPerHour: 1,
    });
  });

  // 7.6.28 of the specification.
  it('given zones, labels and the largest pod, then only fitting machines count', () => {
    const gpu: Requirement = { key: 'gpu', operator: Operator.Exists, values: [] };
    const need = aNeed({ requirements: [IN_ZA, gpu], minUnit: resources({ cpu: 4 }) });
    const labels = new Map([['gpu', 'yes']]);
    const machines = [
      aMachine('fits', Idle, { labels }),
      aMachine('elsewhere', Idle, { labels, zone: 'zb' }),
      aMachine('without', Idle),
      aMachine('small', Idle, { labels, resources: resources({ cpu: 3 }) }),
    ];

    expect(hintOf(machines, need).availableCount).toBe(1);
  });

  it('given a profile, then its cost is the effective cost of the cheapest machine', () => {
    const machines = [
      aMachine('spot', Idle, { pricePerHour: 1, interruptionProbability: 0.5 }),
      aMachine('steady', Idle, { pricePerHour: 3, resources: resources({ cpu: 8 }) }),
    ];

    const cheap = hintOf(machines, aNeed({ interruptionBucket: 3 }));
    const dear = hintOf(machines, aNeed({ interruptionBucket: 7 }));

    expect(cheap).toMatchObject({ costPerHour: 1.5, resources: { resources: new Map([['cpu', '4m']]) } });
    expect(dear).toMatchObject({ costPerHour: 3, resources: { resources: new Map([['cpu', '8m']]) } });
  });

  it('given pinned work and machines that may be interrupted, then its cost is finite', () => {
    const spot = aMachine('spot', Idle, { pricePerHour: 2, interruptionProbability: 0.5 });

    expect(hintOf([spot], aNeed({ interruptionBucket: 27 })).costPerHour).toBe(2);
  });

  it('given machines in flight to a row, then they do not count', () => {
    const target = { cluster: 'c2', fingerprint: 'f', group: '' };

    expect(hintOf([aMachine('a', Idle, { target })], aNeed()).confidence).toBe(CONFIDENCE_NONE);
  });

  it('given that all fitting machines are blocked, then it is unlikely', () => {
    const machines = [aMachine('a', Idle, { blocked: true }), aMachine('b', Speculative, { blocked: true })];

    expect(hintOf(machines, aNeed())).toMatchObject({ availableCount: 2, confidence: CONFIDENCE_LOW });
  });

  it('given that only rows of lower priority have fitting machines, then it is unlikely', () => {
    const machines = [
      serving('lower', 'c2', 4),
      serving('equal', 'c2', 5),
      serving('own', 'c1', 4),
      serving('unknown', 'c2', null),
      { ...serving('held', 'c2', 4), blocked: true },
    ];

    expect(hintOf(machines, aNeed({ priority: 5 }))).toMatchObject({
      availableCount: 1,
      confidence: CONFIDENCE_LOW,
      costPerHour: 1,
    });
  });

  it('given no fitting machine, then there is none, with the size that would fit', () => {
    const update = hintOf([aMachine('a', Idle, { zone: 'zb' })], aNeed({ requirements: [IN_ZA] }));

    expect(update).toEqual({
      supersedesKey: `available:${aNeed({ requirements: [IN_ZA] }).profile.fingerprint}`,
      requirements: [IN_ZA],
      resources: { resources: new Map([['cpu', '4m']]) },
      availableCount: 0,
      confidence: CONFIDENCE_NONE,
      costPerHour: 0,
    });
    expect(AvailableCapacityUpdate.decode(AvailableCapacityUpdate.encode(update).finish())).toEqual(update);
  });

  it('given a profile of several gangs, then it is what the largest pod could use', () => {
    const machines = [aMachine('a', Idle), aMachine('b', Idle, { resources: resources({ cpu: 9 }) })];
    const large = { group: 'g2', aggregate: resources({ cpu: 9 }), minUnit: resources({ cpu: 9 }) };

    expect(hintOf(machines, aNeed({ group: 'g1' }), aNeed(large)).availableCount).toBe(1);
  });

  it('given any fleet, then it equals a scan of every machine', () => {
    const machine = fc.record({
      state: fc.constantFrom(Idle, Speculative, Configured),
      zone: fc.constantFrom('za', 'zb'),
      cpu: fc.integer({ min: 1, max: 3 }),
      pricePerHour: fc.integer({ min: 1, max: 3 }),
      blocked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 12 }), fc.integer({ min: 1, max: 3 }), (parts, cpu) => {
        const machines = parts.map(({ state, cpu: size, ...given }, i) =>
          aMachine(`m${i}`, state, { ...given, resources: resources({ cpu: size }) }),
        );
        const need = aNeed({ requirements: [IN_ZA], minUnit: resources({ cpu }) });
        const fitting = machines.filter(
          (each) =>
            each.state !== Configured &&
            meetsAll(each, need.profile.requirements) &&
            covers(effectiveAllocatable(each), need.minUnit),
        );
        const free = fitting.filter(({ blocked }) => !blocked);
        const idle = free.filter(({ state }) => state === Idle);
        const counted = free.length > 0 ? free : fitting;
        const priced = idle.length > 0 ? idle : counted;

        const hints = hintOf(machines, need);

        expect(hints.availableCount).toBe(counted.length);
        expect(hints.costPerHour).toBe(
          counted.length === 0 ? 0 : Math.min(...priced.map(({ pricePerHour }) => pricePerHour)),
        );
      }),
    );
  });
});

describe('capacity hints to clusters', () => {
  function scene(): { readonly fleet: Fleet; readonly capacity: AvailableCapacity } {
    const needs = [aNeed(), aNeed({ cluster: 'c2' })];
    const fleet = fleetOf(anInput([aMachine('a', Idle), aMachine('b', Idle)], needs));
    return { fleet, capacity: new AvailableCapacity(fleet) };
  }

  function countsOf(capacity: AvailableCapacity, nowMs: number, ...connected: readonly string[]): number[] {
    const all = capacity.updates(connected, nowMs);
    return all.flatMap(({ updates }) => updates.map(({ availableCount }) => availableCount));
  }

  it('given connected and other clusters, then only connected ones get them', () => {
    const { capacity } = scene();

    expect(capacity.updates(['c2'], 0).map(({ cluster }) => cluster)).toEqual(['c2']);
  });

  it('given a change, then they are sent, but not within five seconds of the last ones', () => {
    const { fleet, capacity } = scene();
    expect(countsOf(capacity, 0, 'c1')).toEqual([2]);
    expect(countsOf(capacity, 5000, 'c1')).toEqual([]);

    fleet.machines.remove('b');

    expect(countsOf(capacity, 7000, 'c1')).toEqual([]);
    expect(countsOf(capacity, 10_000, 'c1')).toEqual([1]);
    fleet.machines.remove('a');
    expect(countsOf(capacity, 14_999, 'c1')).toEqual([]);
    expect(countsOf(capacity, 15_000, 'c1')).toEqual([0]);
  });

  it('given a change of a few machines among many, then they are sent rarely; given a tenth, then as for any change', () => {
    const ids = Array.from({ length: 100 }, (_, i) => `m${i}`);
    const fleet = fleetOf(
      anInput(
        ids.map((id) => aMachine(id, Idle)),
        [aNeed()],
      ),
    );
    const capacity = new AvailableCapacity(fleet);
    expect(countsOf(capacity, 0, 'c1')).toEqual([100]);

    for (const id of ids.slice(0, 9)) fleet.machines.remove(id);
    expect(countsOf(capacity, 10_000, 'c1')).toEqual([]);
    expect(countsOf(capacity, 10 * 60_000, 'c1')).toEqual([91]);

    for (const id of ids.slice(9, 19)) fleet.machines.remove(id);
    expect(countsOf(capacity, 11 * 60_000, 'c1')).toEqual([81]);
  });

  it('given a new profile, then its hint is sent at once', () => {
    const { fleet, capacity } = scene();
    countsOf(capacity, 0, 'c1');

    fleet.demand.replace('c1', [aNeed(), aNeed({ priority: 7 })]);

    expect(countsOf(capacity, 1000, 'c1')).toEqual([2]);
    expect(countsOf(capacity, 2000, 'c1')).toEqual([]);
  });

  it('given a new connection, then all are sent again', () => {
    const { capacity } = scene();
    countsOf(capacity, 0, 'c1', 'c2');

    capacity.forget('c1');

    expect(countsOf(capacity, 1, 'c1', 'c2')).toEqual([2]);
  });

  it('given a profile that was gone for a while, then its hint is sent again, but not more often', () => {
    const { fleet, capacity } = scene();
    countsOf(capacity, 0, 'c1');
    fleet.demand.replace('c1', []);
    countsOf(capacity, 1000, 'c1');
    fleet.demand.replace('c1', [aNeed()]);
    expect(countsOf(capacity, 2000, 'c1')).toEqual([]);

    fleet.demand.replace('c1', []);
    countsOf(capacity, 9000, 'c1');
    fleet.demand.replace('c1', [aNeed()]);

    expect(countsOf(capacity, 9500, 'c1')).toEqual([2]);
  });

  it('given more profiles than a cycle has time for, then the rest follows in the next cycles', () => {
    const needs = [1, 2, 3].flatMap((priority) => [aNeed({ priority }), aNeed({ cluster: 'c2', priority })]);
    const fleet = fleetOf(anInput([aMachine('a', Idle)], needs));
    const capacity = new AvailableCapacity(fleet, { maxVisits: 10 });
    const hints = Array.from({ length: 8 }, (_, i) => countsOf(capacity, i, 'c1', 'c2').length);

    expect(hints.every((count) => count <= 1)).toBe(true);
    expect(hints.reduce((sum, count) => sum + count, 0)).toBe(6);

    fleet.machines.remove('a');
    const later = Array.from({ length: 16 }, (_, i) => countsOf(capacity, 9000 + i, 'c1', 'c2')).flat();

    expect(later).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('given machines that are all different, then hints follow after as many cycles as one scan takes', () => {
    const machines = Array.from({ length: 50 }, (_, i) =>
      aMachine(`m${i}`, Idle, { labels: new Map([['serial', String(i)]]) }),
    );
    const fleet = fleetOf(anInput(machines, [aNeed()]));
    const capacity = new AvailableCapacity(fleet, { maxVisits: 20 });
    const hints = [0, 1, 2, 3].map((nowMs) => countsOf(capacity, nowMs, 'c1'));

    expect(hints).toEqual([[], [], [50], []]);

    for (const id of ['m1', 'm2', 'm3', 'm5', 'm7']) fleet.machines.remove(id);
    expect(countsOf(capacity, 6000, 'c1')).toEqual([45]);
  });

  it('given demand that changes before all profiles were scanned, then the remaining ones that still exist follow', () => {
    const rows = [1, 2, 3].map((priority) => aNeed({ priority }));
    const fleet = fleetOf(anInput([aMachine('a', Idle)], rows));
    const capacity = new AvailableCapacity(fleet, { maxVisits: 1 });
    capacity.updates(['c1'], 0);

    fleet.demand.replace('c1', [rows[1]!, aNeed({ priority: 4 })]);
    const hints = [1, 2, 3, 4].flatMap((nowMs) => capacity.updates(['c1'], nowMs));

    const keys = hints.flatMap(({ updates }) => updates.map(({ supersedesKey }) => supersedesKey));
    const keyFor = (need: Need): string => `available:${need.profile.fingerprint}`;
    expect(keys).toContain(keyFor(aNeed({ priority: 4 })));
    expect(keys).not.toContain(keyFor(rows[0]!));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('given a profile sent between two rounds, then its own five seconds count', () => {
    const { fleet, capacity } = scene();
    countsOf(capacity, 0, 'c1');
    fleet.demand.replace('c1', [aNeed({ priority: 7 })]);
    expect(countsOf(capacity, 1000, 'c1')).toEqual([2]);

    fleet.machines.remove('b');

    expect(countsOf(capacity, 5000, 'c1')).toEqual([]);
    expect(countsOf(capacity, 10_000, 'c1')).toEqual([1]);
  });

  it('given demand that changes during a round, then profiles not reached yet still follow', () => {
    const rows = [1, 2].map((priority) => aNeed({ priority }));
    const fleet = fleetOf(anInput([aMachine('a', Idle)], rows));
    const capacity = new AvailableCapacity(fleet, { maxVisits: 1 });
    for (const nowMs of [0, 1, 2, 3]) countsOf(capacity, nowMs, 'c1');
    fleet.machines.remove('a');
    const first = countsOf(capacity, 6000, 'c1');

    fleet.demand.replace('c1', [...rows, aNeed({ priority: 3 })]);
    const rest = [6001, 6002, 6003, 6004].flatMap((nowMs) => countsOf(capacity, nowMs, 'c1'));

    expect([...first, ...rest]).toEqual([0, 0, 0]);
  });

  it('given many hints for others, then a cluster still gets its own', () => {
    const needs = [1, 2, 3, 4, 5, 6, 7].map((priority) => aNeed({ priority }));
    const fleet = fleetOf(anInput([], [...needs, aNeed({ cluster: 'c2' })]));
    const capacity = new AvailableCapacity(fleet, { maxVisits: 1 });
    let hints = 0;
    for (let second = 0; second < 60; second++) {
      fleet.machines.put(aMachine(`m${second}`, Idle));
      const all = capacity.updates(['c1', 'c2'], second * 1000);
      hints += all.filter(({ cluster }) => cluster === 'c2').length;
    }

    expect(hints).toBeGreaterThan(2);
  });

  it('given a clock that is set back, then hints are not late', () => {
    const { fleet, capacity } = scene();
    countsOf(capacity, 3_600_000, 'c1');
    fleet.machines.remove('b');

    expect(countsOf(capacity, 1000, 'c1')).toEqual([1]);
  });

  it('given any course of events, then hints are five seconds apart and never repeated', () => {
    const step = fc.record({
      gapMs: fc.integer({ min: 0, max: 4000 }),
      machines: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const fleet = fleetOf(anInput([], [aNeed()]));
        const capacity = new AvailableCapacity(fleet);
        const hints: { readonly atMs: number; readonly count: number }[] = [];
        let nowMs = 0;
        for (const { gapMs, machines } of steps) {
          nowMs += gapMs;
          for (const id of ['a', 'b', 'c']) fleet.machines.remove(id);
          for (const id of ['a', 'b', 'c'].slice(0, machines)) fleet.machines.put(aMachine(id, Idle));
          for (const count of countsOf(capacity, nowMs, 'c1')) hints.push({ atMs: nowMs, count });
        }
        for (let i = 1; i < hints.length; i++) {
          expect(hints[i]!.atMs - hints[i - 1]!.atMs).toBeGreaterThanOrEqual(5000);
          expect(hints[i]!.count).not.toBe(hints[i - 1]!.count);
        }
      }),
    );
  });
});
