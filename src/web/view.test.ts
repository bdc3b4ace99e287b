import { describe, expect, it } from 'vitest';
import type { Planned, Point, Status } from './feed.ts';
import { timeOfDay } from './figures.ts';
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
  cost: { perHour: 12.5, byPart: { serving: 12.5 } },
  ownedCost: null,
  needs: 3,
  clusters: 1,
  sessions: 1,
  shortfalls: 1,
  escalated: 0,
  freezes: 0,
  hardware: [
    {
      ...{ kind: 'general', needs: 3, unmetNeeds: 1 },
      resources: {
        cpu: { wanted: 16, served: 4, coming: 8, unmet: 4, offered: 8, used: 4 },
        memory: { wanted: 0, served: 0, coming: 0, unmet: 0, offered: 1024, used: 0 },
      },
    },
  ],
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
      health: { state: 'fine', machines: 10, failing: 0, zones: [] },
    },
  ],
};

function pointAt(atMs: number, change: Partial<Point> = {}): Point {
  return {
    atMs,
    costPerHour: 1,
    machinesByState: { CONFIGURED: 8 },
    needs: 3,
    unmet: 0,
    begun: 1,
    failed: 0,
    ...change,
  };
}

const LIVE: Live = {
  ...NOTHING_YET,
  status: STATUS,
  series: [0, 5, 10].map((costPerHour, i) => pointAt(1000 * (i + 1), { costPerHour })),
  shortfalls: [
    {
      id: 'c-1/0123456789',
      cluster: 'c-1',
      group: '',
      priority: 7,
      missing: { cpu: '12' },
      why: 'no machine in the catalogue meets its requirements',
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
      ownedCost: null,
      cannotBind: '',
      setAside: null,
      reports: null,
    },
  ],
};

function shown(part: keyof PageParts, change: Partial<PageState> = {}): readonly Tree[] {
  return pageParts({ live: LIVE, trouble: '', notice: '', answer: [], scenarios: [], ...change })[part];
}

/** The texts of each tree, joined by a vertical bar. */
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

/** The width of the bar of each row. */
function bars(rows: readonly Tree[], part = 'fill'): readonly (string | undefined)[] {
  const fills = (tree: Tree): string[] => {
    if (typeof tree === 'string') return [];
    return tree.attributes['class'] === part ? [tree.attributes['width']!] : tree.children.flatMap(fills);
  };
  return rows.map((row) => fills(row)[0]);
}

describe('the page as a tree', () => {
  it('given machines, then there is a row for each state, with a bar for those that exist', () => {
    const rows = shown('machines');
    expect(texts(rows)[0]).toBe('Serving | 8 | $12.50');
    expect(bars(rows).slice(0, 4)).toEqual(['100%', '0%', '0%', '25%']);
    expect(texts(rows).at(-1)).toMatch(/^Can buy .* 1,000$/);
    expect(bars(rows).at(-1)).toBeUndefined();
  });

  it('given demand and supply, then there is a row for each kind of hardware and resource', () => {
    expect(texts(shown('supply'))).toEqual([
      'General |   | 1 of 3 Needs unmet | ; 50 % of 8 cores used, 4 cores spare',
      'cpu | 4 of 16 cores served, 8 coming, 4 unmet',
      'memory | 0 of 0 B served',
    ]);
    expect(bars(shown('supply'))).toEqual([undefined, '25%', undefined]);
    expect(bars(shown('supply'), 'coming')).toEqual([undefined, '50%', undefined]);
    expect(bars(shown('supply'), 'unmet')).toEqual([undefined, '25%', undefined]);
    expect(JSON.stringify(shown('supply'))).not.toContain('enough');
  });

  it('given a very small missing part, then it is visible', () => {
    const cpu = { wanted: 1e6, served: 1e6 - 1, coming: 0, unmet: 1, offered: 1e6, used: 1e6 };
    const hardware = [{ kind: 'general', needs: 3, unmetNeeds: 1, resources: { cpu } }];
    const rows = shown('supply', { live: { ...LIVE, status: { ...STATUS, hardware } } });
    expect([bars(rows)[1], bars(rows, 'unmet')[1]]).toEqual(['98.5%', '1.5%']);
  });

  it('given a cost, then it has its parts, and that of owned machines separately', () => {
    const cost = { perHour: 12.5, byPart: { serving: 10.004, idle: 2.496 } };
    const ownedCost = { perHour: 7, byPart: { serving: 7 } };
    const clusters = [{ ...LIVE.clusters[0]!, ownedCost }];
    const live = { ...LIVE, clusters, status: { ...STATUS, cost, ownedCost } };
    expect(texts(shown('cost', { live })).at(-1)).toBe(
      'serving $10.00, idle $2.50. |  Besides, $7.00/h owned, amortised.',
    );
    expect(texts(shown('clusters', { live }))[0]).toContain('$12.50/h | $7.00/h owned, amortised');
  });

  it('given a series, then the curve of the cost starts at 0', () => {
    const [figure, curve] = shown('cost');
    expect(texts([figure!])).toEqual(['$12.50/h']);
    expect(curve).toMatchObject({ children: [{ attributes: { points: '0,30 50,16 100,2' } }] });
  });

  it('given shortfalls, clouds and clusters, then each has a row with its details', () => {
    expect(texts(shown('shortfalls'))).toEqual([
      'c-1/0123456789 |  lacks 12 cores (priority 7, for 6 cycles):  | no machine in the catalogue meets its requirements',
    ]);
    expect(texts(shown('providers'))).toEqual(['cloud | 1,010 machines | does not answer']);
    expect(texts(shown('clusters'))).toEqual([
      'c-1 | 3 Needs | 1 not met | 8 serving | $12.50/h | not connected',
    ]);
  });

  it('given an outage from before the page was opened, then it shows when it began', () => {
    const points = Array.from({ length: 150 }, (_, i) => pointAt(i * 20_000, { unmet: i < 60 ? 0 : 4 }));
    const status = { ...STATUS, nowMs: 50 * 60_000, cycle: { ...STATUS.cycle!, unmet: 3 } };
    const rows = texts(shown('history', { live: { ...LIVE, status, series: points } }));
    expect(rows[0]).toBe(`Needs not met | 3 now, since ${timeOfDay(20 * 60_000)} (30 min); highest 4`);
    expect(rows[1]).toBe('Cost | lowest $1.00/h, highest $1.00/h');
    expect(rows.slice(3)).toEqual(['Actions begun | 150', 'Actions failed | 0']);
    expect(shown('since', { live: { ...LIVE, status, series: points } })).toEqual([
      `From ${timeOfDay(0)} to now, 50 min.`,
    ]);
    const met = { ...STATUS, cycle: { ...STATUS.cycle!, unmet: 0 } };
    expect(texts(shown('history', { live: { ...LIVE, status: met } }))[0]).toBe(
      'Needs not met | none in this time',
    );
  });

  it('given events, then it lists the last with their times, and how many more there are', () => {
    const events = Array.from(
      { length: 30 },
      (_, i) => ({ atMs: i * 1000, level: 'warn', text: `e-${i}` }) as const,
    );
    const items = texts(shown('events', { live: { ...LIVE, events } }));
    expect(items[0]).toBe(`${timeOfDay(0)} |  e-0`);
    expect(items.at(-1)).toBe('20 of 30 events shown, newest first');
    expect(texts(shown('events'))).toEqual(['No warning, error or order is known.']);
  });

  it('given lists that are cut, then they say so, and have trouble first', () => {
    const cloud = STATUS.providers[0]!;
    const fine = Array.from({ length: 30 }, (_, i) => ({
      ...cloud,
      name: `p-${i}`,
      breaker: 'closed' as const,
    }));
    const failed = { id: 'm-4', provider: 'cloud', zone: 'z', capacityType: 'SPOT', lastError: 'disk died' };
    const live = {
      ...LIVE,
      status: { ...STATUS, providers: [...fine, cloud], shortfalls: 340 },
      clustersTotal: 12,
      ...{ failed: [failed], failedTotal: 7 },
    };
    expect(texts(shown('providers', { live }))[0]).toContain('does not answer');
    expect(texts(shown('providers', { live })).at(-1)).toBe(
      '20 of 31 providers shown, those in trouble first',
    );
    expect(texts(shown('clusters', { live })).at(-1)).toBe('1 of 12 clusters shown, those in trouble first');
    expect(texts(shown('shortfalls', { live })).at(-1)).toBe('1 of 340 shortfalls shown, most urgent first');
    expect(texts(shown('failed', { live }))).toEqual([
      'm-4 (spot, z) of cloud: disk died',
      '1 of 7 Failed machines shown, by name',
    ]);
  });

  it('given actions held back, then it shows their count, the first of them, and how many are not shown', () => {
    const planned: Planned = {
      ...{ kind: 'Provision', machine: 'm-1', provider: 'cloud', cluster: 'c-1', zone: '' },
      ...{ need: null, reason: 'phase1.speculative', why: 'dry-run', freeze: null },
      ...{ capacityType: 'SPOT', pricePerHour: 0.5 },
    };
    const held = {
      why: 'dry-run',
      total: 340,
      needs: 9,
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

  it('given problems of roll-ups, then the row of the cluster has them', () => {
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

  it('given a status, then it shows the name, the uptime and the last cycle of the shard', () => {
    expect(shown('about')).toEqual(['Shard shard-0, running for 1 min; cycle 60 took 4.2 ms.']);
  });

  it('given empty lists, then each says so', () => {
    const live = { ...LIVE, shortfalls: [] };
    expect(texts(shown('shortfalls', { live }))).toEqual(['None: all demand is met.']);
    expect(texts(shown('actions', { live }))).toEqual(['No actions yet.']);
  });

  it('given no event yet, then it is empty, and its button is disabled', () => {
    const live = NOTHING_YET;
    expect(shown('machines', { live })).toEqual([]);
    expect(shown('controls', { live })).toMatchObject([{ attributes: { disabled: '' } }]);
  });

  it('given any state, then no attribute is a style, which the policy would refuse', () => {
    const parts = pageParts({ live: LIVE, trouble: 'x', notice: 'y', answer: [], scenarios: ['gpu-gang'] });
    expect(JSON.stringify(parts)).not.toContain('"style"');
  });
});
