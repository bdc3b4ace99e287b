import { describe, expect, it } from 'vitest';
import { anAction } from '../../../testing/support/plans.ts';
import { type Action, type ActionKind, MachineState } from '../../model/index.ts';
import { MemoryFreezes } from '../storage/controller-store-memory.ts';
import { type FreezeScope, Freezes, MAX_FREEZES } from './freezes.ts';

const FLEET: FreezeScope = { cluster: null, action: null };
const KINDS: readonly ActionKind[] = ['Bootstrap', 'Provision', 'Preempt', 'Reclaim', 'Delete'];

function frozen(...scopes: readonly FreezeScope[]): Freezes {
  const freezes = new Freezes(new MemoryFreezes());
  for (const scope of scopes) freezes.add(scope, 'ada', 'a test', 1);
  return freezes;
}

/** The actions that are stopped, out of one action of each kind in two clusters. */
function stoppedBy(freezes: Freezes): string[] {
  const actions: Action[] = ['c1', 'c2'].flatMap((cluster) =>
    KINDS.filter((kind) => kind !== 'Delete').map((kind) => anAction(kind, 'm', { cluster })),
  );
  const stopped = [...actions, anAction('Delete', 'm')].filter((action) => freezes.isFrozen(action));
  return stopped.map(({ kind, cluster }) => `${kind} ${cluster}`.trim());
}

describe('freezes', () => {
  it('given no freeze, then nothing is stopped', () => {
    expect(stoppedBy(frozen())).toEqual([]);
  });

  it('given a frozen fleet, then nothing is done', () => {
    expect(stoppedBy(frozen(FLEET))).toHaveLength(9);
  });

  it('given a frozen cluster, then it is not touched, and the others are', () => {
    const stopped = stoppedBy(frozen({ cluster: 'c1', action: null }));

    expect(stopped).toEqual(['Bootstrap c1', 'Provision c1', 'Preempt c1', 'Reclaim c1']);
  });

  it('given a frozen kind, then it stops everywhere', () => {
    expect(stoppedBy(frozen({ cluster: null, action: 'Reclaim' }))).toEqual(['Reclaim c1', 'Reclaim c2']);
    expect(stoppedBy(frozen({ cluster: null, action: 'Delete' }))).toEqual(['Delete']);
  });

  it('given a kind that is frozen in one cluster, then it stops only there', () => {
    expect(stoppedBy(frozen({ cluster: 'c2', action: 'Reclaim' }))).toEqual(['Reclaim c2']);
  });

  it('given a frozen cluster, then no row loses a machine to it', () => {
    const freezes = frozen({ cluster: 'c1', action: null });
    const need = { cluster: 'c1', fingerprint: 'f', group: '' };

    expect(freezes.isFrozen(anAction('Preempt', 'm', { cluster: 'c2', need }))).toBe(true);
  });

  it('given a second freeze of a scope, then who, why and since when are those of the first', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add(FLEET, 'ada', 'bad roll-out', 5);

    const again = freezes.add(FLEET, 'bob', 'me too', 9);

    expect(again).toEqual({
      id: 'fleet',
      ...FLEET,
      who: 'ada',
      why: 'bad roll-out',
      sinceMs: 5,
      untilMs: null,
    });
    expect(freezes.freezeOf(anAction('Delete', 'm'))).toEqual(again);
    expect(freezes.list()).toEqual([again]);
  });

  it('given a restart, then freezes and their ends are as before', () => {
    const store = new MemoryFreezes();
    const before = new Freezes(store);
    before.add({ cluster: 'c1', action: null }, 'ada', 'x', 2);
    before.add({ cluster: null, action: 'Reclaim' }, 'ada', 'x', 1);

    const after = new Freezes(store);

    expect(after.list().map(({ id }) => id)).toEqual(['action:Reclaim', 'cluster:c1']);
    expect(after.remove('cluster:c1')).toBe(true);
    expect(stoppedBy(new Freezes(store))).toEqual(['Reclaim c1', 'Reclaim c2']);
  });

  it('given a write that fails, then the freeze is not in force', () => {
    const store = new MemoryFreezes();
    store.putFreeze = () => {
      throw new Error('disk full');
    };
    const freezes = new Freezes(store);

    expect(() => freezes.add(FLEET, 'ada', 'x', 1)).toThrow('disk full');
    expect(stoppedBy(freezes)).toEqual([]);
  });

  it('given a scope that is not frozen, then lifting it changes nothing', () => {
    expect(frozen(FLEET).remove('cluster:c1')).toBe(false);
  });

  it('given several freezes of a cluster, then lifting one leaves the others', () => {
    const freezes = frozen({ cluster: 'c1', action: 'Preempt' }, { cluster: 'c1', action: 'Reclaim' });
    freezes.remove('action:Preempt/cluster:c1');

    expect(stoppedBy(freezes)).toEqual(['Reclaim c1']);
  });

  it('given a cluster whose name looks like a scope, then it is another scope', () => {
    const freezes = frozen(
      { cluster: 'c1/action:Reclaim', action: null },
      { cluster: 'c1', action: 'Reclaim' },
    );

    expect(freezes.list()).toHaveLength(2);
  });

  it('given as many freezes as there may be, then another scope is refused and a known one is not', () => {
    const freezes = new Freezes(new MemoryFreezes());
    for (let i = 0; i < MAX_FREEZES; i++) freezes.add({ cluster: `c${i}`, action: null }, 'a script', 'x', i);

    expect(freezes.add({ cluster: 'one more', action: null }, 'a script', 'x', 1)).toBeNull();
    expect(freezes.add({ cluster: 'c7', action: null }, 'a script', 'x', 1)).not.toBeNull();
  });
});

describe('freezes with an end', () => {
  const C1: FreezeScope = { cluster: 'c1', action: null };
  const RECLAIMS: FreezeScope = { cluster: null, action: 'Reclaim' };

  it('given times that are over, then these freezes end, oldest first, and the others stay', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add(RECLAIMS, 'ada', 'x', 2, 50);
    freezes.add(C1, 'ada', 'x', 1, 100);
    freezes.add({ cluster: 'c2', action: 'Preempt' }, 'ada', 'x', 3, 101);
    freezes.add({ cluster: 'c2', action: 'Bootstrap' }, 'ada', 'x', 4);

    expect(freezes.expire(49)).toEqual([]);
    expect(freezes.expire(100).map(({ id }) => id)).toEqual(['cluster:c1', 'action:Reclaim']);
    expect(freezes.expire(100)).toEqual([]);
    expect(stoppedBy(freezes)).toEqual(['Bootstrap c2', 'Preempt c2']);
  });

  it('given a restart, then the end is as before, and it stays ended after the next one', () => {
    const store = new MemoryFreezes();
    new Freezes(store).add(C1, 'ada', 'x', 1, 100);

    const after = new Freezes(store);
    expect(after.list()).toMatchObject([{ id: 'cluster:c1', untilMs: 100 }]);
    after.expire(100);
    expect(new Freezes(store).list()).toEqual([]);
  });

  it.each([
    [100, 200, 200],
    [200, 100, 200],
    [100, null, null],
    [null, 100, null],
  ])('given an end %s and a second freeze with %s, then it ends at %s', (first, second, end) => {
    const store = new MemoryFreezes();
    const freezes = new Freezes(store);
    freezes.add(C1, 'ada', 'x', 1, first);

    expect(freezes.add(C1, 'bob', 'y', 2, second)).toMatchObject({ who: 'ada', sinceMs: 1, untilMs: end });
    expect(new Freezes(store).list()).toEqual(freezes.list());
    expect(freezes.freezeOf(anAction('Reclaim', 'm', { cluster: 'c1' }))?.untilMs).toBe(end);
  });
});

describe('freezes in the input of the engine', () => {
  it('given clusters that are frozen by name for binding, then they cannot bind', () => {
    const scopes: FreezeScope[] = [
      { cluster: 'whole', action: null },
      { cluster: 'bootstrap', action: 'Bootstrap' },
      { cluster: 'reclaim', action: 'Reclaim' },
    ];

    expect([...frozen(...scopes).cannotBind()]).toEqual(['whole', 'bootstrap']);
  });

  it('given a frozen fleet, then clusters can bind, so that the plan has what it would do', () => {
    expect(frozen(FLEET, { cluster: null, action: 'Bootstrap' }).cannotBind().size).toBe(0);
  });

  it.each([
    ['a bound machine of a frozen cluster', MachineState.Configured, 'c1', true],
    ['one that is leaving it anyway', MachineState.Draining, 'c1', false],
    ['one of another cluster', MachineState.Configured, 'c2', false],
    ['a free one', MachineState.Idle, '', false],
  ] as const)('given %s, then it is blocked as a victim or not', (_, state, cluster, held) => {
    expect(frozen({ cluster: 'c1', action: null }).isBlocked({ state, cluster })).toBe(held);
  });

  it('given a freeze of Reclaim, then machines may still be preempted', () => {
    const freezes = frozen({ cluster: 'c1', action: 'Reclaim' });

    expect(freezes.isBlocked({ state: MachineState.Configured, cluster: 'c1' })).toBe(false);
  });
});
