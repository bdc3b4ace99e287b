// The oracle on the order in which rows take free machines (E3): by the price of covering what is left, accelerators last.

import { describe, expect, it } from 'vitest';
import {
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, RACK_KEY, resources, same, strictSpread } from '../support/fleets.ts';
import { decide } from './oracle.ts';
import { factor, score } from './pool-order.ts';

const { Speculative, Idle } = MachineState;

const GPU = 'nvidia.com/gpu';
const cpu = (amount: number) => resources({ cpu: amount });

function supply(
  prefix: string,
  count: number,
  amount: number,
  pricePerHour: number,
  given: Partial<LedgerMachine> = {},
): readonly LedgerMachine[] {
  return Array.from({ length: count }, (_, i) =>
    aMachine(`${prefix}${String(i).padStart(2, '0')}`, Speculative, {
      resources: cpu(amount),
      pricePerHour,
      ...given,
    }),
  );
}

function acquired(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = {},
): readonly string[] {
  const plan: Plan = decide(anInput(machines, needs, { ...SHARED_OPTIONS, ...options }));
  return plan.actions.map(({ machine }) => machine);
}

const row = (amount: number, unit = 1) => aNeed({ aggregate: cpu(amount), minUnit: cpu(unit) });

describe('the pool order of plain rows', () => {
  it('given 64 cpu and machines of 2 for $0.10 and of 32 for $1, then 2 large ones are bought', () => {
    const machines = [...supply('s', 40, 2, 0.1), ...supply('l', 3, 32, 1)];
    expect(acquired(machines, [row(64)])).toEqual(['l00', 'l01']);
    expect(acquired(machines, [row(64)], { poolOrder: 'price' })).toHaveLength(32);
    expect(acquired(machines, [row(64)], UNSHARED_OPTIONS)[0]).toBe('s00');
  });

  it('given a small rest after a take, then the order is that of the rest', () => {
    const machines = [...supply('s', 40, 2, 0.1), ...supply('l', 3, 32, 1)];
    expect(acquired(machines, [row(34)])).toEqual(['l00', 's00']);
  });

  it('given prices in proportion, then scores tie and the machine that covers most comes first', () => {
    // 7 × $0.1 and 14 × $0.05 are not equal as doubles, and equal as scores.
    const machines = [...supply('a', 14, 1, 0.05), ...supply('b', 7, 2, 0.1), ...supply('c', 2, 7, 0.35)];
    expect(acquired(machines, [row(14)])).toEqual(['c00', 'c01']);
  });

  it('given equal scores and factors, then cost, price, reclamation value of Idle ones and id decide', () => {
    const need = aNeed({ aggregate: cpu(4), minUnit: cpu(1), interruptionBucket: 3 });
    const spot = { interruptionProbability: 0.5 };
    const machines = [...supply('b', 1, 4, 1), ...supply('a', 1, 4, 0.5, spot), ...supply('c', 1, 4, 1)];
    expect(acquired(machines, [need])).toEqual(['a00']);
    const stamp = { priority: 1, interruptionPenaltyDollars: 0, fingerprint: 'f', group: '' };
    const idle = (id: string, dollars: number) =>
      aMachine(id, Idle, { stamp: { ...stamp, reclamationPenaltyDollars: dollars } });
    expect(acquired([idle('i1', 0), idle('i2', 4), idle('i3', 4)], [need])).toEqual(['i2']);
  });

  it('given an Idle machine, then it comes before Speculative ones of a better score', () => {
    const idle = aMachine('i', Idle, { resources: cpu(2), pricePerHour: 5 });
    expect(acquired([idle, ...supply('s', 9, 8, 0.1)], [row(8)])).toEqual(['i', 's00']);
  });

  it('given a machine that lacks a wanted dimension, or would cost a pinned row everything, then it comes last', () => {
    const need = aNeed({
      aggregate: resources({ cpu: 4, memory: 4 }),
      minUnit: new Map(),
      interruptionBucket: 27,
    });
    const whole = resources({ cpu: 4, memory: 4 });
    const machines = [
      aMachine('lacks', Speculative, { pricePerHour: 0.01, resources: cpu(4) }),
      aMachine('spot', Speculative, { pricePerHour: 0.01, resources: whole, interruptionProbability: 0.1 }),
      aMachine('whole', Speculative, { pricePerHour: 9, resources: whole }),
    ];
    expect(acquired(machines, [need])).toEqual(['whole']);
    // Both scores are infinite, and the factor of the second one is less.
    expect(acquired(machines.slice(0, 2), [need])).toEqual(['spot']);
  });

  it('given a strict spread, then the first whose domain passes is taken, in the order of the rest', () => {
    const need = aNeed({ aggregate: cpu(34), minUnit: cpu(1), spread: [strictSpread(ZONE_KEY)] });
    const machines = [
      ...supply('l', 3, 32, 1),
      ...supply('s', 3, 2, 0.1),
      ...supply('t', 1, 2, 0.2, { zone: 'zb' }),
    ];
    // After the large one in za only zb is open, and the cheaper one of za has to wait.
    expect(acquired(machines, [need])).toEqual(['l00', 't00']);
  });

  it.each([
    [{ cpu: 8 }, { cpu: 4 }, 2],
    [{ cpu: 8, memory: 2 }, { cpu: 16, memory: 1 }, 2],
    [{ cpu: 1 }, { cpu: 4 }, 1],
    [{ cpu: 0 }, {}, 1],
    [{ cpu: 1 }, { memory: 4 }, Number.POSITIVE_INFINITY],
  ])('given %o wanted of %o, then the factor is %d', (want, offer, expected) => {
    expect(factor(resources(want), resources(offer))).toBe(expected);
  });

  it('given a cost and a factor, then the score is in millionths, and infinite if either is', () => {
    expect(score(0.35, 2)).toBe(700_000);
    expect(score(0, Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    expect(score(Number.POSITIVE_INFINITY, 1)).toBe(Number.POSITIVE_INFINITY);
    expect(score(1.5e-6, 1)).toBe(2);
  });
});

describe('accelerators', () => {
  const host = aMachine('gpu', Idle, { resources: resources({ cpu: 8, [GPU]: 1 }), pricePerHour: 0.5 });
  const bought = aMachine('s', Speculative, { resources: cpu(8), pricePerHour: 1 });
  const plain = aNeed({ priority: 9, aggregate: cpu(8), minUnit: cpu(1) });
  const wantsGpu = aNeed({ aggregate: resources({ cpu: 1, [GPU]: 1 }), minUnit: resources({ [GPU]: 1 }) });

  it('given an idle GPU host and a cheap machine to buy, then work without GPUs buys and the GPU row gets the host', () => {
    const plan = decide(anInput([host, bought], [plain, wantsGpu], SHARED_OPTIONS));
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([['s'], ['gpu']]);
    expect(acquired([host, bought], [plain, wantsGpu], { accelerators: 'by-price' })).toEqual(['gpu']);
    expect(acquired([host, bought], [plain, wantsGpu], { ignoredAccelerators: new Set([GPU]) })).toEqual([
      'gpu',
    ]);
  });

  it('given nothing else, then work without GPUs takes the host', () => {
    expect(acquired([host], [plain])).toEqual(['gpu']);
  });

  it('given gangs and folds, then they take accelerators last, Idle first and else by price', () => {
    const inRack = { labels: new Map([[RACK_KEY, 'r']]) };
    const machines = [
      { ...host, ...inRack },
      ...supply('s', 2, 8, 1, inRack),
      ...supply('l', 1, 16, 1.5, inRack),
      aMachine('i', Idle, { ...inRack, resources: cpu(8), pricePerHour: 3 }),
    ];
    const gang = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(20), minUnit: cpu(8), group: 'g' });
    // By coverage the large one would come before the small ones.
    expect(acquired(machines, [gang])).toEqual(['i', 's00', 's01']);
    const small = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(8), minUnit: cpu(8), group: 'g' });
    expect(acquired(machines, [small])).toEqual(['i']);
    expect(
      acquired(
        machines.filter(({ id }) => id !== 'i'),
        [small],
      ),
    ).toEqual(['s00']);
    expect(acquired([machines[0]!], [small])).toEqual(['gpu']);
  });
});
