// Test support: a shard with fixed views, orders that are only recorded, and events from the test. Imported by tests of
// the HTTP API and of the commands that call it, and by test/hostile.

import { unmetText } from '../../src/model/index.ts';
import type {
  ActionView,
  Answer,
  ClusterView,
  EventView,
  MachineView,
  NeedExplanation,
  NeedView,
  Order,
  OrderResult,
  Page,
  PlanView,
  QuestionName,
  Questions,
  SeriesPoint,
  SeriesView,
  ShardEvent,
  ShardPort,
  ShortfallView,
  StatusView,
} from '../../src/shard/index.ts';
import { offsetPage, type PageAsk, pageOf } from '../../src/shard/planning/queries/pages.ts';
import { recentHistory } from '../../src/shard/planning/queries/recent-history.ts';
import type { WaitingActionView } from '../../src/shard/views.ts';
import { aCost } from './costs.ts';

export const NOW_MS = 1_760_000_000_000;
const MINUTE = 60_000;

const CHECKOUT = { id: 'prod-eu/3fa94c01de', cluster: 'prod-eu', group: 'checkout', priority: 1000 };
const TRAINING = { id: 'ml/00ff00ff00', cluster: 'ml', group: 'training', priority: 100 };

const NO_KINDS = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };

export const BOOTSTRAP: ActionView = {
  id: 'a-1',
  kind: 'Bootstrap',
  machine: 'm-1',
  provider: 'metal',
  cluster: 'prod-eu',
  need: CHECKOUT,
  reason: 'phase1.idle',
  startedMs: NOW_MS - 3 * MINUTE,
  endedMs: NOW_MS - 2 * MINUTE,
  outcome: 'success',
  message: '',
  attempts: 1,
};

const CREATE: ActionView = {
  ...BOOTSTRAP,
  id: 'a-2',
  kind: 'Provision',
  machine: 'gpu/7',
  provider: 'cloud',
  cluster: 'ml',
  need: TRAINING,
  reason: 'phase1.speculative',
  startedMs: NOW_MS - 30_000,
  endedMs: null,
  outcome: null,
  message: 'the zone is out of stock',
  attempts: 3,
};

const M1: MachineView = {
  id: 'm-1',
  provider: 'metal',
  state: 'CONFIGURED',
  cluster: 'prod-eu',
  instanceType: 'bm.large',
  zone: 'eu-1a',
  capacityType: 'BARE_METAL',
  pricePerHour: 1.5,
  interruptionProbability: 0,
  allocatable: { cpu: '63500m', memory: '256Gi' },
  labels: { rack: 'r1' },
  labelsNotShown: 0,
  nodeName: '',
  drain: null,
  protectedUntilMs: null,
  hostRef: 'metal/host-1',
  lastError: '',
  need: CHECKOUT,
  usage: null,
  idleSinceMs: null,
  renewal: null,
  unclaimed: null,
  held: null,
  quarantine: null,
  isForgotten: false,
  action: null,
};

export const MACHINES: readonly MachineView[] = [
  M1,
  { ...M1, id: 'm-2', state: 'IDLE', cluster: '', need: null, idleSinceMs: NOW_MS - 5 * MINUTE },
  {
    ...M1,
    id: 'gpu/7',
    provider: 'cloud',
    state: 'CREATING',
    cluster: '',
    instanceType: 'gpu.8x',
    capacityType: 'SPOT',
    pricePerHour: 12.3456,
    interruptionProbability: 0.05,
    hostRef: '',
    need: TRAINING,
    action: CREATE,
  },
  {
    ...M1,
    id: 'm-4',
    state: 'FAILED',
    cluster: '',
    need: null,
    lastError: 'disk \u001b[31mdied',
    quarantine: { by: 'ann@desk', why: 'smells of smoke', sinceMs: NOW_MS - 90 * MINUTE },
    isForgotten: true,
  },
];

const MET: NeedView = {
  ...CHECKOUT,
  fingerprint: 'p=1',
  wants: { cpu: '64', memory: '256Gi' },
  minUnit: { cpu: '4' },
  requirements: ['topology.kubernetes.io/zone In [eu-1a]'],
  firstSeenMs: NOW_MS - 180 * MINUTE,
  isMet: true,
  missing: {},
  claimed: 1,
  bootstraps: 0,
  provisions: 0,
  preempts: 0,
  domain: null,
  reason: null,
  why: '',
  unmetCycles: 0,
  isFolded: false,
};

export const UNMET: NeedView = {
  ...MET,
  ...TRAINING,
  wants: { cpu: '128', memory: '1649267441664', 'nvidia.com/gpu': '16' },
  minUnit: { 'nvidia.com/gpu': '8' },
  requirements: ['rack Same'],
  isMet: false,
  missing: { 'nvidia.com/gpu': '8' },
  claimed: 1,
  provisions: 1,
  domain: 'r1',
  reason: 'topology-unsatisfiable',
  why: unmetText('topology-unsatisfiable'),
  unmetCycles: 14,
};

export const MET_EXPLANATION: NeedExplanation = {
  need: MET,
  sentence: 'met: keeps 1 machine',
  claimed: ['m-1'],
  claimedTotal: 1,
  shares: [],
  sharesTotal: 0,
  preempts: [],
  preemptsTotal: 0,
  matching: { idle: 1, speculative: 4, configured: 1 },
  blocker: null,
  extraSupply: null,
  candidates: [],
  obstacles: [],
  remainders: { matching: 0, holdingUnit: 0, sentence: '' },
  onTheWay: [],
  advice: [],
  remarks: [],
  actions: [BOOTSTRAP],
};

export const UNMET_EXPLANATION: NeedExplanation = {
  need: UNMET,
  sentence: 'not met: buys 1 machine, preempts 1 machine, lacks 8 nvidia.com/gpu',
  claimed: ['gpu/7'],
  claimedTotal: 1,
  shares: [],
  sharesTotal: 0,
  preempts: ['m-1'],
  preemptsTotal: 1,
  matching: { idle: 0, speculative: 1, configured: 2 },
  blocker: CHECKOUT,
  extraSupply: { count: 2, like: 'gpu/7' },
  candidates: [
    { domain: 'r1', coverage: 0.5, satisfiable: false },
    { domain: 'r2', coverage: 0.125, satisfiable: false },
  ],
  obstacles: [
    {
      cause: 'failed',
      machines: 12,
      zones: [{ zone: 'eu-1a', machines: 12 }],
      error: 'host lost',
      sentence: '12 have failed: 12 in eu-1a; the last one: host lost.',
    },
  ],
  remainders: {
    matching: 3,
    holdingUnit: 0,
    sentence: '3 remainders match, none holds its largest pod (8 nvidia.com/gpu)',
  },
  onTheWay: [
    { state: 'CREATING', machines: 1, sinceMs: NOW_MS - 2 * MINUTE, expectedByMs: NOW_MS + 3 * MINUTE },
  ],
  advice: ['Add machines to one of its domains, or let the work be split.'],
  remarks: ['Provision is frozen for the whole fleet by ann@desk: budget.'],
  actions: [CREATE],
};

export const CLUSTERS: readonly ClusterView[] = [
  {
    cluster: 'prod-eu',
    hasSession: true,
    hasReported: true,
    needs: 1,
    unmet: 0,
    machinesByState: { CONFIGURED: 1 },
    costPerHour: 1.5,
    cost: aCost({ serving: 1.5 }),
    ownedCost: null,
    usedShare: { general: 0.634 },
    freeze: null,
    retired: null,
    cannotBind: '',
    setAside: null,
    reports: null,
  },
  {
    cluster: 'ml',
    hasSession: false,
    hasReported: false,
    needs: 1,
    unmet: 1,
    machinesByState: { CONFIGURED: 2, DRAINING: 1 },
    costPerHour: 12_345.67,
    cost: aCost({ serving: 12_340.67, draining: 5 }),
    ownedCost: null,
    usedShare: { general: 0.5, accelerated: 1 },
    freeze: null,
    retired: null,
    cannotBind: 'no session',
    setAside: null,
    reports: null,
  },
];

export const STATUS: StatusView = {
  shard: 'shard-0',
  epoch: 3,
  startedMs: NOW_MS - 200 * MINUTE,
  nowMs: NOW_MS,
  phase: 'running',
  dryRun: false,
  cycle: {
    number: 42,
    atMs: NOW_MS - 500,
    durationMs: 12.3,
    unmet: 1,
    metClaimChanges: 0,
    decided: { ...NO_KINDS, Provision: 1, Preempt: 1 },
    admitted: { ...NO_KINDS, Preempt: 1 },
    waiting: { frozen: 1 },
    heldBack: [
      {
        why: 'frozen',
        total: 1,
        needs: 1,
        kinds: { Provision: 1 },
        buysPerHour: 12.3456,
        releasesPerHour: 0,
      },
    ],
  },
  machines: 4,
  machinesByState: { CONFIGURED: 1, IDLE: 1, CREATING: 1, FAILED: 1 },
  costPerHour: 15.3456,
  cost: aCost({ serving: 12.004, joining: 0.3366, idle: 3, failed: 0.005 }),
  ownedCost: null,
  needs: 2,
  clusters: 2,
  sessions: 1,
  shortfalls: 1,
  escalated: 1,
  unmetByAge: [{ priority: 'service', age: '10-59', count: 1 }],
  freezes: 1,
  supply: { cpu: { wanted: 192, configured: 63.5 }, memory: { wanted: 2 ** 40, configured: 2 ** 38 } },
  hardware: [
    {
      ...{ kind: 'general', needs: 2, unmetNeeds: 1 },
      resources: {
        cpu: { wanted: 192, served: 32, coming: 32, unmet: 128, offered: 63.5, used: 32 },
        memory: {
          wanted: 2 ** 40,
          served: 2 ** 38,
          coming: 0,
          unmet: 2 ** 40 - 2 ** 38,
          offered: 2 ** 38,
          used: 2 ** 38,
        },
      },
    },
    { kind: 'accelerated', needs: 0, unmetNeeds: 0, resources: {} },
  ],
  providers: [
    {
      name: 'metal',
      breaker: 'closed',
      denial: '',
      machines: 3,
      waiting: 0,
      hasListed: true,
      lastListMs: NOW_MS - 4_000,
      lastError: '',
      heldLosses: 0,
      health: { state: 'fine', machines: 10, failing: 0, failedPurchases: 0, zones: [] },
    },
    {
      name: 'cloud',
      breaker: 'open',
      denial: '',
      machines: 1,
      waiting: 7,
      hasListed: false,
      lastListMs: null,
      lastError: 'deadline exceeded',
      heldLosses: 12,
      health: { state: 'fine', machines: 10, failing: 0, failedPurchases: 0, zones: [] },
    },
  ],
};

export const SHORTFALL: ShortfallView = {
  ...TRAINING,
  missing: UNMET.missing,
  reason: 'topology-unsatisfiable',
  why: unmetText('topology-unsatisfiable'),
  ageCycles: 14,
  isEscalated: true,
};

export const FREEZE = {
  id: 'action:Provision',
  cluster: null,
  action: 'Provision',
  who: 'ann@desk',
  why: 'budget',
  sinceMs: NOW_MS - 10 * MINUTE,
  untilMs: NOW_MS + 50 * MINUTE,
} as const;

const WAITING: WaitingActionView = {
  kind: 'Provision',
  machine: 'gpu/8',
  cluster: 'ml',
  reason: 'phase1.speculative',
  why: 'frozen',
  provider: 'cloud',
  capacityType: 'SPOT',
  zone: 'eu-1a',
  pricePerHour: 12.3456,
  need: TRAINING,
  freeze: { id: FREEZE.id, who: FREEZE.who, why: FREEZE.why },
};

export const PLAN: Omit<PlanView, 'actions'> = {
  cycle: 42,
  atMs: NOW_MS - 500,
  dryRun: false,
  heldBack: STATUS.cycle!.heldBack,
  frozenClusters: [],
};

const POINT: SeriesPoint = {
  atMs: NOW_MS - 20_000,
  costPerHour: 15.3456,
  costByPart: {},
  machinesByState: STATUS.machinesByState,
  needs: 2,
  unmet: 1,
  begun: 1,
  failed: 0,
};

export const SERIES: SeriesView = {
  nowMs: NOW_MS,
  fromMs: POINT.atMs,
  points: [POINT, { ...POINT, atMs: NOW_MS - 10_000, unmet: 0 }],
};

export const EVENTS: readonly EventView[] = [
  { id: '3-1', atMs: NOW_MS - 2 * MINUTE, kind: 'action-ended', action: BOOTSTRAP },
  {
    ...{ id: '3-2', atMs: NOW_MS - MINUTE, kind: 'log', level: 'error', event: 'provider-breaker' },
    fields: { provider: 'cloud', state: 'open' },
  },
];

/** A page of a list in a fixed order, with item keys as positions. */
export function fakePage<T>(ask: PageAsk, items: readonly T[], keyOf: (item: T) => string): Page<T> {
  const from = ask.after === undefined ? 0 : items.findIndex((item) => keyOf(item) === ask.after) + 1;
  return pageOf(ask, {
    entries: items.slice(from),
    total: items.length,
    viewOf: (item) => item,
    positionOf: keyOf,
  });
}

const COST_REPORT: Answer<'cost'> = {
  nowMs: NOW_MS,
  by: 'cluster',
  cost: aCost({ serving: 12.004, joining: 0.3366, idle: 3, failed: 0.005 }),
  ownedCost: null,
  stranded: {
    perHour: 3.001,
    byHardware: [
      { kind: 'general', servingPerHour: 12.004, usedShare: 0.75, resource: 'cpu', perHour: 3.001 },
    ],
  },
  spot: {
    ...{ machines: 1, perHour: 0.3, onDemandPerHour: 1, savesPerHour: 0.7 },
    ...{ interruptionsPerHour: 0.1, netSavesPerHour: 0.6, unpriced: 0 },
  },
  forecast: {
    monthEndMs: NOW_MS + 10 * 60 * MINUTE,
    ...{ hoursLeft: 10, restOfMonth: 153.46, wholeMonth: 11_417.13 },
    sinceStart: { fromMs: NOW_MS - 200 * MINUTE, dollars: 51.15 },
  },
  groups: {
    items: [
      { name: 'web', machines: 2, cost: aCost({ serving: 12.004 }) },
      { name: '', machines: 2, cost: aCost({ joining: 0.3366, idle: 3, failed: 0.005 }) },
    ],
    total: 2,
    next: null,
  },
};

const COST_SERIES: Answer<'costSeries'> = {
  nowMs: NOW_MS,
  by: 'cluster',
  stepMs: MINUTE,
  names: ['web', '=other, "x"'],
  points: [
    { atMs: NOW_MS - MINUTE, perHour: 15, byName: { web: 12, '=other, "x"': 3 } },
    { atMs: NOW_MS, perHour: 12, byName: { web: 12 } },
  ],
};

const REMEDIES: Answer<'remedies'> = {
  perHour: 24.6912,
  cheapest: { machines: 16, perHour: 20.5 },
  items: [
    {
      ...{ need: UNMET, count: 2, like: 'm-3', instanceType: 'big', zone: 'a', capacityType: 'ON_DEMAND' },
      ...{ pricePerHour: 12.3456, perHour: 24.6912 },
    },
  ],
  total: 1,
  withoutRemedy: 0,
};

type Answers = { [Q in QuestionName]: (ask: Questions[Q]['ask']) => Answer<Q> };

export class FakeShard implements ShardPort {
  readonly asked: { readonly name: QuestionName; readonly ask: object }[] = [];
  readonly orders: Order[] = [];
  readonly listeners = new Set<(event: ShardEvent) => void>();
  /** The result of every order. */
  result: OrderResult = { isDone: true, message: 'Done.' };
  readonly answers: Answers = {
    status: () => STATUS,
    machines: ({ where, ...ask }) => {
      const items = MACHINES.filter(
        ({ id, state, cluster, isForgotten }) =>
          (where.id ?? id) === id &&
          (where.state ?? state) === state &&
          (where.cluster ?? cluster) === cluster &&
          (where.withForgotten === true || !isForgotten),
      );
      return fakePage(ask, items, ({ id }) => (ask.order === 'trouble' ? `1 ${id}` : id));
    },
    needs: ({ onlyUnmet, reason, minPriority = 0, ...ask }) =>
      offsetPage(
        ask,
        [MET, UNMET].filter(
          (need) =>
            !(onlyUnmet && need.isMet) &&
            (reason === undefined || need.reason === reason) &&
            need.priority >= minPriority,
        ),
      ),
    explain: ({ need }) =>
      [MET_EXPLANATION, UNMET_EXPLANATION].find((story) => story.need.id === need) ?? null,
    clusters: ({ cluster: wanted, ...ask }) => {
      const items = CLUSTERS.filter(({ cluster }) => (wanted ?? cluster) === cluster);
      return fakePage(ask, items, ({ cluster }) => cluster);
    },
    shortfalls: (ask) => offsetPage(ask, [SHORTFALL]),
    actions: (ask) => ({
      actions: fakePage(ask, [CREATE, BOOTSTRAP], ({ startedMs, id }) => `${startedMs} ${id}`),
      waiting: offsetPage({ ...ask, after: ask.only === 'waiting' ? ask.after : undefined }, [WAITING]),
    }),
    plan: (ask) => ({ ...PLAN, actions: offsetPage(ask, [WAITING]) }),
    series: ({ sinceMs }) => ({ ...SERIES, points: SERIES.points.filter(({ atMs }) => atMs > sinceMs) }),
    events: ({ sinceMs = 0, limit }) => {
      const items = EVENTS.filter(({ atMs }) => atMs >= sinceMs);
      return { items: items.slice(-limit), total: items.length };
    },
    history: (ask) => recentHistory(EVENTS, ask),
    inspect: () => [],
    freezes: ({ id, ...ask }) => offsetPage(ask, id === undefined || id === FREEZE.id ? [FREEZE] : []),
    cost: (ask) => ({ ...COST_REPORT, by: ask.by, groups: offsetPage(ask, COST_REPORT.groups.items) }),
    costSeries: ({ by, sinceMs }) => ({
      ...COST_SERIES,
      by,
      points: COST_SERIES.points.filter(({ atMs }) => atMs > sinceMs),
    }),
    remedies: () => REMEDIES,
    machineCounts: ({ by }) => ({
      by,
      items: [{ name: 'zone-a', machines: 3, byState: { CONFIGURED: 2, IDLE: 1 } }],
      total: 1,
    }),
    explainUnlessLarge: () => null,
    explainFound: () => {
      throw new Error('This shard has no replica.');
    },
    replica: () => null,
    metrics: () => '# HELP up one\nup 1\n',
  };

  async ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    this.asked.push({ name, ask });
    return this.answers[name](ask);
  }

  async order(order: Order): Promise<OrderResult> {
    this.orders.push(order);
    return this.result;
  }

  listen(listener: (event: ShardEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  publish(event: ShardEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
