// Gangs that are alike choose among many racks: the engine keeps the order of the racks from gang to gang and from cycle
// to cycle (src/engine/assign/domain-tree.ts), the oracle computes it for each gang.

import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  CapacityType,
  type DecisionInput,
  type DecisionOptions,
  keyOf,
  type LedgerMachine,
  MachineState,
  microsOf,
  type Need,
  type Plan,
  type Verdict,
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
  stampOf,
} from '../../testing/support/fleets.ts';
import { updateFleet } from './warm.ts';

const { Configured, Draining, Idle, Speculative } = MachineState;
const GPU = 'example.com/gpu';
const RACKS = 24;
const CLUSTERS = ['c1', 'c2'];

function pickOf<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!;
}

/**
 * Gangs of few sizes, all larger than any machine so that none folds, and plain rows in between. Some want accelerators
 * only: bound machines without any are counted in their racks, but cover nothing of them.
 */
function rowsOf(random: Random): Need[] {
  return Array.from({ length: random.between(6, 30) }, (_, i) => {
    const common = { cluster: pickOf(random, CLUSTERS), firstSeenMs: i + 1, group: `g${i}` };
    if (random.below(6) === 0) return aNeed({ ...common, aggregate: resources({ cpu: 12 }) });
    const priority = pickOf(random, [100, 100, 100, 200]);
    const wanted = pickOf(random, [{ cpu: 12 }, { cpu: 12 }, { cpu: 16 }, { cpu: 20 }, { [GPU]: 2 }]);
    return aNeed({ ...common, priority, requirements: [same(RACK_KEY)], aggregate: resources(wanted) });
  });
}

function inRack(id: string, state: MachineState, rack: string, given: Partial<LedgerMachine>): LedgerMachine {
  return aMachine(id, state, { labels: new Map([[RACK_KEY, rack]]), ...given });
}

/** Mostly free machines; few sizes and prices, so that racks tie in the first keys, and costs decide. */
function machineOf(random: Random, id: string, rows: readonly Need[]): LedgerMachine {
  const labels = new Map([[RACK_KEY, `r${random.below(RACKS)}`]]);
  const amounts = { cpu: pickOf(random, [4, 4, 8]), [GPU]: pickOf(random, [0, 0, 1]) };
  const given = { labels, resources: resources(amounts), pricePerHour: pickOf(random, [1, 1, 1, 2]) };
  const row = pickOf(random, rows);
  switch (random.below(24)) {
    case 0:
      return aMachine(id, Configured, { ...given, cluster: row.cluster, stamp: stampOf(row) });
    case 1:
      return aMachine(id, Draining, { ...given, target: keyOf(row) });
    case 2:
      return aMachine(id, Idle, { ...given, target: keyOf(row) });
    case 3:
      return aMachine(id, Configured, { ...given, cluster: row.cluster });
    default:
      return aMachine(id, pickOf(random, [Idle, Speculative, Speculative]), given);
  }
}

function nextInput(random: Random, { machines, needs }: DecisionInput): DecisionInput {
  const accelerators: DecisionOptions['accelerators'] = pickOf(random, ['last', 'by-price']);
  const moved = machines.map((machine) =>
    random.below(10) === 0 ? machineOf(random, machine.id, needs) : machine,
  );
  return anInput(moved, needs, { accelerators });
}

/** Budgets that some of the gangs exceed; few machines are Idle, some are owned, and some had a row before. */
function withBudget(random: Random, input: DecisionInput): DecisionInput {
  const budgetOf = (dollars: readonly number[]): number => pickOf(random, dollars.map(microsOf));
  const shard = random.below(3) === 0 ? budgetOf([8, 20, 40]) : Number.POSITIVE_INFINITY;
  const purchaseBudget = { shard, clusters: new Map([['c1', budgetOf([0, 4, 9])]]) };
  const machines = input.machines.map((machine, i): LedgerMachine => {
    const capacityType = i % 4 === 0 ? CapacityType.Reserved : CapacityType.OnDemand;
    if (machine.state !== Speculative && (machine.state !== Idle || i % 3 === 0))
      return { ...machine, capacityType };
    const target = i % 5 === 0 ? keyOf(input.needs[i % input.needs.length]!) : null;
    return { ...machine, capacityType, state: Speculative, host: null, target };
  });
  return { ...input, machines, options: { ...input.options, purchaseBudget } };
}

/** Compares all plans of some fleets that change from cycle to cycle; returns the plans. */
function plansOf(seeds: number, change: (random: Random, input: DecisionInput) => DecisionInput): Plan[] {
  const plans: Plan[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const random = new Random(seed);
    const rows = rowsOf(random);
    const machines = Array.from({ length: 110 }, (_, i) => machineOf(random, `m${i}`, rows));
    let input = change(random, anInput(machines, rows));
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    for (let cycle = 0; cycle < 5; cycle++) {
      const expected = oracle(input);
      expect(planText(engine.decide(input.nowMs, input.options).plan())).toBe(planText(expected));
      plans.push(expected);
      const before = input;
      input = change(random, nextInput(random, before));
      updateFleet(fleet, before, input);
    }
  }
  return plans;
}

function countOf(plans: readonly Plan[], is: (verdict: Verdict) => boolean): number {
  return plans.reduce((sum, { verdicts }) => sum + verdicts.filter(is).length, 0);
}

describe('gangs that are alike', () => {
  it('given many racks that change from cycle to cycle, then every plan equals the oracle’s', () => {
    const plans = plansOf(12, (_, input) => input);
    expect(countOf(plans, ({ domain, satisfied }) => domain !== null && satisfied)).toBeGreaterThan(400);
  });

  it('given budgets that stop some of them, then every plan equals the oracle’s', () => {
    const plans = plansOf(12, withBudget);
    const isStopped = ({ satisfiable, unmet }: Verdict): boolean =>
      satisfiable !== null && unmet?.reason === 'spend-limit';
    expect(countOf(plans, isStopped)).toBeGreaterThan(100);
  });

  it('given a machine that covers less than a millionth of a gang, then only that gang counts it in the rack', () => {
    const row = (cluster: string, firstSeenMs: number) =>
      aNeed({
        cluster,
        requirements: [same(RACK_KEY)],
        aggregate: resources({ memory: 4_000_000 }),
        firstSeenMs,
      });
    const sized = (id: string, rack: string, memory: number) =>
      inRack(id, Idle, rack, { resources: resources({ cpu: 4, memory }) });
    const racks = ['a', 'b', 'larger'].flatMap((rack) => {
      const amounts =
        rack === 'larger' ? [3_000_000, 3_000_000, 3_000_000] : [2_666_668, 2_666_668, 2_666_667];
      return amounts.map((memory, i) => sized(`${rack}${i}`, rack, memory));
    });
    const orphan = inRack('orphan', Configured, 'a', { resources: resources({ cpu: 4, memory: 1 }) });
    const input = anInput([...racks, orphan], [row('c1', 1), row('c2', 2)]);
    const plan = new Engine(fleetOf(input)).decide(input.nowMs, input.options).plan();
    expect(plan.verdicts.map(({ domain }) => domain)).toEqual(['b', 'a']);
    expect(planText(plan)).toBe(planText(oracle(input)));
  });

  it('given accelerators that are taken last from now on, then costs of racks are computed again', () => {
    const priced = (rack: string, withGpu: number, without: number) =>
      [withGpu, without, without].map((pricePerHour, i) =>
        inRack(`${rack}${i}`, Idle, rack, {
          pricePerHour,
          resources: resources({ cpu: 4, [GPU]: i === 0 ? 1 : 0 }),
        }),
      );
    const row = aNeed({ requirements: [same(RACK_KEY)], aggregate: resources({ cpu: 8 }) });
    const machines = [...priced('a', 1, 3), ...priced('b', 2, 2.5), ...priced('c', 0.5, 3.2)];
    const engine = new Engine(fleetOf(anInput(machines, [row])));
    const chosen = (['by-price', 'last'] as const).map((accelerators) => {
      const input = anInput(machines, [row], { accelerators });
      const plan = engine.decide(input.nowMs, input.options).plan();
      expect(planText(plan)).toBe(planText(oracle(input)));
      return plan.verdicts[0]!.domain;
    });
    expect(chosen).toEqual(['c', 'b']);
  });
});
