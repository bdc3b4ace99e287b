import { describe, expect, it } from 'vitest';
import type { Action, News, Status } from './feed.ts';
import { isFrozen, type Live, MAX_ACTIONS, MAX_COSTS, NOTHING_YET, withNews } from './live.ts';

const having = (news: readonly News[], from: Live = NOTHING_YET) => news.reduce(withNews, from);

function action(id: number, outcome: Action['outcome'] = null): Action {
  const what = { kind: 'Bootstrap', machine: `m-${id}`, provider: 'a', cluster: 'c', need: null } as const;
  return {
    id: `a-${id}`,
    ...what,
    reason: 'phase1.idle',
    startedMs: id,
    endedMs: null,
    outcome,
    message: '',
  };
}

const cycle = (costPerHour: number, startedMs = 0): News => {
  return { kind: 'cycle', status: { costPerHour, startedMs } as Status };
};

describe('what a view keeps in mind', () => {
  it('the newest actions first, each once, in the place where it began', () => {
    const begun = [1, 2, 3].map((id): News => ({ kind: 'action-started', action: action(id) }));
    const { actions } = having([...begun, { kind: 'action-ended', action: action(2, 'success') }]);
    expect(actions.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a-3', null],
      ['a-2', 'success'],
      ['a-1', null],
    ]);
  });

  it('no more than fits, however long it watches', () => {
    const many = Array.from({ length: 1000 }, (_, i): News[] => [
      { kind: 'action-started', action: action(i) },
      cycle(i),
    ]);
    const { actions, costs } = having(many.flat());
    expect(actions).toHaveLength(MAX_ACTIONS);
    expect(costs).toHaveLength(MAX_COSTS);
    expect(costs.at(-1)).toBe(999);
  });

  it('costs of one process of the shard only', () => {
    expect(having([cycle(1), cycle(2), cycle(3, 50)]).costs).toEqual([3]);
  });

  it('the last warning, and no talk', () => {
    const log = (level: 'info' | 'warn', event: string): News => ({ kind: 'log', level, event, fields: {} });
    expect(having([log('warn', 'list-held'), log('info', 'listed')]).remark?.text).toBe('list-held');
  });

  it('news that it does not know change nothing', () => {
    expect(having([{ kind: 'tomorrow' } as unknown as News])).toBe(NOTHING_YET);
  });

  it('only a freeze of the whole fleet freezes the fleet', () => {
    const freeze = (id: string) => ({ freezes: [{ id, who: '', why: '' }] });
    expect([isFrozen(freeze('cluster:a')), isFrozen(freeze('fleet'))]).toEqual([false, true]);
  });
});
