import { describe, expect, it } from 'vitest';
import type { Action, Loss, Losses, ShardEvent, Status } from './feed.ts';
import { latestSentences, NOTHING_YET, withEvent } from './live.ts';
import { darkText, healthText, lossesText, lossText } from './loss-text.ts';
import { isInTrouble, providerText } from './sentences.ts';

const LOSS: Loss = {
  ...{ atMs: 2000, loss: 'failed', machine: 'm-1', provider: 'cloud', zone: 'zone-a', capacityType: 'SPOT' },
  ...{ was: 'CONFIGURED', cluster: 'web', error: 'the host died' },
  need: { id: 'web/00ff00ff00', cluster: 'web', priority: 1 },
};

const LOSSES: Losses = {
  ...{ atMs: 4100, sinceMs: 2000, provider: 'cloud', zone: 'a', isDark: true, count: 14, of: 15 },
  clusters: [
    { cluster: 'web', count: 8 },
    { cluster: 'ml', count: 6 },
  ],
  ...{ errorClass: 'host-failed', error: 'the host died' },
};

const ZONE = {
  ...{ zone: 'a', machines: 15, failing: 14, failedPurchases: 2 },
  ...{ errorClass: 'zone-outage', error: 'a is unavailable' },
};

const CLOUD: Status['providers'][number] = {
  ...{ name: 'cloud', breaker: 'closed', denial: '', machines: 200, waiting: 0, hasListed: true },
  ...{ lastError: '', heldLosses: 0 },
  health: { state: 'degraded', machines: 90, failing: 14, zones: [{ ...ZONE, state: 'failing' }] },
};

describe('texts on losses', () => {
  it.each<[Partial<Loss>, string]>([
    [{}, 'lost m-1 (spot, zone-a) of cloud, which served web for web/00ff00ff00: the host died'],
    [
      { loss: 'interrupted', error: 'taken back' },
      'lost m-1 (spot, zone-a) of cloud, which served web for web/00ff00ff00: interrupted (taken back)',
    ],
    [
      { loss: 'vanished', was: 'IDLE', cluster: '', need: null, error: '' },
      'lost m-1 (spot, zone-a) of cloud, which was idle: its provider no longer has it',
    ],
    [
      { was: 'CREATING', cluster: '', error: 'quota exceeded' },
      'lost m-1 (spot, zone-a) of cloud, which was starting for web/00ff00ff00: quota exceeded',
    ],
  ])('%o', (given, text) => {
    expect(lossText({ ...LOSS, ...given })).toBe(text);
  });

  it.each<[Partial<Losses>, string]>([
    [{}, 'zone a of cloud has gone dark: lost 14 of 15 machines within 3 s (web 8, ml 6): the host died'],
    [{ isDark: false }, 'lost 14 machines in zone a of cloud within 3 s (web 8, ml 6): the host died'],
    [
      { provider: '', zone: '', isDark: false, clusters: [], error: '', errorClass: 'vanished' },
      'lost 14 more machines in other zones within 3 s: their provider no longer has them',
    ],
  ])('%o', (given, text) => {
    expect(lossesText({ ...LOSSES, ...given })).toBe(text);
  });
});

describe('the health of a provider that answers', () => {
  it('given a dark zone, then no text calls it fine', () => {
    const words = '14 of 15 machines failing in zone a: a is unavailable';
    expect(providerText(CLOUD)).toBe(words);
    expect(healthText(CLOUD)).toBe(words);
    expect(isInTrouble(CLOUD)).toBe(true);
    expect(darkText([CLOUD])).toBe('Machines in zone a of cloud fail. ');
  });

  it('given single failures, then the text has them, and the provider is not in trouble', () => {
    const zones = [{ ...ZONE, state: 'fine' as const, machines: 80, failing: 1, error: 'the host died' }];
    const some = { ...CLOUD, health: { state: 'fine' as const, machines: 90, failing: 1, zones } };
    expect(providerText(some)).toBe('1 of 80 machines failing in zone a: the host died');
    expect(isInTrouble(some)).toBe(false);
    expect(darkText([some])).toBe('');
  });

  it('given no failure, then it is fine', () => {
    const health = { state: 'fine' as const, machines: 90, failing: 0, zones: [] };
    expect(providerText({ ...CLOUD, health })).toBe('fine');
  });
});

describe('recent actions and losses', () => {
  it('given losses and actions, then fresh losses come first, and log lines about them are left out', () => {
    const action = (id: string, startedMs: number): ShardEvent =>
      ({
        kind: 'action-started',
        action: {
          ...{ id, kind: 'Provision', machine: id, provider: 'cloud', cluster: 'web', need: null },
          ...{ reason: 'phase1.speculative', startedMs, endedMs: null, outcome: null, message: '' },
        },
      }) as ShardEvent;
    const event: ShardEvent[] = [
      action('m-1', 1000),
      { kind: 'loss', loss: LOSS },
      { kind: 'log', level: 'warn', event: 'machine-lost', fields: { machine: 'm-1' } },
      action('m-2', 3000),
    ];
    const live = event.reduce(withEvent, NOTHING_YET);
    expect(latestSentences(live, 10).map(({ mood, atMs }) => [mood, atMs])).toEqual([
      ['doing', 3000],
      ['failed', 2000],
      ['doing', 1000],
    ]);
    const minute = { ...live, status: { nowMs: 50_000 } as Status };
    expect(latestSentences(minute, 2).map(({ mood }) => mood)).toEqual(['failed', 'doing']);
    expect(live.events).toMatchObject([{ text: lossText(LOSS), level: 'warn' }]);
    expect(live.remark?.text).toBe(lossText(LOSS));
  });

  it('given actions that end in another order than they began, then the last change comes first', () => {
    const action = (id: string, startedMs: number, endedMs: number | null) =>
      ({
        ...{ id, kind: 'Bootstrap', machine: id, provider: 'cloud', cluster: 'web', need: null, message: '' },
        ...{ reason: 'phase1.idle', startedMs, endedMs, outcome: endedMs === null ? null : 'success' },
      }) as Action;
    const event = [action('m-1', 1000, 5000), action('m-2', 2000, null), action('m-3', 3000, 4000)];
    const live = event
      .map((each): ShardEvent => ({ kind: 'action-ended', action: each }))
      .reduce(withEvent, NOTHING_YET);
    expect(latestSentences(live, 10).map(({ atMs }) => atMs)).toEqual([5000, 4000, 2000]);
  });
});
