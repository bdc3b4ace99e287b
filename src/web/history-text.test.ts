import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from './feed-details.ts';
import { historyLine } from './history-text.ts';

const ENTRY = { id: '1', atMs: 0, cycle: 7, machine: 'm-1', need: 'web/00ff00ff00', cluster: 'web' };
const ACTION = {
  ...{ id: 'a', kind: 'Provision', machine: 'm-1', provider: 'p', cluster: 'web', need: null, zone: 'a' },
  ...{
    reason: 'phase1.speculative',
    startedMs: 0,
    endedMs: 9,
    outcome: 'success',
    message: '',
    capacityType: 'SPOT',
  },
};

const lineOf = (kind: string, event: object): string => {
  const { mood, text } = historyLine({ ...ENTRY, kind, event: event as HistoryEvent['event'] });
  return `${mood}: ${text}`;
};

describe('a line of the history', () => {
  it.each([
    [
      'action',
      { kind: 'action-started', action: ACTION },
      'doing: ordered m-1 (spot, a) for web: nothing idle fits',
    ],
    [
      'action',
      { kind: 'action-ended', action: ACTION },
      'done: bought m-1 (spot, a) for web: nothing idle fits',
    ],
    [
      'waiting',
      { kind: 'waiting', action: { ...ACTION, why: 'frozen' } },
      'doing: would buy m-1 (spot, a) for web: nothing idle fits; it is frozen',
    ],
    [
      'need',
      { kind: 'need', need: { id: 'web/00ff00ff00' }, reason: 'no-supply', missing: { cpu: '2' } },
      'failed: web/00ff00ff00 is not met, no-supply: lacks 2 cores',
    ],
    [
      'need',
      { kind: 'need', need: { id: 'web/00ff00ff00' }, reason: null, missing: {} },
      'done: web/00ff00ff00 is met, or withdrawn',
    ],
    ['log', { kind: 'log', level: 'error', event: 'x', fields: { a: 1 } }, 'failed: x a=1'],
    ['other', { kind: 'of-a-newer-shard' }, ': of-a-newer-shard'],
  ])('given an entry of kind %s, then it is a sentence', (kind, event, line) => {
    expect(lineOf(kind, event)).toBe(line);
  });

  it('given an entry, then its machine, Need and cluster are links', () => {
    const { names } = historyLine({ ...ENTRY, kind: 'x', event: { kind: 'x' } });
    expect(names).toEqual([
      ['m-1', '#/machine/m-1'],
      ['web/00ff00ff00', '#/need/web/00ff00ff00'],
      ['web', '#/cluster/web'],
    ]);
  });
});
