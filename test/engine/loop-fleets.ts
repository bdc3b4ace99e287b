// Random fleets for the closed loop in which the required actions can be counted beforehand: machines that are all
// equal, fleets with a replacement wherever one is lost, and fleets with nothing free. Used by loop-checks.ts and the
// property tests.

import fc from 'fast-check';
import {
  type DecisionInput,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  sameTermOf,
  ZONE_KEY,
} from '../../src/model/index.ts';
import {
  aMachine,
  aNeed,
  anInput,
  fleets,
  RACK_KEY,
  resources,
  same,
  stampOf,
  strictSpread,
} from '../../testing/support/fleets.ts';

const SIZE = resources({ cpu: 4 });

/** Fleets whose machines differ in state, place and history, but not in size, price or value. */
export function equalFleets(): fc.Arbitrary<DecisionInput> {
  return fleets().map((input) => ({
    ...input,
    machines: input.machines.map(equalised),
    needs: input.needs.map((need) => ({
      ...need,
      aggregate: resources({ cpu: 4 * (1 + ((need.aggregate.size + need.group.length) % 5)) }),
      minUnit: SIZE,
    })),
  }));
}

function equalised(machine: LedgerMachine): LedgerMachine {
  const { stamp } = machine;
  return {
    ...machine,
    resources: SIZE,
    allocatable: new Map(),
    pricePerHour: 1,
    interruptionProbability: 0,
    drainSeconds: 30,
    stamp: stamp === null ? null : { ...stamp, interruptionPenaltyDollars: 0, reclamationPenaltyDollars: 0 },
  };
}

/** The input without its gangs. */
export function withoutGangs(input: DecisionInput): DecisionInput {
  return { ...input, needs: input.needs.filter((need) => sameTermOf(need.profile) === undefined) };
}

/** The input with no machine in flight. */
export function withNothingInFlight(input: DecisionInput): DecisionInput {
  return { ...input, machines: input.machines.map((machine) => ({ ...machine, target: null })) };
}

const PLACES = [
  { zone: 'za', rack: 'r1' },
  { zone: 'zb', rack: 'r2' },
  { zone: 'zc', rack: 'r3' },
];
/** More than any check removes. */
const SPARE = 4;

/**
 * Rows of all kinds and, in every rack, enough equal machines for all of them and a few more. Rows with constraints on
 * location (gangs, strict spread) have a cluster to themselves: a neighbour credited with such a row's machines may
 * swap one place for another when a new machine arrives, and then the row has to buy again.
 */
export function plentifulFleets(): fc.Arbitrary<DecisionInput> {
  const row = fc.record({
    kind: fc.constantFrom('plain', 'plain', 'gang', 'spread'),
    cluster: fc.constantFrom('c1', 'c1', 'c2'),
    priority: fc.constantFrom(0, 0, 100),
    interruptionBucket: fc.constantFrom(0, 3),
    group: fc.constantFrom('', 'g1', 'g2'),
    machines: fc.integer({ min: 1, max: 3 }),
    firstSeenMs: fc.constantFrom(1, 2),
  });
  return fc
    .record({ rows: fc.array(row, { minLength: 1, maxLength: 4 }), idle: fc.nat(6) })
    .map(({ rows, idle }) => {
      const needs = rows.map(({ kind, machines, cluster, ...parts }, i) =>
        aNeed({
          ...parts,
          cluster: kind === 'plain' ? cluster : `own-${i}`,
          aggregate: resources({ cpu: 4 * machines }),
          requirements: kind === 'gang' ? [same(RACK_KEY)] : [],
          spread: kind === 'spread' ? [strictSpread(ZONE_KEY)] : [],
        }),
      );
      const perRack = rows.reduce((sum, { machines }) => sum + machines, SPARE);
      return anInput(
        PLACES.flatMap((place) => machinesIn(place, perRack, idle)),
        uniqueByKey(needs),
      );
    });
}

function machinesIn(
  { zone, rack }: (typeof PLACES)[number],
  count: number,
  idle: number,
): readonly LedgerMachine[] {
  return Array.from({ length: count }, (_, i) =>
    aMachine(
      `${rack}-${String(i).padStart(2, '0')}`,
      i < idle ? MachineState.Idle : MachineState.Speculative,
      {
        zone,
        labels: new Map([[RACK_KEY, rack]]),
        resources: SIZE,
      },
    ),
  );
}

function uniqueByKey(needs: readonly Need[]): readonly Need[] {
  return [...new Map(needs.map((need) => [keyText(keyOf(need)), need])).values()];
}

/**
 * Plain rows of three priorities that are served exactly, and nothing free. Rows of one priority share a cluster, or
 * each has its own; clusters of the lowest begin with `low`.
 */
export function fullFleets(): fc.Arbitrary<DecisionInput> {
  const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 });
  return fc.record({ high: sizes, middle: sizes, low: sizes, apart: fc.boolean() }).map((levels) => {
    const rowsOf = (name: string, priority: number, counts: readonly number[]): readonly Need[] =>
      counts.map((count, i) => plainRow(levels.apart ? `${name}-${i}` : name, priority, count, i));
    const needs = [
      ...rowsOf('high', 200, levels.high),
      ...rowsOf('middle', 100, levels.middle),
      ...rowsOf(
        'low',
        0,
        levels.low.map((count) => count + 2),
      ),
    ];
    return anInput(needs.flatMap(servedExactly), needs);
  });
}

function plainRow(cluster: string, priority: number, machines: number, index: number): Need {
  return aNeed({
    cluster,
    priority,
    group: `g${index}`,
    aggregate: resources({ cpu: 4 * machines }),
    minUnit: SIZE,
  });
}

function servedExactly(need: Need): readonly LedgerMachine[] {
  return Array.from({ length: need.aggregate.get('cpu')! / 4 }, (_, i) =>
    aMachine(`${need.cluster}-${need.group}-${i}`, MachineState.Configured, {
      cluster: need.cluster,
      stamp: stampOf(need),
      resources: SIZE,
    }),
  );
}
