// The oracle on gangs: the choice of one domain, whole or nothing, which machines it may claim, Phase 2 in a domain.

import { describe, expect, it } from 'vitest';
import { keyOf, type LedgerMachine, MachineState, type Plan } from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, RACK_KEY, resources, same, stampOf } from '../support/fleets.ts';
import { decide } from './oracle.ts';

const { Speculative, Idle, Configured, Draining } = MachineState;

const cpu = (amount: number) => resources({ cpu: amount });
const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`);
const inRack = (id: string, state: MachineState, rack: string, given: Partial<LedgerMachine> = {}) =>
  aMachine(id, state, { labels: new Map([[RACK_KEY, rack]]), ...given });
const gang = (amount: number, given: { group?: string; priority?: number; firstSeenMs?: number } = {}) =>
  aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(amount), minUnit: cpu(4), group: 'g', ...given });

describe('the acquisition of a gang', () => {
  const racks = [
    ...['a1', 'a2', 'a3'].map((id) => inRack(id, Idle, 'a')),
    ...['b1', 'b2', 'b3'].map((id) => inRack(id, Speculative, 'b')),
  ];

  // Case 66 of the specification, as changed here.
  it('given machines that do not complete it, then it acquires none', () => {
    const plan = decide(anInput(racks, [gang(20)]));
    expect(plan.actions).toEqual([]);
    expect(plan.verdicts[0]).toMatchObject({
      satisfied: false,
      deficit: cpu(20),
      domain: 'a',
      satisfiable: false,
      candidates: [
        { domain: 'a', coverage: 600_000, worstCoverage: 600_000, satisfiable: false },
        { domain: 'b', coverage: 600_000, worstCoverage: 600_000, satisfiable: false },
      ],
    });
    expect(plan.verdicts[0]!.unmet).toMatchObject({
      reason: 'topology-unsatisfiable',
      // Three of its five machines are there already.
      extraSupply: { count: 2, like: 'a1' },
    });
  });

  it('given two racks, then it prefers the one with more Idle machines, and the next gang gets the other', () => {
    const plan = decide(anInput(racks, [gang(12, { group: 'g1' }), gang(12, { group: 'g2' })]));
    expect(plan.verdicts.map(({ domain }) => domain)).toEqual(['a', 'b']);
  });

  it('given machines that drain for it, then they count and it acquires the rest', () => {
    const row = gang(12);
    const machines = [
      inRack('d1', Draining, 'a', { cluster: 'c2', target: keyOf(row) }),
      inRack('i1', Idle, 'a'),
      inRack('s1', Speculative, 'a'),
    ];
    const plan = decide(anInput(machines, [row]));
    expect(did(plan)).toEqual(['Bootstrap i1', 'Provision s1']);
    expect(plan.verdicts[0]).toMatchObject({ deficit: cpu(4), satisfiable: true });
    expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
  });
});

describe('the domain of a gang', () => {
  // Case 82 of the specification, as changed here.
  it('given no domain that can complete it, then it stays', () => {
    const row = gang(20);
    const machines = [
      inRack('m1', Configured, 'b', { stamp: stampOf(row) }),
      ...['a1', 'a2', 'a3'].map((id) => inRack(id, Idle, 'a')),
    ];
    const plan = decide(anInput(machines, [row]));
    expect(plan.verdicts[0]).toMatchObject({ domain: 'b', claimed: ['m1'], deficit: cpu(16) });
    expect(plan.actions).toEqual([]);
  });

  // Case 167 of the specification.
  it('given another rack that completes it, then it moves and its machines in the old one are reclaimed', () => {
    const machines = [
      inRack('a1', Configured, 'a'),
      inRack('b1', Configured, 'b'),
      inRack('b2', Idle, 'b'),
      inRack('b3', Idle, 'b'),
    ];
    const plan = decide(anInput(machines, [gang(12)]));
    expect(did(plan)).toEqual(['Bootstrap b2', 'Bootstrap b3', 'Reclaim a1']);
    expect([...plan.restamps.keys()]).toEqual(['b1']);
  });

  it('given a cluster that cannot bind, then it does not move', () => {
    const row = gang(12);
    const machines = [
      inRack('a1', Configured, 'a', { stamp: stampOf(row) }),
      ...['b1', 'b2', 'b3'].map((id) => inRack(id, Idle, 'b')),
    ];
    const plan = decide(anInput(machines, [row], { cannotBind: new Set(['c1']) }));
    expect(plan.verdicts[0]).toMatchObject({ domain: 'a', claimed: ['a1'] });
    expect(plan.actions).toEqual([]);
  });

  // Case 83 of the specification.
  it('given domains of equal coverage, then its own is chosen, then the one with the smallest total', () => {
    const row = gang(8);
    const x = ['x1', 'x2', 'x3', 'x4'].map((id) => inRack(id, Configured, 'x'));
    const y = ['y1', 'y2'].map((id) => inRack(id, Configured, 'y'));
    expect(decide(anInput([...x, ...y], [row])).verdicts[0]!.domain).toBe('y');
    const own = x.map((machine) => (machine.id < 'x3' ? { ...machine, stamp: stampOf(row) } : machine));
    expect(decide(anInput([...own, ...y], [row])).verdicts[0]!.claimed).toEqual(['x1', 'x2']);
  });

  it('given two equal racks, then the one with the lower effective cost of what it would buy is chosen', () => {
    const spot = { pricePerHour: 1, interruptionProbability: 0.5 };
    const row = aNeed({
      requirements: [same(RACK_KEY)],
      aggregate: cpu(8),
      interruptionBucket: 5, // $4, so spot costs 3
    });
    const machines = [
      ...['a1', 'a2'].map((id) => inRack(id, Speculative, 'a', spot)),
      ...['b1', 'b2'].map((id) => inRack(id, Speculative, 'b', { pricePerHour: 2 })),
    ];
    expect(decide(anInput(machines, [row])).verdicts[0]!.domain).toBe('b');
  });

  it('given coverage that differs by less than one part per million, then it is a tie', () => {
    const row = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(10_000_000), minUnit: new Map() });
    const stamp = stampOf(row);
    const machines = [
      inRack('m1', Configured, 'b', { stamp, resources: cpu(19) }),
      inRack('m2', Configured, 'a', { stamp, resources: cpu(10) }),
    ];
    // 19 and 10 of ten million are both 1 ppm; equal on every key, so the name decides.
    expect(decide(anInput(machines, [row])).verdicts[0]!.domain).toBe('a');
  });

  it('given sums beyond 2^53, then coverage is exact', () => {
    const huge = 2 ** 53 - 1;
    const row = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(huge), minUnit: new Map() });
    const machines = [
      inRack('a1', Configured, 'a', { resources: cpu(huge - 2) }),
      inRack('a2', Configured, 'a', { resources: cpu(1) }),
      inRack('b1', Configured, 'b', { resources: cpu(huge - 2) }),
      inRack('b2', Configured, 'b', { resources: cpu(2) }),
    ];
    expect(decide(anInput(machines, [row])).verdicts[0]).toMatchObject({ domain: 'b', satisfied: true });
    // One unit short of a whole is not a whole.
    const [short] = decide(anInput(machines.slice(0, 2), [row])).verdicts;
    expect(short!.candidates).toMatchObject([{ domain: 'a', coverage: 999_999, satisfiable: false }]);
  });

  it('given the empty string as a label value, then it is a domain', () => {
    const machines = [inRack('i1', Idle, ''), inRack('i2', Idle, '')];
    expect(decide(anInput(machines, [gang(8)])).verdicts[0]).toMatchObject({ domain: '', satisfied: true });
  });
});

describe('the machines that a gang may claim', () => {
  it('given another row’s own machine, then it claims it only if that completes it', () => {
    const other = aNeed();
    const row = gang(8, { priority: 5 });
    const machines = [
      inRack('m1', Configured, 'a', { stamp: stampOf(other) }),
      inRack('m2', Configured, 'a'),
    ];
    expect(decide(anInput(machines, [row, other])).verdicts[0]!.claimed).toEqual(['m2', 'm1']);
    const larger = gang(12, { priority: 5 });
    expect(decide(anInput(machines, [larger, other])).verdicts.map(({ claimed }) => claimed)).toEqual([
      ['m2'],
      ['m1'],
    ]);
  });

  it('given an Idle machine in flight for it and no way to complete it, then it does not claim the machine', () => {
    const row = gang(12);
    const machines = [
      inRack('i1', Idle, 'a', { target: keyOf(row), idleSinceMs: 0 }),
      inRack('m1', Configured, 'a', { stamp: stampOf(row) }),
    ];
    const plan = decide(anInput(machines, [row]));
    expect(plan.verdicts[0]!.claimed).toEqual(['m1']);
    expect(did(plan)).toEqual(['Delete i1']);
  });

  it('given blocked bound machines, then it claims them, so that blocking never costs it a serving machine', () => {
    const row = gang(8);
    const machines = ['m1', 'm2'].map((id) =>
      inRack(id, Configured, 'a', { stamp: stampOf(row), blocked: true }),
    );
    expect(decide(anInput(machines, [row])).actions).toEqual([]);
  });
});

describe('a gang in phase 2', () => {
  const low = aNeed({ cluster: 'c2', aggregate: cpu(64) });
  const victims = (rack: string, ...ids: string[]) =>
    ids.map((id) => inRack(id, Configured, rack, { cluster: 'c2' }));

  // Case 137 of the specification.
  it('given several domains, then it picks in the first that it completes, its own first', () => {
    const row = gang(16, { priority: 2000 });
    const own = ['a1', 'a2'].map((id) => inRack(id, Configured, 'a', { stamp: stampOf(row) }));
    const machines = [...own, ...victims('a', 'a3', 'a4'), ...victims('b', 'b1', 'b2', 'b3', 'b4')];
    const plan = decide(anInput(machines, [row, low]));
    expect(did(plan)).toEqual(['Preempt a3', 'Preempt a4']);
    expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
  });

  it('given its own domain cannot be completed, then it picks in a domain with victims only', () => {
    const row = gang(16, { priority: 2000 });
    const machines = [
      inRack('a1', Configured, 'a', { stamp: stampOf(row) }),
      ...victims('a', 'a2'),
      ...victims('c', 'c1', 'c2', 'c3', 'c4'),
      ...victims('b', 'b1', 'b2'),
    ];
    expect(did(decide(anInput(machines, [row, low])))).toEqual([
      'Preempt c1',
      'Preempt c2',
      'Preempt c3',
      'Preempt c4',
    ]);
  });

  it('given no domain that can be completed, then it picks nothing, and free machines count before victims', () => {
    const row = gang(16, { priority: 2000 });
    const some = [...victims('a', 'a1', 'a2', 'a3')];
    expect(decide(anInput(some, [row, low])).actions).toEqual([]);
    // The Idle machine is not acquired (it does not complete the gang) but one victim fewer is needed.
    const small = { ...low, aggregate: cpu(12) };
    const plan = decide(anInput([...some, inRack('i1', Idle, 'a')], [row, small]));
    expect(did(plan)).toEqual(['Preempt a1', 'Preempt a2', 'Preempt a3']);
  });
});
