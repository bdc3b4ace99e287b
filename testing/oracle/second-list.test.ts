// The oracle on sharing in Phase 2 (E4): what drains and victims will leave over, drains whose row is gone, and what Phase 1
// leaves alone because drains will cover it.

import { describe, expect, it } from 'vitest';
import {
  type DecisionOptions,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  SHARED_OPTIONS,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { countIn, runUntilQuiet, startLoop } from '../loop/loop.ts';
import { aMachine, aNeed, anInput, resources, stampOf, strictSpread } from '../support/fleets.ts';
import { decide } from './oracle.ts';

const { Idle, Configured, Draining } = MachineState;

const cpu = (amount: number) => resources({ cpu: amount });
const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`);
const reasons = (plan: Plan) => plan.verdicts.map(({ unmet }) => unmet?.reason ?? 'met');

/** A row of cluster c1; rows of one test differ in priority, which is also their rank. */
function row(priority: number, amount: number, unit: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({ priority, aggregate: cpu(amount), minUnit: cpu(unit), ...given });
}

/** A row of cluster c2 that has this machine. */
function owner(priority: number, amount: number): Need {
  return row(priority, amount, amount, { cluster: 'c2', group: `g${priority}` });
}

function serves(id: string, need: Need, given: Partial<LedgerMachine> = {}): LedgerMachine {
  const { cluster, aggregate } = need;
  return aMachine(id, Configured, { cluster, resources: aggregate, stamp: stampOf(need), ...given });
}

function drain(id: string, amount: number, target: Need, given: Partial<LedgerMachine> = {}): LedgerMachine {
  return aMachine(id, Draining, { cluster: 'c2', resources: cpu(amount), target: keyOf(target), ...given });
}

function shared(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = {},
): Plan {
  return decide(anInput(machines, needs, { ...SHARED_OPTIONS, ...options }));
}

describe('victims that several rows share', () => {
  const rows = Array.from({ length: 20 }, (_, i) => row(100 + i, 2, 2));
  const owners = [1, 2, 3, 4].map((priority) => owner(priority, 32));
  const machines = owners.map((need, i) => serves(`v${i}`, need));

  it('given 20 rows of 2 cpu and victims of 32, then 2 are picked, and without sharing all 4', () => {
    const plan = shared(machines, [...rows, ...owners]);
    expect(did(plan)).toEqual(['Preempt v0', 'Preempt v1']);
    expect(reasons(plan).slice(0, 20)).toEqual(rows.map(() => 'preempting'));
    // The first row picks and 15 rows share; the 17th picks again.
    expect(plan.verdicts[16]!.preempts).toEqual(['v1']);
    expect(shared(machines, [...rows, ...owners], { sharing: 'off' }).actions).toHaveLength(4);
  });

  it('given these victims, when moves take time, then no others are picked until all rows are met', () => {
    const input = anInput(machines, [...rows, ...owners], SHARED_OPTIONS);
    for (const delays of [0, 1, 3]) {
      const { steps } = runUntilQuiet(startLoop(input), { decide, delays, cycleMs: 60_000 }, 60);
      expect(countIn(steps, 'Preempt')).toBe(2);
      expect(reasons(steps.at(-1)!.plan).slice(0, 20)).toEqual(rows.map(() => 'met'));
    }
  });

  it('given a victim that others share, then the largest dollars of claimant and borrowers count', () => {
    const [first, second] = [owner(2, 6), owner(1, 8)];
    const borrower = row(0, 2, 1, { cluster: 'c2', interruptionBucket: 9 });
    const high = row(100, 8, 6);
    const machinesOf = [serves('v1', first, { resources: cpu(8) }), serves('v2', second)];
    const options = { weights: { priority: 0, drainSpeed: 0, interruption: 1, reclamation: 0 } };
    expect(did(shared(machinesOf, [high, first, second], options))).toEqual(['Preempt v1']);
    expect(did(shared(machinesOf, [high, first, second, borrower], options))).toEqual(['Preempt v2']);
  });
});

describe('drains in Phase 2', () => {
  it('given drains of a row that is met, then what they bring is there for others of its cluster', () => {
    const [met, short] = [row(20, 4, 4), row(10, 6, 2)];
    const low = owner(1, 8);
    const machines = [serves('a', met), drain('d', 8, met), serves('v', low)];
    const plan = shared(machines, [met, short, low]);
    expect(did(plan)).toEqual([]);
    expect(reasons(plan)).toEqual(['met', 'preempting', 'met']);
    // Of another cluster it is not.
    const elsewhere = row(10, 6, 2, { cluster: 'c3' });
    expect(did(shared(machines, [met, elsewhere, low]))).toEqual(['Preempt v']);
  });

  it('given what a drain leaves over, then it is used in rank order and never twice', () => {
    const [first, second, third] = [row(30, 5, 1), row(20, 2, 1), row(10, 2, 1)];
    const low = owner(1, 2);
    const plan = shared([drain('d', 8, first), serves('v', low)], [first, second, third, low]);
    expect(reasons(plan)).toEqual(['preempting', 'preempting', 'preempting', 'met']);
    // 3 are left over: the second row takes 2 and the third gets 1 and picks for the rest.
    expect(plan.verdicts.map(({ preempts }) => preempts)).toEqual([[], [], ['v'], []]);
  });

  it('given a row that only misses its largest piece, then that much of its victim is not lent', () => {
    const [large, small] = [row(20, 16, 10), row(10, 4, 4)];
    const low = owner(1, 12);
    const machines = [
      aMachine('a', Configured, { resources: cpu(8), stamp: stampOf(large) }),
      aMachine('b', Configured, { resources: cpu(8), stamp: stampOf(large) }),
      serves('v', low),
    ];
    const plan = shared(machines, [large, small, low]);
    expect(plan.verdicts.map(({ preempts }) => preempts)).toEqual([['v'], [], []]);
    // 12 − 10 do not hold the piece of 4.
    expect(reasons(plan)).toEqual(['preempting', 'priority-starved', 'met']);
  });

  it('given a row with a group or a strict spread, then it does not use the list, and its drains enter it', () => {
    for (const given of [{ group: 'g' }, { spread: [strictSpread(ZONE_KEY)] }]) {
      const [first, second, third] = [row(30, 2, 1), row(20, 2, 1, given), row(10, 2, 1)];
      const low = owner(1, 8);
      const machines = [drain('d', 8, first), serves('v', low)];
      const plan = shared(machines, [first, second, third, low]);
      expect(plan.verdicts.map(({ preempts }) => preempts)).toEqual([[], ['v'], [], []]);
      expect(reasons(shared([drain('d', 8, second)], [second, third]))).toEqual(['preempting', 'preempting']);
    }
  });
});

describe('a drain whose row is gone', () => {
  const gone = row(50, 8, 8, { group: 'gone' });

  it('given an unmet row of that cluster that it fits, then it drains for that row and no victim is picked', () => {
    const short = row(20, 8, 4);
    const low = owner(1, 8);
    const machines = [drain('d', 8, gone), serves('v', low)];
    const plan = shared(machines, [short, low]);
    expect([...plan.retargets]).toEqual([['d', keyOf(short)]]);
    expect(did(plan)).toEqual([]);
    expect(reasons(plan)).toEqual(['preempting', 'met']);
    expect(did(shared(machines, [short, low], { sharing: 'off' }))).toEqual(['Preempt v']);
  });

  it('given rows that it does not fit, that are covered or of another cluster, then it goes to the first unmet one', () => {
    const large = row(40, 16, 16);
    const covered = row(30, 4, 4);
    const [first, second] = [row(20, 4, 4), row(10, 4, 4)];
    const elsewhere = row(45, 8, 8, { cluster: 'c3' });
    const machines = [drain('a', 8, gone), drain('d', 4, covered)];
    const plan = shared(machines, [elsewhere, large, covered, first, second]);
    expect([...plan.retargets]).toEqual([['a', keyOf(first)]]);
    expect(reasons(plan)).toEqual([
      'claimed-elsewhere',
      'no-fitting-supply',
      'preempting',
      'preempting',
      'preempting',
    ]);
  });

  it('given no unmet row, or a row that is still there, then its target stays', () => {
    const short = row(20, 8, 4);
    expect(shared([drain('d', 8, gone)], [row(20, 0, 0)]).retargets.size).toBe(0);
    expect(shared([drain('d', 8, gone)], [short, gone]).retargets.size).toBe(0);
  });
});

describe('drains in Phase 1', () => {
  it('given what the drains of a better-ranked row leave over, then a borrower leaves other rows’ machines alone', () => {
    const [first, second, third] = [row(30, 2, 1), row(20, 4, 1), row(10, 8, 1)];
    const b = serves('b', third);
    const plan = shared([drain('d', 8, first), b], [first, second, third]);
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([[], [], ['b']]);
    expect(reasons(plan)).toEqual(['preempting', 'preempting', 'met']);
    // Without the drain the second row takes over b, and the third shares what is left.
    expect(shared([b], [second, third]).verdicts.map(({ claimed }) => claimed)).toEqual([['b'], []]);
  });

  it('given reserved Idle machines, then a borrower takes them only beyond what drains of better rows leave over', () => {
    const [first, second] = [row(30, 2, 1), row(20, 8, 1)];
    const other = row(10, 4, 4, { group: 'o' });
    const reserved = ['i1', 'i2'].map((id) => aMachine(id, Idle, { target: keyOf(other) }));
    const machines = [drain('d', 6, first), ...reserved];
    // The second row wants 8 and 4 will be left over, so it takes one of the two machines of 4.
    const plan = shared(machines, [first, second, other]);
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([[], ['i1'], ['i2']]);
  });

  it('given two borrowers, then the second one sees only what the first will not use', () => {
    const [first, second, third, last] = [row(40, 2, 1), row(30, 4, 1), row(20, 4, 1), row(10, 4, 4)];
    const b = serves('b', last);
    const plan = shared([drain('d', 8, first), b], [first, second, third, last]);
    // 6 are left over: 4 for the second row, 2 of the 4 for the third, which takes over b for the rest.
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([[], [], ['b'], []]);
  });
});
