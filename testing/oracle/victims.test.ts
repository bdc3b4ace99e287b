// The oracle on strict spread and on Phase 2 of plain rows: open domains and victims.

import { describe, expect, it } from 'vitest';
import { keyOf, type LedgerMachine, MachineState, type Plan, ZONE_KEY } from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, resources, stampOf, strictSpread } from '../support/fleets.ts';
import { decide } from './oracle.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining } = MachineState;

const cpu = (amount: number) => resources({ cpu: amount });
const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`);
const inZone = (state: MachineState, zone: string, ids: string[], given: Partial<LedgerMachine> = {}) =>
  ids.map((id) => aMachine(id, state, { zone, ...given }));

describe('strict spread', () => {
  const row = (amount: number, maxSkew = 1) =>
    aNeed({ aggregate: cpu(amount), minUnit: cpu(4), spread: [strictSpread(ZONE_KEY, maxSkew)] });

  // Case 100 of the specification.
  it('given bound machines, then they count, whatever their skew', () => {
    const machines = [
      ...inZone(Configured, 'a', ['a1', 'a2', 'a3']),
      ...inZone(Idle, 'a', ['a4'], { pricePerHour: 0 }),
      ...inZone(Idle, 'b', ['b1']),
    ];
    expect(did(decide(anInput(machines, [row(16)])))).toEqual(['Bootstrap b1']);
  });

  it('given free machines only beyond the skew, then it stops with that reason (case 94)', () => {
    const machines = [
      ...inZone(Idle, 'a', ['a1']),
      ...inZone(Idle, 'b', ['b1', 'b2', 'b3']),
      ...inZone(Idle, 'c', ['c1', 'c2', 'c3']),
    ];
    const plan = decide(anInput(machines, [row(24)]));
    expect(plan.verdicts[0]!.claimed).toEqual(['a1', 'b1', 'c1', 'b2', 'c2']);
    expect(plan.verdicts[0]!.unmet!.reason).toBe('spread-unsatisfiable');
  });

  // Case 101 of the specification, as changed here.
  it('given Speculative steps, then Idle machines are tried again after each', () => {
    const machines = [...inZone(Idle, 'a', ['a1', 'a2']), ...inZone(Speculative, 'b', ['b1', 'b2'])];
    expect(did(decide(anInput(machines, [row(16)])))).toEqual([
      'Bootstrap a1',
      'Provision b1',
      'Bootstrap a2',
      'Provision b2',
    ]);
  });

  it('given bound machines, then the domain with the fewest is credited first, Configuring included, machines without the key last', () => {
    const machines = [
      ...inZone(Configured, 'a', ['a1', 'a2', 'a3']),
      ...inZone(Configuring, 'b', ['b1'], { pricePerHour: 9 }),
      ...inZone(Configured, '', ['n1'], { pricePerHour: 0 }),
    ];
    expect(decide(anInput(machines, [row(8)])).verdicts[0]!.claimed).toEqual(['a1', 'b1']);
    expect(decide(anInput(machines, [row(20)])).verdicts[0]!.claimed).toEqual(['a1', 'b1', 'a2', 'a3', 'n1']);
  });

  it('given a free machine that adds nothing, then its domain does not count for the minimum', () => {
    const gpus = aNeed({
      aggregate: resources({ cpu: 4, gpu: 1 }),
      minUnit: new Map(),
      spread: [strictSpread(ZONE_KEY)],
    });
    const machines = [
      ...inZone(Configured, 'a', ['a1']),
      ...inZone(Idle, 'a', ['a2'], { resources: resources({ gpu: 1 }) }),
      ...inZone(Idle, 'b', ['b1']),
    ];
    expect(did(decide(anInput(machines, [gpus])))).toEqual(['Bootstrap a2']);
  });

  it('given in-flight machines, then they count only where the skew allows', () => {
    const need = row(16);
    const machines = [
      ...inZone(Configured, 'a', ['a1']),
      ...inZone(Idle, 'a', ['a2'], { target: keyOf(need) }),
      ...inZone(Creating, 'b', ['b1'], { target: keyOf(need) }),
    ];
    // a2 waits until b1 has been counted.
    expect(decide(anInput(machines, [need])).verdicts[0]!.claimed).toEqual(['a1', 'b1', 'a2']);
  });
});

describe('victims of a plain row', () => {
  const high = aNeed({ priority: 1_000_000 });
  const elsewhere = (id: string, given: Partial<LedgerMachine> = {}) =>
    aMachine(id, Configured, { cluster: 'c2', ...given });
  const stamped = (priority: number | null, interruption = 0) => ({
    stamp: { ...stampOf(aNeed({ cluster: 'gone' }), priority), interruptionPenaltyDollars: interruption },
  });

  it('given unclaimed machines, then they are picked first by their stamp, and never without a stamp', () => {
    const low = aNeed({ cluster: 'c2', priority: 0 });
    const machines = [
      elsewhere('m1', { pricePerHour: 0 }), // claimed by low
      elsewhere('m2', { pricePerHour: 1 }), // unclaimed, no stamp
      elsewhere('m3', { pricePerHour: 1, ...stamped(null) }),
      elsewhere('m4', { pricePerHour: 1, ...stamped(600_000) }),
    ];
    const plan = decide(anInput(machines, [high, low]));
    expect(did(plan)).toEqual(['Preempt m4', 'Reclaim m2', 'Reclaim m3']);
    expect(plan.actions[0]).toMatchObject({
      reason: 'phase2.excess',
      graceSeconds: 120,
      preemptorPriority: 1_000_000,
      cluster: 'c2',
      need: keyOf(high),
    });
  });

  // Case 144 of the specification.
  it('given a claimed machine, then the claiming row decides, not an old stamp', () => {
    const equal = aNeed({ cluster: 'c2', priority: 1_000_000 });
    const plan = decide(anInput([elsewhere('m1', stamped(0))], [high, equal]));
    expect(plan.actions).toEqual([]);
    const low = aNeed({ cluster: 'c2', priority: 50_000 });
    const other = decide(anInput([elsewhere('m1', stamped(2_000_000))], [high, low]));
    expect(other.actions[0]).toMatchObject({ kind: 'Preempt', reason: 'phase2.inversion', graceSeconds: 10 });
  });

  it('given a cluster that has not reported, then its machines are victims only by a stamp, and not excess', () => {
    const machines = [elsewhere('m1'), elsewhere('m2', stamped(5))];
    const plan = decide(anInput(machines, [high], { readyClusters: new Set(['c1']) }));
    expect(did(plan)).toEqual(['Preempt m2']);
    expect(plan.actions[0]!.reason).toBe('phase2.inversion');
  });

  it('given several, then score decides, then id, and each is picked once, by the better-ranked row', () => {
    const next = aNeed({ priority: 900_000, aggregate: cpu(8) });
    const machines = [
      elsewhere('m1', stamped(0, 100)),
      elsewhere('m3', stamped(0, 1)),
      elsewhere('m2', stamped(0, 1)),
    ];
    const plan = decide(anInput(machines, [next, high]));
    expect(plan.verdicts.map(({ preempts }) => preempts)).toEqual([['m2'], ['m3', 'm1']]);
  });

  // Case 143 of the specification.
  it('given drains in flight for the row, then only the rest is picked', () => {
    const wide = aNeed({ priority: 10, aggregate: cpu(12) });
    const machines = [
      aMachine('d1', Draining, { cluster: 'c2', target: keyOf(wide) }),
      elsewhere('m1', stamped(0)),
      elsewhere('m2', stamped(0)),
      elsewhere('m3', stamped(0)),
    ];
    const plan = decide(anInput(machines, [wide]));
    expect(plan.verdicts[0]!.preempts).toEqual(['m1', 'm2']);
    expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
    const few = decide(anInput(machines.slice(0, 2), [wide]));
    expect(few.verdicts[0]!.unmet!.reason).toBe('preemption-exhausted');
  });

  it('given a strict spread, then victims pass its test, with drains and earlier picks counted', () => {
    const spread = aNeed({ priority: 10, aggregate: cpu(16), spread: [strictSpread(ZONE_KEY)] });
    const machines = [
      aMachine('d1', Draining, { cluster: 'c2', zone: 'a', target: keyOf(spread) }),
      aMachine('m0', Configured, { zone: 'b' }),
      elsewhere('m1', { zone: 'a', ...stamped(0) }),
      elsewhere('m2', { zone: 'a', ...stamped(0) }),
      elsewhere('m3', { zone: 'b', ...stamped(0) }),
    ];
    // Counts a1 (drain) b1 (claim): m1 makes a2, so m2 must wait for m3 in b; then the row is covered.
    const plan = decide(anInput(machines, [spread]));
    expect(plan.verdicts[0]!.preempts).toEqual(['m1', 'm3']);
  });

  it('given blocked machines, then they are never picked', () => {
    expect(did(decide(anInput([elsewhere('m1', { blocked: true, ...stamped(0) })], [high])))).toEqual([
      'Reclaim m1',
    ]);
  });
});
