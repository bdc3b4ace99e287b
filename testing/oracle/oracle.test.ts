// The oracle on scenes small enough to solve by hand: credit, folds, in-flight machines, acquisition. Gangs,
// spread and victims have their own files.

import { describe, expect, it } from 'vitest';
import { compareText, keyOf, MachineState, Operator, type Plan } from '../../src/model/index.ts';
import {
  aMachine,
  aNeed,
  anInput,
  foldKeyOf,
  NOW_MS,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../support/fleets.ts';
import { decide } from './oracle.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining } = MachineState;

const cpu = (amount: number) => resources({ cpu: amount });
const inRack = (rack: string) => ({ labels: new Map([[RACK_KEY, rack]]) });
const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`);

describe('rank', () => {
  it('given a cheap and a dear machine, then the best-ranked row gets the cheap one (cases 41, 42)', () => {
    const high = aNeed({ priority: 300, aggregate: cpu(16) });
    const low = aNeed({ priority: 100, aggregate: cpu(8) });
    const machines = [
      aMachine('i1', Idle, { resources: cpu(16), pricePerHour: 1 }),
      aMachine('i2', Idle, { pricePerHour: 2 }),
      aMachine('i3', Idle, { pricePerHour: 3 }),
    ];
    const plan = decide(anInput(machines, [low, high]));
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([['i1'], ['i2', 'i3']]);
    expect(did(plan)).toEqual(['Bootstrap i1', 'Bootstrap i2', 'Bootstrap i3']);
  });

  it('given equal precedence, then first-seen decides, then the key', () => {
    const machines = [aMachine('i1', Idle)];
    const later = aNeed({ group: 'a', firstSeenMs: 2 });
    const [x, y] = [aNeed({ group: 'x' }), aNeed({ group: 'y' })];
    expect(decide(anInput(machines, [later, y, x])).claims.get('i1')).toEqual(keyOf(x));
  });
});

describe('credit of a plain row', () => {
  it('given bound machines, then own and orphans are credited by price, other live rows’ own last, whatever their price', () => {
    const row = aNeed({ aggregate: cpu(8), priority: 5 });
    const other = aNeed({ aggregate: cpu(4) });
    const machines = [
      aMachine('m1', Configured, { pricePerHour: 0, stamp: stampOf(other) }),
      aMachine('m2', Configured, { pricePerHour: 3 }),
      aMachine('m3', Configured, { pricePerHour: 3, stamp: stampOf(row) }),
      aMachine('m4', Configured, { pricePerHour: 2 }),
    ];
    const plan = decide(anInput(machines, [row, other]));
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([['m4', 'm3'], ['m1']]);
    expect(did(plan)).toEqual(['Reclaim m2']);
  });

  it('given own in-flight machines, then they are credited before another row’s machine', () => {
    const row = aNeed({ priority: 5, aggregate: cpu(8), minUnit: new Map() });
    const other = aNeed();
    const machines = [
      aMachine('m1', Configured, { stamp: stampOf(other) }),
      aMachine('m2', Creating, { target: keyOf(row) }),
      aMachine('m3', Idle, { target: keyOf(row), pricePerHour: 9 }),
      aMachine('m4', Idle),
    ];
    expect(decide(anInput(machines, [row, other])).verdicts[0]!.claimed).toEqual(['m3', 'm2']);
    const wide = { ...row, aggregate: cpu(12), minUnit: cpu(4) };
    expect(decide(anInput(machines, [wide, other])).verdicts[0]!.claimed).toEqual(['m3', 'm2', 'm1']);
  });

  it('given a victim that drains for the row, then another row’s machine is not credited', () => {
    const [row, other] = [aNeed({ priority: 5 }), aNeed({ priority: 4 })];
    const machines = [
      aMachine('d1', Draining, { cluster: 'c2', target: keyOf(row) }),
      aMachine('m1', Configured, { stamp: stampOf(other) }),
      aMachine('v1', Configured, { cluster: 'c2', stamp: stampOf(aNeed()) }),
    ];
    const plan = decide(anInput(machines, [row, other], { readyClusters: new Set(['c1']) }));
    expect(plan.claims.get('m1')).toEqual(keyOf(other));
    expect(plan.actions).toEqual([]);
  });

  it('given a missing min_unit, then another row’s machine is credited even where the sum is covered', () => {
    const row = aNeed({ priority: 5, aggregate: cpu(8), minUnit: cpu(8) });
    const other = aNeed({ aggregate: cpu(8) });
    const machines = [
      aMachine('m1', Configured),
      aMachine('m2', Configured),
      aMachine('m3', Configured, { resources: cpu(8), stamp: stampOf(other) }),
    ];
    expect(decide(anInput(machines, [row, other])).verdicts[0]!.claimed).toEqual(['m1', 'm2', 'm3']);
  });

  // Case 54 of the specification, as changed here.
  it('given machines below min_unit, then they are kept and one that hosts the large pod is acquired', () => {
    const row = aNeed({ aggregate: cpu(48), minUnit: cpu(17) });
    const bound = ['m1', 'm2', 'm3'].map((id) => aMachine(id, Configured, { resources: cpu(16) }));
    const large = aMachine('i1', Idle, { resources: cpu(20) });
    const plan = decide(anInput([...bound, large, aMachine('i0', Idle, { resources: cpu(16) })], [row]));
    expect(plan.verdicts[0]!.claimed).toEqual(['m1', 'm2', 'm3', 'i1']);
    expect(did(plan)).toEqual(['Bootstrap i1']);
    const without = decide(anInput(bound, [row]));
    expect(without.verdicts[0]!.deficit).toEqual(cpu(17));
    expect(without.verdicts[0]!.unmet!.reason).toBe('no-fitting-supply');
  });

  it('given bound machines, then the first one that covers min_unit is credited first', () => {
    const row = aNeed({ aggregate: cpu(8), minUnit: cpu(8) });
    const machines = [
      aMachine('m1', Configured),
      aMachine('m2', Configured),
      aMachine('m3', Configuring, { resources: cpu(8), pricePerHour: 5 }),
    ];
    const plan = decide(anInput(machines, [row]));
    expect(plan.verdicts[0]!.claimed).toEqual(['m3']);
    expect(did(plan)).toEqual(['Reclaim m1', 'Reclaim m2']);
  });

  // Case 45 of the specification.
  it('given a machine that adds nothing, bound or free, then it is skipped', () => {
    const row = aNeed({ aggregate: resources({ gpu: 8 }), minUnit: new Map() });
    const machines = [
      aMachine('m1', Configured, { pricePerHour: 0 }),
      aMachine('i1', Idle, { pricePerHour: 0 }),
      aMachine('i2', Idle, { resources: resources({ gpu: 8 }), pricePerHour: 9 }),
    ];
    expect(did(decide(anInput(machines, [row])))).toEqual(['Bootstrap i2', 'Reclaim m1']);
  });

  it('given a row that wants nothing, then it is satisfied without a machine', () => {
    const plan = decide(anInput([aMachine('i1', Idle)], [aNeed({ aggregate: new Map() })]));
    expect(plan.verdicts[0]).toMatchObject({ satisfied: true, claimed: [] });
  });
});

describe('in-flight machines', () => {
  it('given their target, then they are credited to that row and cluster (cases 57, 62)', () => {
    const [first, second] = [aNeed({ cluster: 'c1' }), aNeed({ cluster: 'c2' })];
    const machines = [aMachine('m1', Creating, { target: keyOf(second) })];
    const plan = decide(anInput(machines, [first, second]));
    expect([...plan.claims]).toEqual([['m1', keyOf(second)]]);
    expect(plan.actions).toEqual([]);
  });

  it('given a cluster that cannot bind, then they stay reserved, without an action', () => {
    const row = aNeed({ aggregate: cpu(8), priority: 5 });
    const machines = [
      aMachine('i1', Idle, { target: keyOf(row), idleSinceMs: 0 }),
      aMachine('i2', Idle),
      aMachine('m1', Configured, { cluster: 'c2', stamp: stampOf(aNeed({ cluster: 'c2' })) }),
    ];
    const other = aNeed({ cluster: 'c2', aggregate: cpu(12) });
    const plan = decide(anInput(machines, [row, other], { cannotBind: new Set(['c1']) }));
    expect(plan.verdicts[0]).toMatchObject({
      claimed: ['i1'],
      bootstraps: [],
      preempts: [],
      deficit: cpu(4),
    });
    expect(plan.verdicts[0]!.unmet!.reason).toBe('cluster-disconnected');
    expect(did(plan)).toEqual(['Bootstrap i2']);
  });

  it('given those of another row, then they are acquired only for what drains will not cover', () => {
    const owner = aNeed({ group: 'owner' });
    const row = aNeed({ priority: 5, aggregate: cpu(8) });
    const drain = aMachine('d1', Draining, { cluster: 'c2', target: keyOf(row) });
    const reserved = [
      aMachine('i1', Idle, { target: keyOf(owner) }),
      aMachine('i2', Idle, { target: keyOf(owner) }),
    ];
    const plan = decide(anInput([drain, ...reserved], [row, owner]));
    // Short of 8, a drain brings 4: one reserved machine is acquired, the owner keeps the other.
    expect(plan.verdicts.map(({ claimed }) => claimed)).toEqual([['i1'], ['i2']]);
    expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
    // A machine without a target is acquired all the same.
    const free = aMachine('i3', Idle, { pricePerHour: 9 });
    expect(decide(anInput([drain, ...reserved, free], [row, owner])).verdicts[0]!.claimed).toEqual([
      'i1',
      'i3',
    ]);
  });

  it('given blocked ones, then they are neither bound nor counted as Idle', () => {
    const row = aNeed();
    const machines = [
      aMachine('i1', Idle, { target: keyOf(row), blocked: true }),
      aMachine('s1', Speculative),
    ];
    expect(did(decide(anInput(machines, [row])))).toEqual(['Provision s1']);
  });
});

describe('the fold', () => {
  const gang = (group: string, amount: number, firstSeenMs = 1) =>
    aNeed({ group, requirements: [same(RACK_KEY)], aggregate: cpu(amount), minUnit: cpu(4), firstSeenMs });

  // Case 127 of the specification.
  it('given machines with room for parts of gangs, then only whole gangs count', () => {
    const needs = ['a', 'b', 'c'].map((group) => gang(group, 10));
    const machines = ['i1', 'i2', 'i3', 'i4'].map((id) =>
      aMachine(id, Idle, { resources: cpu(16), ...inRack('r') }),
    );
    const plan = decide(anInput(machines, needs));
    expect(did(plan)).toEqual(['Bootstrap i1', 'Bootstrap i2', 'Bootstrap i3']);
    expect(plan.actions[0]!.need).toEqual(foldKeyOf(needs[0]!));
    expect(plan.verdicts[0]).toMatchObject({
      foldedInto: { group: 'fold:cpu=10' },
      satisfied: true,
      claimed: ['i1', 'i2', 'i3'],
      domain: null,
    });
  });

  it('given unhosted members, then they are served right after it as gangs, the latest first', () => {
    const needs = [gang('a', 8, 3), gang('b', 8, 1), gang('c', 8, 2)];
    const between = aNeed({ firstSeenMs: 2, group: 'z' });
    const machines = [
      aMachine('i1', Idle, { resources: cpu(16), ...inRack('r1') }),
      aMachine('i2', Idle, inRack('r2')),
      aMachine('i3', Idle, inRack('r2')),
    ];
    const plan = decide(anInput(machines, [...needs, between]));
    const member = plan.verdicts.find(({ key }) => key.group === 'a')!;
    expect(member).toMatchObject({ foldedInto: null, domain: 'r2', claimed: ['i2', 'i3'], satisfied: true });
    expect(did(plan)).toEqual(['Bootstrap i1', 'Bootstrap i2', 'Bootstrap i3']);
    expect(plan.verdicts.find(({ key }) => key.group === 'z')!.unmet!.blocker).toEqual(keyOf(needs[0]!));
  });

  it('given rows that own a machine or only blocked machines, then they do not fold', () => {
    const owner = gang('a', 8);
    const big = aMachine('i1', Idle, { resources: cpu(16), ...inRack('r1') });
    const own = aMachine('m1', Configured, { stamp: stampOf(owner), ...inRack('r2') });
    const owned = decide(anInput([big, own], [owner]));
    expect(owned.verdicts[0]).toMatchObject({ foldedInto: null, domain: 'r1', claimed: ['i1'] });
    // Folded, the gang could be hosted by the machine without a rack; as a gang it cannot.
    const rackless = aMachine('i2', Idle, { resources: cpu(16) });
    const blocked = decide(anInput([{ ...big, blocked: true }, rackless], [owner]));
    expect(blocked.verdicts[0]).toMatchObject({ foldedInto: null, domain: null, satisfied: false });
    expect(decide(anInput([big, rackless], [owner])).verdicts[0]!.foldedInto).toEqual(foldKeyOf(owner));
  });

  it('given a machine without the topology key, then it may host a fold but does not cause one', () => {
    const needs = [gang('a', 8)];
    const machines = [
      aMachine('i1', Idle, { resources: cpu(8) }),
      aMachine('i2', Idle, { resources: cpu(8), ...inRack('r') }),
    ];
    expect(did(decide(anInput(machines, needs)))).toEqual(['Bootstrap i1']);
  });
});

describe('phase 3', () => {
  it('given unclaimed machines, then those of reported clusters are reclaimed by cluster, price and reclamation value', () => {
    const stamp = (dollars: number) => ({ ...stampOf(aNeed()), reclamationPenaltyDollars: dollars });
    const machines = [
      aMachine('m1', Configured, { cluster: 'c2', pricePerHour: 0 }),
      aMachine('m2', Configured, { pricePerHour: 2 }),
      aMachine('m3', Configured, { pricePerHour: 1, stamp: stamp(0) }),
      aMachine('m4', Configured, { pricePerHour: 1, stamp: stamp(Number.POSITIVE_INFINITY) }),
      aMachine('m5', Configured, { cluster: 'c3' }),
      aMachine('m6', Configuring),
    ];
    const plan = decide(anInput(machines, [], { readyClusters: new Set(['c1', 'c2']) }));
    expect(did(plan)).toEqual(['Reclaim m4', 'Reclaim m3', 'Reclaim m2', 'Reclaim m1']);
  });

  it('given Idle machines, then they are released at the end of the hold, and never without a known start', () => {
    const machines = [
      aMachine('i1', Idle, { idleSinceMs: NOW_MS - 600_000 }),
      aMachine('i2', Idle, { idleSinceMs: NOW_MS - 599_999 }),
      aMachine('i3', Idle),
    ];
    expect(did(decide(anInput(machines, [])))).toEqual(['Delete i1']);
  });
});

describe('verdicts', () => {
  it('given an unmet row, then its verdict names the nearest blocker and the smallest extra supply', () => {
    const [first, second] = [aNeed({ priority: 9 }), aNeed({ priority: 8 })];
    const short = aNeed({ priority: 1, aggregate: cpu(20) });
    const machines = [
      aMachine('i1', Idle),
      aMachine('i2', Idle),
      aMachine('f1', MachineState.Failed, { resources: cpu(8), pricePerHour: 5 }),
      aMachine('f2', MachineState.Failed, { resources: cpu(9), pricePerHour: 4 }),
    ];
    const { unmet } = decide(anInput(machines, [short, second, first])).verdicts[2]!;
    expect(unmet).toEqual({
      reason: 'supply-failed',
      matching: { idle: 2, speculative: 0, configured: 0 },
      fitting: { total: 4, failed: 2, blocked: 0, deleting: 0 },
      blocker: keyOf(second),
      extraSupply: { count: 3, like: 'f2' },
    });
  });

  it('given no match or no fit, then the reasons differ', () => {
    const picky = aNeed({ requirements: [{ key: 'disk', operator: Operator.Exists, values: [] }] });
    const large = aNeed({ group: 'large', aggregate: cpu(8), minUnit: cpu(8) });
    const plan = decide(anInput([aMachine('i1', Idle)], [picky, large]));
    const reasons = plan.verdicts.map(({ key, unmet }) => [key.group, unmet?.reason]);
    expect(reasons.toSorted(([a], [b]) => compareText(a!, b!))).toEqual([
      ['', 'no-matching-supply'],
      ['large', 'no-fitting-supply'],
    ]);
  });
});
