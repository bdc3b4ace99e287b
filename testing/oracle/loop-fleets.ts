// Random fleets for the promises of sharing over many cycles: plain rows on a catalogue with enough or too little supply, and
// rows that have to preempt. Prices and sizes are few, so that ties are the rule. Used by loop-properties.ts.

import fc from 'fast-check';
import {
  type DecisionInput,
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, resources, stampOf, strictSpread } from '../support/fleets.ts';

/** Cpu and memory of a machine. */
type Shape = readonly [cpu: number, memory: number];

export const MIXED: readonly Shape[] = [
  [2, 2],
  [4, 8],
  [8, 8],
  [16, 32],
  [32, 32],
];
export const ALIKE: readonly Shape[] = [[16, 16]];

/** Idle machines are not released, so that a fleet can come to rest. */
function inputOf(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions>,
): DecisionInput {
  return anInput(machines, needs, { releaseHoldSeconds: new Map(), ...SHARED_OPTIONS, ...options });
}

function uniqueByKey(needs: readonly Need[]): readonly Need[] {
  const keyed = needs.map(
    (need) => [`${need.cluster} ${need.profile.fingerprint} ${need.group}`, need] as const,
  );
  return [...new Map(keyed).values()];
}

/** Plain rows of two clusters, with spread and groups among them, and `supply` free machines of these shapes. */
export function catalogueFleets(
  shapes: readonly Shape[],
  options: Partial<DecisionOptions>,
  supply: { readonly minLength: number; readonly maxLength: number } = { minLength: 30, maxLength: 30 },
): fc.Arbitrary<DecisionInput> {
  const row = fc.record({
    cluster: fc.constantFrom('c1', 'c1', 'c2'),
    priority: fc.constantFrom(0, 0, 100, 200_000),
    interruptionBucket: fc.constantFrom(0, 3, 6),
    reclamationBucket: fc.constantFrom(0, 1, 2),
    kind: fc.constantFrom('plain', 'plain', 'plain', 'plain', 'grouped', 'spread'),
    unit: fc.constantFrom(1, 1, 2, 4, 8),
    pods: fc.integer({ min: 1, max: 6 }),
    memoryPerCpu: fc.constantFrom(0, 1, 1, 2),
    firstSeenMs: fc.constantFrom(1, 2),
  });
  const offer = fc.record({
    shape: fc.nat(shapes.length - 1),
    price: fc.constantFrom(1, 1, 2),
    zone: fc.constantFrom('za', 'zb'),
    state: fc.constantFrom<MachineState>(
      MachineState.Speculative,
      MachineState.Speculative,
      MachineState.Idle,
    ),
  });
  return fc
    .record({
      rows: fc.array(row, { minLength: 2, maxLength: 9, size: 'max' }),
      offers: fc.array(offer, { ...supply, size: 'max' }),
    })
    .map(({ rows, offers }) => {
      const needs = rows.map(({ kind, unit, pods, memoryPerCpu, ...parts }, i) =>
        aNeed({
          ...parts,
          group: kind === 'grouped' ? `g${i}` : '',
          spread: kind === 'spread' ? [strictSpread(ZONE_KEY)] : [],
          aggregate: resources({ cpu: unit * pods, memory: unit * pods * memoryPerCpu }),
          minUnit: resources({ cpu: unit, memory: unit * memoryPerCpu }),
        }),
      );
      const machines = offers.map(({ shape, price, zone, state }, i) => {
        const [cpu, memory] = shapes[shape]!;
        return aMachine(`m${String(i).padStart(2, '0')}`, state, {
          resources: resources({ cpu, memory }),
          pricePerHour: (price * cpu) / 8,
          zone,
        });
      });
      return inputOf(machines, uniqueByKey(needs), options);
    });
}

/** The cluster of the rows that lose their machines in pressure fleets. */
export const LOW_CLUSTER = 'c2';

/** Low rows that are served exactly, nothing free, and high rows that have to preempt. */
export function pressureFleets(options: Partial<DecisionOptions>): fc.Arbitrary<DecisionInput> {
  const high = fc.record({
    cluster: fc.constantFrom('c1', 'c1', 'c1', 'c3'),
    priority: fc.constantFrom(100, 100, 200, 300),
    interruptionBucket: fc.constantFrom(0, 1, 2, 3),
    unit: fc.constantFrom(1, 2, 4),
    pods: fc.integer({ min: 1, max: 4 }),
    isGrouped: fc.constantFrom(true, false, false, false),
  });
  return fc
    .record({
      rows: fc.array(high, { minLength: 2, maxLength: 6, size: 'max' }),
      sizes: fc.array(fc.constantFrom(4, 8, 16), { minLength: 3, maxLength: 10, size: 'max' }),
    })
    .map(({ rows, sizes }) => {
      const low = sizes.map((cpu, i) => {
        const amounts = resources({ cpu });
        return aNeed({ cluster: LOW_CLUSTER, group: `low${i}`, aggregate: amounts, minUnit: amounts });
      });
      const machines = low.map((need, i) =>
        aMachine(`v${i}`, MachineState.Configured, {
          cluster: LOW_CLUSTER,
          resources: need.aggregate,
          stamp: stampOf(need),
          pricePerHour: 1 + (i % 2),
        }),
      );
      const needs = rows.map(({ unit, pods, isGrouped, ...parts }, i) =>
        aNeed({
          ...parts,
          group: isGrouped ? `g${i}` : '',
          aggregate: resources({ cpu: unit * pods }),
          minUnit: resources({ cpu: unit }),
        }),
      );
      return inputOf(machines, [...uniqueByKey(needs), ...low], options);
    });
}
