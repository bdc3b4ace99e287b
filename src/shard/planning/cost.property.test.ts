// Cost of a fleet against a naive sum over the list of machines: a machine with a host costs its price in every state, and
// a machine without one costs nothing.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, fleets, resources } from '../../../testing/support/fleets.ts';
import { CapacityType, type Machine, MachineState, UNSHARED_OPTIONS } from '../../model/index.ts';
import { COST_PARTS, type CostView } from '../telemetry/cost.ts';
import type { MachineView } from '../views.ts';
import { type ControllerOptions, DEFAULT_CONTROLLER } from './options.ts';

const { Failed, Idle, Creating, Speculative, Configured } = MachineState;
/** A dry run, so that only the test moves machines. */
const STILL: Partial<ControllerOptions> = { guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true } };
const OWNED = new Map([
  ['bare-metal', 1.2],
  ['large', 40.000001],
]);
const EVERYTHING = { where: { withForgotten: true }, limit: 1000 };

const machines = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 0, max: 12 }).map((n) => `m-${n}`),
    state: fc.constantFrom(...Object.values(MachineState)),
    hasHost: fc.boolean(),
    cluster: fc.constantFrom('c1', 'c2', 'c3'),
    pricePerHour: fc.constantFrom(0, 0, 0.1, 0.2, 0.0123456789, 3.67, 1e300),
    instanceType: fc.constantFrom('small', 'large'),
    capacityType: fc.constantFrom(...Object.values(CapacityType)),
  }),
  { selector: ({ id }) => id, maxLength: 12 },
);

type Rough = typeof machines extends fc.Arbitrary<readonly (infer T)[]> ? T : never;

/** A valid record: a host and a cluster only where the state allows them. */
function sound({ id, state, hasHost, cluster, ...given }: Rough): Machine {
  const plain = record(id, state, given);
  const host = state === Failed && !hasHost ? null : plain.host;
  return { ...plain, host, cluster: plain.cluster === '' ? '' : cluster };
}

const PARTS: Readonly<Record<string, string>> = {
  CONFIGURED: 'serving',
  CONFIGURING: 'joining',
  IDLE: 'idle',
  DRAINING: 'draining',
  DELETING: 'deleting',
  FAILED: 'failed',
};

/** Micro-dollars by part; prices saturate at the largest integer that a double represents exactly. */
function naive(views: readonly MachineView[], priceOf: (view: MachineView) => number): Map<string, number> {
  const sums = new Map<string, number>(COST_PARTS.map((part) => [part, 0]));
  for (const view of views) {
    if (view.hostRef === '') continue;
    const part = view.unclaimed === null ? PARTS[view.state]! : 'onHold';
    const micros = Math.min(Number.MAX_SAFE_INTEGER, Math.round(priceOf(view) * 1e6));
    sums.set(part, sums.get(part)! + micros);
  }
  return sums;
}

function micros(dollars: number): number {
  return Math.round(dollars * 1e6);
}

function expectCost({ perHour, byPart }: CostView, expected: ReadonlyMap<string, number>): void {
  const parts = Object.entries(byPart).map(([part, dollars]): [string, number] => [part, micros(dollars)]);
  const sum = parts.reduce((total, [, part]) => total + part, 0);
  if (sum <= Number.MAX_SAFE_INTEGER) {
    expect(new Map(parts)).toEqual(expected);
    expect(micros(perHour)).toBe(sum);
  }
  // Beyond the exact range, sums are compared up to rounding.
  else
    for (const [part, amount] of expected)
      expect(Math.abs(micros(byPart[part as never]) - amount)).toBeLessThanOrEqual(amount * 1e-9);
}

function ownedPriceOf({ capacityType, instanceType, pricePerHour }: MachineView): number {
  if (pricePerHour > 0 || !['BARE_METAL', 'RESERVED'].includes(capacityType)) return 0;
  if (instanceType === 'large') return 40.000001;
  return capacityType === 'BARE_METAL' ? 1.2 : 0;
}

/** By name and labels. */
function gauges(text: string, name: string): Map<string, number> {
  const lines = [...text.matchAll(new RegExp(`^bigfleet_shard_${name}\\{\\w+="(.*)"\\} (\\S+)$`, 'gm'))];
  return new Map(lines.map(([, label, value]) => [label!, Number(value)]));
}

/** Every cost that the shard shows equals the sum over its machine views. */
function expectCosts({ controller }: ControllerScene): void {
  const views = controller.ask('machines', EVERYTHING).items;
  const { cost, costPerHour, ownedCost } = controller.ask('status', {});
  expectCost(
    cost,
    naive(views, ({ pricePerHour }) => pricePerHour),
  );
  expect(costPerHour).toBe(cost.perHour);
  expectCost(ownedCost!, naive(views, ownedPriceOf));
  for (const view of controller.ask('clusters', { limit: 10 }).items) {
    const own = views.filter(({ cluster }) => cluster === view.cluster);
    expectCost(
      view.cost,
      naive(own, ({ pricePerHour }) => pricePerHour),
    );
    expectCost(view.ownedCost!, naive(own, ownedPriceOf));
    expect(view.costPerHour).toBe(view.cost.perHour);
  }
}

describe('the cost of a fleet', () => {
  it('given any fleet and any changes, then parts add up to the sum over machines with a host', () => {
    fc.assert(
      fc.property(fc.array(machines, { minLength: 1, maxLength: 3 }), (lists) => {
        const scene = new ControllerScene({ ...STILL, ownedPrices: OWNED });
        for (const list of lists) {
          scene.list(list.map(sound)).tick(3000);
          expectCosts(scene);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('given any fleet with machines on hold and any demand, then parts add up to the sum over machines with a host', () => {
    const economy = { ...UNSHARED_OPTIONS, reclaimHoldSeconds: 600 };
    const step = fc.record({ list: machines, wanted: fc.nat(4) });
    let held = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), (steps) => {
        const scene = new ControllerScene({ ...STILL, ownedPrices: OWNED, economy }).open('c1', 'c2', 'c3');
        for (const { list, wanted } of steps) {
          // A price that saturates would hide the cost of all other machines of its part.
          const bound = list.map((machine, i) => (i % 2 === 0 ? machine : { ...machine, state: Configured }));
          scene.list(bound.map(sound).filter(({ pricePerHour }) => pricePerHour < 1e9));
          scene.demand('c3');
          for (const cluster of ['c1', 'c2'])
            scene.demand(cluster, aNeed({ cluster, aggregate: resources({ cpu: 4 * wanted }) }));
          scene.tick(3000);
          expectCosts(scene);
          if (scene.controller.ask('status', {}).cost.byPart.onHold > 0) held++;
        }
      }),
      { numRuns: 60 },
    );
    expect(held).toBeGreaterThan(5);
  });

  it('given machines that were never hosts, then they cost nothing', () => {
    const dear = { pricePerHour: 98.32 };
    const scene = new ControllerScene(STILL)
      .list([
        record('offering', Speculative, dear),
        record('bought', Creating, dear),
        record('never-came', Failed, { ...dear, host: null, lastError: 'no capacity' }),
        record('broken', Failed, { pricePerHour: 2 }),
        record('spare', Idle, { pricePerHour: 0.5 }),
      ])
      .tick();

    const { cost, costPerHour } = scene.controller.ask('status', {});
    expect(costPerHour).toBe(2.5);
    expect(cost.byPart).toMatchObject({ failed: 2, idle: 0.5, serving: 0 });
  });

  it('given a Failed machine whose host is returned, then only that changes the cost', () => {
    const scene = new ControllerScene(STILL).list([record('m', Failed, { pricePerHour: 2 })]).tick();
    expect(scene.controller.ask('status', {}).costPerHour).toBe(2);

    scene.list([record('m', Failed, { pricePerHour: 2, host: null })]).tick();
    expect(scene.controller.ask('status', {}).costPerHour).toBe(0);
  });

  it('given prices for owned machines, then their cost is separate, also by cluster', () => {
    const metal = { pricePerHour: 0, capacityType: CapacityType.BareMetal };
    const machines = [
      record('a', Configured, { ...metal, instanceType: 'large' }),
      record('b', Configured, metal),
      record('c', Configured, { pricePerHour: 0.3 }),
      record('d', Idle, metal),
    ];
    const scene = new ControllerScene({ ...STILL, ownedPrices: OWNED }).list(machines).tick();

    const status = scene.controller.ask('status', {});
    expect(status.costPerHour).toBe(0.3);
    expect(status.ownedCost).toMatchObject({
      perHour: 42.400001,
      byPart: { serving: 41.200001, idle: 1.2 },
    });
    expect(scene.controller.ask('clusters', { limit: 1 }).items).toMatchObject([
      { cluster: 'c1', costPerHour: 0.3, ownedCost: { perHour: 41.200001 } },
    ]);
    const text = scene.controller.ask('metrics', {});
    expect(gauges(text, 'cost_dollars_per_hour').get('serving')).toBe(0.3);
    expect(gauges(text, 'owned_cost_dollars_per_hour').get('idle')).toBe(1.2);
    expect(gauges(text, 'cluster_cost_dollars_per_hour')).toEqual(new Map([['c1', 0.3]]));
    expect(gauges(text, 'cluster_owned_cost_dollars_per_hour')).toEqual(new Map([['c1', 41.200001]]));
  });

  it('given any fleet, then prices for owned machines change no action', () => {
    fc.assert(
      fc.property(fleets({ machines: 20, needs: 8 }), ({ machines, needs }) => {
        const run = (ownedPrices: ControllerOptions['ownedPrices']) => {
          const scene = new ControllerScene({ ownedPrices }).open('c1', 'c2', 'c3');
          scene.list(
            machines.map(({ id, state, ...given }, i) =>
              record(id, state, {
                ...given,
                ...(i % 2 === 0 ? { pricePerHour: 0, capacityType: CapacityType.BareMetal } : {}),
              }),
            ),
          );
          for (const [cluster, rows] of Map.groupBy(needs, (need) => need.cluster))
            scene.demand(cluster, ...rows);
          return scene.tick(2000).effects;
        };
        const dear = new Map([
          ['bare-metal', 1000],
          ['small', 5000],
        ]);
        expect(run(dear)).toEqual(run(new Map()));
      }),
      { numRuns: 30 },
    );
  });

  it('given no price for owned machines, then there is no such cost', () => {
    const scene = new ControllerScene(STILL).list([record('m', Idle, { pricePerHour: 0 })]).tick();
    expect(scene.controller.ask('status', {}).ownedCost).toBeNull();
  });

  it('given more clusters than a scrape names, then the least expensive share a series with their sum', () => {
    const machines = Array.from({ length: 305 }, (_, i) =>
      record(`m-${i}`, Configured, { cluster: `c-${i}`, pricePerHour: i < 5 ? 1 : 100 }),
    );
    const scene = new ControllerScene(STILL).list(machines).tick();

    const costs = gauges(scene.controller.ask('metrics', {}), 'cluster_cost_dollars_per_hour');
    expect(costs.size).toBe(301);
    expect(costs.get('other')).toBe(5);
  });
});
