import { describe, expect, it } from 'vitest';
import type { Action, ShardEvent, Status } from './feed.ts';
import { isFrozen, type Live, MAX_ACTIONS, MAX_EVENTS, NOTHING_YET, withEvent, withPast } from './live.ts';

const received = (events: readonly ShardEvent[], from: Live = NOTHING_YET) => events.reduce(withEvent, from);

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

const cycle = (startedMs: number): ShardEvent => ({ kind: 'cycle', status: { startedMs } as Status });
const log = (event: string, atMs: number, level: 'info' | 'warn' = 'warn'): ShardEvent => {
  return { kind: 'log', level, event, fields: {}, atMs, id: `1-${atMs}` };
};

describe('the state of a live view', () => {
  it('given actions that begin and end, then each is listed once, by its beginning, newest first', () => {
    const begun = [1, 2, 3].map((id): ShardEvent => ({ kind: 'action-started', action: action(id) }));
    const { actions } = received([...begun, { kind: 'action-ended', action: action(2, 'success') }]);
    expect(actions.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a-3', null],
      ['a-2', 'success'],
      ['a-1', null],
    ]);
  });

  it('given very many events, then the lists stay bounded', () => {
    const many = Array.from({ length: 1000 }, (_, i): ShardEvent[] => [
      { kind: 'action-started', action: action(i) },
      log(`e-${i}`, i),
    ]);
    const { actions, events } = received(many.flat());
    expect(actions).toHaveLength(MAX_ACTIONS);
    expect(events).toHaveLength(MAX_EVENTS);
    expect(events[0]?.text).toBe('e-999');
  });

  it('given a restarted shard, then the series starts over, and actions in flight of the old process are dropped', () => {
    const point = { atMs: 1, costPerHour: 1, machinesByState: {}, needs: 0, unmet: 0, begun: 0, failed: 0 };
    const old = received([
      cycle(1),
      { kind: 'action-started', action: action(1) },
      { kind: 'action-ended', action: action(2, 'success') },
    ]);
    const { series, actions } = received([cycle(50)], { ...old, series: [point] });
    expect(series).toEqual([]);
    expect(actions.map(({ id }) => id)).toEqual(['a-2']);
    expect(received([cycle(1)], { ...old, series: [point] }).series).toEqual([point]);
  });

  it('given log lines, then it keeps warnings and orders with their times, and the last warning separately', () => {
    const { events, remark } = received([
      log('list-held', 10),
      log('listed', 20, 'info'),
      {
        kind: 'log',
        level: 'info',
        event: 'order',
        fields: { order: 'freeze', who: 'ann', message: 'Done.' },
        atMs: 30,
      },
      log('action-failed', 40),
    ]);
    expect(events.map(({ atMs, text }) => [atMs, text])).toEqual([
      [30, 'freeze by ann: Done.'],
      [10, 'list-held'],
    ]);
    expect(remark).toMatchObject({ atMs: 10, text: 'list-held' });
  });

  it('given past events, then they come below its own events, each once', () => {
    const own = received([{ kind: 'action-ended', action: action(2, 'success') }, log('new', 30)]);
    const { actions, events, remark } = withPast(own, [
      { kind: 'action-ended', action: action(1, 'stock_out') },
      { kind: 'action-started', action: action(2) },
      log('old', 10),
      log('new', 30),
    ]);
    expect(actions.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a-2', 'success'],
      ['a-1', 'stock_out'],
    ]);
    expect(events.map(({ text }) => text)).toEqual(['new', 'old']);
    expect(remark?.text).toBe('new');
  });

  it('given an unknown kind of event, then nothing changes', () => {
    expect(received([{ kind: 'tomorrow' } as unknown as ShardEvent])).toBe(NOTHING_YET);
  });

  it('given a freeze of a cluster, then the fleet is not frozen; given one of the fleet, then it is', () => {
    const freeze = (id: string) => ({ freezes: [{ id, who: '', why: '', sinceMs: 0, untilMs: null }] });
    expect([isFrozen(freeze('cluster:a')), isFrozen(freeze('fleet'))]).toEqual([false, true]);
  });
});
