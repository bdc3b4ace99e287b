// Drains that wait for their cluster: what ends the waiting, and what the provider, the operator and the store see of it.

import { describe, expect, it } from 'vitest';
import { record, Scene, type SceneOptions } from '../../../testing/support/actuation-scene.ts';
import { aNeed, stampOf } from '../../../testing/support/fleets.ts';
import { type Action, type Machine, MachineState } from '../../model/index.ts';
import type { Effect, NodeReported } from '../events.ts';
import { MemoryDrainReporters, MemoryMachines } from '../storage/controller-store-memory.ts';
import { ACTUATION_LIMITS } from './actuation-limits.ts';

const { Idle, Configured, Draining, Failed } = MachineState;
const REPORTING = { drainReport: true, verdicts: false };
const GRACE_MS = 600_000;
const BUDGET = 'pdb/shop/web';
const STAMPED_PRIORITY = 3;

type DrainActionKind = 'Reclaim' | 'Preempt';
const PREEMPTION: Partial<Action> = { reason: 'phase2.inversion', preemptorPriority: 5 };
/** An unclaimed machine that a row takes which outranks the one it was bound for, and one that does not. */
const EXCESS_OF_LOWER: Partial<Action> = { reason: 'phase2.excess', preemptorPriority: STAMPED_PRIORITY + 1 };
const EXCESS: Partial<Action> = { reason: 'phase2.excess', preemptorPriority: STAMPED_PRIORITY };

function configured(): Machine {
  const stamp = { ...stampOf(aNeed()), priority: STAMPED_PRIORITY };
  return record('m', Configured, { cluster: 'c1', stamp });
}

function draining(kind: DrainActionKind = 'Reclaim', given: Partial<Action> = {}): Scene {
  const scene = new Scene().openWith(REPORTING, 'c1');
  scene.list([configured()]);
  expect(scene.decide(kind, 'm', given)).toEqual([]);
  return scene;
}

type EffectOf<K extends Effect['kind']> = Extract<Effect, { readonly kind: K }>;

function effects<K extends Effect['kind']>(scene: Scene, kind: K): readonly EffectOf<K>[] {
  return scene.effects.filter((effect): effect is EffectOf<K> => effect.kind === kind);
}

/** The operator reports on the last instruction. */
function report(scene: Scene, what: NodeReported['what'], given: Partial<NodeReported> = {}): void {
  const instruction = effects(scene, 'instruct-reclaim').at(-1)?.instruction ?? '';
  scene.actuation.handle({
    ...{ kind: 'node-reported', cluster: 'c1', machine: 'm', what, instruction },
    ...{ nodeName: 'n-1', providerId: '', reason: '', blockedBy: [] },
    ...given,
  });
}

const stateOf = ({ ledger }: Scene): MachineState | undefined => ledger.statusOf('m')?.state;

describe('a drain of a cluster that reports drains', () => {
  it('given its start, then the operator is instructed and the provider is not called', () => {
    const scene = draining();
    expect(effects(scene, 'instruct-reclaim')).toMatchObject([{ machine: 'm', drainKind: 'reclaim' }]);
    scene.hand.advance(GRACE_MS / 2);
    expect(scene.calls('drain')).toEqual([]);
    expect(stateOf(scene)).toBe(Draining);
    expect(scene.actuation.counts.evicting).toBe(1);
  });

  it('given the report, then the provider is called once and without a grace', () => {
    const scene = draining();
    report(scene, 'drained');
    report(scene, 'drained');
    expect(scene.calls('drain')).toMatchObject([{ machine: 'm', request: { graceSeconds: 0 } }]);
    scene.accept('drain', Draining);
    scene.list([record('m', Idle)]);
    expect(scene.ended).toMatchObject([{ outcome: 'success', message: '' }]);
    expect(effects(scene, 'instruct-reclaim')).toHaveLength(1);
    expect(scene.reported).toContain('drain drained m');
  });

  it('given a report of another instruction, machine or cluster, then it is not the one that is waited for', () => {
    const scene = draining();
    report(scene, 'drained', { instruction: 'other' });
    report(scene, 'drained', { machine: 'other' });
    report(scene, 'drained', { cluster: 'c2' });
    expect(scene.calls('drain')).toEqual([]);
  });

  it.each([
    ['no session, nor one before', new Scene()],
    ['an operator that does not report', new Scene().open('c1')],
  ])('given %s, then the provider is called at once', (_, scene) => {
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    scene.decide('Reclaim', 'm');
    expect(scene.calls('drain')).toMatchObject([{ request: { graceSeconds: 600 } }]);
  });

  it('given a session that no longer announces reports, then the provider is called at once', () => {
    const scene = draining();
    scene.open('c1');
    expect(scene.calls('drain')).toHaveLength(1);
  });
});

/** A cluster whose operator announced reports and has no session now. */
function disconnected(options: SceneOptions = {}): Scene {
  const scene = new Scene(options).openWith(REPORTING, 'c1');
  scene.list([record('m', Configured, { cluster: 'c1' })]);
  return closed(scene);
}

function closed(scene: Scene): Scene {
  scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
  return scene;
}

describe('a drain that is decided while the operator has no session', () => {
  it('given a last hello with reports, then it waits, and goes on with the next session', () => {
    const scene = disconnected();
    expect(scene.decide('Preempt', 'm', PREEMPTION)).toEqual([]);
    expect(effects(scene, 'instruct-reclaim')).toMatchObject([{ machine: 'm', drainKind: 'preemption' }]);
    scene.hand.advance(GRACE_MS / 2);
    expect(scene.calls('drain')).toEqual([]);
    scene.openWith(REPORTING, 'c1');
    report(scene, 'drained');
    expect(scene.calls('drain')).toMatchObject([{ machine: 'm', request: { graceSeconds: 0 } }]);
  });

  it('given that the operator is not back at the deadline, then the provider is called', () => {
    const scene = disconnected();
    scene.decide('Preempt', 'm', PREEMPTION);
    scene.hand.advance(GRACE_MS - 1);
    expect(scene.calls('drain')).toEqual([]);
    scene.hand.advance(1);
    expect(scene.calls('drain')).toHaveLength(1);
    expect(scene.reported).toContain('drain forced m');
  });

  it('given a reclaim and no operator at the deadline, then the machine stays', () => {
    const scene = disconnected();
    scene.decide('Reclaim', 'm');
    scene.hand.advance(GRACE_MS);
    expect(scene.calls('drain')).toEqual([]);
    expect(scene.ended).toMatchObject([{ outcome: 'drain_withdrawn' }]);
  });

  it('given that the next hello is without reports, then the provider is called at once', () => {
    const scene = disconnected();
    scene.decide('Preempt', 'm', PREEMPTION);
    scene.open('c1');
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it.each([
    ['a restart', (scene: Scene) => scene.actuation.stop()],
    ['a crash of the shard', (scene: Scene) => scene.hand.advance(1000)],
  ])('given %s before the operator is back, then it waits', (_, ends) => {
    const drainReporters = new MemoryDrainReporters();
    ends(disconnected({ drainReporters }));
    const scene = new Scene({ drainReporters });
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    scene.decide('Preempt', 'm', PREEMPTION);
    expect(scene.calls('drain')).toEqual([]);
    scene.hand.advance(GRACE_MS);
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it('given a last hello without reports, then nothing is waited for, also after a restart', () => {
    const drainReporters = new MemoryDrainReporters();
    const first = disconnected({ drainReporters });
    first.hand.advance(1000);
    first.open('c1').actuation.stop();
    const scene = new Scene({ drainReporters });
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    scene.decide('Preempt', 'm', PREEMPTION);
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it('given a hello after the shutdown, then nothing is written any more', () => {
    const drainReporters = new MemoryDrainReporters();
    const scene = new Scene({ drainReporters });
    scene.actuation.stop();
    scene.openWith(REPORTING, 'c1').hand.advance(1000);
    expect([...drainReporters.drainReporters()]).toEqual([]);
  });
});

describe('a drain of a retired cluster', () => {
  const retired = new Set(['c1']);

  it('given no session, then the provider is called at once with the whole grace', () => {
    const scene = disconnected({ retired });
    scene.decide('Reclaim', 'm');
    expect(scene.calls('drain')).toMatchObject([{ request: { graceSeconds: 600 } }]);
  });

  it('given a session that reports drains, then it waits', () => {
    const scene = new Scene({ retired }).openWith(REPORTING, 'c1');
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    scene.decide('Reclaim', 'm');
    scene.actuation.retired('c1');
    expect(scene.calls('drain')).toEqual([]);
  });

  it('given one that waits while the cluster is retired, then the provider is called', () => {
    const meanwhile = new Set<string>();
    const scene = disconnected({ retired: meanwhile });
    scene.decide('Reclaim', 'm');
    scene.actuation.retired('c1');
    expect(scene.calls('drain')).toEqual([]);
    meanwhile.add('c1');
    scene.actuation.retired('c2');
    expect(scene.calls('drain')).toEqual([]);
    scene.actuation.retired('c1');
    expect(scene.calls('drain')).toMatchObject([{ request: { graceSeconds: 600 } }]);
  });

  it('given one that waited before a restart, then the provider is called', () => {
    const store = new MemoryMachines();
    const first = disconnected({ store });
    first.decide('Reclaim', 'm');
    first.actuation.stop();
    const scene = new Scene({ store, retired });
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    expect(scene.calls('drain')).toHaveLength(1);
  });
});

describe.each([
  ['a reclaim', 'Reclaim', {}],
  ['an excess machine, taken by a row that does not outrank its stamp,', 'Preempt', EXCESS],
] as const)('%s that its cluster cannot drain', (_kind, kind, action) => {
  it.each([
    [
      'the operator reports it blocked',
      (scene: Scene) => report(scene, 'drain-blocked', { blockedBy: [BUDGET] }),
    ],
    ['its grace ends', (scene: Scene) => scene.hand.advance(GRACE_MS)],
    [
      'its grace ends without a session',
      (scene: Scene) => {
        scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
        scene.hand.advance(GRACE_MS);
      },
    ],
  ])('given that %s, then it is withdrawn and the machine stays, protected for 30 minutes', (_, happens) => {
    const scene = draining(kind, action);
    happens(scene);
    expect(scene.calls('drain')).toEqual([]);
    expect(stateOf(scene)).toBe(Configured);
    expect(scene.ended).toMatchObject([{ outcome: 'drain_withdrawn', errorClass: 'cluster' }]);
    const withdrawals = effects(scene, 'withdraw-reclaim');
    expect(withdrawals).toMatchObject([{ machine: 'm', staysBecause: expect.stringMatching(/./) }]);
    expect(scene.actuation.isProtected('m')).toBe(true);
    scene.hand.advance(ACTUATION_LIMITS.protectedMs);
    expect(scene.actuation.isProtected('m')).toBe(false);
  });

  it('given a report that names neither budget nor pod, then it is protected for a minute only', () => {
    const scene = draining(kind, action);
    report(scene, 'drain-blocked', { reason: 'BigFleet does not manage this node.' });
    expect(stateOf(scene)).toBe(Configured);
    scene.hand.advance(59_000);
    expect(scene.actuation.isProtected('m')).toBe(true);
    scene.hand.advance(1_000);
    expect(scene.actuation.isProtected('m')).toBe(false);
  });

  it('given blockers, then the outcome names them', () => {
    const scene = draining(kind, action);
    report(scene, 'drain-blocked', { blockedBy: [BUDGET], reason: 'no disruption allowed' });
    expect(scene.ended[0]?.message).toBe(`The cluster reports: no disruption allowed; blocked by ${BUDGET}`);
  });
});

describe('a preemption that its cluster cannot drain', () => {
  it.each([PREEMPTION, EXCESS_OF_LOWER])(
    'given %j and the end of its grace, then the provider is called and the outcome names the budgets',
    (given) => {
      const scene = draining('Preempt', given);
      report(scene, 'drain-blocked', { blockedBy: [BUDGET, 'pod/shop/web-1'] });
      expect(scene.calls('drain')).toEqual([]);
      scene.hand.advance(GRACE_MS);
      scene.accept('drain', Draining);
      // The List began before the call, so the machine is read again.
      scene.list([record('m', Idle)]);
      scene.find(Idle);
      expect(scene.ended).toMatchObject([{ outcome: 'success', message: expect.stringContaining(BUDGET) }]);
      expect(scene.reported).toContain(`drain forced m ${BUDGET}`);
      expect(effects(scene, 'withdraw-reclaim').filter(({ staysBecause }) => staysBecause !== null)).toEqual(
        [],
      );
    },
  );
});

describe('a drain that its operator has forced', () => {
  it.each([PREEMPTION, EXCESS_OF_LOWER])(
    'given %j and a report that names broken budgets, then the outcome names them',
    (given) => {
      const scene = draining('Preempt', given);
      report(scene, 'drain-blocked', { blockedBy: ['pdb/shop/other'] });
      report(scene, 'drained', { blockedBy: [BUDGET, 'pod/shop/web-1'], reason: 'forced' });
      expect(scene.reported).toContain(`drain drained m ${BUDGET}`);
      scene.accept('drain', Draining);
      scene.list([record('m', Idle)]);
      expect(scene.ended).toMatchObject([
        { outcome: 'success', message: `Budgets were broken at the deadline: ${BUDGET}.` },
      ]);
    },
  );

  it('given a budget that let the pods go in time, then it does not count as broken', () => {
    const scene = draining('Preempt', PREEMPTION);
    report(scene, 'drain-blocked', { blockedBy: [BUDGET] });
    report(scene, 'drained');
    expect(scene.reported).toContain('drain drained m');
  });

  it('given a reclaim, which breaks no budget, then none is named', () => {
    const scene = draining();
    report(scene, 'drained', { blockedBy: [BUDGET] });
    expect(scene.reported).toContain('drain drained m');
  });
});

describe('a drain that waits', () => {
  it('given its record, then it says what is waited for', () => {
    const scene = draining('Preempt', PREEMPTION);
    report(scene, 'drain-blocked', { blockedBy: [BUDGET] });
    scene.hand.advance(GRACE_MS / 2);
    expect(scene.actuation.actionOf('m')?.message).toBe(
      `waiting for the cluster to drain node n-1, 5 min left, blocked by ${BUDGET}`,
    );
  });

  it('given records of the machine as it was, then it goes on waiting', () => {
    const scene = draining();
    scene.list([record('m', Configured, { cluster: 'c1' })]);
    expect(stateOf(scene)).toBe(Draining);
    expect(scene.actuation.counts.evicting).toBe(1);
  });

  it.each([
    [
      'fails',
      (scene: Scene) => scene.list([record('m', Failed, { lastError: 'host is gone' })]),
      'machine_failed',
    ],
    [
      'is gone',
      (scene: Scene) => {
        scene.list([], { gone: ['m'] });
        scene.answer('get', { kind: 'unknown-machine' });
      },
      'inventory_miss',
    ],
  ])('given that the machine %s, then the waiting ends', (_, happens, outcome) => {
    const scene = draining();
    happens(scene);
    expect(scene.actuation.counts.evicting).toBe(0);
    expect(scene.ended).toMatchObject([{ outcome }]);
    scene.hand.advance(2 * GRACE_MS);
    expect(scene.calls('drain')).toEqual([]);
    expect(scene.ended).toHaveLength(1);
  });

  it('given a freeze, then it is called off and the operator is told that the node stays', () => {
    const scene = draining();
    scene.actuation.frozen(() => true);
    expect(stateOf(scene)).toBe(Configured);
    expect(scene.ended).toMatchObject([{ outcome: 'ctx_canceled' }]);
    expect(effects(scene, 'withdraw-reclaim')).toMatchObject([
      { staysBecause: 'A freeze covers the action.' },
    ]);
    expect(scene.actuation.isProtected('m')).toBe(false);
  });

  it('given a provider that refuses once the node has drained, then the operator is told that the node stays', () => {
    const scene = draining();
    report(scene, 'drained');
    scene.answer('drain', { kind: 'permanent', message: 'no' });
    scene.find(Configured, { cluster: 'c1' });
    expect(effects(scene, 'withdraw-reclaim')).toMatchObject([{ staysBecause: 'no' }]);
  });

  it('given a report on a drain that was withdrawn, then the withdrawal is repeated', () => {
    const scene = draining();
    scene.hand.advance(GRACE_MS);
    report(scene, 'drained');
    expect(scene.calls('drain')).toEqual([]);
    expect(effects(scene, 'withdraw-reclaim')).toHaveLength(2);
  });
});

describe('a shard that restarts while a drain waits', () => {
  function restarted(
    afterMs: number,
    record_ = configured(),
    kind: DrainActionKind = 'Reclaim',
    given: Partial<Action> = {},
  ): Scene {
    const store = new MemoryMachines();
    const first = new Scene({ store }).openWith(REPORTING, 'c1');
    first.list([configured()]);
    first.decide(kind, 'm', given);
    first.actuation.stop();
    const second = new Scene({ store });
    second.hand.advance(afterMs);
    second.list([record_]);
    return second;
  }

  it('given its start, then it instructs again under the same id with what is left of the grace', () => {
    const scene = restarted(GRACE_MS / 4);
    expect(stateOf(scene)).toBe(Draining);
    expect(effects(scene, 'instruct-reclaim')).toMatchObject([{ instruction: '1-1', graceSeconds: 450 }]);
    expect(scene.calls('drain')).toEqual([]);
    scene.openWith(REPORTING, 'c1');
    report(scene, 'drained');
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it('given that the grace has ended meanwhile, then the reclaim is withdrawn', () => {
    const scene = restarted(2 * GRACE_MS);
    scene.hand.advance(0);
    expect(stateOf(scene)).toBe(Configured);
    expect(scene.ended).toMatchObject([{ outcome: 'drain_withdrawn' }]);
  });

  it.each([
    ['goes on', 'one that outranks its stamp', EXCESS_OF_LOWER, Draining],
    ['is withdrawn', 'one that does not outrank its stamp', EXCESS, Configured],
  ])(
    'given that it %s at its deadline, as an excess machine for %s does, then so after the restart',
    (_, __, given, state) => {
      const scene = restarted(2 * GRACE_MS, configured(), 'Preempt', given);
      scene.hand.advance(0);
      expect(stateOf(scene)).toBe(state);
      expect(scene.calls('drain')).toHaveLength(state === Draining ? 1 : 0);
    },
  );

  it('given that the machine has left meanwhile, then nothing is waited for', () => {
    const scene = restarted(0, record('m', Idle));
    expect(effects(scene, 'instruct-reclaim')).toEqual([]);
    expect(scene.machineFacts.verdictsOn('m').drain).toBeNull();
  });
});
