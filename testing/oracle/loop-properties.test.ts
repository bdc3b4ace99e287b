// The promises of sharing over many cycles on a few fleets; `npm run verify:sharing` runs thousands. Where a promise has
// known exceptions, the seed is fixed and the exceptions have tests of their own.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MachineState, SHARED_OPTIONS, UNSHARED_OPTIONS, ZONE_KEY } from '../../src/model/index.ts';
import { acquiredIn, startLoop, withEvent } from '../loop/loop.ts';
import { aMachine, aNeed, anInput, resources, stampOf, strictSpread } from '../support/fleets.ts';
import { LOOP_PROPERTIES, runToRest } from './loop-properties.ts';
import { decide } from './oracle.ts';

const cpu = (amount: number) => resources({ cpu: amount });
const BOTH = [SHARED_OPTIONS, UNSHARED_OPTIONS];

describe('the closed loop of the oracle', () => {
  it.each(LOOP_PROPERTIES.map((property) => [property.name, property] as const))('%s', (_, property) => {
    const { fleets, problems, knownPerThousand } = property;
    fc.assert(
      fc.property(fleets(), fc.nat(1e9), (input, seed) => {
        expect(problems(input, seed)).toEqual([]);
      }),
      { numRuns: 30, ...(knownPerThousand > 0 ? { seed: 2 } : {}) },
    );
  });

  // Without sharing, a row that lives on a neighbour's machine has no stamp there, and takes over cheaper ones of its
  // neighbours as they come, one in each cycle. With sharing it re-stamps the machine and keeps to it.
  it('given a row on a neighbour’s large machine, when another neighbour buys small ones, then it stays with sharing, and takes those one by one without', () => {
    const best = aNeed({ priority: 200_000, aggregate: cpu(8), minUnit: cpu(2) });
    const owner = aNeed({ aggregate: cpu(8), minUnit: cpu(8) });
    const buyer = aNeed({ aggregate: cpu(1), minUnit: cpu(1), spread: [strictSpread(ZONE_KEY)] });
    const machines = [
      aMachine('large', MachineState.Configured, {
        resources: cpu(16),
        pricePerHour: 2,
        stamp: stampOf(owner),
      }),
      ...['s1', 's2', 's3', 's4', 's5', 's6'].map((id) =>
        aMachine(id, MachineState.Idle, { resources: cpu(2), pricePerHour: 0.25 }),
      ),
    ];
    // Two priority levels promise 4 cycles and one machine would do.
    const outcomes = BOTH.map((options) => {
      const input = anInput(machines, [best, owner, buyer], options);
      const { steps, cyclesToRest } = runToRest(startLoop(input), { decide, delays: 0 });
      return [cyclesToRest, acquiredIn(steps).size];
    });
    expect(outcomes).toEqual([
      [1, 1],
      [5, 5],
    ]);
  });

  it('given machines of several sizes, when a large one is lost, then several small ones may replace it', () => {
    const row = aNeed({ aggregate: cpu(8), minUnit: cpu(2) });
    const machines = [
      aMachine('large', MachineState.Configured, { resources: cpu(8), pricePerHour: 4, stamp: stampOf(row) }),
      ...['s1', 's2', 's3', 's4'].map((id) =>
        aMachine(id, MachineState.Idle, { resources: cpu(2), pricePerHour: 0.25 }),
      ),
    ];
    const counts = BOTH.map((options) => {
      const { end } = runToRest(startLoop(anInput(machines, [row], options)), { decide, delays: 0 });
      const { steps } = runToRest(withEvent(end, { lost: ['large'] }), { decide, delays: 0 });
      return acquiredIn(steps).size;
    });
    expect(counts).toEqual([4, 4]);
  });

  // The machine of a row that left has no owner. Better-ranked rows take it in turn as it becomes Configured, each gives up
  // what it had, and what was on its way to one of them is bound for a low row meanwhile.
  it('given moves of unequal length, when a row leaves with its machine on the way, then one more victim may be picked', () => {
    const high = [
      aNeed({ priority: 200, aggregate: cpu(4), minUnit: cpu(4) }),
      aNeed({ priority: 200, aggregate: cpu(6), minUnit: cpu(2), group: 'g1' }),
      aNeed({ priority: 100, interruptionBucket: 2, aggregate: cpu(1), minUnit: cpu(1), group: 'g2' }),
      aNeed({ priority: 100, interruptionBucket: 3, aggregate: cpu(2), minUnit: cpu(1), group: 'g3' }),
    ];
    const low = ['low1', 'low3'].map((group) =>
      aNeed({ cluster: 'c2', aggregate: cpu(16), minUnit: cpu(16), group }),
    );
    const machines = [4, 16, 4, 16].map((size, i) =>
      aMachine(`v${i}`, MachineState.Configured, {
        cluster: 'c2',
        resources: cpu(size),
        pricePerHour: 1 + (i % 2),
        // The row of the small ones is gone.
        stamp: size === 4 ? stampOf(aNeed({ group: 'gone' })) : stampOf(low[(i - 1) / 2]!),
      }),
    );
    const { problems } = LOOP_PROPERTIES.find(({ name }) => name === 'departs')!;
    for (const options of BOTH) {
      const input = anInput(machines, [...high, ...low], { releaseHoldSeconds: new Map(), ...options });
      expect(problems(input, 224_722_273)).toEqual(['departure: 1 more victims']);
    }
  });

  // The same chain with moves of equal length: protection comes before ownership, as the price does.
  it('given a protected machine of a row that left, then a better-ranked row changes over to it, and a row with a group preempts what that gave up', () => {
    const best = aNeed({ priority: 300, aggregate: cpu(6), minUnit: cpu(2), group: 'best' });
    const borrower = aNeed({ priority: 200, aggregate: cpu(4), minUnit: cpu(4) });
    const last = aNeed({ priority: 100, aggregate: cpu(4), minUnit: cpu(2), group: 'last' });
    const machines = (use: 'protected' | undefined) => [
      aMachine('left', MachineState.Configured, {
        resources: cpu(8),
        use,
        stamp: stampOf(aNeed({ group: 'gone' })),
      }),
      aMachine('of-best', MachineState.Configured, { resources: cpu(8), stamp: stampOf(best) }),
      aMachine('of-last', MachineState.Configured, { resources: cpu(8), use, stamp: stampOf(last) }),
    ];
    const picks = (['protected', undefined] as const).map((use) => {
      const input = anInput(machines(use), [best, borrower, last], SHARED_OPTIONS);
      const { steps } = runToRest(startLoop(input), { decide, delays: 0 });
      return steps.flatMap(({ plan }) =>
        plan.actions.flatMap(({ kind, machine }) => (kind === 'Preempt' ? machine : [])),
      );
    });
    expect(picks).toEqual([['of-best'], []]);
  });

  // Protection comes before the score, and so before the distance in priority.
  it('given a protected machine of the lowest priority, then a middle row is preempted first and preempts it in turn', () => {
    const high = aNeed({ cluster: 'high', priority: 300 });
    const middle = aNeed({ cluster: 'middle', priority: 200 });
    const low = aNeed({ cluster: 'low', priority: 100 });
    const machines = (use: 'protected' | undefined) => [
      aMachine('m', MachineState.Configured, { cluster: 'middle', stamp: stampOf(middle) }),
      aMachine('p', MachineState.Configured, { cluster: 'low', stamp: stampOf(low), use }),
    ];
    const picks = (['protected', undefined] as const).map((use) => {
      const { steps } = runToRest(startLoop(anInput(machines(use), [high, middle, low])), {
        decide,
        delays: 0,
      });
      return steps.flatMap(({ plan }) =>
        plan.actions.flatMap(({ kind, machine }) => (kind === 'Preempt' ? machine : [])),
      );
    });
    expect(picks).toEqual([['m', 'p'], ['p']]);
  });

  // An Idle machine with a row's target is credited before bound machines of other live rows.
  it('given an Idle machine that is the target of a row, when a machine without an owner becomes protected, then the row binds its Idle machine', () => {
    const first = aNeed({ aggregate: cpu(4), minUnit: cpu(4) });
    const second = aNeed({ aggregate: cpu(4), minUnit: cpu(4), group: 'second' });
    const { cluster, profile, group } = second;
    const machines = (use: 'protected' | undefined) => [
      aMachine('left', MachineState.Configured, {
        resources: cpu(4),
        use,
        stamp: stampOf(aNeed({ group: 'gone' })),
      }),
      aMachine('of-first', MachineState.Configured, { resources: cpu(4), stamp: stampOf(first) }),
      aMachine('reserved', MachineState.Idle, {
        resources: cpu(4),
        target: { cluster, fingerprint: profile.fingerprint, group },
      }),
    ];
    const moves = ([undefined, 'protected'] as const).map((use) => {
      const { steps } = runToRest(startLoop(anInput(machines(use), [first, second], UNSHARED_OPTIONS)), {
        decide,
        delays: 0,
      });
      return steps.flatMap(({ plan }) => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`));
    });
    expect(moves).toEqual([[], ['Bootstrap reserved', 'Reclaim of-first']]);
  });
});
