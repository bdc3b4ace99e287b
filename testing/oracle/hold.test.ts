// The oracle on machines on hold (E5): the clock of an unclaimed machine, when it is reclaimed, and who may have it before.

import { describe, expect, it } from 'vitest';
import {
  type DecisionOptions,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
  RECLAIM_GRACE_SECONDS,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import { countIn, type LoopEvent, runLoop, startLoop } from '../loop/loop.ts';
import { aMachine, aNeed, anInput, NOW_MS, RACK_KEY, resources, same, stampOf } from '../support/fleets.ts';
import { decide } from './oracle.ts';

const { Speculative, Creating, Idle, Configuring, Configured } = MachineState;

const HOLD_MS = SHARED_OPTIONS.reclaimHoldSeconds * 1000;
const RUN_OUT = NOW_MS - HOLD_MS;
const cpu = (amount: number) => resources({ cpu: amount });
const did = (plan: Plan): readonly string[] => plan.actions.map(({ kind, machine }) => `${kind} ${machine}`);

function held(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = {},
): Plan {
  return decide(anInput(machines, needs, { ...SHARED_OPTIONS, ...options }));
}

describe('the clock of an unclaimed machine', () => {
  it('given no clock yet, then it starts now and the machine stays', () => {
    const plan = held([aMachine('b', Configured), aMachine('a', Configured)], []);
    expect(plan.actions).toEqual([]);
    expect([...plan.onHold]).toEqual([
      ['a', NOW_MS],
      ['b', NOW_MS],
    ]);
  });

  it('given a clock, then the machine is reclaimed once the hold has run out, and keeps its clock', () => {
    const machines = [
      aMachine('a', Configured, { unclaimedSinceMs: RUN_OUT }),
      aMachine('b', Configured, { unclaimedSinceMs: RUN_OUT + 1 }),
    ];
    const plan = held(machines, []);
    expect(did(plan)).toEqual(['Reclaim a']);
    expect([...plan.onHold]).toEqual([
      ['a', RUN_OUT],
      ['b', RUN_OUT + 1],
    ]);
  });

  it('given a claim, a pick, another state or an unreported cluster, then there is no clock', () => {
    const row = aNeed();
    const high = aNeed({ cluster: 'c2', priority: 9 });
    const since = { unclaimedSinceMs: RUN_OUT };
    expect(held([aMachine('a', Configured, { ...since, stamp: stampOf(row) })], [row]).onHold.size).toBe(0);
    expect(held([aMachine('a', Configured, since)], [high]).onHold.size).toBe(0);
    expect(held([aMachine('a', Configuring, since)], []).onHold.size).toBe(0);
    const unreported = held([aMachine('a', Configured, since)], [], { readyClusters: new Set() });
    expect([unreported.actions, unreported.onHold.size]).toEqual([[], 0]);
  });

  it('given a cluster that cannot bind and is connected, then its clock runs and the machine is reclaimed', () => {
    const connected = { cannotBind: new Set(['c1']), connected: new Set(['c1']) };
    const plan = held([aMachine('a', Configured, { unclaimedSinceMs: RUN_OUT })], [], connected);
    expect([did(plan), [...plan.onHold]]).toEqual([['Reclaim a'], [['a', RUN_OUT]]]);
  });

  it('given a cluster that cannot bind, then no clock runs and nothing is reclaimed, except without a hold', () => {
    const machines = [aMachine('a', Configured, { unclaimedSinceMs: RUN_OUT })];
    const cannotBind = new Set(['c1']);
    const plan = held(machines, [], { cannotBind });
    expect([plan.actions, plan.onHold.size]).toEqual([[], 0]);
    const unheld = held(machines, [], { cannotBind, reclaimHoldSeconds: 0 });
    expect([did(unheld), unheld.onHold.size]).toEqual([['Reclaim a'], 0]);
  });
});

describe('a hold that has run out', () => {
  const spare = aMachine('spare', Configured, { unclaimedSinceMs: RUN_OUT, zone: 'zb' });
  const row = aNeed({ aggregate: cpu(8), minUnit: cpu(8) });
  const large = (state: MachineState, given: Partial<LedgerMachine> = {}) =>
    aMachine('m', state, { resources: cpu(8), ...given });

  it('given a row of the cluster that counts on a machine not yet Configured, then the machine stays', () => {
    for (const [machine, stays] of [
      [large(Creating, { target: keyOf(row) }), true],
      [large(Configuring, {}), true],
      [large(Idle), true],
      [large(Speculative), true],
      [large(Configured), false],
    ] as const) {
      // Too small for the row's pod, and another row's, so that it is not credited.
      const owned = { ...spare, stamp: stampOf(aNeed({ group: 'o', aggregate: new Map() })) };
      const needs = [row, aNeed({ group: 'o', aggregate: new Map() })];
      expect(did(held([machine, owned], needs)).includes('Reclaim spare')).toBe(!stays);
    }
  });

  it('given a row that only shares such a machine, or is short, then the machine stays', () => {
    const borrower = aNeed({ priority: 0, aggregate: cpu(2), minUnit: cpu(1) });
    const lender = aNeed({ priority: 9, aggregate: cpu(6), minUnit: cpu(6), group: 'g' });
    const apart = {
      requirements: [{ key: 'topology.kubernetes.io/zone', operator: 1, values: ['za'] }],
    } as const;
    const elsewhere = aNeed({ priority: 9, aggregate: cpu(6), minUnit: cpu(6), group: 'g', ...apart });
    const coming = large(Configuring);
    // The machine does not match the lender, only the borrower.
    expect(did(held([coming, spare], [elsewhere, borrower]))).toEqual([]);
    expect(did(held([coming, spare], [elsewhere]))).toEqual(['Reclaim spare']);
    expect(did(held([{ ...coming, state: Configured }, spare], [lender, borrower]))).toEqual([
      'Reclaim spare',
    ]);
    const short = aNeed({ group: 'o', aggregate: cpu(8), minUnit: cpu(8) });
    const owned = { ...spare, stamp: stampOf(aNeed({ priority: 1, aggregate: new Map() })) };
    expect(did(held([owned], [short, aNeed({ priority: 1, aggregate: new Map() })]))).toEqual([]);
  });

  it('given such a row in another cluster, or one that it does not match, then the machine is reclaimed', () => {
    const away = aNeed({ cluster: 'c2', aggregate: cpu(8), minUnit: cpu(8) });
    expect(did(held([spare], [away]))).toEqual(['Reclaim spare']);
    const picky = aNeed({
      aggregate: cpu(8),
      minUnit: cpu(8),
      requirements: [{ key: 'disk', operator: 3, values: [] }],
    });
    expect(did(held([spare], [picky]))).toEqual(['Reclaim spare']);
  });
});

describe('a machine on hold', () => {
  it('given a row that grows, then it is credited again', () => {
    const row = aNeed({ aggregate: cpu(8) });
    const machines = ['a', 'b'].map((id) =>
      aMachine(id, Configured, { stamp: stampOf(row), unclaimedSinceMs: RUN_OUT }),
    );
    expect(held(machines, [row]).verdicts[0]!.claimed).toEqual(['a', 'b']);
  });

  it('given a short row of any priority, then it is its victim, whatever its stamp', () => {
    const short = aNeed({ cluster: 'c2', priority: 1 });
    const owner = aNeed({ priority: 1_000_000 });
    for (const stamp of [stampOf(owner), { ...stampOf(owner), priority: null }, null]) {
      const machines = [aMachine('a', Configured, { stamp })];
      const plan = held(machines, [short]);
      expect(plan.actions).toMatchObject([
        { kind: 'Preempt', machine: 'a', reason: 'phase2.excess', graceSeconds: RECLAIM_GRACE_SECONDS },
      ]);
      expect(plan.verdicts[0]!.unmet!.reason).toBe('preempting');
      expect(did(held(machines, [short], { reclaimHoldSeconds: 0 }))).toEqual(['Reclaim a']);
    }
    expect(did(held([aMachine('a', Configured, { blocked: true })], [short]))).toEqual([]);
  });

  it('given victims in use, then those on hold come first', () => {
    const short = aNeed({ cluster: 'c2', priority: 900_000 });
    const user = aNeed({ priority: 0 });
    const machines = [aMachine('used', Configured, { stamp: stampOf(user) }), aMachine('zz', Configured)];
    expect(did(held(machines, [short, user]))).toEqual(['Preempt zz']);
  });

  it('given a gang of the cluster that counts it in Phase 2, then it stays on hold', () => {
    const gang = aNeed({ requirements: [same(RACK_KEY)], aggregate: cpu(16), minUnit: cpu(4), group: 'g' });
    const other = aNeed({ group: 'o', aggregate: new Map() });
    const a = aMachine('a', Configured, { labels: new Map([[RACK_KEY, 'r']]), stamp: stampOf(other) });
    const plan = held([a], [gang, other]);
    expect([did(plan), [...plan.onHold]]).toEqual([[], [['a', NOW_MS]]]);
  });
});

describe('demand that goes up and down', () => {
  /** A row of 200 cpu ± 5 % on machines of 4, for 40 cycles of a minute. */
  function drains(options: Partial<DecisionOptions>): number {
    const row = (amount: number) => aNeed({ aggregate: cpu(amount), minUnit: cpu(4) });
    const machines = Array.from({ length: 60 }, (_, i) =>
      aMachine(`m${String(i).padStart(2, '0')}`, Speculative, {}),
    );
    const events = new Map<number, LoopEvent>(
      Array.from({ length: 40 }, (_, i) => [i, { needs: [row(190 + ((i * 7) % 21))] }]),
    );
    const input = anInput(machines, [], { ...SHARED_OPTIONS, ...options });
    return countIn(
      runLoop(startLoop(input), { decide, delays: 1, cycleMs: 60_000 }, 40, events).steps,
      'Reclaim',
    );
  }

  it('given noise of 5 percent, then a hold of ten minutes drains nothing, and without a hold cycle after cycle does', () => {
    expect(drains({})).toBe(0);
    expect(drains(UNSHARED_OPTIONS)).toBeGreaterThan(20);
  });
});
