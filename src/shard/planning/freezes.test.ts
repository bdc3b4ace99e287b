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
  it('without a freeze nothing is stopped', () => {
    expect(stoppedBy(frozen())).toEqual([]);
  });

  it('a frozen fleet does nothing', () => {
    expect(stoppedBy(frozen(FLEET))).toHaveLength(9);
  });

  it('a frozen cluster is left alone, and the others are not', () => {
    const stopped = stoppedBy(frozen({ cluster: 'c1', action: null }));

    expect(stopped).toEqual(['Bootstrap c1', 'Provision c1', 'Preempt c1', 'Reclaim c1']);
  });

  it('a frozen kind stops everywhere', () => {
    expect(stoppedBy(frozen({ cluster: null, action: 'Reclaim' }))).toEqual(['Reclaim c1', 'Reclaim c2']);
    expect(stoppedBy(frozen({ cluster: null, action: 'Delete' }))).toEqual(['Delete']);
  });

  it('a kind may be frozen in one cluster alone', () => {
    expect(stoppedBy(frozen({ cluster: 'c2', action: 'Reclaim' }))).toEqual(['Reclaim c2']);
  });

  it('no row loses a machine to a frozen cluster', () => {
    const freezes = frozen({ cluster: 'c1', action: null });
    const need = { cluster: 'c1', fingerprint: 'f', group: '' };

    expect(freezes.isFrozen(anAction('Preempt', 'm', { cluster: 'c2', need }))).toBe(true);
  });

  it('says who, why and since when, and keeps the first word on a scope', () => {
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add(FLEET, 'ada', 'bad roll-out', 5);

    const again = freezes.add(FLEET, 'bob', 'me too', 9);

    expect(again).toEqual({ id: 'fleet', ...FLEET, who: 'ada', why: 'bad roll-out', sinceMs: 5 });
    expect(freezes.freezeOf(anAction('Delete', 'm'))).toEqual(again);
    expect(freezes.list()).toEqual([again]);
  });

  it('outlives the process, and so does its end', () => {
    const store = new MemoryFreezes();
    const before = new Freezes(store);
    before.add({ cluster: 'c1', action: null }, 'ada', 'x', 2);
    before.add({ cluster: null, action: 'Reclaim' }, 'ada', 'x', 1);

    const after = new Freezes(store);

    expect(after.list().map(({ id }) => id)).toEqual(['action:Reclaim', 'cluster:c1']);
    expect(after.remove('cluster:c1')).toBe(true);
    expect(stoppedBy(new Freezes(store))).toEqual(['Reclaim c1', 'Reclaim c2']);
  });

  it('is not in force if it could not be made durable', () => {
    const store = new MemoryFreezes();
    store.putFreeze = () => {
      throw new Error('disk full');
    };
    const freezes = new Freezes(store);

    expect(() => freezes.add(FLEET, 'ada', 'x', 1)).toThrow('disk full');
    expect(stoppedBy(freezes)).toEqual([]);
  });

  it('lifting what is not frozen changes nothing', () => {
    expect(frozen(FLEET).remove('cluster:c1')).toBe(false);
  });

  it('lifting one freeze leaves the others of its cluster', () => {
    const freezes = frozen({ cluster: 'c1', action: 'Preempt' }, { cluster: 'c1', action: 'Reclaim' });
    freezes.remove('action:Preempt/cluster:c1');

    expect(stoppedBy(freezes)).toEqual(['Reclaim c1']);
  });

  it('a cluster whose name looks like a scope is no other scope', () => {
    const freezes = frozen(
      { cluster: 'c1/action:Reclaim', action: null },
      { cluster: 'c1', action: 'Reclaim' },
    );

    expect(freezes.list()).toHaveLength(2);
  });

  it('has an end', () => {
    const freezes = new Freezes(new MemoryFreezes());
    for (let i = 0; i < MAX_FREEZES; i++) freezes.add({ cluster: `c${i}`, action: null }, 'a script', 'x', i);

    expect(freezes.add({ cluster: 'one more', action: null }, 'a script', 'x', 1)).toBeNull();
    expect(freezes.add({ cluster: 'c7', action: null }, 'a script', 'x', 1)).not.toBeNull();
  });
});

describe('what the engine is told of freezes', () => {
  it('clusters frozen by name for binding cannot bind', () => {
    const scopes: FreezeScope[] = [
      { cluster: 'whole', action: null },
      { cluster: 'bootstrap', action: 'Bootstrap' },
      { cluster: 'reclaim', action: 'Reclaim' },
    ];

    expect([...frozen(...scopes).cannotBind()]).toEqual(['whole', 'bootstrap']);
  });

  it('the plan of a frozen fleet shows what it would do', () => {
    expect(frozen(FLEET, { cluster: null, action: 'Bootstrap' }).cannotBind().size).toBe(0);
  });

  it.each([
    ['a bound machine of a frozen cluster', MachineState.Configured, 'c1', true],
    ['one that is leaving it anyway', MachineState.Draining, 'c1', false],
    ['one of another cluster', MachineState.Configured, 'c2', false],
    ['a free one', MachineState.Idle, '', false],
  ] as const)('held as a victim: %s', (_, state, cluster, held) => {
    expect(frozen({ cluster: 'c1', action: null }).isBlocked({ state, cluster })).toBe(held);
  });

  it('a freeze of Reclaim leaves victims to those ahead', () => {
    const freezes = frozen({ cluster: 'c1', action: 'Reclaim' });

    expect(freezes.isBlocked({ state: MachineState.Configured, cluster: 'c1' })).toBe(false);
  });
});
