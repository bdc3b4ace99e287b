// Compares the served amounts with a plain sum over the verdicts of the same cycle, and the incremental tally with a new
// one.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayLend, takenByLender } from '../../testing/oracle/invariants-economy.ts';
import { aMachine, aNeed, anInput, anyFleets, resources, stampOf } from '../../testing/support/fleets.ts';
import { Fleet, fleetOf } from '../fleet/index.ts';
import {
  type DecisionInput,
  effectiveAllocatable,
  isAccelerator,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type ResourceVector,
  SHARED_OPTIONS,
  type Verdict,
} from '../model/index.ts';
import { type Decision, Engine } from './engine.ts';
import { HARDWARE } from './hardware.ts';
import { type ServedHardware, ServedTally } from './served-tally.ts';

const { Configured, Configuring, Idle } = MachineState;

/** Fleets use `gpu`, but only a name with a domain is an accelerator. */
function named(vector: ResourceVector): ResourceVector {
  return new Map([...vector].map(([name, units]) => [name === 'gpu' ? 'nvidia.com/gpu' : name, units]));
}

function withNames<T extends Need | LedgerMachine>(record: T): T {
  const changed =
    'aggregate' in record
      ? { aggregate: named(record.aggregate), minUnit: named(record.minUnit) }
      : { resources: named(record.resources), allocatable: named(record.allocatable) };
  return { ...record, ...changed };
}

function kindOf(vector: ResourceVector): number {
  return [...vector].some(([name, units]) => units > 0 && isAccelerator(name)) ? 1 : 0;
}

type Amounts = Record<string, number>;

/** A part of a machine that a row counts on. */
interface Part {
  readonly id: string;
  readonly amount: ResourceVector;
}

/** By kind and part: amounts by resource, without zeros. */
function naive(
  needs: readonly Need[],
  verdicts: readonly Verdict[],
  machines: ReadonlyMap<string, LedgerMachine>,
  sharing: 'on' | 'off',
) {
  const sums = HARDWARE.map(() => ({
    ...{ wanted: {} as Amounts, served: {} as Amounts, coming: {} as Amounts, unmet: {} as Amounts },
    ...{ used: {} as Amounts, needs: 0, unmetNeeds: 0 },
  }));
  const byKey = new Map(needs.map((need) => [keyText(keyOf(need)), need]));
  const rankedRows = Map.groupBy(verdicts, ({ key, foldedInto }) => keyText(foldedInto ?? key));
  const usedOf = new Map<string, Amounts>();
  for (const members of rankedRows.values()) {
    const [first] = members as [Verdict];
    const need = byKey.get(keyText(first.key))!;
    const sum = sums[need.setAside === true ? 0 : kindOf(need.aggregate)]!;
    sum.needs += members.length;
    if (!first.satisfied) sum.unmetNeeds += members.length;
    if (need.setAside === true) continue;
    const claimed = first.claimed.map((id) => machines.get(id)!);
    const parts =
      sharing === 'on' && mayLend(need)
        ? [
            ...first.shares.map(({ machine: id, amount }): Part => ({ id, amount })),
            ...takenByLender(need, first, claimed),
          ]
        : claimed.map((machine): Part => ({ id: machine.id, amount: roomFor(need, first, machine) }));
    for (const [name, units] of need.aggregate) {
      const wanted = units * members.length;
      const unmet = Math.min(wanted, first.deficit.get(name) ?? 0);
      add(sum.wanted, name, wanted);
      add(sum.unmet, name, unmet);
      let left = wanted - unmet;
      for (const { id, amount } of parts) {
        const machine = machines.get(id)!;
        const taken = Math.min(left, amount.get(name) ?? 0);
        left -= taken;
        add(machine.state === Configured ? sum.served : sum.coming, name, taken);
        if (machine.state === Configured) add(sums[kindOf(effectiveAllocatable(machine))]!.used, name, taken);
        const used = usedOf.get(id) ?? {};
        usedOf.set(id, used);
        add(used, name, taken);
        expect(used[name] ?? 0).toBeLessThanOrEqual(effectiveAllocatable(machine).get(name) ?? 0);
      }
      expect(left).toBe(0);
    }
  }
  return sums;
}

/** What a row that does not share could take of a machine: all of it, or whole gangs. */
function roomFor({ aggregate }: Need, { foldedInto }: Verdict, machine: LedgerMachine): ResourceVector {
  const offered = effectiveAllocatable(machine);
  if (foldedInto === null) return offered;
  const gangs = Math.min(
    ...[...aggregate].map(([name, size]) =>
      size === 0 ? Number.POSITIVE_INFINITY : Math.floor((offered.get(name) ?? 0) / size),
    ),
  );
  return new Map([...aggregate].map(([name, units]) => [name, units === 0 ? 0 : gangs * units]));
}

function add(amounts: Amounts, name: string, units: number): void {
  if (units > 0) amounts[name] = (amounts[name] ?? 0) + units;
}

function amountsOf({ dimensions }: Fleet, units: Float64Array): Amounts {
  return Object.fromEntries([...units].flatMap((n, d) => (n > 0 ? [[dimensions.nameOf(d), n]] : [])));
}

/** The tally's result in the same shape. */
function shown(fleet: Fleet, served: readonly ServedHardware[]) {
  const amounts = (units: Float64Array): Amounts => amountsOf(fleet, units);
  return served.map(({ wanted, served: now, coming, unmet, used, needs, unmetNeeds }) => ({
    ...{ wanted: amounts(wanted), served: amounts(now), coming: amounts(coming), unmet: amounts(unmet) },
    ...{ used: amounts(used), needs, unmetNeeds },
  }));
}

const change = fc.record({
  from: anyFleets({ machines: 20, needs: 10 }),
  picks: fc.array(fc.nat({ max: 40 }), { maxLength: 8 }),
});

describe('what is served of what is wanted', () => {
  it('given any fleet and any changes, then it is the sum over verdicts and their machines', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const fleet = new Fleet();
        const engine = new Engine(fleet);
        const tally = new ServedTally();
        const known = {
          machines: new Map<string, LedgerMachine>(),
          needs: new Map<string, readonly Need[]>(),
        };
        for (const { from, picks } of changes) {
          apply(fleet, from, picks, known);
          const decision = engine.decide(from.nowMs, from.options);
          const served = decision.served(tally);

          expect(shown(fleet, served)).toEqual(shown(fleet, decision.served(new ServedTally())));
          const needs = [...known.needs.values()].flat();
          const expected = naive(needs, decision.verdicts(), known.machines, from.options.sharing);
          // Above the exact range sums are rounded, in an order that is not defined.
          if (isExact(expected)) expect(shown(fleet, served)).toEqual(expected);
          for (const [cluster, rows] of known.needs) {
            const verdicts = decision.verdicts().filter(({ key }) => key.cluster === cluster);
            const own = naive(rows, verdicts, known.machines, from.options.sharing);
            const used = decision.usedOf(tally, cluster).map((units) => amountsOf(fleet, units));
            if (isExact(own)) expect(used).toEqual(own.map((each) => each.used));
          }
          expect(served.reduce((sum, { unmetNeeds }) => sum + unmetNeeds, 0)).toBe(decision.unmet.length);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('given a row without pods behind one that waits for machines, then both are counted', () => {
    const waiting = aNeed({ priority: 9, aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 1 }) });
    const empty = aNeed({ aggregate: new Map(), minUnit: new Map() });
    const { fleet, decision } = decided(anInput([], [waiting, empty], SHARED_OPTIONS));

    expect(shown(fleet, decision.served(new ServedTally()))[0]).toMatchObject({ needs: 2, unmetNeeds: 1 });
  });

  it('given rows that share a machine, then it is used by all of them and serves each', () => {
    const lender = aNeed({
      priority: 9,
      aggregate: resources({ cpu: 6 }),
      minUnit: resources({ cpu: 6 }),
    });
    const borrowers = [2, 1].map((cpu) =>
      aNeed({ priority: cpu, aggregate: resources({ cpu }), minUnit: resources({ cpu }) }),
    );
    const machine = aMachine('m', Configured, { resources: resources({ cpu: 8 }) });
    const next = aMachine('n', Configuring, { resources: resources({ cpu: 8 }), stamp: stampOf(lender) });
    const { fleet, decision } = decided(anInput([machine, next], [lender, ...borrowers], SHARED_OPTIONS));

    expect(shown(fleet, decision.served(new ServedTally()))[0]).toEqual({
      ...{ wanted: { cpu: 9 }, served: { cpu: 8 }, coming: { cpu: 1 }, unmet: {} },
      ...{ used: { cpu: 8 }, needs: 3, unmetNeeds: 0 },
    });
  });

  it('given spare GPU hosts, then they do not make up for general machines that are missing', () => {
    const gpuNeed = aNeed({ aggregate: resources({ cpu: 10, 'nvidia.com/gpu': 8 }), minUnit: new Map() });
    const need = aNeed({ group: 'web', aggregate: resources({ cpu: 30 }), minUnit: new Map() });
    const general = { resources: resources({ cpu: 10 }), instanceType: 'small' };
    const gpu = { resources: resources({ cpu: 200, 'nvidia.com/gpu': 8 }), instanceType: 'gpu' };
    const small = { ...need, profile: aNeed({ requirements: [ONLY_SMALL] }).profile };
    const machines = [
      aMachine('g', Configured, { ...gpu, stamp: stampOf(gpuNeed) }),
      aMachine('a', Configured, { ...general, stamp: stampOf(small) }),
      aMachine('b', Configuring, { ...general, stamp: stampOf(small) }),
    ];
    const { fleet, decision } = decided(anInput(machines, [gpuNeed, small]));

    const gpus = { 'nvidia.com/gpu': 8 };
    expect(shown(fleet, decision.served(new ServedTally()))).toEqual([
      {
        ...{ wanted: { cpu: 30 }, served: { cpu: 10 }, coming: { cpu: 10 }, unmet: { cpu: 10 } },
        ...{ used: { cpu: 10 }, needs: 1, unmetNeeds: 1 },
      },
      {
        ...{ wanted: { cpu: 10, ...gpus }, served: { cpu: 10, ...gpus }, coming: {}, unmet: {} },
        ...{ used: { cpu: 10, ...gpus }, needs: 1, unmetNeeds: 0 },
      },
    ]);
  });

  it('given general work on a GPU host, then it counts as used there and as served for general Needs', () => {
    const need = aNeed({ aggregate: resources({ cpu: 30 }), minUnit: new Map() });
    const gpu = { resources: resources({ cpu: 200, 'nvidia.com/gpu': 8 }) };
    const { fleet, decision } = decided(
      anInput([aMachine('g', Configured, gpu), aMachine('i', Idle)], [need]),
    );

    const [general, accelerated] = shown(fleet, decision.served(new ServedTally()));
    expect(general).toMatchObject({ wanted: { cpu: 30 }, served: { cpu: 30 }, used: {} });
    expect(accelerated).toMatchObject({ wanted: {}, used: { cpu: 30 } });
  });
});

const ONLY_SMALL = {
  key: 'node.kubernetes.io/instance-type',
  operator: 1,
  values: ['small'],
} as const;

function decided(input: DecisionInput): { readonly fleet: Fleet; readonly decision: Decision } {
  const fleet = fleetOf(input);
  return { fleet, decision: new Engine(fleet).decide(input.nowMs, input.options) };
}

interface Known {
  readonly machines: Map<string, LedgerMachine>;
  readonly needs: Map<string, readonly Need[]>;
}

function apply(
  fleet: Fleet,
  { machines, needs }: DecisionInput,
  picks: readonly number[],
  known: Known,
): void {
  const put = (machine: LedgerMachine): void => {
    const record = withNames(machine);
    fleet.machines.put(record);
    known.machines.set(record.id, record);
  };
  const report = (cluster: string, rows: readonly Need[]): void => {
    const reported = rows.map(withNames);
    fleet.demand.replace(cluster, reported);
    known.needs.set(cluster, reported);
  };
  if (known.needs.size === 0) {
    for (const machine of machines) put(machine);
    for (const [cluster, rows] of Map.groupBy(needs, (need) => need.cluster)) report(cluster, rows);
  }
  for (const pick of picks) {
    const machine = machines[pick >> 1];
    if (machine !== undefined && pick % 2 === 0) put(machine);
    else if (machine !== undefined) {
      fleet.machines.remove(machine.id);
      known.machines.delete(machine.id);
    }
    const cluster = needs[pick >> 1]?.cluster;
    if (cluster !== undefined && pick % 3 === 0)
      report(cluster, needs.filter((need) => need.cluster === cluster).slice(pick % 2));
  }
}

function isExact(sums: ReturnType<typeof naive>): boolean {
  return sums.every(({ wanted }) => Object.values(wanted).every((units) => units <= 2 ** 53));
}
