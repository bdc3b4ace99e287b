// Optimisations of the choice of a domain must not change it: cached sums, racks that are skipped, gangs that nothing
// could complete.

import { describe, expect, it } from 'vitest';
import { decide, Engine } from '../../src/engine/index.ts';
import { type Fleet, fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState } from '../../src/model/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';

const { Configured, Idle, Speculative } = MachineState;

const inRack = (id: string, state: MachineState, rack: string, given: Partial<LedgerMachine> = {}) =>
  aMachine(id, state, { labels: new Map([[RACK_KEY, rack]]), ...given });
const gang = (cpu: number, group: string, firstSeenMs = 1) =>
  aNeed({ requirements: [same(RACK_KEY)], aggregate: resources({ cpu }), group, firstSeenMs });

describe('a gang that no rack could ever hold', () => {
  const infeasible = gang(400, 'infeasible');
  const small = gang(8, 'small', 2);
  const plain = aNeed({ firstSeenMs: 3 });
  const bound = [
    inRack('own', Configured, 'a', { cluster: 'c1', stamp: stampOf(infeasible) }),
    inRack('orphan', Configured, 'a', { cluster: 'c1' }),
    inRack('small1', Configured, 'b', { cluster: 'c1', stamp: stampOf(small) }),
    inRack('small2', Configured, 'b', { cluster: 'c1', stamp: stampOf(small) }),
    inRack('plain', Configured, 'b', { cluster: 'c1', stamp: stampOf(plain) }),
  ];
  const cyclesOf = (input: DecisionInput): { fleet: Fleet; cycle: (input: DecisionInput) => void } => {
    const fleet = fleetOf(input);
    const engine = new Engine(fleet);
    const cycle = ({ nowMs, options, ...rest }: DecisionInput): void => {
      const plan = engine.decide(nowMs, options).plan();
      expect(planText(plan)).toBe(planText(oracle({ nowMs, options, ...rest })));
    };
    return { fleet, cycle };
  };

  it('given worse-ranked rows, then the plan of every cycle equals the oracle’s', () => {
    const input = anInput(bound, [infeasible, small, plain]);
    const { cycle } = cyclesOf(input);
    for (let i = 0; i < 3; i++) cycle(input);
  });

  it('given a rack that has become large enough, then it claims what it needs there', () => {
    const before = anInput(bound, [infeasible, small, plain]);
    const { fleet, cycle } = cyclesOf(before);
    for (let i = 0; i < 3; i++) cycle(before);
    const more = Array.from({ length: 98 }, (_, i) => inRack(`more${i}`, Speculative, 'b'));
    fleet.machines.batch(() => {
      for (const machine of more) fleet.machines.put(machine);
    });
    const after = anInput([...bound, ...more], [infeasible, small, plain]);
    expect(oracle(after).claims.get('small1')).toMatchObject({ group: 'infeasible' });
    for (let i = 0; i < 3; i++) cycle(after);
    fleet.machines.batch(() => {
      for (const { id } of more) fleet.machines.remove(id);
    });
    for (let i = 0; i < 3; i++) cycle(before);
  });
});

describe('racks that tie', () => {
  it('given totals that differ by one beyond 2^53, then the smaller one is chosen', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const sized = (id: string, rack: string, memory: number) =>
      inRack(id, Idle, rack, { resources: resources({ cpu: 4, memory }) });
    const row = aNeed({
      requirements: [same(RACK_KEY)],
      aggregate: resources({ cpu: 8, memory: 1 }),
      group: 'g',
    });
    const input = anInput(
      [sized('a1', 'a', most), sized('a2', 'a', most), sized('b1', 'b', most), sized('b2', 'b', most - 1)],
      [row],
    );
    const plan = decide(fleetOf(input), input.nowMs, input.options);
    expect(plan.verdicts[0]!.domain).toBe('b');
    expect(planText(plan)).toBe(planText(oracle(input)));
  });

  it('given a total beyond 2^53 that a gang has reduced, then the next gang sees exactly what is left', () => {
    const sized = (id: string, pricePerHour: number, memory: number) =>
      inRack(id, Idle, 'a', { pricePerHour, resources: resources({ cpu: 4, memory }) });
    const row = (group: string, memory: number, firstSeenMs: number) =>
      aNeed({ requirements: [same(RACK_KEY)], aggregate: resources({ cpu: 8, memory }), group, firstSeenMs });
    const input = anInput(
      [sized('a1', 1, Number.MAX_SAFE_INTEGER), sized('a2', 2, 1), sized('a3', 3, 1), sized('a4', 4, 1)],
      [row('first', 10, 1), row('second', 2, 2)],
    );
    const plan = decide(fleetOf(input), input.nowMs, input.options);
    expect(plan.verdicts.map(({ satisfied }) => satisfied)).toEqual([true, true]);
    expect(planText(plan)).toBe(planText(oracle(input)));
  });

  it('given several gangs, then each chooses among what better-ranked gangs have left', () => {
    const racks = ['a', 'b', 'c'].flatMap((rack) =>
      [Idle, Idle, Speculative, Speculative].map((state, i) => inRack(`${rack}${i}`, state, rack)),
    );
    const input = anInput(
      racks,
      Array.from({ length: 7 }, (_, i) => gang(8, `g${i}`, i)),
    );
    const plan = decide(fleetOf(input), input.nowMs, input.options);
    expect(plan.verdicts.map(({ satisfied }) => satisfied)).toEqual([
      ...Array.from({ length: 6 }, () => true),
      false,
    ]);
    expect(planText(plan)).toBe(planText(oracle(input)));
  });
});
