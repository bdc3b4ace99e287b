// Test support: a fake shard for the live views: a status, and a port with scripted answers. Imported by the tests of
// `bigfleet up` (src/cli/up).

import { unmetText } from '../../src/model/index.ts';
import type {
  ActionView,
  ClusterView,
  Order,
  SeriesPoint,
  ShardEvent,
  ShardPort,
  ShortfallView,
  StatusView,
  WaitingActionView,
} from '../../src/shard/index.ts';

export const PLACE = { url: 'http://127.0.0.1:7777', call: 'bigfleet' };

const NO_COST = { serving: 0, onHold: 0, joining: 0, idle: 0, draining: 0, deleting: 0, failed: 0 };
const NONE = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };

export const STATUS: StatusView = {
  shard: 'shard-0',
  epoch: 3,
  startedMs: 0,
  nowMs: 125_000,
  phase: 'running',
  dryRun: false,
  cycle: {
    number: 1234,
    atMs: 124_000,
    durationMs: 12.3,
    unmet: 5,
    metClaimChanges: 0,
    decided: NONE,
    admitted: NONE,
    waiting: {},
    heldBack: [],
  },
  machines: 2650,
  machinesByState: { SPECULATIVE: 1500, CREATING: 12, IDLE: 30, CONFIGURING: 8, CONFIGURED: 1080, FAILED: 1 },
  costPerHour: 1234.5,
  cost: { perHour: 1234.5, byPart: { ...NO_COST, serving: 1200, joining: 8.5, idle: 25, failed: 1 } },
  ownedCost: null,
  needs: 2328,
  clusters: 6,
  sessions: 6,
  shortfalls: 5,
  escalated: 1,
  unmetByAge: [{ priority: 'critical', age: '1-9', count: 5 }],
  freezes: 0,
  supply: {
    cpu: { wanted: 12_400, configured: 12_000 },
    memory: { wanted: 48 * 1024 ** 4, configured: 52 * 1024 ** 4 },
    'nvidia.com/gpu': { wanted: 64, configured: 0 },
  },
  hardware: [
    {
      ...{ kind: 'general', needs: 2320, unmetNeeds: 1 },
      resources: {
        cpu: { wanted: 12_000, served: 11_000, coming: 600, unmet: 400, offered: 12_500, used: 11_000 },
        memory: {
          ...{ wanted: 48 * 1024 ** 4, served: 48 * 1024 ** 4, coming: 0, unmet: 0 },
          ...{ offered: 50 * 1024 ** 4, used: 48 * 1024 ** 4 },
        },
      },
    },
    {
      ...{ kind: 'accelerated', needs: 8, unmetNeeds: 4 },
      resources: {
        cpu: { wanted: 400, served: 200, coming: 0, unmet: 200, offered: 6000, used: 200 },
        'nvidia.com/gpu': { wanted: 64, served: 32, coming: 0, unmet: 32, offered: 40, used: 32 },
      },
    },
  ],
  providers: ['metal', 'cloud'].map((name) => ({
    name,
    breaker: 'closed',
    denial: '',
    machines: 1325,
    waiting: 0,
    hasListed: true,
    lastListMs: 120_000,
    lastError: '',
    heldLosses: 0,
    health: { state: 'fine', machines: 10, failing: 0, failedPurchases: 0, zones: [] },
  })),
};

export function actionOf(number: number, change: Partial<ActionView> = {}): ActionView {
  return {
    id: `a-${number}`,
    kind: 'Provision',
    machine: `m-${number}`,
    provider: 'cloud',
    capacityType: 'SPOT',
    zone: 'zone-a',
    cluster: 'cluster-3',
    need: null,
    reason: 'phase1.speculative',
    startedMs: number * 1000,
    endedMs: null,
    outcome: null,
    message: '',
    attempts: 1,
    ...change,
  };
}

/** A point of the series at `second`. */
export function pointOf(second: number, change: Partial<SeriesPoint> = {}): SeriesPoint {
  return {
    ...{ atMs: second * 1000, costPerHour: 1, costByPart: {}, machinesByState: { CONFIGURED: 8 } },
    ...{ needs: 3, unmet: 0, begun: 0, failed: 0, ...change },
  };
}

export function plannedOf(number: number): WaitingActionView {
  return {
    ...{ kind: 'Provision', machine: `m-${number}`, provider: 'cloud', cluster: 'cluster-3' },
    ...{ capacityType: 'SPOT', zone: 'zone-a', need: null, reason: 'phase1.speculative' },
    ...{ why: 'frozen', freeze: { id: 'fleet', who: 'ann', why: 'a look' }, pricePerHour: 0.5 },
  };
}

export function shortfallOf(number: number): ShortfallView {
  return {
    id: `cluster-${number}/0123456789`,
    cluster: `cluster-${number}`,
    group: '',
    priority: 100,
    missing: { cpu: '12', memory: '48Gi' },
    reason: 'no-fitting-supply',
    why: unmetText('no-fitting-supply'),
    ageCycles: 3,
    isEscalated: false,
  };
}

export function clusterOf(number: number, unmet = 0): ClusterView {
  return {
    cluster: `cluster-${number}`,
    hasSession: true,
    hasReported: true,
    needs: 388,
    unmet,
    machinesByState: { CONFIGURED: 180 },
    costPerHour: 200,
    cost: { perHour: 200, byPart: { ...NO_COST, serving: 200 } },
    ownedCost: null,
    usedShare: { general: 0.5 },
    freeze: null,
    retired: null,
    cannotBind: '',
    setAside: null,
    reports: null,
  };
}

const NO_PAGE = { items: [], total: 0, next: null };
const NO_PLAN = { cycle: 1234, atMs: 124_000, dryRun: false, heldBack: [], frozenClusters: [] };

/** Answers queries of a view, records its orders, and emits events on demand. */
export class FakePort implements ShardPort {
  readonly orders: Order[] = [];
  readonly listeners = new Set<(event: ShardEvent) => void>();
  answers: Record<string, unknown> = {
    ...{ shortfalls: NO_PAGE, clusters: NO_PAGE, freezes: NO_PAGE },
    plan: { ...NO_PLAN, actions: NO_PAGE },
    series: { nowMs: 125_000, fromMs: null, points: [] },
    events: NO_PAGE,
    machines: NO_PAGE,
  };

  async ask<T>(name: string): Promise<T> {
    return this.answers[name] as T;
  }

  async order(order: Order): Promise<{ isDone: boolean; message: string }> {
    this.orders.push(order);
    return { isDone: true, message: `done: ${order.kind}` };
  }

  listen(listener: (event: ShardEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  publish(event: ShardEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
