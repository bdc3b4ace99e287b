// Renewal in a closed loop: rows on machines that fit them badly get cheaper ones, no row is ever short for it, and it ends.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Renewals } from '../../src/engine/index.ts';
import {
  DEFAULT_RENEWAL_LIMITS,
  type DecisionInput,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
} from '../../src/model/index.ts';
import { incrementalDecider } from '../../testing/loop/incremental-decider.ts';
import { type LoopState, type LoopStep, startLoop, stepLoop } from '../../testing/loop/loop.ts';
import { aMachine, aNeed, anInput, resources, stampOf } from '../../testing/support/fleets.ts';

const { Configured, Speculative } = MachineState;
const CYCLE_MS = 60_000;
/** Cycles in which nothing changes: longer than all holds and waits of a renewal. */
const QUIET_CYCLES = 45;
const MOST_CYCLES = 1_000;

/** Offerings of which any number can be bought: cpu, memory and price. */
const SHAPES = [
  [2, 4, 0.1],
  [4, 8, 0.19],
  [8, 32, 0.44],
  [16, 64, 0.8],
  [32, 128, 1.5],
] as const;

const roughRow = fc.record({
  cluster: fc.constantFrom('c1', 'c1', 'c2'),
  priority: fc.integer({ min: 0, max: 3 }),
  firstSeenMs: fc.integer({ min: 1, max: 5 }),
  reclamationBucket: fc.constantFrom(0, 0, 4, 9, 27),
  cpu: fc.integer({ min: 1, max: 40 }),
  memory: fc.integer({ min: 1, max: 100 }),
  unit: fc.constantFrom(1, 2, 4),
  /** Index in SHAPES of the machines that it has. */
  shape: fc.integer({ min: 0, max: 2 }),
});

/** Rows that have machines of one shape each, bought without a thought, and plenty to buy. */
const oldFleets: fc.Arbitrary<DecisionInput> = fc
  .uniqueArray(roughRow, {
    minLength: 1,
    maxLength: 8,
    selector: ({ cluster, priority, reclamationBucket }) => `${cluster} ${priority} ${reclamationBucket}`,
  })
  .map((rows) => {
    const needs = rows.map(({ cpu, memory, unit, ...row }) =>
      aNeed({ ...row, aggregate: resources({ cpu, memory }), minUnit: resources({ cpu: unit, memory: 1 }) }),
    );
    const bought = rows.flatMap(({ cpu, memory, shape, unit }, i) => {
      const [cores, gib] = SHAPES[Math.max(shape, unit > 2 ? 1 : 0)]!;
      const count = Math.max(Math.ceil(cpu / cores), Math.ceil(memory / gib));
      return Array.from({ length: count }, (_, k) => machineOf(shape, unit, `b${i}-${k}`, needs[i]!));
    });
    const supply = SHAPES.flatMap((_, s) =>
      Array.from({ length: 120 }, (_, k) => machineOf(s, 1, `s${s}-${String(k).padStart(3, '0')}`, null)),
    );
    return anInput([...bought, ...supply], needs, SHARED_OPTIONS);
  });

function machineOf(shape: number, unit: number, id: string, need: Need | null): LedgerMachine {
  const [cpu, memory, pricePerHour] = SHAPES[Math.max(shape, unit > 2 ? 1 : 0)]!;
  return aMachine(id, need === null ? Speculative : Configured, {
    instanceType: `cpu-${cpu}`,
    resources: resources({ cpu, memory }),
    pricePerHour,
    cluster: need?.cluster ?? '',
    stamp: need === null ? null : stampOf(need),
  });
}

function dollarsOf({ input: { machines } }: LoopState): number {
  return machines
    .filter(({ state }) => state !== Speculative)
    .reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

describe('renewal in a closed loop', () => {
  it('given any old fleet and slow moves, then no row is ever short, nothing costs more in the end, and it ends', {
    timeout: 300_000,
  }, () => {
    let renewed = 0;
    fc.assert(
      fc.property(oldFleets, fc.constantFrom(0, 0, 3), (input, delays) => {
        const { decide, fleet } = incrementalDecider();
        const renewals = new Renewals(fleet, { ...DEFAULT_RENEWAL_LIMITS, fraction: 0.25 });
        let state = startLoop(input);
        let settledAt = 0;
        let quiet = 0;
        for (let cycle = 0; quiet < QUIET_CYCLES; cycle++) {
          expect(cycle, 'it ends').toBeLessThan(MOST_CYCLES);
          // Sharing makes machines superfluous by itself.
          if (cycle === 30) settledAt = dollarsOf(state);
          if (cycle >= 30) {
            renewals.settle(state.input.nowMs);
            const renewal = renewals.check(state.input.nowMs, state.input.options);
            renewed += renewal?.machines.length ?? 0;
          }
          const options = { ...state.input.options, retiring: renewals.retiring };
          const { step, next } = stepLoop(
            { ...state, input: { ...state.input, options } },
            { decide, delays, cycleMs: CYCLE_MS },
          );
          expect(step.plan.verdicts.filter(({ satisfied }) => !satisfied)).toEqual([]);
          expectServed(step);
          quiet = step.plan.actions.length === 0 && renewals.retiring.size === 0 ? quiet + 1 : 0;
          state = next;
        }
        expect(dollarsOf(state)).toBeLessThanOrEqual(settledAt + 1e-9);
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 25) },
    );
    expect(renewed).toBeGreaterThan(0);
  });
});

/** Checks that machines are reclaimed only from clusters whose rows claim Configured machines alone. */
function expectServed({ input, plan }: LoopStep): void {
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  const reclaimed = plan.actions.filter(({ kind }) => kind === 'Reclaim');
  for (const { cluster, machine } of reclaimed) {
    for (const { claimed, key } of plan.verdicts) {
      if (key.cluster !== cluster) continue;
      expect(claimed).not.toContain(machine);
      expect(claimed.map((id) => machines.get(id)!.state)).toEqual(claimed.map(() => Configured));
    }
  }
}
