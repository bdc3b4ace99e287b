// The order in which rows take free machines, worked out by hand: by the price of covering what is left, and machines with
// accelerators that the row did not ask for after all others. Engine and oracle decide every case alike.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { Fleet, fleetOf } from '../../src/fleet/index.ts';
import {
  CapacityType,
  type DecisionInput,
  type DecisionOptions,
  dollarsOfBucket,
  effectiveCost,
  type LedgerMachine,
  MachineState,
  type Need,
  Operator,
} from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  strictSpread,
} from '../../testing/support/fleets.ts';
import { difference, onBoth } from './compare.ts';
import { several } from './scenario.ts';
import { replaceContent, threadsStarted, updateFleet } from './warm.ts';

const { Idle, Speculative } = MachineState;
const COVERAGE = { poolOrder: 'coverage' } as const;
const LAST = { accelerators: 'last' } as const;
const GPU = 'example.com/gpu';

/** Ids of the machines that each row acquires, in the order it acquires them. */
function acquired(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions>,
): readonly (readonly string[])[] {
  const { verdicts } = onBoth(anInput(machines, needs, options));
  return verdicts.map(({ claimed, bootstraps, provisions }) => {
    return claimed.filter((id) => bootstraps.includes(id) || provisions.includes(id));
  });
}

function sized(cpu: number, pricePerHour: number, more: Readonly<Record<string, number>> = {}) {
  return { resources: resources({ cpu, ...more }), pricePerHour };
}

function wants(cpu: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({ aggregate: resources({ cpu }), minUnit: resources({ cpu: 1 }), ...given });
}

describe('coverage order', () => {
  const shop = [
    ...several('s', 40, Speculative, sized(2, 0.1)),
    ...several('l', 3, Speculative, sized(32, 1)),
  ];

  it('given 64 cpu, then two machines of 32 cpu for $2.00 are bought and not 32 of 2 cpu for $3.20', () => {
    expect(acquired(shop, [wants(64)], COVERAGE)).toEqual([['l01', 'l02']]);
    expect(acquired(shop, [wants(64)], {})[0]).toHaveLength(32);
  });

  it('given little left after the first machine, then a small one covers the rest', () => {
    expect(acquired(shop, [wants(34)], COVERAGE)).toEqual([['l01', 's01']]);
  });

  it('given prices that are linear in the amounts, then the fewest machines are taken', () => {
    const linear = [
      ...several('a', 9, Speculative, sized(2, 0.1)),
      ...several('b', 9, Speculative, sized(6, 0.3)),
      ...several('c', 9, Speculative, sized(16, 0.8)),
    ];
    expect(acquired(linear, [wants(38)], COVERAGE)).toEqual([['c01', 'c02', 'b01']]);
  });

  it('given an Idle machine that covers for more money, then it is taken before Speculative ones', () => {
    const machines = [aMachine('idle', Idle, sized(2, 9)), ...shop];
    expect(acquired(machines, [wants(34)], COVERAGE)).toEqual([['idle', 'l01']]);
  });

  it('given machines without one of the wanted dimensions, then they come last, the most complete first', () => {
    const row = aNeed({ aggregate: resources({ cpu: 8, memory: 8 }), minUnit: new Map() });
    const machines = [
      aMachine('cheap', Speculative, sized(8, 0.01)),
      aMachine('both', Speculative, sized(4, 5, { memory: 4 })),
    ];
    expect(acquired(machines, [row], COVERAGE)).toEqual([['both', 'cheap']]);
  });

  it('given a machine that costs nothing and lacks a dimension, then it does not come first', () => {
    const row = aNeed({ aggregate: resources({ cpu: 4, memory: 4 }), minUnit: new Map() });
    const machines = [
      aMachine('free', Speculative, sized(4, 0)),
      aMachine('paid', Speculative, sized(4, 5, { memory: 4 })),
    ];
    expect(acquired(machines, [row], COVERAGE)).toEqual([['paid']]);
  });

  it('given a pinned row, then machines that can be interrupted come last, larger ones first', () => {
    const spot = { interruptionProbability: 0.5, capacityType: CapacityType.Spot };
    const machines = [
      aMachine('spot-small', Speculative, { ...sized(4, 0.1), ...spot }),
      aMachine('spot-large', Speculative, { ...sized(8, 0.1), ...spot }),
      aMachine('safe', Speculative, sized(2, 7)),
    ];
    const pinned = wants(16, { interruptionBucket: 27 });
    expect(acquired(machines, [pinned], COVERAGE)).toEqual([['safe', 'spot-large', 'spot-small']]);
  });

  it('given machines that cover for the same cost, then the lower price and then the id decide', () => {
    const spot = { interruptionProbability: 0.5, capacityType: CapacityType.Spot };
    const cost = effectiveCost(2, spot.interruptionProbability, dollarsOfBucket(3));
    const machines = [
      aMachine('a', Speculative, sized(8, cost, { memory: 1 })),
      aMachine('b', Speculative, { ...sized(8, 2, { memory: 4 }), ...spot }),
      aMachine('c', Speculative, { ...sized(8, 2, { memory: 2 }), ...spot }),
      aMachine('d', Speculative, sized(8, cost, { memory: 3 })),
    ];
    expect(acquired(machines, [wants(32, { interruptionBucket: 3 })], COVERAGE)).toEqual([
      ['b', 'c', 'a', 'd'],
    ]);
  });

  it('given a covered sum and a missing largest piece, then the cheapest machine that holds it is taken', () => {
    const stamp = {
      priority: 0,
      interruptionPenaltyDollars: 0,
      reclamationPenaltyDollars: 0,
      fingerprint: '',
      group: '',
    };
    const machines = [
      ...several('b', 2, MachineState.Configured, { ...sized(8, 1), stamp }),
      aMachine('large', Speculative, sized(64, 3)),
      aMachine('fitting', Speculative, sized(12, 2)),
    ];
    expect(acquired(machines, [wants(16, { minUnit: resources({ cpu: 12 }) })], COVERAGE)).toEqual([
      ['fitting'],
    ]);
  });

  it('given Idle machines of one price per cpu, then those with a penalty come first and ids decide last', () => {
    const penalty = {
      priority: null,
      interruptionPenaltyDollars: 0,
      reclamationPenaltyDollars: 4,
      fingerprint: '',
      group: '',
    };
    const machines = [
      aMachine('a', Idle, sized(4, 1)),
      aMachine('b', Idle, { ...sized(4, 1), stamp: penalty }),
      aMachine('c', Idle, sized(8, 2)),
      aMachine('d', Idle, { ...sized(8, 2), stamp: penalty }),
    ];
    expect(acquired(machines, [wants(24)], COVERAGE)).toEqual([['d', 'c', 'b', 'a']]);
  });

  it('given a gang and a fold, then they take the cheapest machines as before', () => {
    const racked = (machine: LedgerMachine) => ({ ...machine, labels: new Map([[RACK_KEY, 'r1']]) });
    const machines = shop.map(racked);
    const unit = { minUnit: resources({ cpu: 1 }), requirements: [same(RACK_KEY)] };
    const gang = aNeed({ ...unit, aggregate: resources({ cpu: 64 }), group: 'g' });
    const fold = aNeed({ ...unit, aggregate: resources({ cpu: 2 }), group: 'f' });
    expect(acquired(machines, [gang], COVERAGE)[0]).toHaveLength(32);
    expect(acquired(machines, [fold], COVERAGE)).toEqual([['s01']]);
  });

  it('given a strict spread, then each machine is the first of the order in a domain that passes', () => {
    const zoned = (zone: string) => (machine: LedgerMachine) => {
      return { ...machine, id: `${zone}-${machine.id}`, labels: new Map([[RACK_KEY, zone]]) };
    };
    const machines = [...shop.map(zoned('r1')), ...shop.slice(0, 40).map(zoned('r2'))];
    const row = wants(66, { spread: [strictSpread(RACK_KEY)] });
    expect(acquired(machines, [row], COVERAGE)).toEqual([['r1-l01', 'r2-s01', 'r1-l02']]);
  });
});

describe('accelerators last', () => {
  const host = { ...sized(8, 1, { [GPU]: 2 }), instanceType: 'gpu' };
  const cpuRow = wants(8, { priority: 100 });
  const gpuRow = aNeed({
    aggregate: resources({ cpu: 4, [GPU]: 2 }),
    minUnit: resources({ cpu: 4, [GPU]: 2 }),
  });
  const machines = [aMachine('gpu', Idle, host), aMachine('cpu', Speculative, sized(8, 0.5))];

  it.each(['coverage', 'price'] as const)(
    'given an idle GPU host and %s order, then the CPU row buys a machine and the GPU row gets the host',
    (poolOrder) => {
      expect(acquired(machines, [cpuRow, gpuRow], { poolOrder, ...LAST })).toEqual([['cpu'], ['gpu']]);
      expect(acquired(machines, [cpuRow, gpuRow], { poolOrder })).toEqual([['gpu'], []]);
    },
  );

  it('given an ignored accelerator, then it makes no difference', () => {
    const options = { ...LAST, ignoredAccelerators: new Set([GPU]) };
    expect(acquired(machines, [cpuRow, gpuRow], options)).toEqual([['gpu'], []]);
  });

  it('given nothing else, then GPU hosts are taken, Idle before Speculative', () => {
    const hosts = [aMachine('a', Speculative, host), aMachine('b', Idle, host), aMachine('c', Idle, host)];
    expect(acquired(hosts, [wants(24)], LAST)).toEqual([['b', 'c', 'a']]);
  });

  it('given one of two kinds of accelerator that a row wants, then hosts with the other kind come last', () => {
    const other = 'example.com/tpu';
    const rows = [aNeed({ aggregate: resources({ cpu: 16, [GPU]: 2 }), minUnit: new Map() })];
    const hosts = [
      aMachine('both', Idle, sized(8, 0.1, { [GPU]: 2, [other]: 1 })),
      aMachine('gpu', Speculative, sized(8, 5, { [GPU]: 2 })),
      aMachine('none', Speculative, sized(2, 9)),
    ];
    expect(acquired(hosts, rows, { ...LAST, ...COVERAGE })).toEqual([['gpu', 'none', 'both']]);
  });

  it('given an accelerator in the largest piece only, then it is wanted', () => {
    const row = aNeed({ aggregate: resources({ cpu: 8 }), minUnit: resources({ [GPU]: 1 }) });
    expect(acquired(machines, [row], LAST)).toEqual([['gpu']]);
    const racked = machines.map((machine) => ({ ...machine, labels: new Map([[RACK_KEY, 'r1']]) }));
    // A row whose largest piece is above its total does not fold, so its piece counts too.
    const { aggregate, minUnit } = row;
    const gang = aNeed({ aggregate, minUnit, requirements: [same(RACK_KEY)], group: 'f' });
    expect(acquired(racked, [gang], LAST)).toEqual([['gpu']]);
  });

  it('given a gang, a fold and a strict spread, then they take GPU hosts last too', () => {
    const inRack = (id: string, state: MachineState, given: Partial<LedgerMachine>) =>
      aMachine(id, state, { ...given, labels: new Map([[RACK_KEY, 'r1']]) });
    const mixed = [
      inRack('gpu', Idle, host),
      inRack('cpu1', Speculative, sized(8, 5)),
      inRack('cpu2', Speculative, sized(8, 5)),
    ];
    const requirements = [same(RACK_KEY)];
    const gang = wants(12, { requirements, group: 'g' });
    const fold = wants(4, { requirements, group: 'f' });
    const even = wants(12, { spread: [strictSpread(RACK_KEY, 9)] });
    expect(acquired(mixed, [gang], LAST)).toEqual([['cpu1', 'cpu2']]);
    expect(acquired(mixed, [fold], LAST)).toEqual([['cpu1']]);
    expect(acquired(mixed, [even], LAST)).toEqual([['cpu1', 'cpu2']]);
  });
});

const BOARD_KEY = 'example.com/board';
/** Refuses a third of all machines. */
const onTwoRacks = { key: RACK_KEY, operator: Operator.In, values: ['r0', 'r1'] };
/** Refuses so few machines of each kind that the row shares the sorted classes of the kind. */
const notOnOneBoard = { key: BOARD_KEY, operator: Operator.NotIn, values: ['b7'] };

/**
 * Fleets in which hardly two machines are alike: more shapes than one node of bounds holds, and ties in price. With equal
 * prices, hundreds of machines cover what is left for the same money, and two or three of them are alike. With one or two
 * zones, rows share the sorted classes of an instance type in a zone; with nine, they do not.
 */
const variedFleets = fc
  .record({
    sizes: fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 }), fc.nat(3)), {
      minLength: 100,
      maxLength: 320,
      size: 'max',
    }),
    wants: fc.array(fc.tuple(fc.nat(400), fc.nat(400), fc.nat(5)), { minLength: 1, maxLength: 6 }),
    zones: fc.constantFrom(1, 1, 2, 9),
    hasEqualPrices: fc.boolean(),
    poolOrder: fc.constantFrom('coverage', 'coverage', 'coverage', 'price'),
    accelerators: fc.constantFrom('last', 'by-price'),
  })
  .map(({ sizes, wants: amounts, zones, hasEqualPrices, poolOrder, accelerators }): DecisionInput => {
    const machines = sizes.map(([cpu, memory, price], i) =>
      aMachine(`m${(i * 37) % 321}`, i % 4 === 0 ? Idle : Speculative, {
        resources: resources({
          cpu,
          memory: hasEqualPrices ? memory % 4 : memory,
          ...(i % 7 === 0 ? { [GPU]: 1 } : {}),
        }),
        pricePerHour: hasEqualPrices ? 1 : price === 0 ? cpu / 8 : price,
        zone: `z${i % zones}`,
        labels: new Map([
          [RACK_KEY, `r${i % 3}`],
          [BOARD_KEY, `b${i % 50}`],
        ]),
        interruptionProbability: i % 5 === 0 ? 0.5 : 0,
      }),
    );
    const needs = amounts.map(([cpu, memory, kind], i) =>
      aNeed({
        cluster: `c${i % 2}`,
        priority: i,
        aggregate: resources({ cpu, memory }),
        minUnit: resources(kind === 0 ? {} : { cpu: kind }),
        interruptionBucket: kind,
        spread: kind === 3 ? [strictSpread(RACK_KEY, 2)] : [],
        requirements: kind === 4 ? [onTwoRacks] : kind === 5 ? [notOnOneBoard] : [],
      }),
    );
    return anInput(machines, needs, { poolOrder, accelerators });
  });

/** The input with a part of what each row wants, and perhaps of something more, which no machine has. */
function portionOf(input: DecisionInput, divisor: number, more: [string, number] | null): DecisionInput {
  const needs = input.needs.map((need) => {
    const aggregate = new Map(more === null ? [] : [more]);
    for (const [name, units] of need.aggregate) aggregate.set(name, Math.ceil(units / divisor));
    return { ...need, aggregate };
  });
  return { ...input, needs };
}

function withoutEveryFourth(input: DecisionInput): DecisionInput {
  return { ...input, machines: input.machines.filter((_, i) => i % 4 !== 1) };
}

describe('pool order in fleets in which hardly two machines are alike', () => {
  it('given any such fleet, then the plans of engine and oracle are equal', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(variedFleets, (input) => {
        expect(difference(input)).toBeNull();
      }),
      { numRuns: 40 },
    );
  });

  it('given machines of a hundred sizes for one price, then ids decide, in every cycle', () => {
    const machines = Array.from({ length: 200 }, (_, i) =>
      aMachine(`m${String((i * 37) % 200).padStart(3, '0')}`, Idle, sized(10 + (i % 100), 1)),
    );
    const needs = Array.from({ length: 9 }, (_, i) => wants(5, { cluster: `c${i}` }));
    const input = anInput(machines, needs, COVERAGE);
    const engine = new Engine(fleetOf(input));
    for (let cycle = 0; cycle < 3; cycle++) {
      const { verdicts } = engine.decide(input.nowMs, input.options).plan();
      expect(verdicts.map(({ claimed }) => claimed)).toEqual(needs.map((_, i) => [`m00${i}`]));
    }
  });

  it('given lanes whose steps interleave, then the plan equals the oracle’s', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(variedFleets, fc.nat(), (input, seed) => {
        const random = new Random(seed);
        const schedule = (lanes: number): number => random.below(lanes);
        const engine = new Engine(fleetOf(input), { lanes: 3, retries: 10, schedule });
        expect(planText(engine.decide(input.nowMs, input.options).plan())).toBe(planText(oracle(input)));
      }),
      { numRuns: 30 },
    );
  });

  it.each([1, 2])(
    'given one fleet after the other and %i threads, then every plan equals the oracle’s',
    { timeout: 600_000 },
    async (workers) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers, lanes: workers, smallestStep: 1 });
      let before: DecisionInput | undefined;
      await threadsStarted(engine, workers);
      try {
        for (const [i, whole] of fc.sample(variedFleets, { numRuns: 8, seed }).entries()) {
          replaceContent(fleet, before, withoutEveryFourth(whole));
          before = withoutEveryFourth(whole);
          // From the second cycle on, lists are those of the cycle before, some of their machines taken.
          for (const divisor of [2, 1, 20, 3]) {
            const portion = portionOf(whole, divisor, divisor === 3 ? [`disk${i}`, 1] : null);
            // From the second cycle on there are machines that the first did not have.
            const input = divisor === 2 ? withoutEveryFourth(portion) : portion;
            updateFleet(fleet, before, input);
            before = input;
            const plan = engine.decide(input.nowMs, input.options).plan();
            const place = `fleet ${i} with wants ÷ ${divisor} of BIGFLEET_SEED=${seed}`;
            expect(planText(plan), place).toBe(planText(oracle(input)));
          }
        }
        expect(engine.threadFailures).toEqual([]);
      } finally {
        await engine.close();
      }
    },
  );
});
