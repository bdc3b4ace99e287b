import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aMachine,
  aNeed,
  anInput,
  fleets,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';
import { fleetOf } from '../fleet/index.ts';
import { type LedgerMachine, MachineState, type Need, Operator } from '../model/index.ts';
import { ClaimWatch, Engine } from './index.ts';

const { Idle, Configured, Failed } = MachineState;

/** The watch's count for each cycle over the same machines, with other rows of their cluster in each. */
function seen(
  machines: readonly LedgerMachine[],
  ...demand: readonly (readonly Need[])[]
): readonly number[] {
  const { options, nowMs } = anInput([], []);
  const fleet = fleetOf(anInput(machines, []));
  const engine = new Engine(fleet);
  const watch = new ClaimWatch();
  return demand.map((needs) => {
    fleet.demand.replace('c1', needs);
    return engine.decide(nowMs, options).claimChanges(watch);
  });
}

const LOW = aNeed({ priority: 100 });
const HIGH = aNeed({
  priority: 900,
  group: 'high',
  requirements: [{ key: 'disk', operator: Operator.In, values: ['fast'] }],
});
const FAST = new Map([['disk', 'fast']]);
const MINE = aMachine('m1', Configured, { stamp: stampOf(LOW), labels: FAST });

describe('the watch over claims', () => {
  it('sees nothing where nothing changes', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const fleet = fleetOf(input);
        const engine = new Engine(fleet);
        const watch = new ClaimWatch();
        for (let cycle = 0; cycle < 3; cycle++) {
          const decision = engine.decide(input.nowMs + cycle, input.options);
          expect(decision.claimChanges(watch)).toBe(0);
        }
      }),
    );
  });

  it('sees a met row lose its machine to another', () => {
    const machines = [MINE, aMachine('m2', Idle)];
    expect(seen(machines, [LOW], [LOW, HIGH], [LOW, HIGH])).toEqual([0, 1, 0]);
  });

  it('does not mind a row that is gone, or short: it lost more than the choice of a machine', () => {
    expect(seen([MINE], [LOW], [])).toEqual([0, 0]);
    expect(seen([MINE], [LOW], [LOW, HIGH])).toEqual([0, 0]);
  });

  it('does not mind machines that leave', () => {
    const input = anInput([MINE, aMachine('m2', Configured, { stamp: stampOf(LOW) })], [LOW]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const watch = new ClaimWatch();
    expect(engine.decide(input.nowMs, input.options).claimChanges(watch)).toBe(0);

    fleet.machines.remove('m1');

    expect(engine.decide(input.nowMs, input.options).claimChanges(watch)).toBe(0);
  });

  it('does not mind machines that left and came back, though the row has another since', () => {
    const input = anInput([MINE, aMachine('m2', Idle, { pricePerHour: 0.5 })], [LOW]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const watch = new ClaimWatch();
    const entry = (id: string, changes: Partial<LedgerMachine>): void =>
      fleet.machines.update(fleet.machines.slotOf(id)!, changes);
    const look = (): number => engine.decide(input.nowMs, input.options).claimChanges(watch);
    expect(look()).toBe(0);

    entry('m1', { state: Failed, cluster: '', stamp: null });
    entry('m2', { state: Configured, cluster: 'c1', stamp: stampOf(LOW) });
    expect(look()).toBe(0);
    entry('m1', { state: Configured, cluster: 'c1' });

    expect(look()).toBe(0);
  });

  it('sees a gang go to another rack, though nothing of its own cluster has changed', () => {
    const gang = aNeed({ group: 'g', requirements: [same(RACK_KEY)], aggregate: resources({ cpu: 8 }) });
    const inRack = (rack: string) => ({
      ...{ labels: new Map([[RACK_KEY, rack]]), resources: resources({ cpu: 4 }) },
    });
    const others = ['c2', 'c3'].map((cluster) => aNeed({ cluster, aggregate: new Map() }));
    const machines = [
      aMachine('home', Configured, { ...inRack('r1'), stamp: stampOf(gang) }),
      ...['a', 'b'].map((id) => aMachine(id, Idle, inRack('r2'))),
    ];
    const input = anInput(machines, [gang, ...others]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const watch = new ClaimWatch();
    const look = (areHeld: boolean): number => {
      for (const id of ['a', 'b']) fleet.machines.update(fleet.machines.slotOf(id)!, { blocked: areHeld });
      return engine.decide(input.nowMs, input.options).claimChanges(watch);
    };

    // In order: the gang can be complete in r2 and is; it cannot, and claims what it has; it can again.
    expect([false, true, false].map(look)).toEqual([0, 0, 1]);
  });
});
