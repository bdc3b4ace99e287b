import { describe, expect, it } from 'vitest';
import {
  aMachine,
  aNeed,
  anInput,
  NOW_MS,
  RACK_KEY,
  resources,
  same,
  stampOf,
  strictSpread,
} from '../../../testing/support/fleets.ts';
import { type Fleet, fleetOf } from '../../fleet/index.ts';
import {
  BUCKET_PINNED,
  bucketOfDollars,
  CapacityType,
  DEFAULT_RENEWAL_LIMITS,
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
} from '../../model/index.ts';
import { type Renewal, Renewals } from './renewals.ts';

const { Configured, Speculative } = MachineState;
const MINUTE_MS = 60_000;
/** Wants 8 cpu in pieces of 1. */
const ROW = aNeed({ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 1 }) });

/** Machines of a row with 2 cpu for $1 each, numbered from 1. */
function smallOnes(count: number, need: Need = ROW, given: Partial<LedgerMachine> = {}): LedgerMachine[] {
  return Array.from({ length: count }, (_, i) =>
    aMachine(`${need.cluster}-b${i + 1}`, Configured, {
      cluster: need.cluster,
      resources: resources({ cpu: 2 }),
      stamp: stampOf(need),
      ...given,
    }),
  );
}

/** Machines that can be bought, with 8 cpu for $2 each. */
function largeOnes(count: number): LedgerMachine[] {
  return Array.from({ length: count }, (_, i) =>
    aMachine(`s${i + 1}`, Speculative, { resources: resources({ cpu: 8 }), pricePerHour: 2 }),
  );
}

class Scene {
  readonly fleet: Fleet;
  readonly renewals: Renewals;
  readonly options: DecisionOptions;
  nowMs = NOW_MS;

  constructor(
    machines: readonly LedgerMachine[],
    needs: readonly Need[] = [ROW],
    options: Partial<DecisionOptions> = {},
    fraction = 1,
  ) {
    const input = anInput(machines, needs, { ...SHARED_OPTIONS, ...options });
    this.fleet = fleetOf(input);
    this.options = input.options;
    this.renewals = new Renewals(this.fleet, { ...DEFAULT_RENEWAL_LIMITS, fraction });
  }

  checkAfter(minutes: number): Renewal | null {
    this.nowMs += minutes * MINUTE_MS;
    return this.renewals.check(this.nowMs, this.options);
  }

  settleAfter(minutes: number) {
    this.nowMs += minutes * MINUTE_MS;
    return this.renewals.settle(this.nowMs);
  }

  /** Two checks, as far apart as a renewal needs to begin. */
  begun(): Renewal | null {
    this.checkAfter(0);
    return this.checkAfter(10);
  }

  /** Machines leave the cluster and are released, and others serve in their place. */
  replace(ids: readonly string[], by: readonly LedgerMachine[]): void {
    const { machines } = this.fleet;
    machines.batch(() => {
      for (const id of ids) machines.remove(id);
      for (const machine of by) machines.put(machine);
    });
  }
}

describe('machines that could be replaced by cheaper ones', () => {
  it('given two checks that agree, then the machines are marked, with what that saves', () => {
    const scene = new Scene([...smallOnes(4), ...largeOnes(1)]);
    expect(scene.checkAfter(0)).toBeNull();
    expect(scene.checkAfter(9)).toBeNull();
    const renewal = scene.checkAfter(1);
    expect(renewal).toEqual({
      cluster: 'c1',
      machines: ['c1-b1', 'c1-b2', 'c1-b3', 'c1-b4'],
      savesPerHour: 2,
      sinceMs: scene.nowMs,
      untilMs: scene.nowMs + 40 * MINUTE_MS,
    });
    expect(scene.renewals.retiring).toEqual(new Set(renewal!.machines));
    expect(scene.renewals.of('c1-b2')).toBe(renewal);
    expect(scene.renewals.of('s1')).toBeUndefined();
  });

  it('given machines like those that would be bought, then these stay', () => {
    const more = aNeed({ aggregate: resources({ cpu: 10 }), minUnit: resources({ cpu: 1 }) });
    const small = aMachine('s9', Speculative, { resources: resources({ cpu: 2 }) });
    const scene = new Scene([...smallOnes(5, more), ...largeOnes(1), small], [more]);
    expect(scene.begun()!.machines).toEqual(['c1-b2', 'c1-b3', 'c1-b4', 'c1-b5']);
  });

  it('given rows that save together only, then the machines of all are marked', () => {
    const rows = [4, 3, 2, 1].map((priority) =>
      aNeed({ priority, aggregate: resources({ cpu: 2 }), minUnit: resources({ cpu: 1 }) }),
    );
    const machines = rows.flatMap((row, i) => smallOnes(1, row, { id: `b${i}` }));
    const scene = new Scene([...machines, ...largeOnes(1)], rows);
    expect(scene.begun()).toMatchObject({ machines: ['b0', 'b1', 'b2', 'b3'], savesPerHour: 2 });
  });

  it('given gangs that may fold, then the machines of plain rows are marked', () => {
    const small = { aggregate: resources({ cpu: 1 }), minUnit: resources({ cpu: 1 }) };
    const gangs = ['g1', 'g2'].map((group) =>
      aNeed({ group, priority: 9, requirements: [same(RACK_KEY)], ...small }),
    );
    const labels = new Map([[RACK_KEY, 'r1']]);
    const supply = largeOnes(3).map((machine) => ({ ...machine, labels }));
    const scene = new Scene([...smallOnes(4), ...supply], [ROW, ...gangs]);
    // The fold takes over the first machine, so that the row buys a large one and keeps three.
    expect(scene.begun()).toMatchObject({ machines: ['c1-b2', 'c1-b3', 'c1-b4'], savesPerHour: 3 });
  });

  it.each<[string, readonly LedgerMachine[], readonly Need[], Partial<DecisionOptions>]>([
    ['nothing that costs less', smallOnes(4), [ROW], {}],
    ['machines that are paid anyway', smallOnes(4, ROW, { capacityType: CapacityType.Reserved }), [ROW], {}],
    ['blocked machines', smallOnes(4, ROW, { blocked: true }), [ROW], {}],
    [
      'machines that are not Configured yet',
      smallOnes(4, ROW, { state: MachineState.Configuring }),
      [ROW],
      {},
    ],
    ['no reclaim hold', smallOnes(4), [ROW], { reclaimHoldSeconds: 0 }],
    ['machines that are never released', smallOnes(4), [ROW], { releaseHoldSeconds: new Map() }],
    ['a cluster that cannot bind', smallOnes(4), [ROW], { cannotBind: new Set(['c1']) }],
    ['a cluster that has not reported', smallOnes(4), [ROW], { readyClusters: new Set<string>() }],
    ['a row that is short', smallOnes(4), [ROW, aNeed({ priority: 9, minUnit: resources({ cpu: 99 }) })], {}],
  ])('given %s, then nothing is marked', (what, machines, needs, options) => {
    const supply = what === 'nothing that costs less' ? [] : largeOnes(1);
    expect(new Scene([...machines, ...supply], needs, options).begun()).toBeNull();
  });

  it.each<[string, Parameters<typeof aNeed>[0]]>([
    ['pinned', { reclamationBucket: BUCKET_PINNED }],
    ['worth more than the saving of 30 days', { reclamationBucket: bucketOfDollars(512) }],
    ['with a group', { group: 'g' }],
    ['with strict spread', { spread: [strictSpread('zone')] }],
  ])('given a row %s, then its machines stay', (_, given) => {
    const row = aNeed({ aggregate: ROW.aggregate, minUnit: ROW.minUnit, ...given });
    expect(new Scene([...smallOnes(4, row), ...largeOnes(1)], [row]).begun()).toBeNull();
  });

  it('given penalties below the saving of 30 days, then the machines are marked', () => {
    // 4 × $256 against 720 × $2.
    const row = aNeed({ ...ROW, reclamationBucket: bucketOfDollars(256) });
    expect(new Scene([...smallOnes(4, row), ...largeOnes(1)], [row]).begun()).not.toBeNull();
  });

  it('given the penalty of a row that borrows of the machines, then it counts', () => {
    const row = aNeed({ ...ROW, priority: 1, aggregate: resources({ cpu: 7 }) });
    const small = { aggregate: resources({ cpu: 1 }), minUnit: resources({ cpu: 1 }) };
    const borrower = aNeed({ ...small, reclamationBucket: BUCKET_PINNED });
    const scene = new Scene([...smallOnes(4, row), ...largeOnes(1)], [row, borrower]);
    // Three machines of 2 cpu would be replaced by nothing cheaper.
    expect(scene.begun()).toBeNull();
  });
});

describe('the limits of a renewal', () => {
  const LARGE = aNeed({ aggregate: resources({ cpu: 80 }), minUnit: resources({ cpu: 1 }) });

  it('given a fraction, then no more machines of a cluster are marked, and at least four', () => {
    const machines = [...smallOnes(40, LARGE), ...largeOnes(10)];
    expect(new Scene(machines, [LARGE], {}, 0.5).begun()!.machines).toHaveLength(20);
    expect(new Scene(machines, [LARGE], {}, 0.01).begun()!.machines).toHaveLength(4);
  });

  it('given a very large fleet, then 5,000 machines are marked at most', () => {
    const huge = aNeed({ aggregate: resources({ cpu: 10_400 }), minUnit: resources({ cpu: 1 }) });
    const scene = new Scene([...smallOnes(5_200, huge), ...largeOnes(1_300)], [huge]);
    expect(scene.begun()!.machines).toHaveLength(5_000);
  });

  it('given marks in one cluster, then others wait for room', () => {
    const other = aNeed({ cluster: 'c2', aggregate: LARGE.aggregate, minUnit: LARGE.minUnit });
    const machines = [...smallOnes(40, LARGE), ...smallOnes(40, other), ...largeOnes(20)];
    const scene = new Scene(machines, [LARGE, other], {}, 0.05);
    const checks = [0, 0, 10, 0, 10, 10].map((minutes) => scene.checkAfter(minutes)?.cluster ?? null);
    expect(checks).toEqual([null, null, 'c1', null, null, null]);
    const { machines: marked } = scene.renewals.of('c1-b1')!;
    expect(marked).toHaveLength(4);
    scene.replace(marked, []);
    scene.settleAfter(1);
    expect(scene.checkAfter(0)?.cluster).toBe('c2');
  });
});

describe('marks', () => {
  const BOUGHT = aMachine('s1', Configured, {
    resources: resources({ cpu: 8 }),
    pricePerHour: 2,
    stamp: stampOf(ROW),
  });

  it('given machines that have left, then their marks end, and the next check follows at once', () => {
    const scene = new Scene([...smallOnes(4), ...largeOnes(1)]);
    const renewal = scene.begun()!;
    const { retiring } = scene.renewals;
    expect(scene.settleAfter(1)).toEqual([]);
    expect(scene.renewals.retiring).toBe(retiring);
    scene.replace(['c1-b1'], [BOUGHT]);
    expect(scene.settleAfter(10)).toEqual([]);
    expect(scene.renewals.retiring).toEqual(new Set(['c1-b2', 'c1-b3', 'c1-b4']));
    scene.replace(['c1-b2', 'c1-b3', 'c1-b4'], []);
    expect(scene.settleAfter(1)).toEqual([{ renewal, end: 'finished', kept: 0 }]);
    expect(scene.renewals.retiring).toEqual(new Set());
    expect(scene.settleAfter(1)).toEqual([]);
  });

  it('given machines that do not leave, then their marks end after the hold and half an hour', () => {
    const scene = new Scene([...smallOnes(4), ...largeOnes(1)]);
    const renewal = scene.begun()!;
    expect(scene.settleAfter(39)).toEqual([]);
    expect(scene.settleAfter(1)).toEqual([{ renewal, end: 'expired', kept: 4 }]);
    expect(scene.renewals.retiring).toEqual(new Set());
    expect(scene.renewals.of('c1-b1')).toBeUndefined();
    expect([19, 1].map((minutes) => scene.checkAfter(minutes) === null)).toEqual([true, false]);
    scene.settleAfter(40);
    expect([39, 1].map((minutes) => scene.checkAfter(minutes) === null)).toEqual([true, false]);
  });

  it('given a cluster that may not be renewed, then its marks end, and no others begin', () => {
    const scene = new Scene([...smallOnes(4), ...largeOnes(1)]);
    const renewal = scene.begun()!;
    expect(scene.renewals.settle(scene.nowMs, (cluster) => cluster !== 'c1')).toEqual([
      { renewal, end: 'stopped', kept: 4 },
    ]);
    expect(scene.renewals.retiring).toEqual(new Set());
    scene.nowMs += 10 * MINUTE_MS;
    expect(scene.renewals.check(scene.nowMs, scene.options, () => false)).toBeNull();
    expect(scene.checkAfter(0)).not.toBeNull();
  });

  it('given a renewal that brought nothing, then the cluster is left alone for longer', () => {
    const scene = new Scene([...smallOnes(4), ...largeOnes(1)]);
    const renewal = scene.begun()!;
    const others = smallOnes(4).map((machine, i) => ({ ...machine, id: `n${i}` }));
    scene.replace(renewal.machines, others);
    scene.settleAfter(11);
    expect(scene.checkAfter(0)).toBeNull();
    expect(scene.checkAfter(19)).toBeNull();
    expect(scene.checkAfter(1)).not.toBeNull();
  });

  it('given a renewal under way, then less is enough to go on, and one check', () => {
    const row = aNeed({ aggregate: ROW.aggregate, minUnit: ROW.minUnit, priority: 2 });
    const rest = aNeed({ aggregate: resources({ cpu: 96 }), minUnit: resources({ cpu: 8 }) });
    const eight = { resources: resources({ cpu: 8 }), pricePerHour: 2, stamp: stampOf(rest) };
    const fine = Array.from({ length: 12 }, (_, i) => aMachine(`f${i}`, Configured, eight));
    const dear = { ...fine[0]!, pricePerHour: 3 };
    const machines = [...smallOnes(4, row), ...fine, dear, ...largeOnes(14)];
    const scene = new Scene(machines, [row, rest], {}, 0);
    const first = scene.begun()!;
    expect(first.savesPerHour).toBe(2);
    scene.replace(first.machines, [{ ...BOUGHT, stamp: stampOf(row) }]);
    scene.settleAfter(11);
    // $1 of $27.
    expect(scene.checkAfter(0)).toMatchObject({ machines: ['f0'], savesPerHour: 1 });
    const bought = aMachine('s9', Configured, { ...BOUGHT, id: 's9', stamp: stampOf(row) });
    expect(new Scene([bought, ...fine, dear, ...largeOnes(8)], [row, rest]).begun()).toBeNull();
  });
});
