// Cycle after cycle on one engine: unchanged clusters keep their results, and the plan is still byte-identical to that
// of a new engine on the same fleet.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClaimWatch, type Decision, decide, Engine } from '../../src/engine/index.ts';
import { type Fleet, fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  sameKey,
} from '../../src/model/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import {
  aMachine,
  aNeed,
  anInput,
  anyFleets,
  RACK_KEY,
  resources,
  same,
  sharedFleets,
  stampOf,
} from '../../testing/support/fleets.ts';
import { blend, diceThrow, updateFleet } from './warm.ts';

const OTHERS = ['c2', 'c3', 'c4'].map((cluster) => aNeed({ cluster }));

/** A machine of 8 cpu in a rack, bound to c1. */
function boundIn(rack: string, id: string, given: Partial<LedgerMachine> = {}): LedgerMachine {
  const labels = new Map([[RACK_KEY, rack]]);
  return aMachine(id, MachineState.Configured, { resources: resources({ cpu: 8 }), labels, ...given });
}

/** The next decision of an engine, which must equal that of a new engine. */
function checkedPlan(engine: Engine, fleet: Fleet, { nowMs, options }: DecisionInput): Plan {
  const plan = engine.decide(nowMs, options).plan();
  expect(planText(plan)).toBe(planText(decide(fleet, nowMs, options)));
  return plan;
}

describe('incremental cycles', () => {
  it('given any changes between cycles, then the plan equals that of a full solve', {
    timeout: 600_000,
  }, () => {
    const story = fc.tuple(
      fc.array(anyFleets({ machines: 30, needs: 15 }), { minLength: 3, maxLength: 5 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
    );
    fc.assert(
      fc.property(story, ([inputs, dice]) => {
        let input = inputs[0]!;
        const fleet = fleetOf(input);
        const engine = new Engine(fleet);
        for (const next of [...inputs, ...inputs]) {
          const before = input;
          input = blend(before, next, diceThrow(dice));
          updateFleet(fleet, before, input, dice.next().value < 5 ? engine : undefined);
          const decision = engine.decide(input.nowMs, input.options);
          const plan = decision.plan();
          expect(planText(plan)).toBe(planText(oracle(input)));
          for (const verdict of plan.verdicts) expect(decision.verdictOf(verdict.key)).toEqual(verdict);
          const gone = before.needs.filter(
            (need) => !plan.verdicts.some((it) => sameKey(it.key, keyOf(need))),
          );
          for (const need of gone) expect(decision.verdictOf(keyOf(need))).toBeNull();
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 150) },
    );
  });

  it('given any changes between cycles, then the incremental claim watch equals one that reads all machines', {
    timeout: 600_000,
  }, () => {
    const story = fc.tuple(
      fc.array(anyFleets({ machines: 30, needs: 15 }), { minLength: 3, maxLength: 5 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
    );
    let seen = 0;
    fc.assert(
      fc.property(story, ([inputs, dice]) => {
        let input = inputs[0]!;
        const fleet = fleetOf(input);
        const engines = [new Engine(fleet), new Engine(fleet, { incremental: false })];
        const watches = engines.map(() => new ClaimWatch());
        for (const next of [...inputs, ...inputs]) {
          const before = input;
          input = blend(before, next, diceThrow(dice));
          updateFleet(fleet, before, input, engines[0]);
          const changes = engines.map((engine, i) =>
            engine.decide(input.nowMs, input.options).claimChanges(watches[i]!),
          );
          expect(changes[0]).toBe(changes[1]);
          seen += changes[1]!;
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 150) },
    );
    expect(seen).toBeGreaterThan(0);
  });

  it('given marks of machines that change while all else stays, then the plan equals the oracle’s', {
    timeout: 600_000,
  }, () => {
    let seen = 0;
    const story = fc.tuple(
      sharedFleets({ machines: 30, needs: 15 }),
      fc.array(fc.array(fc.nat({ max: 29 }), { maxLength: 6 }), { minLength: 3, maxLength: 6 }),
    );
    fc.assert(
      fc.property(story, ([input, cycles]) => {
        const fleet = fleetOf(input);
        const engine = new Engine(fleet);
        const texts = [[], ...cycles].map((marks) => {
          const retiring = new Set(marks.flatMap((i) => input.machines[i]?.id ?? []));
          const options = { ...input.options, retiring };
          const text = planText(engine.decide(input.nowMs, options).plan());
          expect(text).toBe(planText(oracle({ ...input, options })));
          return text;
        });
        if (new Set(texts).size > 1) seen++;
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 150) },
    );
    expect(seen).toBeGreaterThan(0);
  });

  it('given machines that change while no class appears or goes, then the plan equals that of a full solve', {
    timeout: 600_000,
  }, () => {
    const { Creating, Failed, Idle, Speculative } = MachineState;
    const change = fc.record({
      at: fc.nat(),
      state: fc.constantFrom(Idle, Speculative, Creating, Failed),
      blocked: fc.boolean(),
    });
    const story = fc.tuple(
      anyFleets({ machines: 30, needs: 15 }),
      fc.array(fc.array(change, { maxLength: 3 }), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(story, ([{ machines, needs, nowMs, options }, cycles, everything]) => {
        const fleet = fleetOf({ machines, needs, nowMs, options });
        const engine = new Engine(fleet);
        const unbound = machines.filter(({ cluster }) => cluster === '');
        for (const changes of [[], ...cycles]) {
          for (const { at, state, blocked } of unbound.length === 0 ? [] : changes) {
            const slot = fleet.machines.slotOf(unbound[at % unbound.length]!.id)!;
            fleet.machines.update(slot, { state, blocked });
          }
          const plan = engine.decide(nowMs, options, { everything }).plan();
          expect(planText(plan)).toBe(planText(decide(fleet, nowMs, options)));
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 150) },
    );
  });

  it('given a machine whose target is a row of another cluster, when that row ends, then its own cluster may claim it', () => {
    const [x, y] = [aNeed({ cluster: 'x' }), aNeed({ cluster: 'y' })];
    const dear = aMachine('dear', MachineState.Configuring, { cluster: 'x', pricePerHour: 2 });
    const cheap = aMachine('cheap', MachineState.Configuring, {
      cluster: 'x',
      pricePerHour: 1,
      target: keyOf(y),
    });
    const input = anInput([dear, cheap], [x, y]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    expect(engine.decide(input.nowMs, input.options).claims().get('dear')).toEqual(keyOf(x));
    fleet.demand.replace('y', []);
    expect(engine.decide(input.nowMs, input.options).claims().get('cheap')).toEqual(keyOf(x));
  });

  it('given a gang that folds because of one bound machine, when that one is blocked, then it no longer folds', () => {
    const gang = aNeed({ group: 'g', requirements: [same(RACK_KEY)] });
    const input = anInput([boundIn('r1', 'm')], [gang, ...OTHERS]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    expect(checkedPlan(engine, fleet, input).claims.get('m')!.group).toMatch(/^fold:/);
    fleet.machines.update(fleet.machines.slotOf('m')!, { blocked: true });
    expect(checkedPlan(engine, fleet, input).claims.get('m')).toEqual(keyOf(gang));
  });

  it('given a gang that no rack could hold, when one can, then it claims machines of a worse-ranked row', () => {
    const plain = aNeed({ priority: 1, aggregate: resources({ cpu: 16 }) });
    const amounts = { aggregate: resources({ cpu: 16 }), minUnit: resources({ cpu: 8 }) };
    const gang = aNeed({ priority: 2, group: 'g', requirements: [same(RACK_KEY)], ...amounts });
    const stamp = stampOf(plain);
    const own = boundIn('r1', 'own', { stamp: stampOf(gang) });
    const input = anInput(
      [own, boundIn('r2', 'b', { stamp }), boundIn('r3', 'c', { stamp })],
      [plain, gang, ...OTHERS],
    );
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    for (const cpu of [16, 15, 15]) {
      fleet.demand.replace('c1', [{ ...plain, aggregate: resources({ cpu }) }, gang]);
      expect(checkedPlan(engine, fleet, input).claims.get('b')).toEqual(keyOf(plain));
    }
    fleet.machines.put(boundIn('r1', 'a', { stamp }));
    expect(checkedPlan(engine, fleet, input).claims.get('a')).toEqual(keyOf(gang));
  });

  it('given a row without machines, when one is bound for it and then for another row, then the plan equals that of a full solve', () => {
    const gang = aNeed({ group: 'g', requirements: [same(RACK_KEY)] });
    const plain = aNeed({ priority: 1, aggregate: resources({ cpu: 8 }) });
    const input = anInput(
      [boundIn('r1', 'a', { stamp: stampOf(plain) }), boundIn('r1', 'b', { stamp: stampOf(plain) })],
      [plain, gang, ...OTHERS],
    );
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const groupOfB = (): string => checkedPlan(engine, fleet, input).claims.get('b')!.group;
    const stampB = (need: Need): void =>
      fleet.machines.update(fleet.machines.slotOf('b')!, { stamp: stampOf(need) });
    expect(groupOfB()).toMatch(/^fold:/);
    stampB(gang);
    expect(groupOfB()).toBe('g');
    stampB(plain);
    expect(groupOfB()).toMatch(/^fold:/);
  });

  it('given a short row that borrowed, when sharing is switched off, then its verdict names no shared machine', () => {
    const lender = aNeed({ priority: 9, aggregate: resources({ cpu: 4 }) });
    const borrower = aNeed({ priority: 1, aggregate: resources({ cpu: 6 }) });
    const input = anInput([boundIn('r1', 'a', { stamp: stampOf(lender) })], [lender, borrower]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    // No verdicts are read here: computing them would clear what the last row borrowed.
    engine.decide(input.nowMs, { ...input.options, sharing: 'on' });
    const plan = checkedPlan(engine, fleet, {
      ...input,
      options: { ...input.options, sharing: 'off' },
    });
    expect(plan.verdicts.find(({ key }) => sameKey(key, keyOf(borrower)))?.shares).toEqual([]);
  });

  it('given two engines on one fleet, then each receives every change', () => {
    const need = aNeed({ cluster: 'x' });
    const input = anInput([], [need]);
    const fleet = fleetOf(input);
    const engines = [new Engine(fleet), new Engine(fleet)];
    for (const engine of engines) engine.decide(input.nowMs, input.options);
    fleet.machines.put(aMachine('m', MachineState.Configured, { cluster: 'x' }));
    for (const engine of engines)
      expect([...engine.decide(input.nowMs, input.options).claims().keys()]).toEqual(['m']);
  });

  it('given a key that no cluster reports, then there is no verdict on it', () => {
    const need = aNeed({ cluster: 'x' });
    const input = anInput([], [need]);
    const decision = new Engine(fleetOf(input)).decide(input.nowMs, input.options);
    expect(decision.verdictOf(keyOf(need))).toMatchObject({ satisfied: false, unmet: {} });
    for (const other of [{ group: 'other' }, { cluster: 'y' }, { fingerprint: 'none' }])
      expect(decision.verdictOf({ ...keyOf(need), ...other })).toBeNull();
  });

  it('given a fleet that changes after the decision, then reading the decision throws', () => {
    const [x, y] = [aNeed({ cluster: 'x' }), aNeed({ cluster: 'y' })];
    const input = anInput([aMachine('m', MachineState.Idle)], [x]);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const decided = (): Decision => engine.decide(input.nowMs, input.options);
    const asked: readonly ((decision: Decision) => unknown)[] = [
      (decision) => decision.actions(),
      (decision) => decision.actionCount,
      (decision) => decision.counts,
      (decision) => decision.rows,
      (decision) => decision.claims(),
      (decision) => decision.restamps(),
      (decision) => decision.verdicts(),
      (decision) => decision.verdictOf(keyOf(x)),
    ];
    for (const ask of asked) expect(() => ask(decided())).not.toThrow();
    const changes: readonly (() => void)[] = [
      () => fleet.demand.replace('x', []),
      () => fleet.demand.replace('y', [y]),
      () => fleet.machines.put(aMachine('other', MachineState.Idle)),
      () => fleet.machines.update(fleet.machines.slotOf('other')!, { blocked: true }),
      () => fleet.machines.remove('m'),
    ];
    for (const change of changes) {
      const decision = decided();
      change();
      for (const ask of asked) expect(() => ask(decision)).toThrow('The fleet has changed');
    }
  });

  it('given another cycle of the same engine, then reading the previous decision throws', () => {
    const input = anInput([aMachine('m', MachineState.Idle)], [aNeed({ cluster: 'x' })]);
    const fleet = fleetOf(input);
    const [engine, another] = [new Engine(fleet), new Engine(fleet)];
    const decision = engine.decide(input.nowMs, input.options);
    another.decide(input.nowMs, input.options);
    const actions = decision.eachAction();
    expect(decision.actions()).toHaveLength(1);
    engine.decide(input.nowMs, input.options);
    expect(() => decision.actions()).toThrow('Another cycle has begun');
    expect(() => actions.next()).toThrow('Another cycle has begun');
  });
});
