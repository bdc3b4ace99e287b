import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record, some } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { fleets } from '../../../../testing/support/fleets.ts';
import { effectiveAllocatable, isBound, MachineState, type Need, stateName } from '../../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';

const { Speculative, Configured, Failed } = MachineState;

function byCluster(needs: readonly Need[]): ReadonlyMap<string, readonly Need[]> {
  return Map.groupBy(needs, ({ cluster }) => cluster);
}

/** Values below 1e9 are compared to six decimals; larger ones up to the precision of a double. */
function close(value: number): unknown {
  return expect.closeTo(value, Math.abs(value) < 1e9 ? 6 : -Math.floor(Math.log10(Math.abs(value)) - 12));
}

describe('the status of a shard', () => {
  it('given any fleet, then it equals a count of machines and rows one by one', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const guardrails = { ...DEFAULT_CONTROLLER.guardrails, dryRun: true };
        const scene = new ControllerScene({ guardrails });
        const machines = input.machines.map(({ id, state, ...given }) => record(id, state, given));
        scene.list(machines);
        for (const [cluster, needs] of byCluster(input.needs)) scene.demand(cluster, ...needs);
        scene.tick();
        const status = scene.controller.ask('status', {});

        const states: Record<string, number> = {};
        let cost = 0;
        const supply: Record<string, { wanted: number; configured: number }> = {};
        const add = (of: 'wanted' | 'configured', name: string, units: number): void => {
          supply[name] ??= { wanted: 0, configured: 0 };
          supply[name][of] += name === 'cpu' ? units / 1000 : units;
        };
        const known = new Map(machines.map((machine) => [machine.id, machine]));
        for (const machine of known.values()) {
          const label = stateName(machine.state).toUpperCase();
          states[label] = (states[label] ?? 0) + 1;
          if (machine.host !== null) cost += machine.pricePerHour;
          if (machine.state !== Configured) continue;
          for (const [name, units] of effectiveAllocatable(machine)) add('configured', name, units);
        }
        for (const { aggregate } of input.needs.filter((need) => need.setAside !== true))
          for (const [name, units] of aggregate) if (units > 0) add('wanted', name, units);
        const clusters = new Set(input.needs.map(({ cluster }) => cluster));
        for (const { state, cluster } of known.values()) if (isBound(state)) clusters.add(cluster);

        expect(status.machines).toBe(known.size);
        expect(status.machinesByState).toEqual(states);
        expect(status.costPerHour).toBeCloseTo(cost, 6);
        expect(status.needs).toBe(input.needs.length);
        expect(status.clusters).toBe(clusters.size);
        expect(Object.keys(status.supply).sort()).toEqual(Object.keys(supply).sort());
        for (const [name, { wanted, configured }] of Object.entries(supply))
          expect(status.supply[name]).toEqual({ wanted: close(wanted), configured: close(configured) });
      }),
      { numRuns: 40 },
    );
  });

  it('given kinds of hardware, then served, coming and unmet add up to what is wanted', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const scene = new ControllerScene({ guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true } });
        scene.list(input.machines.map(({ id, state, ...given }) => record(id, state, given)));
        for (const [cluster, needs] of byCluster(input.needs)) scene.demand(cluster, ...needs);
        const { hardware, supply, cycle } = scene.tick().controller.ask('status', {});

        expect(hardware.map(({ kind }) => kind)).toEqual(['general', 'accelerated']);
        expect(hardware.reduce((sum, { unmetNeeds }) => sum + unmetNeeds, 0)).toBe(cycle!.unmet);
        expect(hardware.reduce((sum, { needs }) => sum + needs, 0)).toBe(input.needs.length);
        for (const { resources } of hardware) {
          for (const { wanted, served, coming, unmet, offered, used } of Object.values(resources)) {
            expect(served + coming + unmet).toEqual(close(wanted));
            expect(used).toBeLessThanOrEqual(offered);
          }
        }
        for (const [name, { wanted, configured }] of Object.entries(supply)) {
          const sumOf = (part: 'wanted' | 'offered'): number =>
            hardware.reduce((sum, { resources }) => sum + (resources[name]?.[part] ?? 0), 0);
          expect([sumOf('wanted'), sumOf('offered')]).toEqual([close(wanted), close(configured)]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('given machines that are alike, then they are counted by class', () => {
    const bound = some(30, Configured).map(({ id }) => record(`b-${id}`, Configured, { pricePerHour: 2 }));
    const { controller } = new ControllerScene()
      .list([...some(100), ...some(200, Speculative).slice(100), ...bound])
      .tick();

    expect(controller.ask('status', {})).toMatchObject({
      ...{ machines: 230, machinesByState: { IDLE: 100, SPECULATIVE: 100, CONFIGURED: 30 } },
      ...{ costPerHour: 160, supply: { cpu: { wanted: 0, configured: 0.12 } } },
    });
  });

  it('given providers, then each has its health, those in trouble first', () => {
    const scene = new ControllerScene({ providers: ['p', 'q'] })
      .list(some(3))
      .failList('q', 'no route')
      .tick();

    expect(scene.controller.ask('status', {}).providers).toMatchObject([
      { name: 'q', machines: 0, hasListed: false, lastListMs: null, lastError: 'no route' },
      { name: 'p', machines: 3, hasListed: true, lastError: '', breaker: 'closed', heldLosses: 0 },
    ]);
  });

  it('given a cycle, then an event has the status', () => {
    const scene = new ControllerScene().list([record('m', Failed)]).tick();

    const [event] = scene.events.filter(({ kind }) => kind === 'cycle');
    expect(event).toMatchObject({ status: { machinesByState: { FAILED: 1 }, cycle: { number: 1 } } });
  });
});
