import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, RACK_KEY, resources, same } from '../../../testing/support/fleets.ts';
import { anAction } from '../../../testing/support/plans.ts';
import {
  type Action,
  CapacityType,
  keyOf,
  MachineState,
  type Need,
  SHARED_OPTIONS,
} from '../../model/index.ts';
import { DEFAULT_GUARDRAILS } from './guardrails.ts';
import type { ControllerOptions } from './options.ts';
import { NO_SPEND_LIMITS, type Spending, type SpendLimits, SpendRoom } from './spend-limit.ts';

const { Configured, Creating, Idle, Speculative } = MachineState;
const MICROS = 1_000_000;

/** A purchase for a row of a cluster; the number in the name of its machine is its price. */
function buy(machine: string, cluster = 'c1', group = ''): Action {
  return anAction('Provision', machine, { cluster, need: keyOf(aNeed({ cluster, group })) });
}

function spending(given: Partial<Spending> = {}): Spending {
  const priceOf = (machine: string): number => Number(/\d+/.exec(machine)![0]) * MICROS;
  return { priceOf, ofShard: () => 0, ofCluster: () => 0, isGang: () => false, ...given };
}

/** Machines that are bought of a plan. */
function bought(limits: Partial<SpendLimits>, actions: readonly Action[], given: Partial<Spending> = {}) {
  const room = new SpendRoom({ ...NO_SPEND_LIMITS, ...limits }, spending(given), actions);
  return actions.filter((action) => room.admits(action)).map(({ machine }) => machine);
}

describe('the ceiling on spending', () => {
  it('given no limit, then everything is bought', () => {
    expect(bought({}, [buy('a900'), buy('b900')])).toEqual(['a900', 'b900']);
  });

  it('given a plan that exceeds it, then purchases stop there, and cheaper ones behind stop as well', () => {
    const plan = [buy('a4'), buy('b5'), buy('c3'), buy('d1')];
    expect(bought({ maxPurchasedPerHour: 10 }, plan)).toEqual(['a4', 'b5']);
    expect(bought({ maxPurchasedPerHour: 12 }, plan)).toEqual(['a4', 'b5', 'c3']);
    expect(bought({ maxPurchasedPerHour: 0 }, plan)).toEqual([]);
  });

  it('given machines that were purchased before, then they count', () => {
    const before = { ofShard: () => 7 * MICROS };
    expect(bought({ maxPurchasedPerHour: 10 }, [buy('a3'), buy('b1')], before)).toEqual(['a3']);
    expect(bought({ maxPurchasedPerHour: 6 }, [buy('a3')], before)).toEqual([]);
  });

  it('given limits of clusters, then each stops by itself, and `*` is for those without one', () => {
    const limits = new Map([
      ['c1', 5],
      ['*', 2],
    ]);
    const plan = [buy('a4', 'c1'), buy('b2', 'c2'), buy('c2', 'c1'), buy('d1', 'c2'), buy('e2', 'c3')];
    expect(bought({ maxPurchasedPerHourOf: limits }, plan)).toEqual(['a4', 'b2', 'e2']);
    expect(
      bought({ maxPurchasedPerHourOf: limits }, plan, {
        ofCluster: (cluster) => (cluster === 'c3' ? MICROS : 0),
      }),
    ).toEqual(['a4', 'b2']);
  });

  it('given a purchase that its cluster may not make, then it does not stop those of other clusters', () => {
    const limits = { maxPurchasedPerHour: 10, maxPurchasedPerHourOf: new Map([['c1', 5]]) };
    expect(bought(limits, [buy('a20', 'c1'), buy('b9', 'c2'), buy('c2', 'c3')])).toEqual(['b9']);
  });

  it('given a gang, then all its machines are bought or none', () => {
    const plan = [buy('a2'), buy('g4', 'c1', 'gang'), buy('h4', 'c1', 'gang'), buy('b1')];
    const isGang: Spending['isGang'] = ({ group }) => group === 'gang';
    expect(bought({ maxPurchasedPerHour: 10 }, plan, { isGang })).toEqual(['a2', 'g4', 'h4']);
    expect(bought({ maxPurchasedPerHour: 9 }, plan, { isGang })).toEqual(['a2']);
  });

  it('given owned capacity, then it is neither counted nor stopped', () => {
    const priceOf = (machine: string): number | null => (machine.startsWith('owned') ? null : MICROS);
    const plan = [buy('a1'), buy('b1'), buy('owned1')];
    expect(bought({ maxPurchasedPerHour: 1 }, plan, { priceOf })).toEqual(['a1', 'owned1']);
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
  return new ControllerScene({ guardrails: { ...DEFAULT_GUARDRAILS, ...limits }, ...more }).open('c1', 'c2');
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
      why: 'machines would be bought for it, and the ceiling on spending is reached',
    });
    expect(scene.cycles.at(-1)).toMatchObject({ unmet: 1, waiting: { 'spend-limit': 2 } });
    expect(scene.controller.ask('shortfalls', { limit: 9 }).items).toMatchObject([{ reason: 'spend-limit' }]);
    expect(scene.controller.ask('clusters', { limit: 9 }).items.map(({ unmet }) => unmet)).toEqual([0, 1]);
    expect(scene.controller.ask('needs', { onlyUnmet: true, limit: 9 }).total).toBe(1);
    expect(scene.controller.ask('plan', { limit: 9 }).heldBack).toMatchObject([
      { why: 'spend-limit', total: 2 },
    ]);
    expect(scene.metric('purchases_stopped_total')).toBeGreaterThan(0);
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
});
