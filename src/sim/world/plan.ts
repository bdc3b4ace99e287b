// What a simulated world is made from, and what befalls it: all of it drawn from one seed, and plain data from there on.
// A smaller world is made by leaving parts out, so that a fault can be shrunk to what it takes.

import { type ActionKind, Random } from '../../model/index.ts';

/** One row of a cluster's demand. */
export interface RowPlan {
  readonly priority: number;
  /** As many machines of 4 cpu as it wants, at least one. */
  readonly machines: number;
  /** The largest pod, in thousandths of a cpu. */
  readonly podCpu: number;
  readonly kind: 'plain' | 'gang' | 'spread';
  /** Keeps rows of one cluster apart; also the co-location group of a gang. */
  readonly group: string;
  /** What an interruption costs, as a bucket: high ones stay away from spot hosts. */
  readonly penalty: number;
}

export interface ClusterPlan {
  readonly name: string;
  readonly rows: readonly RowPlan[];
}

/** Chances per call or frame, and times in ms. */
export interface Weather {
  readonly delayMs: number;
  /** The call never arrives. */
  readonly lostCalls: number;
  readonly lostAnswers: number;
  /** Of what is lost, the part that nobody tells the caller of: it waits until its time is up. */
  readonly silent: number;
  readonly doubled: number;
  /** Held back for up to `heldMs`, so that later calls overtake it. */
  readonly held: number;
  readonly heldMs: number;
  /** Lists that lack records although they look whole. */
  readonly partialLists: number;
  /** Frames of sessions that are held back, and all behind them. */
  readonly stalls: number;
}

/** What clouds do by themselves while the storm lasts. */
export interface CloudWeather {
  readonly transientError: number;
  readonly permanentError: number;
  readonly hang: number;
  readonly neverReady: number;
  readonly outOfStock: number;
  readonly priceSwing: number;
  /** Chance per hour that a host dies. */
  readonly deathsPerHour: number;
}

/** What befalls the world. Times are ms from the start; `target` is taken modulo how many there are. */
export type WorldEvent = { readonly atMs: number; readonly forMs: number; readonly target: number } & (
  | {
      /** The shard is killed, and started again after `forMs`. */
      readonly kind: 'crash';
      /** At its n-th write from now on, before or after it is safe; 0: at once. */
      readonly atWrite: number;
      readonly isWritten: boolean;
    }
  /** Another process of the shard is started while this one goes on, on a disk that nobody else sees. */
  | { readonly kind: 'twin'; readonly keepsSessions: boolean }
  /** The provider's process is killed and started again on its store. */
  | { readonly kind: 'provider-restart' }
  /** Nothing reaches the provider. */
  | { readonly kind: 'provider-outage' }
  | { readonly kind: 'stream-break' }
  /** Another process of the operator, which knows nothing. */
  | { readonly kind: 'operator-restart' }
  | { readonly kind: 'operator-silence' }
  | { readonly kind: 'no-blobs'; readonly habit: 'ignore' | 'refuse' }
  /** A row wants so many machines until calm comes; 0: it is gone. */
  | { readonly kind: 'demand'; readonly row: number; readonly machines: number }
  /** The operator reports next to nothing, for a while. */
  | { readonly kind: 'collapse' }
  /** The shard restarts, and with it an operator that reports next to nothing once and then falls silent. */
  | { readonly kind: 'blank-restart' }
  /** The next roll-up is broken. */
  | { readonly kind: 'malformed'; readonly how: 'bytes' | 'cluster' | 'row' }
  | { readonly kind: 'freeze'; readonly isCluster: boolean; readonly action: ActionKind | null }
  | { readonly kind: 'interruption'; readonly count: number; readonly isSpot: boolean }
  | { readonly kind: 'stock-out' }
  | { readonly kind: 'squall' }
  | StrainEvent
);

/** Drawn apart from the others, so that what those are does not depend on them. */
type StrainEvent =
  /** The shard is asked to end, finishes or hands back what is under way, and is started again after `forMs`. */
  | { readonly kind: 'stop' }
  /** The brain of the shard is behind, and demand waits. */
  | { readonly kind: 'brain-behind' };

export interface WorldPlan {
  readonly seed: number;
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
  /** How many machines the row of the tail wants first. */
  readonly rise: number;
  /** One of the machines it then has is lost. */
  readonly hasTailLoss: boolean;
  /** The shard is killed so long after demand rose for the last time; null: it is not. */
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
/** A cluster with so many rows is protected from reports that lose nearly all of them. */
const WIDE_ROWS = 11;

/** How often each kind of event comes, against the others. */
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
const STRAIN_KINDS: readonly StrainEvent['kind'][] = ['stop', 'brain-behind', 'brain-behind'];

export function drawPlan(seed: number): WorldPlan {
  const random = new Random(seed, 0x3071d);
  const stormMs = random.between(60, 130) * 1000;
  const isWide = random.chance(0.4);
  const machines = isWide ? [42, 28] : [random.between(16, 42), random.between(8, 28)];
  const clusters = drawClusters(random, machines[0]! + machines[1]!, isWide);
  const count = random.between(4, 20);
  const events = Array.from({ length: count }, () => drawEvent(random, stormMs, isWide));
  return {
    seed,
    clusters,
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

/** Rows want no more than a part of the machines, so that everything can be met once the storm is over. */
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
  };
}

function drawWeather(random: Random): Weather {
  const part = random.pick([0, 0.3, 1]);
  return {
    delayMs: random.pick([2, 20, 200]),
    lostCalls: part * 0.06,
    lostAnswers: part * 0.06,
    silent: 0.3,
    doubled: part * 0.06,
    held: part * 0.08,
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
