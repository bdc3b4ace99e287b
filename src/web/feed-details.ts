// Types of the answers of the read API that the pages of single things and lists show, with the fields that are shown and
// no others, like feed.ts. Fields that shards of earlier versions do not have are optional.

import type { Action, Cluster, Cost, Freeze } from './feed.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number | null;
  readonly next: string | null;
}

type Quantities = Readonly<Record<string, string>>;

export interface NeedRefView {
  readonly id: string;
  readonly cluster: string;
  readonly priority: number;
}

export interface NeedRow extends NeedRefView {
  readonly group: string;
  readonly wants: Quantities;
  readonly minUnit: Quantities;
  readonly requirements: readonly string[];
  readonly firstSeenMs: number;
  readonly isMet: boolean;
  readonly missing: Quantities;
  readonly claimed: number;
  readonly domain: string | null;
  readonly why: string;
  readonly unmetCycles: number;
}

export interface NeedDetail {
  readonly need: NeedRow;
  readonly sentence: string;
  readonly claimed: readonly string[];
  readonly claimedTotal: number;
  readonly shares: readonly { readonly machine: string; readonly amount: Quantities }[];
  readonly sharesTotal: number;
  readonly preempts: readonly string[];
  readonly preemptsTotal: number;
  readonly matching: { readonly idle: number; readonly speculative: number; readonly configured: number };
  readonly blocker: NeedRefView | null;
  readonly extraSupply: { readonly count: number; readonly like: string } | null;
  readonly candidates: readonly {
    readonly domain: string;
    readonly coverage: number;
    readonly satisfiable: boolean;
  }[];
  readonly obstacles: readonly {
    readonly cause: string;
    readonly machines: number;
    readonly rows?: readonly { readonly id: string; readonly priority: number; readonly machines: number }[];
    readonly sentence: string;
  }[];
  readonly remainders: { readonly sentence: string };
  readonly onTheWay: readonly {
    readonly state: string;
    readonly machines: number;
    readonly sinceMs: number;
    readonly expectedByMs: number | null;
  }[];
  readonly advice: readonly string[];
  readonly remarks: readonly string[];
  readonly actions: readonly Action[];
}

export interface MachineRow {
  readonly id: string;
  readonly provider: string;
  readonly state: string;
  readonly cluster: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly allocatable: Quantities;
  readonly labels: Readonly<Record<string, string>>;
  readonly labelsNotShown: number;
  readonly nodeName: string;
  readonly hostRef: string;
  /** Absent in lists. */
  readonly costSoFar?: { readonly sinceMs: number; readonly dollars: number } | null;
  readonly lastError: string;
  readonly need: NeedRefView | null;
  readonly usage: {
    readonly users: readonly {
      readonly need: NeedRefView;
      readonly isShare: boolean;
      readonly amount: Quantities | null;
    }[];
    readonly usersTotal: number;
    readonly leftOver: Quantities;
    readonly sentence: string;
  } | null;
  readonly idleSinceMs: number | null;
  readonly unclaimed: { readonly sentence: string } | null;
  readonly renewal?: { readonly sentence: string } | null;
  readonly drain?: { readonly sentence: string } | null;
  readonly drainOrder?: { readonly sentence: string } | null;
  readonly held: { readonly why: string; readonly untilMs: number | null } | null;
  readonly quarantine: { readonly by: string; readonly why: string; readonly sinceMs: number } | null;
  readonly isForgotten: boolean;
  readonly action: Action | null;
}

export interface ClusterRow extends Cluster {
  /** By kind of hardware, 0 to 1. */
  readonly usedShare: Readonly<Record<string, number>>;
  readonly cost: Cost;
  readonly freeze: Freeze | null;
  readonly retired: { readonly who: string; readonly why: string; readonly sinceMs: number } | null;
  readonly reports: {
    readonly lastReportMs: number | null;
    readonly problems: readonly string[];
    readonly remarks: readonly string[];
    readonly remarksTotal: number;
    readonly held: {
      readonly sinceMs: number;
      readonly count: number;
      readonly rows: number;
      readonly knownRows: number;
      readonly isRefused: boolean;
    } | null;
  } | null;
}

export interface CostGroup {
  readonly name: string;
  readonly machines: number;
  readonly cost: Cost;
}

export interface CostReport {
  readonly nowMs: number;
  readonly by: string;
  readonly cost: Cost;
  readonly ownedCost: Cost | null;
  readonly stranded: {
    readonly perHour: number;
    readonly byHardware: readonly {
      readonly kind: string;
      readonly servingPerHour: number;
      readonly usedShare: number;
      readonly resource: string;
      readonly perHour: number;
    }[];
  };
  readonly spot: {
    readonly machines: number;
    readonly perHour: number;
    readonly onDemandPerHour: number;
    readonly savesPerHour: number;
    readonly interruptionsPerHour: number;
    readonly netSavesPerHour: number;
    readonly unpriced: number;
  };
  readonly forecast: {
    readonly monthEndMs: number;
    readonly hoursLeft: number;
    readonly restOfMonth: number;
    readonly wholeMonth: number;
    readonly sinceStart: { readonly fromMs: number; readonly dollars: number };
  };
  readonly groups: Page<CostGroup>;
}

export interface CostSeries {
  readonly nowMs: number;
  readonly by: string;
  readonly names: readonly string[];
  readonly points: readonly {
    readonly atMs: number;
    readonly perHour: number;
    readonly byName: Readonly<Record<string, number>>;
  }[];
}

export interface Remedies {
  readonly perHour: number;
  readonly cheapest: { readonly machines: number; readonly perHour: number };
  readonly items: readonly {
    readonly need: NeedRefView;
    readonly count: number;
    readonly like: string;
    readonly instanceType: string;
    readonly zone: string;
    readonly capacityType: string;
    readonly perHour: number;
  }[];
  readonly total: number;
  readonly withoutRemedy: number;
}

export interface MachineCounts {
  readonly items: readonly {
    readonly name: string;
    readonly machines: number;
    readonly byState: Readonly<Record<string, number>>;
  }[];
  readonly total: number;
}

/** An event of `/v1/history`; `event` has the shape of the events of the stream where it is one. */
export interface HistoryEvent {
  readonly id: string;
  readonly atMs: number;
  readonly cycle: number | null;
  /** Start of the shard that had the cycle. */
  readonly epoch?: number | null;
  readonly kind: string;
  readonly machine: string | null;
  readonly need: string | null;
  readonly cluster: string | null;
  readonly event: Readonly<Record<string, unknown>> & { readonly kind: string };
}
