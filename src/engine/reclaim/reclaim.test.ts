import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, NOW_MS, resources, stampOf } from '../../../testing/support/fleets.ts';
import { Fleet, fleetOf, PendingChanges } from '../../fleet/index.ts';
import {
  type DecisionOptions,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  Operator,
  type Plan,
  RECLAIM_GRACE_SECONDS,
  wholeRollup,
} from '../../model/index.ts';
import { decide, Engine } from '../engine.ts';

const { Creating, Configuring, Configured, Idle, Speculative } = MachineState;
const HOLD: Partial<DecisionOptions> = { reclaimHoldSeconds: 600 };
const LONG_AGO = NOW_MS - 600_000;

function planOf(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = HOLD,
): Plan {
  const input = anInput(machines, needs, options);
  return decide(fleetOf(input), input.nowMs, input.options);
}

function actionsOf(...parts: Parameters<typeof planOf>): string[] {
  return planOf(...parts).actions.map(({ kind, machine }) => `${kind} ${machine}`);
}

/** A machine of c1 that no row wants, unclaimed since. */
function spare(unclaimedSinceMs: number | null, given: Partial<LedgerMachine> = {}): LedgerMachine {
  return aMachine('spare', Configured, { unclaimedSinceMs, ...given });
}

describe('the reclaim hold of an unclaimed machine', () => {
  it('given no hold, then it is reclaimed at once, whatever its clock', () => {
    const machines = [spare(NOW_MS)];
    expect(actionsOf(machines, [], {})).toEqual(['Reclaim spare']);
    expect(planOf(machines, [], {}).onHold).toEqual(new Map());
  });

  it('given a clock below the hold, then it stays on hold with its clock', () => {
    const plan = planOf([spare(LONG_AGO + 1)], []);
    expect(plan.actions).toEqual([]);
    expect(plan.onHold).toEqual(new Map([['spare', LONG_AGO + 1]]));
  });

  it('given no clock, then the hold starts now', () => {
    expect(planOf([spare(null)], []).onHold).toEqual(new Map([['spare', NOW_MS]]));
  });

  it('given a clock that has reached the hold, then it is reclaimed and keeps its clock, in case that is not carried out', () => {
    const plan = planOf([spare(LONG_AGO)], []);
    expect(plan.actions).toMatchObject([{ kind: 'Reclaim', reason: 'phase3.excess' }]);
    expect(plan.onHold).toEqual(new Map([['spare', LONG_AGO]]));
  });

  it('given a row that claims it, then no clock runs', () => {
    const plan = planOf([spare(LONG_AGO)], [aNeed()]);
    expect([plan.actions, plan.onHold]).toEqual([[], new Map()]);
  });

  it.each([
    ['has not reported', { readyClusters: new Set<string>() }],
    ['cannot bind', { cannotBind: new Set(['c1']) }],
  ])('given a cluster that %s, then no clock runs, and it is not reclaimed', (_, silent) => {
    const plan = planOf([spare(LONG_AGO)], [], { ...HOLD, ...silent });
    expect([plan.actions, plan.onHold]).toEqual([[], new Map()]);
  });

  it('given a cluster that cannot bind but is connected, then the clock runs, and the machine leaves after its hold', () => {
    const frozen = { ...HOLD, cannotBind: new Set(['c1']), connected: new Set(['c1']) };
    expect(planOf([spare(LONG_AGO + 1)], [], frozen).onHold).toEqual(new Map([['spare', LONG_AGO + 1]]));
    expect(actionsOf([spare(LONG_AGO)], [], frozen)).toEqual(['Reclaim spare']);
  });

  it('given a silent cluster, then its unclaimed machine is on hold, although no clock runs', () => {
    const input = anInput([spare(LONG_AGO)], [], { ...HOLD, cannotBind: new Set(['c1']) });
    const fleet = fleetOf(input);
    const decision = new Engine(fleet).decide(input.nowMs, input.options);
    const slots = decision.slotsOnHold();
    expect(slots.map((slot) => [fleet.machines.idOf(slot), decision.clockRuns(slot)])).toEqual([
      ['spare', false],
    ]);
  });

  it('given several machines, then the clocks are listed by id, and reclaims are by cluster and keep order', () => {
    const machines = [
      aMachine('b', Configured, { cluster: 'c2', unclaimedSinceMs: LONG_AGO }),
      aMachine('c', Configured, { pricePerHour: 2, unclaimedSinceMs: LONG_AGO }),
      aMachine('a', Configured, { unclaimedSinceMs: NOW_MS - 5 }),
      aMachine('d', Configured, { unclaimedSinceMs: LONG_AGO }),
    ];
    expect(actionsOf(machines, [])).toEqual(['Reclaim d', 'Reclaim c', 'Reclaim b']);
    expect([...planOf(machines, []).onHold.keys()]).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a machine past its reclaim hold, while rows of its cluster wait for machines', () => {
  // The spare machine is too small for the row, so the row cannot be credited with it.
  const row = aNeed({ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 8 }) });
  const large = { resources: resources({ cpu: 8 }) };
  const small = spare(LONG_AGO, { stamp: stampOf(aNeed({ group: 'live' })) });
  // It belongs to a live row that is covered, so that `row` may not take it over.
  const live = aNeed({ group: 'live', aggregate: resources({}), minUnit: resources({}) });

  it('given a short row that it matches, then it is kept', () => {
    expect(actionsOf([small], [row, live])).toEqual([]);
  });

  it.each([
    ['Configuring', aMachine('next', Configuring, { ...large, stamp: stampOf(row), target: keyOf(row) })],
    ['Creating', aMachine('next', Creating, { ...large, target: keyOf(row) })],
  ])('given a row that counts on a %s machine, then it is kept until that is Configured', (_, next) => {
    expect(actionsOf([small, next], [row, live])).toEqual([]);
    const arrived = aMachine('next', Configured, { ...large, stamp: stampOf(row) });
    expect(actionsOf([small, arrived], [row, live])).toEqual(['Reclaim spare']);
  });

  it.each([
    ['binds', Idle, 'Bootstrap next'],
    ['buys', Speculative, 'Provision next'],
  ])('given a row that %s a machine now, then it is kept', (_, state, action) => {
    expect(actionsOf([small, aMachine('next', state, large)], [row, live])).toEqual([action]);
  });

  it('given a short row of another cluster, or one that it does not match, then it is reclaimed', () => {
    const elsewhere = { ...row, cluster: 'c2' };
    const other = aNeed({
      aggregate: resources({ cpu: 8 }),
      minUnit: resources({ cpu: 8 }),
      requirements: [{ key: 'disk', operator: Operator.In, values: ['fast'] }],
    });
    expect(actionsOf([small], [elsewhere, live])).toEqual(['Reclaim spare']);
    expect(actionsOf([small], [other, live])).toEqual(['Reclaim spare']);
  });
});

describe('a machine on hold, as a victim', () => {
  const row = aNeed({ cluster: 'c2', priority: 5 });

  it.each([
    ['of a higher priority', stampOf(aNeed({ group: 'gone' }), 1000)],
    ['of an unknown priority', stampOf(aNeed({ group: 'gone' }), null)],
    ['that is absent', null],
  ])(
    'given a stamp %s, then a short row that it fits preempts it, with the grace of a reclaim',
    (_, stamp) => {
      const machines = [spare(NOW_MS, { stamp })];
      expect(planOf(machines, [row]).actions).toMatchObject([
        { kind: 'Preempt', machine: 'spare', reason: 'phase2.excess', graceSeconds: RECLAIM_GRACE_SECONDS },
      ]);
      expect(planOf(machines, [row]).onHold).toEqual(new Map());
      expect(actionsOf(machines, [row], {})).toEqual(['Reclaim spare']);
    },
  );

  it('given a machine that does not fit, is blocked, or whose cluster has not reported, then it is not preempted', () => {
    const small = spare(NOW_MS, { resources: resources({ cpu: 1 }) });
    expect(actionsOf([small], [row])).toEqual([]);
    expect(actionsOf([spare(NOW_MS, { blocked: true })], [row])).toEqual([]);
    expect(actionsOf([spare(NOW_MS)], [row], { ...HOLD, readyClusters: new Set(['c2']) })).toEqual([]);
  });
});

describe('the reclaim hold over cycles', () => {
  it('given clocks written between cycles, then an incremental plan equals one from scratch, and no cluster is served again', () => {
    const { options } = anInput([], [], HOLD);
    const fleet = new Fleet();
    const pending = new PendingChanges(fleet);
    fleet.machines.load([spare(null), aMachine('used', Configured, { pricePerHour: 0 })]);
    pending.append({ kind: 'demand', delta: wholeRollup('c1', [aNeed()]) });
    pending.commitMachines().writeRows();
    const engine = new Engine(fleet, {
      checkEvery: 1,
      onDifference: ({ incremental, full }) => expect(incremental).toEqual(full),
    });
    expect(engine.decide(NOW_MS, options).onHold()).toEqual(new Map([['spare', NOW_MS]]));
    pending.append({ kind: 'unclaimed', id: 'spare', sinceMs: NOW_MS });
    pending.commitMachines().writeRows();
    const held = engine.decide(NOW_MS + 599_999, options);
    expect([held.actions(), held.onHold()]).toEqual([[], new Map([['spare', NOW_MS]])]);
    expect(engine.lastCycle.clusters).toBe(0);
    expect(engine.decide(NOW_MS + 600_000, options).actions()).toMatchObject([{ kind: 'Reclaim' }]);
  });
});
