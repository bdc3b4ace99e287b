// The plan of a simulated world: its parts and its faults, drawn from one seed and plain data afterwards. Leaving parts
// out gives a smaller world, so a failing plan can be shrunk (shrink.ts). world.ts executes it.

import type { DrainHabit } from '../../src/demo/operator/index.ts';
import type { ActionKind } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';

export interface RowPlan {
  readonly priority: number;
  /** Demand in machines of 4 cpu, at least 1. */
  readonly machines: number;
  /** The largest pod, in millicores. */
  readonly podCpu: number;
  readonly kind: 'plain' | 'gang' | 'spread';
  /** Distinguishes rows of one cluster; for a gang also its co-location group. */
  readonly group: string;
  /** Interruption penalty bucket; rows with a high one avoid spot hosts. */
  readonly penalty: number;
  /** Millicores by which it wants less than its machines have; others may share them. */
  readonly slackCpu: number;
  /** Whether it is reported without its group, so that it may share machines of others. */
  readonly canBorrow: boolean;
}

export interface ClusterPlan {
  readonly name: string;
  readonly rows: readonly RowPlan[];
  /** Its operator reports drains, some of them blocked; absent: it does not. */
  readonly drains?: DrainHabit;
}

/** Probabilities per call or frame, and times in ms. */
export interface Weather {
  readonly delayMs: number;
  /** The request never arrives. */
  readonly lostCalls: number;
  readonly lostAnswers: number;
  /** Share of lost calls for which the caller receives no error and waits for its timeout. */
  readonly silent: number;
  readonly doubled: number;
  /** Delayed by up to `heldMs`, so that later calls overtake it. */
  readonly blocked: number;
  readonly heldMs: number;
  /** Lists that lack records without any sign of it. */
  readonly partialLists: number;
  /** Frames of a session that are delayed, together with all frames behind them. */
  readonly stalls: number;
}

/** Faults of the clouds themselves during the storm. */
export interface CloudWeather {
  readonly transientError: number;
  readonly permanentError: number;
  readonly hang: number;
  readonly neverReady: number;
  readonly outOfStock: number;
  readonly priceSwing: number;
  /** Probability per hour that a host dies. */
  readonly deathsPerHour: number;
}

/** Injected faults. Times are ms from the start; `target` is taken modulo the number of possible targets. */
export type WorldEvent = { readonly atMs: number; readonly forMs: number; readonly target: number } & (
  | {
      /** The shard is killed and restarted after `forMs`. */
      readonly kind: 'crash';
      /** Kills at the n-th write from now on, before or after it is durable; 0: immediately. */
      readonly atWrite: number;
      readonly isWritten: boolean;
    }
  /** A second process of the shard starts while this one keeps running; the old one continues, cut off from the disk. */
  | { readonly kind: 'twin'; readonly keepsSessions: boolean }
  /** The provider's process is killed and restarted on its store. */
  | { readonly kind: 'provider-restart' }
  /** The provider is unreachable. */
  | { readonly kind: 'provider-outage' }
  | { readonly kind: 'stream-break' }
  /** A new operator process without state replaces the current one. */
  | { readonly kind: 'operator-restart' }
  | { readonly kind: 'operator-silence' }
  | { readonly kind: 'no-blobs'; readonly habit: 'ignore' | 'refuse' }
  /** A row wants `machines` machines until the calm; 0 removes the row. */
  | { readonly kind: 'demand'; readonly row: number; readonly machines: number }
  /** The operator reports almost nothing for `forMs`. */
  | { readonly kind: 'collapse' }
  /** The shard restarts together with an operator that reports almost nothing once and then goes silent. */
  | { readonly kind: 'blank-restart' }
  /** The next roll-up is corrupted. */
  | { readonly kind: 'malformed'; readonly how: 'bytes' | 'cluster' | 'row' }
  | { readonly kind: 'freeze'; readonly isCluster: boolean; readonly action: ActionKind | null }
  | { readonly kind: 'interruption'; readonly count: number; readonly isSpot: boolean }
  | { readonly kind: 'stock-out' }
  /** The network becomes much worse. */
  | { readonly kind: 'squall' }
  | StrainEvent
);

/** Drawn from a random stream of their own, so that adding them does not change the other events of a seed. */
type StrainEvent =
  /** Graceful stop: the shard completes or hands back in-flight actions, and is restarted after `forMs`. */
  | { readonly kind: 'stop' }
  /** The controller of the shard lags behind, so demand queues. */
  | { readonly kind: 'controller-behind' };

/** The rules for shared machines. */
interface SharedRules {
  readonly reclaimHoldSeconds: number;
}

/** How fast machines are replaced by cheaper ones during the storm. */
interface RenewalPlan {
  readonly waitMs: number;
  readonly markMs: number;
}

export interface WorldPlan {
  readonly seed: number;
  /** null: one row per machine, and unclaimed machines are given back at once. */
  readonly shared: SharedRules | null;
  /** null: as in production, where nothing is replaced within the time of a world. */
  readonly renewal: RenewalPlan | null;
  readonly clusters: readonly ClusterPlan[];
  /** By provider. */
  readonly machines: readonly number[];
  readonly weather: Weather;
  readonly clouds: CloudWeather;
  readonly events: readonly WorldEvent[];
  readonly stormMs: number;
  readonly reclaimFraction: number;
  readonly maxActionsPerCycle: number;
  readonly fullListMs: number;
  /** Machines wanted by the tail row at first. */
  readonly rise: number;
  /** Whether one of the machines acquired for the tail row is lost. */
  readonly hasTailLoss: boolean;
  /** Time from the last rise in demand until the shard is killed; null: it is not killed. */
  readonly tailCrashMs: number | null;
}

const PRIORITIES = [100, 1000, 50_000, 700_000] as const;
const KINDS: readonly (ActionKind | null)[] = [
  'Bootstrap',
  'Provision',
  'Preempt',
  'Reclaim',
  'Delete',
  null,
];
/** From this number of rows on, a cluster is protected from reports that lose nearly all of them. */
const WIDE_ROWS = 11;

/** Relative frequency of each kind of event. */
const EVENT_WEIGHTS: Readonly<Record<Exclude<WorldEvent['kind'], StrainEvent['kind']>, number>> = {
  crash: 7,
  twin: 3,
  'provider-restart': 3,
  'provider-outage': 3,
  'stream-break': 4,
  'operator-restart': 3,
  'operator-silence': 3,
  'no-blobs': 3,
  demand: 20,
  collapse: 4,
  'blank-restart': 4,
  malformed: 3,
  freeze: 5,
  interruption: 5,
  'stock-out': 3,
  squall: 3,
};
const EVENT_KINDS = Object.keys(EVENT_WEIGHTS) as (keyof typeof EVENT_WEIGHTS)[];
const STRAIN_KINDS: readonly StrainEvent['kind'][] = ['stop', 'controller-behind', 'controller-behind'];

export function drawPlan(seed: number): WorldPlan {
  const random = new Random(seed, 0x3071d);
  const stormMs = random.between(60, 130) * 1000;
  const isWide = random.chance(0.4);
  const machines = isWide ? [42, 28] : [random.between(16, 42), random.between(8, 28)];
  const clusters = drawClusters(random, machines[0]! + machines[1]!, isWide);
  const count = random.between(4, 20);
  const events = Array.from({ length: count }, () => drawEvent(random, stormMs, isWide));
  const shared = drawShared(seed);
  return {
    seed,
    shared,
    renewal: shared === null ? null : drawRenewal(seed),
    clusters: withDrains(seed, shared === null ? clusters : withSharing(seed, clusters)),
    machines,
    weather: drawWeather(random),
    clouds: drawClouds(random),
    events: [...events, ...drawStrains(seed, stormMs)].sort((a, b) => a.atMs - b.atMs),
    stormMs,
    reclaimFraction: random.pick([0.1, 0.3, 0.5]),
    maxActionsPerCycle: random.pick([0, 0, 0, 3]),
    fullListMs: random.pick([12_000, 45_000]),
    rise: random.between(1, 3),
    hasTailLoss: random.chance(0.4),
    tailCrashMs: random.chance(0.4) ? random.between(1, 9000) : null,
  };
}

/** Demand is at most a part of the machines, so that all of it can be met after the storm. */
function drawClusters(random: Random, machines: number, isWide: boolean): readonly ClusterPlan[] {
  let left = Math.floor(machines * 0.4);
  return Array.from({ length: random.between(2, 4) }, (_, i) => {
    const count = isWide && i === 0 ? WIDE_ROWS : random.between(1, 3);
    const rows: RowPlan[] = [];
    for (let n = 0; n < count && left > 0; n++) {
      const row = drawRow(random, `g${n}`, isWide && i === 0);
      left -= row.machines;
      rows.push(row);
    }
    return { name: `c${i + 1}`, rows };
  });
}

function drawRow(random: Random, group: string, isSmall: boolean): RowPlan {
  const kinds = [14, 1, 2] as const;
  const kind = (['plain', 'gang', 'spread'] as const)[isSmall ? 0 : random.weighted(kinds)]!;
  return {
    priority: random.pick(PRIORITIES),
    machines: isSmall ? 1 : random.between(1, 4),
    podCpu: random.pick([500, 1000, 4000]),
    kind,
    group,
    penalty: random.pick([0, 0, 4, 12]),
    ...{ slackCpu: 0, canBorrow: false },
  };
}

/** From a random stream of its own, like strains. */
function drawShared(seed: number): SharedRules | null {
  const random = new Random(seed, 0x3076d);
  return random.chance(0.5) ? { reclaimHoldSeconds: random.between(10, 40) } : null;
}

/** From a random stream of its own. Cheaper machines replace others within some tens of seconds. */
function drawRenewal(seed: number): RenewalPlan | null {
  const random = new Random(seed, 0x3078d);
  if (!random.chance(0.6)) return null;
  return { waitMs: random.between(1, 4) * 1000, markMs: random.between(1, 12) * 1000 };
}

/** Most plain rows may borrow, and rows that are not gangs leave something over. */
function withSharing(seed: number, clusters: readonly ClusterPlan[]): readonly ClusterPlan[] {
  const random = new Random(seed, 0x3077d);
  return clusters.map((cluster) => ({
    ...cluster,
    rows: cluster.rows.map((row) => ({
      ...row,
      slackCpu: row.kind === 'gang' ? 0 : random.pick([0, 1000, 2000, 3000]),
      canBorrow: row.kind === 'plain' && random.chance(0.8),
    })),
  }));
}

/** From a random stream of its own: in half of the worlds most operators report drains, and some drains are blocked. */
function withDrains(seed: number, clusters: readonly ClusterPlan[]): readonly ClusterPlan[] {
  const random = new Random(seed, 0x3079d);
  if (!random.chance(0.5)) return clusters;
  const blocked = random.pick([0, 0, 0.1, 0.3]);
  return clusters.map((cluster) => (random.chance(0.8) ? { ...cluster, drains: { blocked } } : cluster));
}

function drawWeather(random: Random): Weather {
  const part = random.pick([0, 0.3, 1]);
  return {
    delayMs: random.pick([2, 20, 200]),
    lostCalls: part * 0.06,
    lostAnswers: part * 0.06,
    silent: 0.3,
    doubled: part * 0.06,
    blocked: part * 0.08,
    heldMs: 4000,
    partialLists: part * 0.02,
    stalls: part * 0.02,
  };
}

function drawClouds(random: Random): CloudWeather {
  const part = random.pick([0, 0.3, 1]);
  return {
    transientError: part * 0.1,
    permanentError: part * 0.04,
    hang: part * 0.03,
    neverReady: part * 0.04,
    outOfStock: part * 0.1,
    priceSwing: random.pick([0, 0.4, 0.9]),
    deathsPerHour: part,
  };
}

function drawStrains(seed: number, stormMs: number): readonly WorldEvent[] {
  const random = new Random(seed, 0x3075d);
  return Array.from({ length: random.below(5) }, () => ({
    kind: random.pick(STRAIN_KINDS),
    atMs: random.between(1000, stormMs - 5000),
    forMs: random.between(100, 6000),
    target: 0,
  }));
}

function drawEvent(random: Random, stormMs: number, isWide: boolean): WorldEvent {
  const kind = EVENT_KINDS[random.weighted(Object.values(EVENT_WEIGHTS))]!;
  const atMs = random.between(1000, stormMs - 5000);
  const base = { atMs, forMs: random.between(200, 20_000), target: random.below(12) };
  switch (kind) {
    case 'crash': {
      const atWrite = random.chance(0.5) ? 0 : random.between(1, 6);
      return { ...base, kind, atWrite, isWritten: random.chance(0.5), forMs: random.between(100, 9000) };
    }
    case 'twin':
      return { ...base, kind, keepsSessions: random.chance(0.5) };
    case 'provider-restart':
      return { ...base, kind, forMs: random.between(100, 6000) };
    case 'no-blobs':
      return { ...base, kind, habit: random.chance(0.5) ? 'ignore' : 'refuse' };
    case 'demand':
      return { ...base, kind, row: random.below(12), machines: random.below(random.chance(0.3) ? 20 : 6) };
    case 'collapse':
      return { ...base, kind, target: isWide ? 0 : base.target, forMs: random.between(200, 7000) };
    case 'blank-restart':
      return { ...base, kind, target: isWide ? 0 : base.target, forMs: random.between(14_000, 25_000) };
    case 'malformed':
      return { ...base, kind, how: random.pick(['bytes', 'cluster', 'row'] as const) };
    case 'freeze':
      return {
        ...{ ...base, kind, forMs: random.between(1000, 60_000) },
        ...{ isCluster: random.chance(0.6), action: random.pick(KINDS) },
      };
    case 'interruption':
      return { ...base, kind, count: random.between(1, 5), isSpot: random.chance(0.6) };
    case 'provider-outage':
    case 'stream-break':
    case 'operator-restart':
    case 'operator-silence':
    case 'stock-out':
    case 'squall':
      return { ...base, kind };
  }
}
