import { describe, expect, it } from 'vitest';
import { HandClock, NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { MachineState } from '../../model/index.ts';
import type { ActionView, ShardEvent } from '../views.ts';
import { EventLog, MAX_ACTION_EVENTS, MAX_OTHER_EVENTS } from './event-log.ts';

const ACTION = { id: 'a', machine: 'm' } as ActionView;
const started: ShardEvent = { kind: 'action-started', action: ACTION };

function log(event: string, fields = {}): ShardEvent {
  return { kind: 'log', level: 'warn', event, fields };
}

describe('EventLog', () => {
  it('given a reader that connects later, then it receives events with their times, in order', () => {
    const clock = new HandClock();
    const events = new EventLog(clock, 3n);
    const from = clock.now();
    for (const event of ['one', 'two', 'three']) {
      events.add(log(event));
      events.add(started);
      clock.advance(1000);
    }
    const { items, total } = events.view({ sinceMs: from + 500, limit: 3 });
    expect(total).toBe(4);
    expect(items.map(({ atMs, kind }) => [atMs - from, kind])).toEqual([
      [1000, 'action-started'],
      [2000, 'log'],
      [2000, 'action-started'],
    ]);
    expect(events.view({ limit: 100 }).items).toHaveLength(6);
  });

  it('given the id of the last event a reader has, then it receives later ones; given an id of another process, then all', () => {
    const events = new EventLog(new HandClock(), 3n);
    const ids = Array.from({ length: 50 }, (_, i) => events.add(log(String(i))).id!);
    const idsAfter = (afterId: string) => events.view({ afterId, limit: 100 }).items.map(({ id }) => id);
    expect(idsAfter(ids[46]!)).toEqual(ids.slice(47));
    expect(idsAfter(ids.at(-1)!)).toEqual([]);
    expect(idsAfter('2-1')).toEqual(ids);
    expect(idsAfter('nonsense')).toEqual(ids);
  });

  it('given very many actions, then their number is bounded and they evict no warnings', () => {
    const events = new EventLog(new HandClock(), 1n);
    events.add(log('the cause'));
    for (let i = 0; i < 5000; i++) events.add(started);
    const { items, total } = events.view({ limit: 100_000 });
    expect(total).toBe(MAX_ACTION_EVENTS + 1);
    expect(items[0]).toMatchObject({ event: 'the cause' });
    expect(events.view({ limit: 10 }).items[0]).toMatchObject({ event: 'the cause' });
    for (let i = 0; i < 5000; i++) events.add(log('e'));
    expect(events.view({ limit: 100_000 }).total).toBe(MAX_ACTION_EVENTS + MAX_OTHER_EVENTS);
  });

  it('given long fields, then excerpts are kept, and the size of an answer is bounded', () => {
    const events = new EventLog(new HandClock(), 1n);
    for (let i = 0; i < 10; i++) events.add(log('e', { text: 'x'.repeat(100_000), big: 3n }));
    const { items, total } = events.view({ limit: 100, maxBytes: 5_000 });
    expect(total).toBe(10);
    expect(items.length).toBeLessThan(5);
    expect(JSON.stringify(items).length).toBeLessThan(6_000);
  });

  it('given a controller, then published and stored events have equal ids, and cycles have none', () => {
    const scene = new ControllerScene().open('c1').list([record('m', MachineState.Speculative)]);
    scene.demand('c1', NEED).tick();
    const published = scene.events.filter(({ kind }) => kind !== 'cycle');
    const { items } = scene.controller.ask('events', { sinceMs: 0, limit: 100 });
    expect(published.some(({ kind }) => kind === 'action-started')).toBe(true);
    expect(items.map(({ id }) => id)).toEqual(published.map(({ id }) => id));
    expect(scene.events.filter(({ kind, id }) => kind === 'cycle' && id !== undefined)).toEqual([]);
  });
});
