import { describe, expect, it } from 'vitest';
import type { Share } from './decision.ts';
import type { ResourceVector } from './resources.ts';
import {
  amountText,
  remaindersText,
  renewalText,
  unclaimedText,
  usersText,
  verdictText,
} from './sharing-text.ts';

function vector(amounts: Readonly<Record<string, number>>): ResourceVector {
  return new Map(Object.entries(amounts));
}

const MET = {
  ...{ satisfied: true, deficit: new Map(), claimed: [], bootstraps: [], provisions: [] },
  ...{ preempts: [], shares: [] as readonly Share[] },
};

function share(machine: string, cpu: number): Share {
  return { machine, amount: vector({ cpu }) };
}

describe('the sentence about a verdict', () => {
  it.each([
    [{}, 'met'],
    [
      { claimed: ['a', 'b'], shares: [share('machine-7', 1500)] },
      'met: keeps 2 machines, shares 1.5 cpu of machine-7',
    ],
    [
      { claimed: ['a', 'b', 'c'], bootstraps: ['b'], provisions: ['c'] },
      'met: keeps 1 machine, binds 1 machine, buys 1 machine',
    ],
    [
      { shares: ['a', 'b', 'c', 'd', 'e'].map((id) => share(id, 1000)) },
      'met: shares 1 cpu of a, 1 cpu of b, 1 cpu of c and parts of 2 more',
    ],
    [
      { satisfied: false, deficit: vector({ cpu: 4000 }), preempts: ['x'] },
      'not met: preempts 1 machine, lacks 4 cpu',
    ],
    [{ satisfied: false, claimed: ['a'] }, 'not met: keeps 1 machine'],
  ])('given %j, then it is "%s"', (given, text) => {
    expect(verdictText({ ...MET, ...given })).toBe(text);
  });
});

describe('the sentence about remainders', () => {
  it.each([
    [{ matching: 0, holdingUnit: 0 }, { cpu: 4000 }, ''],
    [
      { matching: 3, holdingUnit: 0 },
      { cpu: 4000 },
      '3 remainders match, none holds its largest pod (4 cpu)',
    ],
    [
      { matching: 1, holdingUnit: 1 },
      { cpu: 500, memory: 2 ** 30 },
      '1 remainder matches, 1 holds its largest pod (0.5 cpu and 1Gi memory)',
    ],
    [{ matching: 2, holdingUnit: 2 }, {}, '2 remainders match'],
  ])('given %j and a largest pod of %j, then it is "%s"', (counts, unit, text) => {
    expect(remaindersText(counts, vector(unit))).toBe(text);
  });
});

describe('the sentence about the users of a machine', () => {
  const offer = vector({ cpu: 8000 });
  const user = (cpu: number | null, isShare = false) => ({
    isShare,
    amount: cpu === null ? null : vector({ cpu }),
  });
  const named = (users: readonly ReturnType<typeof user>[]): string =>
    usersText(users, offer, (of) => `shop/${users.indexOf(of as ReturnType<typeof user>)}`);

  it.each([
    [[], ''],
    [[user(6000), user(1500, true)], 'shop/0 takes 6 cpu, shop/1 shares 1.5 cpu, 0.5 cpu left over'],
    [[user(8000)], 'shop/0 takes 8 cpu, nothing left over'],
    [[user(null)], 'shop/0 has it, and its size is not known'],
    [
      [user(1000), ...[1, 1, 1, 1, 1].map(() => user(1000, true))],
      'shop/0 takes 1 cpu, shop/1 shares 1 cpu, shop/2 shares 1 cpu, shop/3 shares 1 cpu, 2 more share 2 cpu, 2 cpu left over',
    ],
  ])('given %j, then it is "%s"', (users, text) => {
    expect(named(users)).toBe(text);
  });
});

describe('the sentence about an unclaimed machine', () => {
  it.each([
    [240_000, 360_000, 'hold', 'unclaimed for 4 min, given back in 6 min'],
    [5_000, -1, 'hold', 'unclaimed for 5 s, given back in 0 s'],
    [7_500_000, 0, 'needs', 'unclaimed for 2 h 5 min, kept while a Need of its cluster waits for machines'],
    [59_600, 0, 'guardrails', 'unclaimed for 1 min, to be given back once guardrails and freezes allow it'],
  ] as const)('given %i ms, %i ms left and %s, then it is "%s"', (forMs, leftMs, waitsFor, text) => {
    expect(unclaimedText(forMs, leftMs, waitsFor)).toBe(text);
  });
});

describe('a machine that is to be replaced', () => {
  it.each([
    [
      ...[240_000, 2_160_000, 0.4, 4],
      'to be replaced by cheaper machines for 4 min, saves about $0.40 an hour with 3 others, for another 36 min at most',
    ],
    [
      ...[0, 3_600_000, 12.345, 2],
      'to be replaced by cheaper machines for 0 s, saves about $12.35 an hour with 1 other, for another 1 h 0 min at most',
    ],
    [
      ...[1000, 59_000, 1, 1],
      'to be replaced by cheaper machines for 1 s, saves about $1.00 an hour, for another 59 s at most',
    ],
  ] as [number, number, number, number, string][])(
    'given %i ms, %i ms left, $%d and %i machines, then it is "%s"',
    (forMs, leftMs, dollars, machines, text) => {
      expect(renewalText(forMs, leftMs, dollars, machines)).toBe(text);
    },
  );
});

describe('amounts in sentences', () => {
  it.each([
    [{}, 'nothing'],
    [{ cpu: 0 }, 'nothing'],
    [
      { 'nvidia.com/gpu': 8, memory: 1.5 * 2 ** 40, cpu: 63_500 },
      '63.5 cpu, 1.5Ti memory and 8 nvidia.com/gpu',
    ],
    [{ memory: 1000 }, '1000 memory'],
  ])('given %j, then they are "%s"', (amounts, text) => {
    expect(amountText(vector(amounts as Record<string, number>))).toBe(text);
  });
});
