import { describe, expect, it } from 'vitest';
import { STATUS } from '../../testing/support/live-view.ts';
import { attentionItems } from './attention.ts';
import type { Cluster, Shortfall } from './feed.ts';
import { NOTHING_YET } from './live.ts';

const QUIET = {
  ...STATUS,
  shortfalls: 0,
  machinesByState: { CONFIGURED: 2 },
  providers: STATUS.providers.map((provider) => ({
    ...provider,
    ...{ breaker: 'closed' as const, denial: '', heldLosses: 0, lastError: '' },
    health: { ...provider.health, state: 'fine' as const, failing: 0, zones: [] },
  })),
};

function shortfall(id: string, isEscalated: boolean): Shortfall {
  const ref = { id, cluster: 'web', group: '', priority: 7 };
  return { ...ref, missing: { cpu: '2' }, why: 'nothing fits', ageCycles: 3, isEscalated };
}

function cluster(name: string, change: Partial<Cluster>): Cluster {
  return {
    ...{ cluster: name, hasSession: true, hasReported: true, needs: 1, unmet: 0, machinesByState: {} },
    ...{ costPerHour: 0, ownedCost: null, cannotBind: '', setAside: null, reports: null },
    ...change,
  };
}

const texts = (live: Partial<typeof NOTHING_YET>) =>
  attentionItems({ ...NOTHING_YET, status: QUIET, ...live }).map(({ mood, text }) => `${mood} ${text}`);

describe('what needs attention', () => {
  it('given nothing wrong, then nothing', () => {
    expect(texts({})).toEqual([]);
    expect(attentionItems(NOTHING_YET)).toEqual([]);
  });

  it('given several things, then what needs a person comes before what is worth knowing', () => {
    const found = texts({
      status: { ...QUIET, shortfalls: 2 },
      shortfalls: [shortfall('web/1', false), shortfall('web/2', true)],
      clusters: [cluster('cut', { hasSession: false })],
      freezes: [{ id: 'fleet', who: 'alice', why: 'maintenance', sinceMs: 0, untilMs: null }],
    });
    expect(found.map((text) => text.split(' ')[0])).toEqual(['failed', 'failed', 'doing', 'doing']);
    expect(found[0]).toContain('cut: not connected');
    expect(found[1]).toContain('web/2 (priority 7) lacks 2 cores for 3 cycles: nothing fits');
    expect(found[3]).toBe('doing Frozen by alice (fleet): maintenance');
  });

  it('given many of one kind, then a few are listed and the rest is counted, so that others are seen', () => {
    const shortfalls = Array.from({ length: 9 }, (_, i) => shortfall(`web/${i}`, true));
    const found = texts({ status: { ...QUIET, shortfalls: 40 }, shortfalls });
    expect(found).toHaveLength(6);
    expect(found.at(-1)).toContain('35 more Needs');
  });

  it('given each item, then it has a link to where more is shown', () => {
    const items = attentionItems({ ...NOTHING_YET, status: { ...QUIET, machinesByState: { FAILED: 3 } } });
    expect(items).toEqual([{ mood: 'doing', text: '3 machines failed', href: '#/machines?state=FAILED' }]);
  });
});
