// The oracle on what rows leave over for each other (E1, E2), on fleets small enough to solve by hand. Bound machines are on
// hold for ten minutes, so nothing is reclaimed here.

import { describe, expect, it } from 'vitest';
import {
  type DecisionOptions,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { runUntilQuiet, startLoop } from '../loop/loop.ts';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  stampOf,
  strictSpread,
} from '../support/fleets.ts';
import { decide, obstacles } from './oracle.ts';

const { Speculative, Creating, Idle, Configuring, Configured } = MachineState;

const cpu = (amount: number) => resources({ cpu: amount });

/** A plain row; rows of one test differ in priority, which is also their rank. */
function row(priority: number, amount: number, unit: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({ priority, aggregate: cpu(amount), minUnit: cpu(unit), ...given });
}

function machine(id: string, amount: number, given: Partial<LedgerMachine> = {}): LedgerMachine {
  return aMachine(id, Configured, { resources: cpu(amount), ...given });
}

function shared(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = {},
): Plan {
  return decide(anInput(machines, needs, { ...SHARED_OPTIONS, ...options }));
}

/** By rank: what each row claims, and its shares as "machine:cpu". */
function serving(plan: Plan): readonly (readonly [readonly string[], readonly string[]])[] {
  return plan.verdicts.map(({ claimed, shares }) => [
    claimed,
    shares.map((share) => `${share.machine}:${share.amount.get('cpu') ?? 0}`),
  ]);
}

const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine: id }) => `${kind} ${id}`);

describe('borrowing', () => {
  it('given 20 rows of 2 cpu and machines of 32, then 2 machines are bought, and 20 without sharing', () => {
    const rows = Array.from({ length: 20 }, (_, i) => row(i, 2, 2));
    const supply = Array.from({ length: 20 }, (_, i) =>
      aMachine(`s${String(i).padStart(2, '0')}`, Speculative, { resources: cpu(32) }),
    );
    const plan = shared(supply, rows);
    expect(did(plan)).toEqual(['Provision s00', 'Provision s01']);
    expect(plan.verdicts.every(({ satisfied }) => satisfied)).toBe(true);
    expect(serving(plan)[15]).toEqual([[], ['s00:2']]);
    expect(serving(plan)[16]).toEqual([['s01'], []]);
    expect(shared(supply, rows, { ...UNSHARED_OPTIONS }).actions).toHaveLength(20);
  });

  it('given remainders of two rows, then they are borrowed in the order they were entered, before own machines', () => {
    const [first, second, third] = [row(30, 5, 1), row(20, 7, 4), row(10, 4, 1)];
    const machines = [
      machine('a', 8, { stamp: stampOf(first), pricePerHour: 9 }),
      machine('b', 8, { stamp: stampOf(second) }),
      machine('c', 8, { stamp: stampOf(third), pricePerHour: 0 }),
    ];
    const plan = shared(machines, [first, second, third]);
    // The 3 cpu of a do not hold a piece of the second row.
    expect(serving(plan)).toEqual([
      [['a'], []],
      [['b'], []],
      [[], ['a:3', 'b:1']],
    ]);
    expect(plan.actions).toEqual([]);
  });

  it('given a remainder that is too little, then the row borrows it and takes a machine for the rest', () => {
    const [first, second] = [row(30, 5, 1), row(20, 6, 2)];
    const plan = shared(
      [machine('a', 8, { stamp: stampOf(first) }), aMachine('s', Speculative)],
      [first, second],
    );
    expect(serving(plan)[1]).toEqual([['s'], ['a:3']]);
    // 6 − 3 borrowed − nothing: the largest piece is not missing, since a remainder holds it.
    const short = shared([machine('a', 8, { stamp: stampOf(first) })], [first, second]);
    expect(short.verdicts[1]).toMatchObject({ satisfied: false, deficit: cpu(3) });
  });

  it.each<[string, Partial<LedgerMachine>, Parameters<typeof aNeed>[0]]>([
    ['whose machine does not match', {}, { requirements: [{ key: 'disk', operator: 3, values: [] }] }],
    ['below min_unit in one dimension', {}, { minUnit: resources({ cpu: 1, memory: 3 }) }],
    ['without a dimension that the aggregate wants', {}, { aggregate: resources({ cpu: 2, gpu: 1 }) }],
    [
      'on a machine whose interruption would cost more than its price',
      { interruptionProbability: 0.5 },
      { interruptionBucket: 5 },
    ],
    [
      'on a machine that can be interrupted, if the row is pinned',
      { interruptionProbability: 0.001 },
      { interruptionBucket: 27 },
    ],
  ])('given a remainder %s, then it is skipped', (_, lent, given) => {
    const lender = row(30, 1, 1);
    const offer = resources({ cpu: 8, memory: 2 });
    const a = machine('a', 8, { ...lent, resources: offer, stamp: stampOf(lender) });
    const borrower = row(10, 2, 1, given);
    expect(shared([a], [lender, borrower]).verdicts[1]!.shares).toEqual([]);
  });

  it('given an interruption that costs no more than the price, or cannot happen, then the remainder is borrowed', () => {
    const lender = row(30, 1, 1);
    const spot = machine('a', 8, { interruptionProbability: 0.5, stamp: stampOf(lender) });
    const dear = row(10, 2, 1, { interruptionBucket: 4 });
    expect(serving(shared([spot], [lender, dear]))[1]).toEqual([[], ['a:2']]);
    const pinned = row(10, 2, 1, { interruptionBucket: 27 });
    const safe = { ...spot, interruptionProbability: 0 };
    expect(serving(shared([safe], [lender, pinned]))[1]).toEqual([[], ['a:2']]);
  });

  it('given a group or a strict spread, then the row does not borrow, and lends', () => {
    for (const given of [{ group: 'g' }, { spread: [strictSpread(ZONE_KEY)] }]) {
      const [first, second, third] = [row(30, 1, 1), row(20, 2, 1, given), row(10, 12, 1)];
      const machines = [
        machine('a', 8, { stamp: stampOf(first) }),
        machine('b', 8, { stamp: stampOf(second) }),
      ];
      expect(serving(shared(machines, [first, second, third]))).toEqual([
        [['a'], []],
        [['b'], []],
        [[], ['a:7', 'b:5']],
      ]);
    }
  });

  it('given a gang, a fold or a row that is set aside, then it neither borrows nor lends', () => {
    const inRack = { labels: new Map([[RACK_KEY, 'r']]) };
    const lender = row(30, 1, 1);
    const last = row(10, 1, 1);
    const gang = row(20, 2, 1, { requirements: [same(RACK_KEY)], group: 'g' });
    const a = machine('a', 8, { stamp: stampOf(lender), ...inRack });
    for (const [other, owned] of [
      [gang, { stamp: stampOf(gang) }],
      [gang, {}],
      [row(20, 2, 1, { setAside: true }), { stamp: stampOf(row(20, 2, 1)) }],
    ] as const) {
      const b = machine('b', 8, { ...owned, ...inRack });
      for (const rows of [
        [other, last],
        [lender, other],
      ]) {
        const plan = shared([a, b], rows);
        expect(plan.verdicts.map(({ claimed, shares }) => [claimed.length, shares])).toEqual([
          [1, []],
          [1, []],
        ]);
      }
    }
  });

  it('given machines in any state that a row is credited with or acquires, then all of them lend', () => {
    const [lender, borrower] = [row(30, 5, 1), row(20, 3, 1)];
    const target = keyOf(lender);
    const of = (state: MachineState, given: Partial<LedgerMachine>) =>
      aMachine('a', state, { resources: cpu(8), ...given });
    for (const a of [
      of(Configured, { blocked: true }),
      of(Configuring, {}),
      of(Creating, { target }),
      of(Creating, { target, blocked: true }),
      of(Idle, { target }),
      of(Idle, {}),
      of(Speculative, {}),
    ]) {
      expect(serving(shared([a], [lender, borrower]))[1]).toEqual([[], ['a:3']]);
    }
    const blockedIdle = shared([of(Idle, { target, blocked: true })], [lender, borrower]);
    expect(serving(blockedIdle)[1]).toEqual([[], []]);
  });

  it('given a cluster that cannot bind, then its rows share like others; rows of another cluster do not', () => {
    const [lender, borrower] = [row(30, 5, 1), row(20, 3, 1)];
    const a = machine('a', 8, { stamp: stampOf(lender) });
    const away = shared([a], [lender, borrower], { cannotBind: new Set(['c1']) });
    expect(serving(away)[1]).toEqual([[], ['a:3']]);
    const elsewhere = row(20, 3, 1, { cluster: 'c2' });
    expect(serving(shared([a], [lender, elsewhere]))[1]).toEqual([[], []]);
  });
});

describe('credit beside remainders', () => {
  // The ratchet: the better-ranked row took the machine of the other one, which bought again in every cycle.
  it('given a row that nothing fits, then its neighbour keeps its machine, with sharing and without', () => {
    const [large, small] = [row(20, 16, 4), row(10, 2, 2)];
    const machines = [
      machine('b', 2, { stamp: stampOf(small) }),
      aMachine('s', Speculative, { resources: cpu(2) }),
    ];
    for (const options of [SHARED_OPTIONS, UNSHARED_OPTIONS]) {
      const input = anInput(machines, [large, small], options);
      const { steps } = runUntilQuiet(startLoop(input), { decide, delays: 0 }, 10);
      expect(steps).toHaveLength(1);
      expect(serving(steps[0]!.plan)).toEqual([
        [[], []],
        [['b'], []],
      ]);
    }
  });

  it('given a row that remainders cover, then its own machine is not claimed', () => {
    const [first, second] = [row(20, 4, 1), row(10, 4, 1)];
    const machines = [
      machine('a', 8, { stamp: stampOf(first) }),
      machine('b', 8, { stamp: stampOf(second) }),
    ];
    expect(serving(shared(machines, [first, second]))[1]).toEqual([[], ['a:4']]);
    expect(did(shared(machines, [first, second], { reclaimHoldSeconds: 0 }))).toEqual(['Reclaim b']);
  });
});

describe('filling', () => {
  it('given claims of 4 ($1), 8 ($2) and 2 ($9) for 10 cpu, then 2 and 2 are left over', () => {
    const [lender, borrower] = [row(20, 10, 1), row(10, 4, 1)];
    const own = { stamp: stampOf(lender) };
    const machines = [
      machine('m2', 2, { ...own, pricePerHour: 9 }),
      aMachine('m4', Configuring, { ...own, resources: cpu(4), pricePerHour: 1 }),
      aMachine('m8', Configuring, { ...own, resources: cpu(8), pricePerHour: 2 }),
    ];
    expect(serving(shared(machines, [lender, borrower]))).toEqual([
      [['m2', 'm4', 'm8'], []],
      [[], ['m8:2', 'm2:2']],
    ]);
  });

  it('given a largest piece, then the first machine that holds it is filled first, so that it is not lent away', () => {
    const [lender, borrower] = [row(20, 10, 8), row(10, 2, 1)];
    const own = { stamp: stampOf(lender) };
    const machines = [
      machine('small', 4, { ...own, pricePerHour: 1 }),
      machine('large', 8, { ...own, pricePerHour: 2 }),
    ];
    expect(serving(shared(machines, [lender, borrower]))[1]).toEqual([[], ['small:2']]);
    // If the lender borrows, a remainder holds its largest piece, and price decides.
    const best = row(30, 1, 1, { group: 'g' });
    const wider = row(20, 19, 8);
    const lent = machine('lent', 10, { stamp: stampOf(best) });
    const plan = shared(
      [...machines.map((of) => ({ ...of, stamp: stampOf(wider) })), lent],
      [best, wider, borrower],
    );
    expect(serving(plan).slice(1)).toEqual([
      [['small', 'large'], ['lent:9']],
      [[], ['large:2']],
    ]);
  });

  it('given dimensions that the lender does not want, then all of them are left over', () => {
    const [lender, borrower] = [
      row(20, 8, 1),
      row(10, 0, 0, { aggregate: resources({ memory: 3 }), minUnit: new Map() }),
    ];
    const a = machine('a', 8, { resources: resources({ cpu: 8, memory: 4 }), stamp: stampOf(lender) });
    expect(shared([a], [lender, borrower]).verdicts[1]!.shares).toEqual([
      { machine: 'a', amount: resources({ memory: 3 }) },
    ]);
  });

  it('given rows A 5, B 6 in pieces of 2 and C 4 in one piece on machines of 8, then 2 are bought for good', () => {
    const rows = [row(30, 5, 1), row(20, 6, 2), row(10, 4, 4)];
    const supply = ['s1', 's2', 's3'].map((id) => aMachine(id, Speculative, { resources: cpu(8) }));
    const input = anInput(supply, rows, SHARED_OPTIONS);
    for (const delays of [0, 2]) {
      const { steps } = runUntilQuiet(startLoop(input), { decide, delays, cycleMs: 60_000 }, 40);
      expect(new Set(steps.flatMap(({ acquired }) => acquired))).toEqual(new Set(['s1', 's2']));
      expect(serving(steps.at(-1)!.plan)).toEqual([
        [['s1'], []],
        [['s2'], ['s1:3']],
        [[], ['s2:4']],
      ]);
    }
  });
});

describe('what is said about shares', () => {
  it('given shares, then the machine has one claimant and no action, stamp or target for the borrower', () => {
    const [lender, borrower] = [row(20, 5, 1), row(10, 3, 1)];
    const plan = shared([machine('a', 8, { stamp: stampOf(lender) })], [lender, borrower]);
    expect([...plan.claims]).toEqual([['a', keyOf(lender)]]);
    expect([plan.actions, plan.restamps.size, plan.retargets.size]).toEqual([[], 0, 0]);
    expect(plan.verdicts[1]).toMatchObject({
      satisfied: true,
      claimed: [],
      shares: [{ machine: 'a', amount: cpu(3) }],
    });
  });

  it('given remainders that match and none that holds the largest piece, then the explanation counts them', () => {
    const lenders = [row(40, 5, 1), row(30, 6, 6), row(20, 8, 8)];
    const machines = lenders.map((of, i) => machine(`m${i}`, 8, { stamp: stampOf(of) }));
    const counts = (need: Need, options = {}) => {
      const input = anInput(machines, [...lenders, need], { ...SHARED_OPTIONS, ...options });
      return obstacles(input).get(keyText(keyOf(need)))!.remainders;
    };
    // Left over are 3 of m0 and 2 of m1; nothing of m2.
    expect(counts(row(10, 8, 4))).toEqual({ matching: 2, holdingUnit: 0 });
    expect(counts(row(10, 8, 3))).toEqual({ matching: 2, holdingUnit: 1 });
    expect(counts(row(10, 8, 3, { group: 'g' }))).toEqual({ matching: 0, holdingUnit: 0 });
    expect(counts(row(10, 8, 3), { sharing: 'off' })).toEqual({ matching: 0, holdingUnit: 0 });
  });
});
