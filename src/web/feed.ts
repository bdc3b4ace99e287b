// Types of the part of the read API that live views use, as JSON from `/v1/…` and `/v1/events`. The page does not
// import the shard's code, so these types repeat the fields that are shown, and no others. Where the shard's own views
// are passed to a function of this folder, the compiler checks that the two agree.

export type ActionKind = 'Bootstrap' | 'Provision' | 'Preempt' | 'Reclaim' | 'Delete';

export type ActionReason =
  | 'phase1.idle'
  | 'phase1.speculative'
  | 'phase2.inversion'
  | 'phase2.excess'
  | 'phase3.excess'
  | 'phase3.release';

export type ActionOutcome =
  | 'success'
  | 'ctx_canceled'
  | 'fenced'
  | 'no_session'
  | 'transition_raced_to_idle'
  | 'transition_error'
  | 'blob_error'
  | 'provider_error'
  | 'denied'
  | 'stock_out'
  | 'transient'
  | 'stale_state'
  | 'inventory_miss'
  | 'missing_profile'
  | 'drain_withdrawn'
  | 'machine_failed'
  | 'rolled_back'
  | 'superseded';

type Counts = Readonly<Record<string, number>>;

interface NeedRef {
  readonly id: string;
  readonly cluster: string;
  readonly priority: number;
}

export interface Action {
  readonly id: string;
  readonly kind: ActionKind;
  readonly machine: string;
  readonly provider: string;
  readonly cluster: string;
  readonly need: NeedRef | null;
  readonly reason: ActionReason;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly outcome: ActionOutcome | null;
  readonly message: string;
  readonly capacityType?: string | undefined;
  readonly zone?: string | undefined;
  /** The row that a machine leaves, and the cause if no row counts on the machine. */
  readonly from?: NeedRef | null | undefined;
  readonly leaving?: Leaving | null | undefined;
}

interface Leaving {
  readonly cause: 'excess' | 'replaced' | 'ordered' | 'work-ended' | 'gang-broken' | 'gang-moved';
  readonly domain: string | null;
  readonly goesTo: string | null;
}

/** A machine that lost its host, or its cluster, without an action of the shard. */
export interface Loss {
  readonly atMs: number;
  readonly loss: 'failed' | 'interrupted' | 'vanished' | 'unbound';
  readonly machine: string;
  readonly provider: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly was: string;
  readonly cluster: string;
  readonly need: NeedRef | null;
  readonly error: string;
}

/** Many losses of one zone; of several zones if provider and zone are ''. */
export interface Losses {
  readonly atMs: number;
  readonly sinceMs: number;
  readonly provider: string;
  readonly zone: string;
  readonly isDark: boolean;
  readonly count: number;
  readonly of: number;
  readonly clusters: readonly { readonly cluster: string; readonly count: number }[];
  readonly errorClass: string;
  readonly error: string;
}

type HealthState = 'fine' | 'degraded' | 'failing';

interface ZoneHealth {
  readonly zone: string;
  readonly state: HealthState;
  readonly machines: number;
  readonly failing: number;
  readonly failedPurchases: number;
  readonly errorClass: string;
  readonly error: string;
}

/** Decided in the last cycle, and not begun. */
export interface Planned {
  readonly kind: ActionKind;
  readonly machine: string;
  readonly provider: string;
  readonly cluster: string;
  readonly need: NeedRef | null;
  readonly reason: ActionReason;
  readonly why: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly pricePerHour: number;
  readonly freeze: Pick<Freeze, 'id' | 'who' | 'why'> | null;
  readonly from?: NeedRef | null | undefined;
  readonly leaving?: Leaving | null | undefined;
}

/** Actions that were decided and not begun for one reason. */
export interface HeldBack {
  readonly why: string;
  readonly total: number;
  readonly needs: number;
  readonly kinds: Readonly<Partial<Record<ActionKind, number>>>;
  readonly buysPerHour: number;
  readonly releasesPerHour: number;
}

/** What the last cycle decided and did not carry out. */
export interface Plan {
  readonly frozenClusters: readonly { readonly cluster: string; readonly unmet: number }[];
  readonly actions: { readonly items: readonly Planned[]; readonly total: number };
}

/** The state at `atMs`, and counts since the previous point. */
export interface Point {
  readonly atMs: number;
  readonly costPerHour: number;
  /** Missing from points of earlier versions, like the two last fields. */
  readonly costByPart?: Counts;
  readonly machinesByState: Counts;
  readonly needs: number;
  readonly unmet: number;
  readonly begun: number;
  readonly failed: number;
  /** The longest cycle since the previous point. */
  readonly cycleMs?: number;
  /** By kind of hardware: share of serving machines that Needs count on. */
  readonly usedShare?: Counts;
}

interface Provider {
  readonly name: string;
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly denial: string;
  readonly machines: number;
  readonly waiting: number;
  readonly hasListed: boolean;
  readonly lastError: string;
  readonly heldLosses: number;
  /** Health of its machines. */
  readonly health: {
    readonly state: HealthState;
    readonly machines: number;
    readonly failing: number;
    readonly zones: readonly ZoneHealth[];
  };
}

/** Dollars per hour; the parts add up to the total. */
export interface Cost {
  readonly perHour: number;
  readonly byPart: Counts;
}

/** One kind of hardware: Needs and machines with an accelerator, or those without. */
export interface Hardware {
  readonly kind: string;
  readonly needs: number;
  readonly unmetNeeds: number;
  /** Cores, bytes, pieces. */
  readonly resources: Readonly<
    Record<
      string,
      {
        readonly wanted: number;
        readonly served: number;
        readonly coming: number;
        readonly unmet: number;
        readonly offered: number;
        readonly used: number;
      }
    >
  >;
}

export interface Status {
  readonly shard: string;
  readonly epoch: number;
  readonly startedMs: number;
  readonly nowMs: number;
  readonly phase: 'starting' | 'running' | 'stopping' | 'fenced';
  readonly dryRun: boolean;
  readonly cycle: {
    readonly number: number;
    readonly durationMs: number;
    readonly unmet: number;
    /** What the cycle began, by kind. */
    readonly admitted: Counts;
    /** What it decided and did not begin, by reason. Missing from shards of an earlier version. */
    readonly heldBack?: readonly HeldBack[];
    /** Milliseconds by phase. Missing from shards of an earlier version. */
    readonly phaseMs?: Counts;
  } | null;
  readonly machines: number;
  readonly machinesByState: Counts;
  readonly costPerHour: number;
  readonly cost: Cost;
  readonly ownedCost: Cost | null;
  readonly needs: number;
  readonly clusters: number;
  readonly sessions: number;
  readonly shortfalls: number;
  readonly escalated: number;
  /** Shortfalls by class of priority and age in cycles. Missing from shards of an earlier version. */
  readonly unmetByAge?: readonly {
    readonly priority: string;
    readonly age: string;
    readonly count: number;
  }[];
  readonly freezes: number;
  readonly hardware: readonly Hardware[];
  readonly providers: readonly Provider[];
}

export interface Shortfall extends NeedRef {
  readonly group: string;
  readonly missing: Readonly<Record<string, string>>;
  /** Why it is not met, a sentence without its full stop. */
  readonly why: string;
  readonly ageCycles: number;
  readonly isEscalated: boolean;
}

export interface Cluster {
  readonly cluster: string;
  readonly hasSession: boolean;
  readonly hasReported: boolean;
  readonly needs: number;
  readonly unmet: number;
  readonly machinesByState: Counts;
  readonly costPerHour: number;
  readonly ownedCost: Cost | null;
  readonly cannotBind: string;
  readonly setAside: {
    readonly rows: number;
    readonly machinesKept: number;
    readonly isLifted: boolean;
    readonly unknownResource: string | null;
  } | null;
  readonly reports: {
    readonly problems: readonly string[];
    readonly remarks: readonly string[];
    readonly remarksTotal: number;
  } | null;
}

export interface FailedMachine {
  readonly id: string;
  readonly provider: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly lastError: string;
}

export interface Freeze {
  readonly id: string;
  readonly who: string;
  readonly why: string;
  readonly sinceMs: number;
  /** null: until it is lifted. */
  readonly untilMs: number | null;
}

/** Events of a shard of an earlier version have neither an id nor a time. */
export type ShardEvent = { readonly id?: string; readonly atMs?: number } & ShardEventBody;

type ShardEventBody =
  | { readonly kind: 'cycle'; readonly status: Status }
  | { readonly kind: 'action-started' | 'action-ended'; readonly action: Action }
  | { readonly kind: 'loss'; readonly loss: Loss }
  | { readonly kind: 'losses'; readonly losses: Losses }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };
