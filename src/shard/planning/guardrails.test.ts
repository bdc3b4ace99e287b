import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anAction, someReclaims } from '../../../testing/support/plans.ts';
import type { Action } from '../../model/index.ts';
import { MemoryFreezes } from '../storage/controller-store-memory.ts';
import { Freezes } from './freezes.ts';
import {
  type Admission,
  countByKind,
  DEFAULT_GUARDRAILS,
  type GuardrailOptions,
  Guardrails,
  RECLAIM_WINDOW_MS,
  reclaimCap,
} from './guardrails.ts';

const NO_FREEZES = new Freezes(new MemoryFreezes());

function railsWith(options: Partial<GuardrailOptions> = {}): Guardrails {
  return new Guardrails({ ...DEFAULT_GUARDRAILS, ...options });
}

const NONE_PROTECTED: (machine: string) => boolean = () => false;

function admit(
  guardrails: Guardrails,
  actions: readonly Action[],
  { nowMs = 0, configured = 100, freezes = NO_FREEZES, isProtected = NONE_PROTECTED } = {},
): Admission {
  return guardrails.admit(actions, { nowMs, configuredOf: () => configured, freezes, isProtected });
}

function machinesOf(actions: readonly Action[]): string[] {
  return actions.map(({ machine }) => machine);
}

describe('the cap on Reclaims', () => {
  it('given a protected machine, then its Reclaim waits and takes no room of the cap, and a Preempt goes on', () => {
    const { admitted, waiting } = admit(
      railsWith({ reclaimFraction: 0.01 }),
      [anAction('Reclaim', 'm1'), anAction('Reclaim', 'm2'), anAction('Preempt', 'm1')],
      { isProtected: (machine) => machine === 'm1' },
    );
    expect(machinesOf(admitted)).toEqual(['m2', 'm1']);
    expect(machinesOf(waiting.protected)).toEqual(['m1']);
  });

  it.each([
    [0.05, 100, 5],
    [0.05, 119, 5],
    [0.05, 19, 1],
    [0.05, 0, 1],
    [0, 1000, 1],
    [1, 7, 7],
    [0.29, 100, 29],
  ])('given a fraction of %f and %i machines, then it is %i', (fraction, configured, cap) => {
    expect(reclaimCap(fraction, configured)).toBe(cap);
  });

  it('given more Reclaims, then the head of the order is admitted and the rest waits', () => {
    const { admitted, waiting } = admit(railsWith(), someReclaims('c1', 7));

    expect(machinesOf(admitted)).toEqual(['c1-m0', 'c1-m1', 'c1-m2', 'c1-m3', 'c1-m4']);
    expect(machinesOf(waiting.capped)).toEqual(['c1-m5', 'c1-m6']);
  });

  it('given several clusters, then each has its own', () => {
    const { admitted } = admit(railsWith(), [...someReclaims('c1', 9), ...someReclaims('c2', 3)]);

    expect(machinesOf(admitted).filter((machine) => machine.startsWith('c2'))).toHaveLength(3);
    expect(admitted).toHaveLength(8);
  });

  // 7.6.26 of the specification.
  it('given any number of cycles, then it is spent by a cycle and available again after 10 s', () => {
    const guardrails = railsWith();
    const admittedAt = (nowMs: number): number =>
      admit(guardrails, someReclaims('c1', 9), { nowMs }).admitted.length;

    expect([0, 100, 9_999, 10_000, 19_999].map(admittedAt)).toEqual([5, 0, 0, 5, 0]);
  });

  it('given a part that is unspent, then the next cycle may use it', () => {
    const guardrails = railsWith();
    admit(guardrails, someReclaims('c1', 3), { nowMs: 0 });

    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 1000 }).admitted).toHaveLength(2);
  });

  it('given a cluster that shrinks, then it shrinks too', () => {
    const guardrails = railsWith();
    admit(guardrails, someReclaims('c1', 3), { nowMs: 0, configured: 100 });

    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 1, configured: 80 }).admitted).toHaveLength(1);
  });

  it('given other actions, then they are not capped', () => {
    const actions = (['Bootstrap', 'Provision', 'Preempt', 'Delete'] as const).flatMap((kind) =>
      Array.from({ length: 50 }, (_, i) => anAction(kind, `${kind}${i}`)),
    );

    expect(admit(railsWith(), actions).admitted).toEqual(actions);
  });

  it('given a clock that is set back by an hour, then it does not block for an hour', () => {
    const guardrails = railsWith();
    admit(guardrails, someReclaims('c1', 9), { nowMs: 3_600_000 });

    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 5_000 }).admitted).toHaveLength(0);
    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 15_000 }).admitted).toHaveLength(5);
  });

  it('given a start, then it waits for 10 s, because the process before may just have reclaimed', () => {
    const guardrails = railsWith({ unknownBeforeMs: 1000 });
    const admittedAt = (nowMs: number): number =>
      admit(guardrails, someReclaims('c1', 9), { nowMs }).admitted.length;

    expect([1000, 10_999, 11_000].map(admittedAt)).toEqual([0, 0, 5]);
  });

  it('given a clock that is set back after a start, then it waits no longer than that', () => {
    const guardrails = railsWith({ unknownBeforeMs: 3_600_000 });

    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 0 }).admitted).toHaveLength(0);
    expect(admit(guardrails, someReclaims('c1', 9), { nowMs: 10_000 }).admitted).toHaveLength(5);
  });

  it('given other actions, then they do not spend it', () => {
    const guardrails = railsWith();
    const joining = Array.from({ length: 5 }, (_, i) => anAction('Bootstrap', `b${i}`));

    expect(admit(guardrails, [...joining, ...someReclaims('c1', 5)]).admitted).toHaveLength(10);
  });

  it('given any cycles, then it holds in any 10 s', () => {
    const cycle = fc.record({
      gapMs: fc.integer({ min: 0, max: 7000 }),
      wanted: fc.integer({ min: 0, max: 12 }),
      configured: fc.integer({ min: 0, max: 90 }),
    });
    fc.assert(
      fc.property(fc.array(cycle, { maxLength: 40 }), fc.integer({ min: 0, max: 4 }), (cycles, max) => {
        const guardrails = railsWith({ reclaimFraction: 0.1, maxActionsPerCycle: max });
        const done: { readonly atMs: number; readonly count: number; readonly cap: number }[] = [];
        let nowMs = 0;
        for (const { gapMs, wanted, configured } of cycles) {
          nowMs += gapMs;
          const { admitted } = admit(guardrails, someReclaims('c1', wanted), { nowMs, configured });
          if (admitted.length === 0) continue;
          done.push({ atMs: nowMs, count: admitted.length, cap: reclaimCap(0.1, configured) });
        }
        // Windows that end with an admission cover all others.
        for (const last of done) {
          const recent = done.filter(({ atMs }) => atMs > last.atMs - RECLAIM_WINDOW_MS && atMs < last.atMs);
          const together = done.filter(({ atMs }) => atMs === last.atMs);
          const before = recent.reduce((sum, { count }) => sum + count, 0);
          const now = together
            .slice(0, together.indexOf(last) + 1)
            .reduce((sum, { count }) => sum + count, 0);
          expect(before + now).toBeLessThanOrEqual(last.cap);
        }
      }),
    );
  });
});

describe('the limit on actions', () => {
  it('given more actions, then the head of the plan is admitted, and every Preempt', () => {
    const actions = [
      anAction('Bootstrap', 'b0'),
      anAction('Bootstrap', 'b1'),
      anAction('Provision', 's0'),
      anAction('Preempt', 'v0'),
      anAction('Preempt', 'v1'),
      anAction('Delete', 'd0'),
    ];

    const { admitted, waiting } = admit(railsWith({ maxActionsPerCycle: 2 }), actions);

    expect(machinesOf(admitted)).toEqual(['b0', 'b1', 'v0', 'v1']);
    expect(machinesOf(waiting.deferred)).toEqual(['s0', 'd0']);
  });

  it('given a deferred Reclaim, then it spends nothing of the cap', () => {
    const guardrails = railsWith({ maxActionsPerCycle: 2 });
    admit(guardrails, someReclaims('c1', 5), { nowMs: 0 });

    expect(admit(guardrails, someReclaims('c1', 5), { nowMs: 1 }).admitted).toHaveLength(2);
    expect(admit(guardrails, someReclaims('c1', 5), { nowMs: 2 }).admitted).toHaveLength(1);
  });
});

describe('freeze and dry run', () => {
  it('given a frozen action, then it waits and does not count towards any limit', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add({ cluster: 'c1', action: null }, 'ada', 'x', 1);
    const actions = [...someReclaims('c1', 3), ...someReclaims('c2', 2)];

    const { admitted, waiting } = admit(railsWith({ maxActionsPerCycle: 2 }), actions, { freezes });

    expect(machinesOf(admitted)).toEqual(['c2-m0', 'c2-m1']);
    expect(countByKind(waiting.frozen)).toMatchObject({ Reclaim: 3, Bootstrap: 0 });
  });

  it('given a freeze, then Preempts wait too', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add({ cluster: null, action: 'Preempt' }, 'ada', 'x', 1);

    expect(admit(railsWith(), [anAction('Preempt', 'v')], { freezes }).admitted).toEqual([]);
  });

  it('given a lifted freeze, then the whole cap is unspent', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add({ cluster: null, action: null }, 'ada', 'x', 1);
    const guardrails = railsWith();
    admit(guardrails, someReclaims('c1', 9), { freezes });
    freezes.remove('fleet');

    expect(admit(guardrails, someReclaims('c1', 9), { freezes }).admitted).toHaveLength(5);
  });

  it('given a dry run, then it admits nothing, counts all, and caps nothing', () => {
    const actions = [...someReclaims('c1', 9), anAction('Preempt', 'v'), anAction('Bootstrap', 'b')];

    const { admitted, waiting } = admit(railsWith({ dryRun: true, maxActionsPerCycle: 1 }), actions);

    expect(admitted).toEqual([]);
    expect(waiting['dry-run']).toEqual(actions);
    expect(countByKind(waiting['dry-run'])).toEqual({
      Bootstrap: 1,
      Provision: 0,
      Preempt: 1,
      Reclaim: 9,
      Delete: 0,
    });
  });

  it('given any plan, then every action is admitted or waits, once, in the order of the plan', () => {
    const kinds = fc.constantFrom('Bootstrap', 'Provision', 'Preempt', 'Reclaim', 'Delete');
    const plan = fc.array(fc.tuple(kinds, fc.constantFrom('c1', 'c2')), { maxLength: 60 });
    fc.assert(
      fc.property(plan, fc.nat(10), fc.boolean(), (entries, max, dryRun) => {
        const freezes = new Freezes(new MemoryFreezes());
        freezes.add({ cluster: 'c2', action: 'Reclaim' }, 'ada', 'x', 1);
        const actions = entries.map(([kind, cluster], i) =>
          anAction(kind as Action['kind'], `${i}`, { cluster }),
        );

        const { admitted, waiting } = admit(railsWith({ maxActionsPerCycle: max, dryRun }), actions, {
          freezes,
        });

        const parts = [admitted, ...Object.values(waiting)];
        for (const part of parts) {
          const places = part.map((action) => actions.indexOf(action));
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
        expect(parts.flat().sort((a, b) => Number(a.machine) - Number(b.machine))).toEqual(actions);
      }),
    );
  });
});
