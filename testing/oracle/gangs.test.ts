// The oracle on gangs: the choice of one domain, whole or nothing, who may be taken over, Phase 2 in a domain.

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

describe('a gang acquires whole or not at all', () => {
  const racks = [
    ...['a1', 'a2', 'a3'].map((id) => inRack(id, Idle, 'a')),
    ...['b1', 'b2', 'b3'].map((id) => inRack(id, Speculative, 'b')),
  ];

  // Case 66 of the specification, as changed here.
  it('takes nothing that does not complete it', () => {
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

  it('prefers the rack with more of it Idle, then the next gang takes the other', () => {
    const plan = decide(anInput(racks, [gang(12, { group: 'g1' }), gang(12, { group: 'g2' })]));
    expect(plan.verdicts.map(({ domain }) => domain)).toEqual(['a', 'b']);
  });

  it('completes itself with machines that drain for it', () => {
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
  it('stays where it is while nothing can complete it', () => {
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
  it('moves to the rack that completes it and gives the old one back', () => {
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

  it('does not move when its cluster cannot bind', () => {
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
  it('is its own among equal covers, then the least over-committed', () => {
    const row = gang(8);
    const x = ['x1', 'x2', 'x3', 'x4'].map((id) => inRack(id, Configured, 'x'));
    const y = ['y1', 'y2'].map((id) => inRack(id, Configured, 'y'));
    expect(decide(anInput([...x, ...y], [row])).verdicts[0]!.domain).toBe('y');
    const own = x.map((machine) => (machine.id < 'x3' ? { ...machine, stamp: stampOf(row) } : machine));
    expect(decide(anInput([...own, ...y], [row])).verdicts[0]!.claimed).toEqual(['x1', 'x2']);
  });

  it('goes to the cheaper of two equal racks, by effective cost of what it would buy', () => {
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

  it('compares whole parts per million: a difference below one is a tie', () => {
    const row = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(10_000_000), minUnit: new Map() });
    const stamp = stampOf(row);
    const machines = [
      inRack('m1', Configured, 'b', { stamp, resources: cpu(19) }),
      inRack('m2', Configured, 'a', { stamp, resources: cpu(10) }),
    ];
    // 19 and 10 of ten million are both 1 ppm; equal on every key, so the name decides.
    expect(decide(anInput(machines, [row])).verdicts[0]!.domain).toBe('a');
  });

  it('is exact where sums pass 2^53', () => {
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

  it('may be the empty string', () => {
    const machines = [inRack('i1', Idle, ''), inRack('i2', Idle, '')];
    expect(decide(anInput(machines, [gang(8)])).verdicts[0]).toMatchObject({ domain: '', satisfied: true });
  });
});

describe('what a gang may claim', () => {
  it('is another row’s own only if that completes it', () => {
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

  it('is no Idle machine that waits for it, if it cannot be completed', () => {
    const row = gang(12);
    const machines = [
      inRack('i1', Idle, 'a', { target: keyOf(row), idleSinceMs: 0 }),
      inRack('m1', Configured, 'a', { stamp: stampOf(row) }),
    ];
    const plan = decide(anInput(machines, [row]));
    expect(plan.verdicts[0]!.claimed).toEqual(['m1']);
    expect(did(plan)).toEqual(['Delete i1']);
  });

  it('includes held bound machines, so that a hold never costs it a serving machine', () => {
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
  it('picks in the first domain it completes, its own first', () => {
    const row = gang(16, { priority: 2000 });
    const own = ['a1', 'a2'].map((id) => inRack(id, Configured, 'a', { stamp: stampOf(row) }));
    const machines = [...own, ...victims('a', 'a3', 'a4'), ...victims('b', 'b1', 'b2', 'b3', 'b4')];
    const plan = decide(anInput(machines, [row, low]));
    expect(did(plan)).toEqual(['Preempt a3', 'Preempt a4']);
    expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
  });

  it('goes to a domain with victims only, when its own cannot be completed', () => {
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

  it('picks nothing if no domain can be completed, and counts free machines before victims', () => {
    const row = gang(16, { priority: 2000 });
    const some = [...victims('a', 'a1', 'a2', 'a3')];
    expect(decide(anInput(some, [row, low])).actions).toEqual([]);
    // The Idle machine is not acquired (it does not complete the gang) but one victim fewer is needed.
    const small = { ...low, aggregate: cpu(12) };
    const plan = decide(anInput([...some, inRack('i1', Idle, 'a')], [row, small]));
    expect(did(plan)).toEqual(['Preempt a1', 'Preempt a2', 'Preempt a3']);
  });
});
