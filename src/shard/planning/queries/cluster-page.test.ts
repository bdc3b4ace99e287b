import { describe, expect, it } from 'vitest';
import { record } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../../testing/support/fleets.ts';
import { HARDWARE } from '../../../engine/index.ts';
import { type Machine, MachineState, type Need } from '../../../model/index.ts';
import type { ClusterView } from '../../views.ts';

const { Configured } = MachineState;

function need(cpu: number, memory: number, cluster = 'c1'): Need {
  const amounts = resources({ cpu, memory });
  return aNeed({ cluster, aggregate: amounts, minUnit: amounts });
}

function machine(id: string, cluster: string, row: Need, given: Partial<Machine> = {}): Machine {
  const offer = { resources: resources({ cpu: 8, memory: 32 }), allocatable: new Map() };
  return record(id, Configured, { ...offer, cluster, stamp: stampOf(row), ...given });
}

function usedShares(scene: ControllerScene): Readonly<Record<string, ClusterView['usedShare']>> {
  const { items } = scene.controller.ask('clusters', { limit: 10 });
  return Object.fromEntries(items.map(({ cluster, usedShare }) => [cluster, usedShare]));
}

describe('the used share of a cluster', () => {
  it('given clusters with serving machines, then it is of the resource that each uses most, of its own machines', () => {
    const [small, large] = [need(2, 4), need(2, 24, 'c2')];
    const scene = new ControllerScene()
      .open('c1', 'c2', 'c3')
      .list([...['a', 'b'].map((id) => machine(id, 'c1', small)), machine('c', 'c2', large)]);
    expect(usedShares(scene)).toEqual({ c1: {}, c2: {}, c3: {} });

    scene.demand('c1', small).demand('c2', large).tick(2000);

    expect(usedShares(scene)).toEqual({ c1: { general: 0.125 }, c2: { general: 0.75 }, c3: {} });
  });

  it('given one cluster, then it is the share of the fleet, by kind of hardware', () => {
    const gpus = { cpu: 8, 'nvidia.com/gpu': 8 };
    const row = need(6, 4);
    const work = aNeed({
      group: 'g',
      aggregate: resources({ cpu: 4, 'nvidia.com/gpu': 6 }),
      minUnit: new Map(),
    });
    const scene = new ControllerScene()
      .open('c1')
      .list([
        machine('a', 'c1', row),
        machine('g', 'c1', work, { resources: resources(gpus), instanceType: 'gpu' }),
      ]);
    scene.demand('c1', row, work).tick(2000);

    const point = scene.controller.ask('series', { sinceMs: 0 }).points.at(-1);
    expect(usedShares(scene)).toEqual({ c1: { general: 0.75, accelerated: 0.75 } });
    expect(point?.usedShare).toEqual(usedShares(scene)['c1']);
    expect(HARDWARE).toEqual(Object.keys(point!.usedShare!));
  });
});
