// Pages of past events from a journal, and from memory.

import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../testing/support/fake-shard.ts';
import { aCycleView, fileAt, Recorded, withPath } from '../../../testing/support/journal.ts';
import { recentHistory } from '../planning/queries/recent-history.ts';
import type { ActionView, HistoryAsk, HistoryPage } from '../views.ts';
import { historyPage } from './history-page.ts';

const NEED = { id: 'web/00ff00ff00', cluster: 'web', group: '', priority: 0 };
const ACTION: ActionView = {
  ...{ id: 'a', kind: 'Provision', machine: 'm-1', provider: 'p', cluster: 'web', need: NEED },
  ...{ reason: 'phase1.speculative', startedMs: 1, endedMs: 2, outcome: 'success', message: '', attempts: 1 },
};

type Read = (ask: Partial<HistoryAsk>) => HistoryPage;

/** Reads a journal with `actions` of each of two machines, one cycle apart, and then an order. */
function withJournal(actions: number, use: (read: Read) => void): void {
  withPath((path) => {
    const file = fileAt(path);
    const recorded = new Recorded(file);
    for (let i = 0; i < actions; i++) {
      recorded.cycle([]);
      for (const machine of ['m-1', 'm-2'])
        recorded.recorder.event({ kind: 'action-ended', action: { ...ACTION, id: `a${i}`, machine } });
      recorded.recorder.outcome(null, aCycleView(i + 1, recorded.nowMs), []);
    }
    const fields = { order: 'freeze', cluster: 'web', who: 'ann', message: 'frozen' };
    recorded.recorder.event({ kind: 'log', level: 'info', event: 'order', fields });
    recorded.recorder.flush();
    use((ask) => historyPage(path, { limit: 100, ...ask }));
    file.close();
  });
}

describe('history from the journal', () => {
  it('given events, then the newest come first, with the cycle before them', () => {
    withJournal(2, (read) => {
      const { items, next } = read({});
      expect(items.map(({ kind, machine }) => `${kind} ${machine}`)).toEqual([
        'log null',
        ...['action m-2', 'action m-1', 'action m-2', 'action m-1'],
      ]);
      expect(items.map(({ cycle }) => cycle)).toEqual([2, 2, 2, 1, 1]);
      expect(new Set(items.map(({ epoch }) => epoch))).toEqual(new Set([1]));
      expect(next).toBeNull();
    });
  });

  it.each<readonly [Partial<HistoryAsk>, number]>([
    [{ machine: 'm-1' }, 2],
    [{ machine: 'm-9' }, 0],
    [{ cluster: 'web' }, 5],
    [{ cluster: 'web', kinds: ['log'] }, 1],
    [{ need: NEED.id }, 4],
    [{ need: 'web/1111111111' }, 0],
    [{ kinds: ['loss', 'need'] }, 0],
    [{ sinceMs: 1_002_000 }, 3],
    [{ untilMs: 1_001_999 }, 2],
    [{ sinceMs: 1_000_000, untilMs: 1_000_500 }, 0],
    [{ cycle: 1 }, 2],
    [{ cycle: 2 }, 3],
    [{ cycle: 2, machine: 'm-1' }, 1],
    [{ cycle: 2, epoch: 1 }, 3],
    [{ cycle: 2, epoch: 9 }, 0],
    [{ cycle: 3 }, 0],
  ])('given the conditions %j, then there are %i events', (ask, expected) => {
    withJournal(2, (read) => expect(read(ask).items).toHaveLength(expected));
  });

  it('given one cycle behind more events than a request reads, then its events are on the first page', () => {
    withJournal(2_100, (read) => expect(read({ cycle: 1, limit: 100 }).items).toHaveLength(2));
  });

  it('given a limit, then pages have each event exactly once', () => {
    withJournal(6, (read) => {
      const ids: string[] = [];
      let after: string | null | undefined;
      while (after !== null) {
        const page = read({ machine: 'm-1', limit: 4, after });
        ids.push(...page.items.map(({ id }) => id));
        after = page.next;
      }
      expect(new Set(ids).size).toBe(6);
      expect(ids).toHaveLength(6);
    });
  });

  it('given more rows than one request reads, then a page without a match has a next one', () => {
    withJournal(2_100, (read) => {
      const first = read({ kinds: ['need'] });
      expect(first.items).toEqual([]);
      expect(first.next).not.toBeNull();
      expect(read({ kinds: ['need'], after: first.next! })).toEqual({ items: [], next: null });
    });
  });

  it('given an action that took a machine from a Need, then it is in the history of that Need', () => {
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded(file);
      recorded.cycle([]);
      const from = { ...NEED, id: 'web/1111111111' };
      recorded.recorder.event({ kind: 'action-ended', action: { ...ACTION, from } });
      recorded.recorder.flush();
      expect(historyPage(path, { limit: 10, need: from.id }).items).toHaveLength(1);
      file.close();
    });
  });
});

describe('history from memory', () => {
  it('given a limit, then each event is on one page, newest first', () => {
    const first = recentHistory(EVENTS, { limit: 1 });
    const second = recentHistory(EVENTS, { limit: 1, after: first.next! });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['3-2', '3-1']);
    expect(second.next).toBeNull();
  });

  it('given a page whose last event is gone from memory, then nothing follows', () => {
    expect(recentHistory(EVENTS, { limit: 1, after: 'gone-1' })).toEqual({ items: [], next: null });
  });
});
