import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../../testing/support/fleets.ts';
import { fleetOf, PendingChanges } from '../../fleet/index.ts';
import {
  CapacityType,
  Command,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
} from '../../model/index.ts';
import type { ControllerOptions } from './options.ts';
import { NO_SPEND_LIMITS, PurchaseBudgets, type SpendLimits } from './spend-limit.ts';

const { Configured, Creating, Deleting, Draining, Failed, Idle, Speculative } = MachineState;
const MICROS = 1_000_000;

/** What may still be spent on top of these machines. */
function left(
  limits: Partial<SpendLimits>,
  machines: readonly LedgerMachine[],
  byClass: ReadonlyMap<number, number> = new Map(),
) {
  const needs = [aNeed({ cluster: 'c1' }), aNeed({ cluster: 'c2' })];
  const fleet = fleetOf(anInput(machines, needs));
  return new PurchaseBudgets({ ...NO_SPEND_LIMITS, ...limits }, { fleet, failedHosts: { byClass } }).left;
}

describe('what may still be spent', () => {
  it('given no limit, then there is no budget', () => {
    expect(left({}, [aMachine('m', Configured)])).toBeUndefined();
  });

  it('given a limit of the shard, then every purchased machine with a host, or that gets one, counts', () => {
    const states = [Speculative, Creating, Idle, Configured, Draining, Deleting, Failed];
    const machines = states.map((state, i) => aMachine(`m${i}`, state, { pricePerHour: 2 ** i }));
    const owned = [CapacityType.BareMetal, CapacityType.Reserved].map((capacityType, i) =>
      aMachine(`o${i}`, Configured, { capacityType, pricePerHour: 500 }),
    );
    const counted = 2 + 4 + 8 + 16 + 32;
    const limits = { maxPurchasedPerHour: 100 };
    expect(left(limits, [...machines, ...owned])).toEqual({
      shard: (100 - counted) * MICROS,
      clusters: new Map(),
    });
    // Of Failed machines those that still have a host.
    const failed = fleetOf(anInput(machines, [])).machines.classOf[states.indexOf(Failed)]!;
    expect(left(limits, machines, new Map([[failed, 1]]))?.shard).toBe((100 - counted - 64) * MICROS);
  });

  it('given limits of clusters, then machines that are bound, leave or are on their way count, and `*` is for the others', () => {
    const target = keyOf(aNeed({ cluster: 'c2' }));
    const machines = [
      aMachine('bound', Configured, { cluster: 'c1', pricePerHour: 1 }),
      aMachine('leaves', Draining, { cluster: 'c1', pricePerHour: 2, target }),
      aMachine('comes', Creating, { pricePerHour: 4, target }),
      aMachine('free', Idle, { pricePerHour: 8 }),
    ];
    const limits = new Map([
      ['c1', 2],
      ['*', 10],
      ['gone', 5],
    ]);
    expect(left({ maxPurchasedPerHourOf: limits }, machines)).toEqual({
      shard: Number.POSITIVE_INFINITY,
      clusters: new Map([
        ['c1', -1 * MICROS],
        ['c2', 6 * MICROS],
      ]),
    });
  });
});

/** Machines as a provider lists them, some of them bought, on their way to a row of c2, or absurdly dear. */
const records = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    state: fc.constantFrom(Configured, Creating, Draining, Failed, Idle, Speculative),
    cluster: fc.constantFrom('c1', 'c2'),
    pricePerHour: fc.constantFrom(0, 0.1, 3.3333333, 7, 1e10),
    capacityType: fc.constantFrom(CapacityType.OnDemand, CapacityType.Spot, CapacityType.Reserved),
  }),
  { selector: ({ id }) => id },
);

describe('what clusters may still spend, from commit to commit', () => {
  it('given any changes of machines, then it is what a pass over all machines finds', () => {
    const limits = { ...NO_SPEND_LIMITS, maxPurchasedPerHourOf: new Map([['*', 10]]) };
    const target = keyOf(aNeed({ cluster: 'c2' }));
    fc.assert(
      fc.property(fc.array(records, { minLength: 2, maxLength: 5 }), (lists) => {
        const fleet = fleetOf(anInput([], [aNeed({ cluster: 'c1' }), aNeed({ cluster: 'c2' })]));
        const ledger = { fleet, failedHosts: { byClass: new Map() } };
        const pending = new PendingChanges(fleet);
        const budgets = new PurchaseBudgets(limits, ledger);
        let before: readonly string[] = [];
        for (const [atMs, list] of lists.entries()) {
          const ids: readonly string[] = list.map(({ id }) => id);
          for (const id of before) if (!ids.includes(id)) pending.append({ kind: 'gone', id });
          for (const { id, state, cluster, ...given } of list) {
            const isBound = state === Configured || state === Draining;
            const machine = { ...record(id, state, given), cluster: isBound ? cluster : '' };
            pending.append({ kind: 'observe', machine, atMs });
            if (state === Speculative && cluster === 'c2')
              pending.append({ kind: 'command', command: Command.Create, target, id, atMs });
          }
          before = ids;
          budgets.committed(pending.commitMachines().writeRows().slots);
          expect(budgets.left).toEqual(new PurchaseBudgets(limits, ledger).left);
        }
      }),
      { numRuns: 300 },
    );
  });
});

const CPU_PER_MACHINE = 4;

function rowOf(machines: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({ aggregate: resources({ cpu: CPU_PER_MACHINE * machines }), ...given });
}

/** Quota of a dollar per hour each. */
function quota(count: number, given: Parameters<typeof record>[2] = {}) {
  return Array.from({ length: count }, (_, i) => record(`q${i}`, Speculative, { pricePerHour: 1, ...given }));
}

function limited(limits: Partial<SpendLimits>, more: Partial<ControllerOptions> = {}): ControllerScene {
  return new ControllerScene({ spending: { ...NO_SPEND_LIMITS, ...limits }, ...more }).open('c1', 'c2');
}

function createdBy(scene: ControllerScene): readonly string[] {
  return scene.calls('create').map(({ machine }) => machine);
}

function needsOf(scene: ControllerScene) {
  return scene.controller.ask('needs', { onlyUnmet: false, limit: 10 }).items;
}

describe('a shard with a ceiling on spending', () => {
  it('given demand beyond it, then it buys up to it and says why the rest is not met', () => {
    const scene = limited({ maxPurchasedPerHour: 3 }).list([
      ...quota(5),
      record('idle', Idle, { capacityType: CapacityType.BareMetal }),
    ]);
    scene
      .demand('c1', rowOf(2, { priority: 9 }))
      .demand('c2', rowOf(4, { cluster: 'c2' }))
      .tick(3000);

    // The row of a better rank has the Idle machine and one purchase; two dollars are left for the other row.
    expect(createdBy(scene)).toHaveLength(3);
    expect(
      scene
        .blobs()
        .calls('configure')
        .map(({ machine }) => machine),
    ).toEqual(['idle']);
    const [met, short] = needsOf(scene);
    expect(met).toMatchObject({ cluster: 'c1', isMet: true, reason: null });
    expect(short).toMatchObject({
      ...{ cluster: 'c2', isMet: false, reason: 'spend-limit', claimed: 2, missing: { cpu: '8m' } },
      why: 'machines could be bought for it, and the ceiling on spending is reached',
    });
    expect(scene.cycles.at(-1)).toMatchObject({ unmet: 1, waiting: {} });
    expect(scene.controller.ask('shortfalls', { limit: 9 }).items).toMatchObject([{ reason: 'spend-limit' }]);
    expect(scene.controller.ask('clusters', { limit: 9 }).items.map(({ unmet }) => unmet)).toEqual([0, 1]);
    expect(scene.controller.ask('needs', { onlyUnmet: true, limit: 9 }).total).toBe(1);
    expect(scene.metric('shortfalls_spend_limit')).toBe(1);
    expect(scene.controller.ask('explain', { need: short!.id })).toMatchObject({
      need: { reason: 'spend-limit' },
      advice: [expect.stringContaining('guardrails.maxPurchasedPerHour')],
    });
  });

  it('given demand beyond it, then figures by hardware agree with the verdicts', () => {
    const scene = limited({ maxPurchasedPerHour: 3 }).list(quota(5)).demand('c1', rowOf(5)).tick(3000);
    const [general] = scene.controller.ask('status', {}).hardware;
    expect(general).toMatchObject({ needs: 1, unmetNeeds: 1 });
    expect(general!.resources['cpu']).toMatchObject({ wanted: 0.02, coming: 0.012, unmet: 0.008 });
  });

  it('given machines that arrive, then they still count, and a higher ceiling would buy the rest', () => {
    const scene = limited({ maxPurchasedPerHour: 2 }).list(quota(3)).demand('c1', rowOf(3)).tick(3000);
    const first = createdBy(scene);
    expect(first).toHaveLength(2);
    scene.list(first.map((id) => record(id, Configured, { pricePerHour: 1 }))).tick(5000);
    expect(createdBy(scene).filter((id) => !first.includes(id))).toEqual([]);
    expect(needsOf(scene)[0]).toMatchObject({ reason: 'spend-limit' });
  });

  it('given machines of other clusters or owned ones, then the ceiling of a cluster leaves them out', () => {
    const machines = [
      ...quota(3),
      record('others', Configured, { cluster: 'c2', pricePerHour: 50 }),
      record('owned', Configured, { capacityType: CapacityType.Reserved, pricePerHour: 50 }),
      record('coming', Creating, { pricePerHour: 50 }),
    ];
    const scene = limited({ maxPurchasedPerHourOf: new Map([['c1', 2]]) }).list(machines);
    scene.demand('c1', rowOf(4)).tick(3000);
    expect(createdBy(scene)).toHaveLength(2);
  });

  it('given a gang that it cannot pay as a whole, then it buys none of its machines', () => {
    const gang = rowOf(3, { requirements: [same(RACK_KEY)], group: 'job' });
    const machines = quota(3, { labels: new Map([[RACK_KEY, 'r1']]) });
    const scene = limited({ maxPurchasedPerHour: 2 }).list(machines).demand('c1', gang).tick(3000);
    expect(createdBy(scene)).toEqual([]);
    const [view] = needsOf(scene);
    expect(view).toMatchObject({ reason: 'spend-limit', claimed: 0, missing: { cpu: '12m' } });
  });

  it('given gangs that share a machine, then those that the machines left cannot host are not met', () => {
    const gangs = [1, 2, 3, 4].map((i) =>
      aNeed({
        ...{ group: `job${i}`, requirements: [same(RACK_KEY)], firstSeenMs: i },
        ...{ aggregate: resources({ cpu: 2 }), minUnit: resources({ cpu: 2 }) },
      }),
    );
    const machines = quota(2, { labels: new Map([[RACK_KEY, 'r1']]) });
    const scene = limited({ maxPurchasedPerHour: 1 })
      .list(machines)
      .demand('c1', ...gangs)
      .tick(3000);
    expect(createdBy(scene)).toHaveLength(1);
    const views = needsOf(scene);
    expect(views.map(({ group, isMet, reason }) => [group, isMet, reason])).toEqual([
      ['job1', true, null],
      ['job2', true, null],
      ['job3', false, 'spend-limit'],
      ['job4', false, 'spend-limit'],
    ]);
    expect(scene.controller.ask('status', {}).hardware[0]).toMatchObject({ needs: 4, unmetNeeds: 2 });
  });

  it('given a row that shares a machine which is not bought, then it is not met either', () => {
    const scene = limited({ maxPurchasedPerHour: 0 }, { economy: SHARED_OPTIONS }).list(quota(1));
    const lender = aNeed({ priority: 9, aggregate: resources({ cpu: 3 }), minUnit: resources({ cpu: 3 }) });
    const borrower = aNeed({ aggregate: resources({ cpu: 1 }), minUnit: resources({ cpu: 1 }) });
    scene.demand('c1', lender, borrower).tick(3000);
    const views = needsOf(scene);
    expect(views.map(({ reason, missing }) => [reason, missing])).toEqual([
      ['spend-limit', { cpu: '3m' }],
      ['spend-limit', { cpu: '1m' }],
    ]);
  });

  it('given a row of a high priority that may not buy, then it preempts one of a lower priority', () => {
    const low = rowOf(1, { cluster: 'c2' });
    const machines = [
      record('served', Configured, { cluster: 'c2', pricePerHour: 1, stamp: stampOf(low) }),
      ...quota(2),
    ];
    const scene = limited({ maxPurchasedPerHour: 1 }).list(machines).demand('c2', low).tick(3000);
    scene.demand('c1', rowOf(1, { priority: 200_000 })).tick(3000);
    expect(createdBy(scene)).toEqual([]);
    expect(scene.calls('drain').map(({ machine }) => machine)).toEqual(['served']);
    expect(needsOf(scene).map(({ cluster, reason }) => [cluster, reason])).toEqual([
      ['c1', 'preempting'],
      ['c2', 'spend-limit'],
    ]);
  });
});
