import { describe, expect, it } from 'vitest';
import type { Planned, Status } from './feed.ts';
import { type Live, NOTHING_YET } from './live.ts';
import { type PageParts, type PageState, pageParts, type Tree } from './view.ts';

const STATUS: Status = {
  shard: 'shard-0',
  epoch: 1,
  startedMs: 0,
  nowMs: 61_000,
  phase: 'running',
  dryRun: false,
  cycle: { number: 60, durationMs: 4.2, unmet: 1, admitted: {} },
  machines: 1010,
  machinesByState: { CONFIGURED: 8, IDLE: 2, SPECULATIVE: 1000 },
  costPerHour: 12.5,
  needs: 3,
  clusters: 1,
  sessions: 1,
  shortfalls: 1,
  escalated: 0,
  freezes: 0,
  supply: { cpu: { wanted: 16, configured: 4 }, memory: { wanted: 0, configured: 1024 } },
  providers: [
    {
      name: 'cloud',
      breaker: 'open',
      denial: '',
      machines: 1010,
      waiting: 0,
      hasListed: true,
      lastError: '',
      heldLosses: 0,
    },
  ],
};

const LIVE: Live = {
  ...NOTHING_YET,
  status: STATUS,
  costs: [0, 5, 10],
  shortfalls: [
    {
      id: 'c-1/0123456789',
      cluster: 'c-1',
      group: '',
      priority: 7,
      missing: { cpu: '12' },
      reason: 'no-matching-supply',
      ageCycles: 6,
      isEscalated: true,
    },
  ],
  clusters: [
    {
      cluster: 'c-1',
      hasSession: false,
      hasReported: true,
      needs: 3,
      unmet: 1,
      machinesByState: { CONFIGURED: 8 },
      costPerHour: 12.5,
      cannotBind: '',
      setAside: null,
      reports: null,
    },
  ],
};

function shown(part: keyof PageParts, change: Partial<PageState> = {}): readonly Tree[] {
  return pageParts({ live: LIVE, trouble: '', notice: '', stories: [], ...change })[part];
}

/** The texts of each tree, with a stroke between neighbours. */
function texts(trees: readonly Tree[]): readonly string[] {
  const textOf = (tree: Tree): string =>
    typeof tree === 'string'
      ? tree
      : tree.children
          .map(textOf)
          .filter((text) => text !== '')
          .join(' | ');
  return trees.map(textOf);
}

/** How wide the bar of each row is. */
function bars(rows: readonly Tree[]): readonly (string | undefined)[] {
  const fills = (tree: Tree): string[] => {
    if (typeof tree === 'string') return [];
    return tree.attributes['class'] === 'fill' ? [tree.attributes['width']!] : tree.children.flatMap(fills);
  };
  return rows.map((row) => fills(row)[0]);
}

describe('the page as a tree', () => {
  it('machines by state, with bars for those that exist', () => {
    const rows = shown('machines');
    expect(texts(rows)[0]).toBe('Serving | 8');
    expect(bars(rows).slice(0, 4)).toEqual(['100%', '0%', '0%', '25%']);
    expect(texts(rows).at(-1)).toMatch(/^Can buy .* 1,000$/);
    expect(bars(rows).at(-1)).toBeUndefined();
  });

  it('demand against supply', () => {
    expect(texts(shown('supply'))).toEqual([
      'cpu | 4 cores serving, 16 wanted',
      'memory | 1 KiB serving, 0 B wanted',
    ]);
    expect(bars(shown('supply'))).toEqual(['25%', '100%']);
  });

  it('cost with its curve from nothing up', () => {
    const [figure, curve] = shown('cost');
    expect(texts([figure!])).toEqual(['$12.50/h']);
    expect(curve).toMatchObject({ children: [{ attributes: { points: '0,30 50,16 100,2' } }] });
  });

  it('what is missing and why, clouds, clusters', () => {
    expect(texts(shown('shortfalls'))).toEqual([
      'c-1/0123456789 |  lacks 12 cores (priority 7, for 6 cycles):  | no machine anywhere has what it asks for',
    ]);
    expect(texts(shown('providers'))).toEqual(['cloud | 1,010 machines | does not answer']);
    expect(texts(shown('clusters'))).toEqual([
      'c-1 | 3 Needs | 1 not met | 8 serving | $12.50/h | not connected',
    ]);
  });

  it('what is held back, in numbers, one by one, and how many are not shown', () => {
    const planned: Planned = {
      ...{ kind: 'Provision', machine: 'm-1', provider: 'cloud', cluster: 'c-1', zone: '' },
      ...{ need: null, reason: 'phase1.speculative', why: 'dry-run', freeze: null },
      ...{ capacityType: 'SPOT', pricePerHour: 0.5 },
    };
    const held = {
      why: 'dry-run',
      total: 340,
      kinds: { Provision: 340 },
      buysPerHour: 170,
      releasesPerHour: 0,
    };
    const status = { ...STATUS, cycle: { ...STATUS.cycle!, heldBack: [held] } };
    const actions = { items: Array.from({ length: 20 }, () => planned), total: 340 };
    const live = { ...LIVE, status, plan: { frozenClusters: [], actions } };
    const [counts, first, ...rest] = texts(shown('plan', { live }));
    expect(counts).toBe('Would buy 340 (+$170.00/h), held back: this is a dry run');
    expect(first).toBe('would buy m-1 (spot) for c-1: nothing idle fits (+$0.50/h); this is a dry run');
    expect(rest).toHaveLength(10);
    expect(rest.at(-1)).toBe('10 of 340 actions shown, most urgent first');
    expect(texts(shown('plan'))).toEqual(['Nothing is held back.']);
  });

  it('what is wrong with the roll-ups of a cluster', () => {
    const remarks = [
      'zeroed: needs[1]: "-1" is below zero.',
      'set-aside: needs[4].group: 2000 bytes, the limit is 1024.',
    ];
    const reports = { problems: ['needs[2]: Bucket 99 is outside 0 to 27.'], remarks, remarksTotal: 3 };
    const setAside = { rows: 2, machinesKept: 1, isLifted: false, unknownResource: null };
    const cluster = { ...LIVE.clusters[0]!, hasSession: true, setAside, reports };
    const [text] = texts(shown('clusters', { live: { ...LIVE, clusters: [cluster] } }));
    expect(text).toContain('its last roll-up was refused: needs[2]: Bucket 99 is outside 0 to 27.');
    expect(text).toContain(
      '2 rows beyond a limit set aside, 1 machine kept for them (needs[4].group: 2000 bytes',
    );
  });

  it('how the shard is', () => {
    expect(shown('about')).toEqual(['Shard shard-0, running for 1 min; cycle 60 took 4.2 ms.']);
  });

  it('says that there is nothing where there is nothing', () => {
    const live = { ...LIVE, shortfalls: [] };
    expect(texts(shown('shortfalls', { live }))).toEqual(['None: all demand is met.']);
    expect(texts(shown('actions', { live }))).toEqual(['Nothing has had to be done yet.']);
  });

  it('before the first news it is empty and its button is off', () => {
    const live = NOTHING_YET;
    expect(shown('machines', { live })).toEqual([]);
    expect(shown('controls', { live })).toMatchObject([{ attributes: { disabled: '' } }]);
  });

  it('has no style in an attribute, which its policy would refuse', () => {
    const parts = pageParts({ live: LIVE, trouble: 'x', notice: 'y', stories: ['gpu-gang'] });
    expect(JSON.stringify(parts)).not.toContain('"style"');
  });
});
