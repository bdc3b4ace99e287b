import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../../testing/support/fleets.ts';
import { CapacityType, MachineState } from '../../../model/index.ts';

const { Idle, Configured, Speculative } = MachineState;
const { BareMetal, OnDemand, Spot } = CapacityType;

function scene(): ControllerScene {
  const spot = { capacityType: Spot, interruptionProbability: 0.1 };
  const stamp = { ...stampOf(NEED), interruptionPenaltyDollars: 2 };
  return new ControllerScene()
    .open('c1')
    .list([
      record('a', Configured, { ...spot, pricePerHour: 0.3, cluster: 'c1', stamp }),
      record('b', Idle, { ...spot, pricePerHour: 0.4 }),
      record('c', Speculative, { capacityType: OnDemand, pricePerHour: 1 }),
      record('d', Idle, { ...spot, pricePerHour: 5, instanceType: 'rare' }),
    ])
    .tick();
}

describe('a query for cost', () => {
  it('given spot machines, then they are compared with the same type on demand, net of expected interruptions', () => {
    const { spot } = scene().controller.ask('cost', { by: 'zone', limit: 10 });
    expect(spot).toMatchObject({ machines: 2, unpriced: 1, perHour: 0.7, onDemandPerHour: 2 });
    expect(spot.savesPerHour).toBeCloseTo(1.3, 9);
    expect(spot.interruptionsPerHour).toBeCloseTo(0.2, 9);
    expect(spot.netSavesPerHour).toBeCloseTo(1.1, 9);
  });

  it('given groups, then the most expensive comes first, and pages have each once', () => {
    const { controller } = scene();
    const all = controller.ask('cost', { by: 'instance-type', limit: 10 }).groups;
    expect(all.items[0]).toMatchObject({ name: 'rare', machines: 1, cost: { perHour: 5 } });
    const first = controller.ask('cost', { by: 'instance-type', limit: 1 }).groups;
    expect(first.items).toEqual(all.items.slice(0, 1));
    const second = controller.ask('cost', { by: 'instance-type', limit: 1, after: first.next! }).groups;
    expect([...first.items, ...second.items]).toEqual(all.items);
    const byName = { by: 'instance-type', order: 'name', limit: 1 } as const;
    const least = controller.ask('cost', byName).groups;
    const rest = controller.ask('cost', { ...byName, after: least.next! }).groups;
    expect([...least.items, ...rest.items]).toEqual(all.items.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
    expect(rest.next).toBeNull();
  });

  it('given a rate, then the month is counted in UTC', () => {
    const { forecast, cost, nowMs } = scene().controller.ask('cost', { by: 'zone', limit: 10 });
    const end = new Date(forecast.monthEndMs);
    expect([end.getUTCDate(), end.getUTCHours(), end.getUTCMinutes()]).toEqual([1, 0, 0]);
    expect(forecast.hoursLeft).toBeCloseTo((forecast.monthEndMs - nowMs) / 3_600_000, 9);
    expect(forecast.restOfMonth).toBeCloseTo(forecast.hoursLeft * cost.perHour, 1);
  });

  it('given an unmet Need, then its remedy is priced, and one that no machine would meet is counted', () => {
    const { controller } = scene()
      .demand('c1', aNeed({ cluster: 'c1', group: 'x', aggregate: resources({ cpu: 5000 }) }))
      .tick();
    const remedies = controller.ask('remedies', { limit: 10 });
    const unmet = controller.ask('needs', { onlyUnmet: true, limit: 10 }).total;
    expect(unmet).toBeGreaterThan(0);
    expect(remedies.total + remedies.withoutRemedy).toBe(unmet);
    for (const { count, pricePerHour, perHour } of remedies.items)
      expect(perHour).toBeCloseTo(count * pricePerHour, 6);
  });

  it('given an unmet Need that several small machines would meet for less than one large, then the cheapest are theirs', () => {
    const offer = (cpu: number) => ({
      resources: resources({ cpu }),
      allocatable: new Map(),
      instanceType: `cpu-${cpu}`,
    });
    const first = aNeed({ priority: 9, aggregate: resources({ cpu: 10 }), minUnit: resources({ cpu: 2 }) });
    const second = aNeed({ group: 'b', aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 2 }) });
    const { controller } = new ControllerScene()
      .open('c1')
      .list([
        record('large', Configured, { ...offer(8), pricePerHour: 5, stamp: stampOf(first) }),
        record('small', Configured, { ...offer(2), pricePerHour: 1, stamp: stampOf(first) }),
        // No more of it can be bought.
        record('owned', Configured, { ...offer(2), capacityType: BareMetal, pricePerHour: 0, cluster: 'c2' }),
      ])
      .demand('c1', first, second)
      .tick();
    expect(controller.ask('remedies', { limit: 10 })).toMatchObject({
      perHour: 5,
      cheapest: { machines: 4, perHour: 4 },
      items: [{ count: 1, like: 'large', perHour: 5 }],
    });
  });

  it('given machines, then they are counted by aspect and state', () => {
    const { items, total } = scene().controller.ask('machineCounts', { by: 'capacity-type' });
    expect(total).toBe(2);
    expect(items).toEqual([
      { name: 'SPOT', machines: 3, byState: { CONFIGURED: 1, IDLE: 2 } },
      { name: 'ON_DEMAND', machines: 1, byState: { SPECULATIVE: 1 } },
    ]);
  });
});

describe('a search for machines', () => {
  it.each([
    ['RARE', 'd'],
    ['B', 'b'],
    ['type=rare', 'd'],
    ['on-demand', 'c'],
    ['capacity=spot', 'a b d'],
    ['nothing like it', ''],
    ['.*', ''],
  ])('given “%s”, then it finds “%s”', (text, ids) => {
    const { items, total } = scene().controller.ask('machines', { where: { text }, limit: 10 });
    expect(items.map(({ id }) => id).join(' ')).toBe(ids);
    expect(total).toBe(ids === '' ? 0 : ids.split(' ').length);
  });

  it('given a label as key=value, then its machines are found, also together with a state', () => {
    const labels = new Map([['rack', 'R17']]);
    const found = (where: object) =>
      new ControllerScene()
        .list([record('l', Idle, { labels }), record('m', Speculative, { labels }), record('n', Idle)])
        .tick()
        .controller.ask('machines', { where, limit: 10 })
        .items.map(({ id }) => id);
    expect(found({ text: 'rack=r17' })).toEqual(['l', 'm']);
    expect(found({ text: 'rack=r17', state: 'IDLE' })).toEqual(['l']);
  });
});
