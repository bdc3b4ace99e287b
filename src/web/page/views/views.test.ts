import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ClusterRow, CostReport, MachineRow, NeedDetail, NeedRow } from '../../feed-details.ts';
import { moment } from '../../figures.ts';
import { placeOf } from '../../place.ts';
import { store } from '../store.ts';
import { buttonsOf, linksOf, textOf, valuesOf } from '../testkit.ts';
import { clustersView, clusterView } from './clusters.ts';
import { freezesView } from './controls.ts';
import { costView } from './cost.ts';
import { historyLines, moreView } from './history.ts';
import { machineView } from './machine.ts';
import { countsView, machinesView } from './machines.ts';
import { needView } from './need.ts';
import { needsView } from './needs.ts';
import { answerView } from './what-if.ts';

const NOW_MS = 1_760_000_000_000;
const ID = 'web/00ff00ff00';

const NEED: NeedRow = {
  ...{
    id: ID,
    cluster: 'web',
    group: 'g',
    priority: 1000,
    isMet: false,
    claimed: 1,
    domain: null,
    unmetCycles: 4,
  },
  ...{ wants: { cpu: '8' }, minUnit: { cpu: '2' }, missing: { cpu: '6' }, why: 'nothing that fits is left' },
  ...{ requirements: ['zone In a'], firstSeenMs: NOW_MS - 60_000 },
};

const DETAIL: NeedDetail = {
  need: NEED,
  sentence: `not met: lacks 6 cpu`,
  ...{ claimed: ['m-1'], claimedTotal: 1, preempts: ['m-9'], preemptsTotal: 1 },
  ...{ shares: [{ machine: 'm-2', amount: { cpu: '1' } }], sharesTotal: 1 },
  matching: { idle: 1, speculative: 2, configured: 3 },
  blocker: null,
  extraSupply: { count: 3, like: 'm-7' },
  candidates: [{ domain: 'rack-1', coverage: 0.5, satisfiable: false }],
  obstacles: [
    {
      ...{ cause: 'claimed', machines: 3, sentence: 'used by rows ahead: top/11ee11ee11' },
      rows: [
        { id: 'top/11ee11ee11', priority: 2000, machines: 2 },
        { id: 'low/22dd22dd22', priority: 10, machines: 1 },
      ],
    },
  ],
  remainders: { sentence: '' },
  onTheWay: [{ state: 'CREATING', machines: 1, sinceMs: NOW_MS, expectedByMs: null }],
  ...{ advice: ['Add 3 machines.'], remarks: ['web is frozen.'], actions: [] },
};

const MACHINE: MachineRow = {
  ...{ id: 'gpu/7', provider: 'p', state: 'CONFIGURED', cluster: 'web', instanceType: 'big', zone: 'a' },
  ...{ capacityType: 'ON_DEMAND', pricePerHour: 1.5, interruptionProbability: 0, allocatable: { cpu: '8' } },
  ...{ labels: { rack: 'r1' }, labelsNotShown: 0, nodeName: 'n-7', hostRef: 'i-7', lastError: '' },
  need: { id: ID, cluster: 'web', priority: 1000 },
  usage: {
    users: [{ need: { id: ID, cluster: 'web', priority: 1000 }, isShare: false, amount: { cpu: '6' } }],
    ...{ usersTotal: 1, leftOver: { cpu: '2' }, sentence: `${ID} takes 6 cpu` },
  },
  ...{ idleSinceMs: null, unclaimed: null, held: null, quarantine: null, isForgotten: false, action: null },
};

const CLUSTER: ClusterRow = {
  ...{ cluster: 'web', hasSession: true, hasReported: true, needs: 4, unmet: 1, costPerHour: 12 },
  cost: { perHour: 12, byPart: { serving: 12 } },
  ...{ machinesByState: { CONFIGURED: 3 }, ownedCost: null, retired: null, cannotBind: '', setAside: null },
  usedShare: { general: 0.634 },
  freeze: { id: 'cluster:web', who: 'alice', why: 'x', sinceMs: NOW_MS, untilMs: null },
  reports: {
    ...{ lastReportMs: NOW_MS, problems: [], remarks: [], remarksTotal: 0 },
    held: { sinceMs: NOW_MS, count: 1, rows: 2, knownRows: 40, isRefused: false },
  },
};

const page = <T>(items: readonly T[], next: string | null = null) => ({
  value: { items, total: items.length, next },
  error: '',
});

describe('the list of Needs', () => {
  it('given a Need that lacks something, then it has its share, its reason and a link', () => {
    const view = needsView({ place: placeOf('#/needs'), nowMs: NOW_MS, needs: page([NEED]) });
    expect(textOf(view)).toContain('25 %');
    expect(textOf(view)).toContain('nothing that fits is left');
    expect(linksOf(view)).toContain(`#/need/web/00ff00ff00`);
  });

  it('given filters in the address, then the fields have them, and the next page keeps them', () => {
    const place = placeOf('#/needs?cluster=web&reason=spend-limit&minPriority=1000');
    const view = needsView({ place, nowMs: NOW_MS, needs: page([NEED], 'cursor') });
    expect(valuesOf(view)).toEqual({ cluster: 'web', minPriority: '1000' });
    expect(linksOf(view)).toContain('#/needs?cluster=web&reason=spend-limit&minPriority=1000&after=cursor');
    expect(textOf(view)).toContain('1 Need that is not met');
  });

  it('given a refusal, then it is shown', () => {
    const view = needsView({
      place: placeOf(''),
      nowMs: 0,
      needs: { value: undefined, error: 'No such cursor.' },
    });
    expect(textOf(view)).toContain('No such cursor.');
  });
});

describe('a Need', () => {
  const view = needView({ id: ID, nowMs: NOW_MS, detail: { value: DETAIL, error: '' } });
  const text = textOf(view);

  it('given an unmet one, then it says why, who is ahead, what would help, and what is on the way', () => {
    expect(text).toContain('Not met: lacks 6 cpu.');
    expect(text).toContain('Nothing that fits is left.');
    expect(text).toContain('web is frozen');
    expect(text).toContain('3 more machines like m-7 would meet it.');
    expect(text).toContain('1 machine starting');
    expect(text).toContain('rack-1 50 %');
  });

  it('given rows of lower priority among the obstacles, then they are not called ahead', () => {
    const [, ahead = ''] = text.split('Who is ahead');
    expect(ahead.split('What would meet it')[0]).toContain('top/11ee11ee11');
    expect(ahead.split('What would meet it')[0]).not.toContain('low/22dd22dd22');
  });

  it('given machines and Needs in it, then each is a link', () => {
    expect(linksOf(view)).toEqual(
      expect.arrayContaining([
        '#/machine/m-1',
        '#/machine/m-2',
        '#/machine/m-7',
        '#/machine/m-9',
        '#/need/top/11ee11ee11',
      ]),
    );
  });

  it('given one that is met, then nothing keeps machines from it and nothing is asked for', () => {
    const met = { ...DETAIL, need: { ...NEED, isMet: true }, sentence: 'met: keeps 1 machine', remarks: [] };
    const shown = textOf(needView({ id: ID, nowMs: NOW_MS, detail: { value: met, error: '' } }));
    expect(shown).toContain('It has all it wants.');
    expect(shown).not.toContain('What would meet it');
  });
});

describe('a Need of a fleet that is being copied', () => {
  it('given no answer yet, then it says why, and that the page asks again', () => {
    const detail = { value: undefined, error: '', waiting: 'The fleet is being copied.' };
    const shown = textOf(needView({ id: ID, nowMs: NOW_MS, detail }));
    expect(shown).toContain('The fleet is being copied. The page asks again.');
  });

  it('given an earlier answer, then that is still shown', () => {
    const detail = { value: DETAIL, error: '', waiting: 'The fleet is being copied.' };
    expect(textOf(needView({ id: ID, nowMs: NOW_MS, detail }))).toBe(
      textOf(needView({ id: ID, nowMs: NOW_MS, detail: { value: DETAIL, error: '' } })),
    );
  });
});

describe('machines', () => {
  it('given a list, then every machine, cluster and Need is a link, and there is a field for each text', () => {
    const view = machinesView({ place: placeOf('#/machines'), machines: page([MACHINE]) });
    expect(linksOf(view)).toEqual(
      expect.arrayContaining([
        '#/machine/gpu%2F7',
        '#/cluster/web',
        '#/need/web/00ff00ff00',
        '#/machines?text=zone%3Da',
      ]),
    );
    expect(textOf(view)).not.toContain('[Filters]');
    expect(valuesOf(view)).toEqual({ text: '', cluster: '', provider: '', labels: '' });
  });

  it('given counts by zone, then each zone leads to a search for it, and states without machines are left out', () => {
    const items = [{ name: 'a', machines: 3, byState: { IDLE: 1, CONFIGURED: 2 } }];
    const view = countsView({ by: 'zone', counts: { items, total: 1 } });
    expect(linksOf(view)).toEqual(['#/machines?text=zone%3Da']);
    expect(textOf(view)).toContain('zone Machines serving idle');
  });

  it('given one machine, then it has who counts on it and what is left over', () => {
    const text = textOf(machineView({ id: 'gpu/7', nowMs: NOW_MS, machine: { value: MACHINE, error: '' } }));
    expect(text).toContain(`${ID} takes 6 cpu.`);
    expect(text).toContain('Left over: 2 cores .');
    expect(text).toContain('rack r1');
  });

  it.each([
    ['a purchase on record', { costSoFar: { sinceMs: NOW_MS - 3_600_000, dollars: 1.5 } }, '$1.50 since'],
    ['none on record', { costSoFar: null }, 'not known'],
    ['no host', { costSoFar: null, hostRef: '' }, null],
  ])('given one with %s, then its cost so far says so', (_, fields, shown) => {
    const machine = { value: { ...MACHINE, ...fields }, error: '' };
    const text = textOf(machineView({ id: 'gpu/7', nowMs: NOW_MS, machine }));
    if (shown === null) expect(text).not.toContain('Cost so far');
    else expect(text).toContain(`Cost so far ${shown}`);
  });

  it('given a machine that does not exist, then the refusal is shown', () => {
    const machine = { value: undefined, error: 'There is no machine x.' };
    expect(textOf(machineView({ id: 'x', nowMs: NOW_MS, machine }))).toContain('There is no machine x.');
  });
});

describe('clusters', () => {
  it('given a list, then it has what is in force and what waits for a person', () => {
    const text = textOf(clustersView({ place: placeOf('#/clusters'), clusters: page([CLUSTER]) }));
    expect(text).toContain('frozen by alice');
    expect(text).toContain('a roll-up with 2 rows instead of 40 is held');
    expect(text).toContain('63 %');
  });

  it('given a search by name, then the field has it, and a name that no cluster has is reported', () => {
    const place = placeOf('#/clusters?cluster=web');
    const view = clustersView({ place, clusters: page<ClusterRow>([]) });
    expect(valuesOf(view)).toEqual({ cluster: 'web' });
    expect(textOf(view)).toContain('No cluster is called web.');
    expect(textOf(clustersView({ place: placeOf('#/clusters'), clusters: page<ClusterRow>([]) }))).toContain(
      'No cluster is known.',
    );
  });

  it('given one, then its sentence has demand and cost', () => {
    const text = textOf(clusterView({ name: 'web', nowMs: NOW_MS, cluster: page([CLUSTER]) }));
    expect(text).toContain('web lacks something for 1 of its 4 Needs and costs $12.00/h.');
    expect(text).toContain('Unfreeze it');
    expect(text).toContain('Used 63 %');
  });

  it('given a name that no cluster has, then the page says so', () => {
    expect(textOf(clusterView({ name: 'x', nowMs: 0, cluster: page<ClusterRow>([]) }))).toContain(
      'no cluster x',
    );
  });
});

const REPORT: CostReport = {
  ...{
    nowMs: NOW_MS,
    by: 'cluster',
    cost: { perHour: 15, byPart: { serving: 12, idle: 3 } },
    ownedCost: null,
  },
  stranded: {
    perHour: 3,
    byHardware: [{ kind: 'general', servingPerHour: 12, usedShare: 0.75, resource: 'cpu', perHour: 3 }],
  },
  spot: {
    ...{ machines: 2, perHour: 1, onDemandPerHour: 4, savesPerHour: 3, interruptionsPerHour: 0.5 },
    ...{ netSavesPerHour: 2.5, unpriced: 1 },
  },
  forecast: {
    ...{ monthEndMs: Date.UTC(2025, 10), hoursLeft: 10, restOfMonth: 150, wholeMonth: 11_160 },
    sinceStart: { fromMs: NOW_MS - 60_000, dollars: 0.25 },
  },
  groups: {
    items: [{ name: 'web', machines: 3, cost: { perHour: 12, byPart: { serving: 12 } } }],
    total: 1,
    next: null,
  },
};

describe('cost', () => {
  const view = costView({
    ...{ place: placeOf('#/cost?by=cluster'), series: undefined },
    report: { value: REPORT, error: '' },
    remedies: { perHour: 5, cheapest: { machines: 0, perHour: 5 }, items: [], total: 0, withoutRemedy: 2 },
  });

  it('given a report by another aspect than the address, then its groups are what they are', () => {
    const byZone = costView({
      ...{ place: placeOf('#/cost?by=cluster'), series: undefined, remedies: undefined },
      report: { value: { ...REPORT, by: 'zone' }, error: '' },
    });
    expect(textOf(byZone)).toContain('By zone');
    expect(linksOf(byZone)).not.toContain('#/cluster/web');
  });

  it('given a report, then it has the forecast, what is not used, and what spot saves net', () => {
    const text = textOf(view);
    expect(text).toContain('$150.00 at the present rate');
    expect(text).toContain('All of 2025-10, 744 h $11,160.00 at the present rate');
    expect(text).toContain('In 730 h');
    expect(text).toContain('$6.00/h, 40 % of the cost');
    expect(text).toContain('Saves, net $2.50/h');
    expect(text).toContain('No known machine would meet what is not met.');
  });

  it('given groups, then they can be loaded as CSV, and lead to their clusters', () => {
    expect(linksOf(view)).toEqual(
      expect.arrayContaining(['/v1/cost?by=cluster&format=csv', '#/cluster/web']),
    );
  });
});

describe('the rest', () => {
  it('given freezes, then each has its author, reason and age, and one with an end has it', () => {
    const freezes = [
      { id: 'fleet', who: 'alice', why: 'maintenance', sinceMs: NOW_MS - 60_000, untilMs: null },
      { id: 'cluster:a', who: 'bob', why: 'x', sinceMs: NOW_MS, untilMs: NOW_MS + 60_000 },
    ];
    const text = textOf(freezesView({ freezes, nowMs: NOW_MS }));
    expect(text).toContain('the whole fleet alice maintenance for 1 min when lifted');
    expect(text).toContain(`cluster:a bob x for 0 s ${moment(NOW_MS + 60_000, NOW_MS)}`);
  });

  it('given a history, then each line has its time, its cycle and links', () => {
    const [line] = historyLines(
      [
        {
          ...{ id: '1', atMs: NOW_MS, cycle: 7, epoch: 3, kind: 'need', machine: null, need: ID },
          cluster: 'web',
          event: { kind: 'need', need: { id: ID }, reason: null, missing: {} },
        },
      ],
      NOW_MS,
    );
    expect(textOf(line!.text)).toContain('is met, or withdrawn');
    expect(textOf(line!.text)).toContain('cycle 7');
    expect(linksOf(line!.text)).toEqual(['#/need/web/00ff00ff00', '#/cycle/7?epoch=3']);
  });

  it('given a history that is cut, then the rest is on the timeline with the same filter', () => {
    const cut = { items: [], total: null, next: 'cursor' };
    expect(linksOf(moreView({ machine: 'gpu/7' }, cut)!)).toEqual(['#/timeline?machine=gpu%2F7']);
    expect(moreView({ machine: 'gpu/7' }, { ...cut, next: null })).toBeNull();
  });

  it('given a failed question, then the box shows the refusal', () => {
    const asked = { isBusy: false, waiting: '', error: 'Name a zone.', answer: null };
    expect(textOf(answerView(asked)!)).toBe('Name a zone.');
  });

  it('given a shard that copies its fleet first, then the box says so and shows no failure', () => {
    const asked = { isBusy: true, waiting: 'The fleet is being copied.', error: '', answer: null };
    expect(textOf(answerView(asked)!)).toBe('The fleet is being copied. The page asks again.');
  });
});

describe('a caller who may not order', () => {
  const FROZEN = freezesView({
    freezes: [{ id: 'fleet', who: 'ann', why: 'x', sinceMs: NOW_MS, untilMs: null }],
    nowMs: NOW_MS,
  });
  const pages = {
    'a cluster': clusterView({ name: 'web', nowMs: NOW_MS, cluster: page([CLUSTER]) }),
    freezes: FROZEN,
  };

  function calledBy(role: 'view' | 'operate'): void {
    vi.spyOn(store, 'state', 'get').mockReturnValue({ ...store.state, caller: { name: 'otto', role } });
  }
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(Object.entries(pages))('given the role view, then the buttons of %s are off', (_, view) => {
    calledBy('view');
    expect(buttonsOf(view).map(([, isEnabled]) => isEnabled)).toEqual([false]);
    calledBy('operate');
    expect(buttonsOf(view).map(([, isEnabled]) => isEnabled)).toEqual([true]);
  });

  it('given the role view, then a sentence says why, and otherwise there is none', () => {
    calledBy('view');
    expect(textOf(pages['a cluster'])).toContain('otto may view and not order');
    calledBy('operate');
    expect(textOf(pages['a cluster'])).not.toContain('otto');
  });
});
