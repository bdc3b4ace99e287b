// The types of the read and control API, of the commands that use it, and of the live views. Plain data, serialised to JSON
// without conversion. Times are milliseconds since the Unix epoch by the shard's clock; quantities are Kubernetes quantity
// strings.

import type { Hardware } from '../engine/index.ts';
import type {
  ActionKind,
  ActionReason,
  BlockedCause,
  Leaving,
  Obstacle,
  UnmetReason,
} from '../model/index.ts';
import type { InspectNeedsResponse } from '../wire/gen/bigfleet/v1alpha1/shardread.ts';
import type { ActionRecord } from './actuation/action-records.ts';
import type { ErrorClass } from './inventory/error-class.ts';
import type { Freeze, FreezeScope } from './planning/freezes.ts';
import type { Page, PageAsk } from './planning/queries/pages.ts';
import type { CostView } from './telemetry/cost.ts';

export type { Page } from './planning/queries/pages.ts';

export type Quantities = Readonly<Record<string, string>>;

/** Names of states and capacity types are those of the wire, without their prefix: `CONFIGURED`, `ON_DEMAND`. */
export type Counts = Readonly<Record<string, number>>;

/** A row of demand. `id` is short enough to type: the cluster, a slash and ten digits derived from the rest of the key. */
export interface NeedRef {
  readonly id: string;
  readonly cluster: string;
  readonly group: string;
  readonly priority: number;
}

export interface StatusView {
  readonly shard: string;
  readonly epoch: number;
  readonly startedMs: number;
  readonly nowMs: number;
  /** `starting`: providers are being read and nothing is decided. `fenced`: a newer shard of this name exists. */
  readonly phase: 'starting' | 'running' | 'stopping' | 'fenced';
  readonly dryRun: boolean;
  readonly cycle: CycleView | null;
  readonly machines: number;
  readonly machinesByState: Counts;
  /** The total of `cost`. */
  readonly costPerHour: number;
  /** Of machines that have a host, by what they do. */
  readonly cost: CostView;
  /** Of machines that the fleet owns, at the prices set for them, which no bill has; null if none is set. */
  readonly ownedCost: CostView | null;
  readonly needs: number;
  readonly clusters: number;
  readonly sessions: number;
  readonly shortfalls: number;
  readonly escalated: number;
  readonly freezes: number;
  /** What is served of what Needs want, by kind of hardware, as of the last cycle; empty before the first. */
  readonly hardware: readonly HardwareView[];
  /** By resource, in cores, bytes or pieces: totals over all Needs and over all Configured machines, however unlike. */
  readonly supply: Readonly<Record<string, { readonly wanted: number; readonly configured: number }>>;
  readonly providers: readonly ProviderView[];
}

/** Machines with or without accelerators, and the Needs that ask, or do not ask, for an accelerator. */
export interface HardwareView {
  readonly kind: Hardware;
  readonly needs: number;
  readonly unmetNeeds: number;
  /** By resource; one of which nothing is wanted or offered is left out. */
  readonly resources: Readonly<Record<string, ResourceView>>;
}

/** In cores, bytes or pieces. */
export interface ResourceView {
  /** By Needs of this kind: the sum of `served`, `coming` and `unmet`. */
  readonly wanted: number;
  /** By Configured machines, of either kind. */
  readonly served: number;
  /** By machines that are joining, being bought or about to be. */
  readonly coming: number;
  readonly unmet: number;
  /** By Configured machines of this kind; `used` is what Needs of either kind count on, and the rest is spare. */
  readonly offered: number;
  readonly used: number;
}

/** The last cycle. */
export interface CycleView {
  readonly number: number;
  readonly atMs: number;
  /** Applying what happened, deciding, and starting to carry it out. */
  readonly durationMs: number;
  readonly unmet: number;
  /** Met Needs that exchanged a machine for another in this cycle. */
  readonly metClaimChanges: number;
  readonly decided: Readonly<Record<ActionKind, number>>;
  readonly admitted: Readonly<Record<ActionKind, number>>;
  /** Decided and not begun, by why. */
  readonly waiting: Counts;
  /** The same actions with what they would do, most frequent reason first. */
  readonly heldBack: readonly HeldBackView[];
}

/** Actions that a cycle decided and did not begin for one reason. */
export interface HeldBackView {
  /** `frozen`, `dry-run`, `capped`, `deferred`, or why the shard could not begin them. */
  readonly why: string;
  readonly total: number;
  /** Rows that machines would be bound, bought or preempted for; rows that were folded count once. */
  readonly needs: number;
  /** Kinds that there are none of are left out. */
  readonly kinds: Readonly<Partial<Record<ActionKind, number>>>;
  /** Dollars per hour that machines to be bought would add, and that machines to be released would end. */
  readonly buysPerHour: number;
  readonly releasesPerHour: number;
}

export interface ProviderView {
  readonly name: string;
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** Why it lets this shard change nothing, in its own words; '' if it does. */
  readonly denial: string;
  readonly machines: number;
  /** Calls that wait for their turn. */
  readonly waiting: number;
  readonly hasListed: boolean;
  readonly lastListMs: number | null;
  /** '' if the last reading was fine. */
  readonly lastError: string;
  /** Machines that a List no longer had and that are kept all the same, until it is believed. */
  readonly heldLosses: number;
  readonly health: ProviderHealth;
}

/**
 * What a provider's machines do, whether or not its calls are answered. A machine is failing while it is Failed, and for
 * five minutes after it left that state, was lost, or a purchase of it failed, unless it has worked since.
 */
export interface ProviderHealth {
  /** `failing`: at least half of its machines are failing. `degraded`: a twentieth, or a zone that is not fine. */
  readonly state: 'fine' | 'degraded' | 'failing';
  /** Machines with a host, and those that are failing. */
  readonly machines: number;
  readonly failing: number;
  /** Of those that are failing, purchases that failed. */
  readonly failedPurchases: number;
  /** The zones with failing machines, the worst first; at most 20. */
  readonly zones: readonly ZoneHealth[];
}

export interface ZoneHealth {
  readonly zone: string;
  /** `failing`: at least half of its machines are failing. `degraded`: a fifth. */
  readonly state: ProviderHealth['state'];
  readonly machines: number;
  readonly failing: number;
  readonly failedPurchases: number;
  /** Of the error that most of them have, and the latest words of it. */
  readonly errorClass: ErrorClass;
  readonly error: string;
}

export interface MachineView {
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
  /** In a list the first 64; of one machine all. */
  readonly labels: Readonly<Record<string, string>>;
  readonly labelsNotShown: number;
  /** Of the host, '' without one. */
  readonly hostRef: string;
  readonly lastError: string;
  /** The row it was bound for, or is on its way to. */
  readonly need: NeedRef | null;
  readonly idleSinceMs: number | null;
  /** Kept out of decisions; null if it is not. `untilMs` is null where only a person ends it. */
  readonly held: {
    readonly kind: BlockedCause;
    readonly why: string;
    readonly untilMs: number | null;
  } | null;
  readonly quarantine: { readonly by: string; readonly why: string; readonly sinceMs: number } | null;
  readonly isForgotten: boolean;
  /** The action under way, if any. */
  readonly action: ActionView | null;
}

export interface NeedView extends NeedRef {
  /** Cut where it is long; the id tells rows apart. */
  readonly fingerprint: string;
  readonly wants: Quantities;
  readonly minUnit: Quantities;
  /** Each cut where it is long, with the number of values that are not shown. */
  readonly requirements: readonly string[];
  readonly firstSeenMs: number;
  readonly isMet: boolean;
  readonly missing: Quantities;
  /** Machines it counts on; of those, being bound and being bought in this cycle. */
  readonly claimed: number;
  readonly bootstraps: number;
  readonly provisions: number;
  readonly preempts: number;
  readonly domain: string | null;
  readonly reason: UnmetReason | null;
  /** Why it is not met, a sentence without its full stop; '' if it is met. */
  readonly why: string;
  readonly unmetCycles: number;
  readonly isFolded: boolean;
}

/** One Need with everything that explains its verdict. */
export interface NeedExplanation {
  readonly need: NeedView;
  /** Ids: the first thousand at most. */
  readonly claimed: readonly string[];
  readonly claimedTotal: number;
  readonly preempts: readonly string[];
  readonly preemptsTotal: number;
  /** Machines that meet its requirements, by state. */
  readonly matching: { readonly idle: number; readonly speculative: number; readonly configured: number };
  /** The row ahead of it that has what it could have used. */
  readonly blocker: NeedRef | null;
  /** The smallest additional supply that would meet it: `count` more machines like `like`. */
  readonly extraSupply: { readonly count: number; readonly like: string } | null;
  readonly candidates: readonly {
    readonly domain: string;
    /** Share of what is wanted, 0 to 1, in the resource covered least. */
    readonly coverage: number;
    readonly satisfiable: boolean;
  }[];
  /** Machines that meet its requirements and do not serve it, by what keeps them from it; most machines first. */
  readonly obstacles: readonly ObstacleView[];
  /** Machines it has or gets that do not serve it yet, by state. */
  readonly onTheWay: readonly OnTheWayView[];
  /** What would help, the most helpful first; whole sentences. */
  readonly advice: readonly string[];
  /** Whole sentences: what is in the way outside the decision (freezes, sessions, providers that were never read). */
  readonly remarks: readonly string[];
  readonly actions: readonly ActionView[];
}

/** One cause, with everything that is known of it. */
interface ObstacleView extends Obstacle {
  readonly sentence: string;
}

export interface OnTheWayView {
  readonly state: string;
  readonly machines: number;
  /** Of the one that has been in the state longest. */
  readonly sinceMs: number;
  /** When the last of them should arrive, by the usual time of its provider; null if none is known. */
  readonly expectedByMs: number | null;
}

export interface ClusterView {
  readonly cluster: string;
  readonly hasSession: boolean;
  /** Since the shard started. Nothing is reclaimed from a cluster that has not. */
  readonly hasReported: boolean;
  readonly needs: number;
  readonly unmet: number;
  /** Machines that serve it, join it or leave it. */
  readonly machinesByState: Counts;
  /** The total of `cost`. */
  readonly costPerHour: number;
  readonly cost: CostView;
  /** Of those machines of it that the fleet owns, as in the status. */
  readonly ownedCost: CostView | null;
  readonly freeze: Freeze | null;
  /** Why no machine can join now; '' if one can. */
  readonly cannotBind: string;
  /** Rows that exceed a limit, so that their size is unknown; null if there are none. */
  readonly setAside: SetAsideView | null;
  /** Its roll-ups, as those see them who take them; null if it never sent one. */
  readonly reports: ReportsView | null;
}

export interface SetAsideView {
  readonly rows: number;
  /** Configured machines that no row counts on and that are kept all the same: they may serve the rows set aside. */
  readonly machinesKept: number;
  /** A person has said that they may be reclaimed. */
  readonly isLifted: boolean;
  /** A resource beyond those that the fleet can count, because of which rows are set aside; null if there is none. */
  readonly unknownResource: string | null;
}

export interface ReportsView {
  readonly lastReportMs: number | null;
  /** Why the last roll-up was refused, if it was. */
  readonly problems: readonly string[];
  /** What was done to single rows of the accepted roll-up: set aside, saturated or zeroed. The first, and how many. */
  readonly remarks: readonly string[];
  readonly remarksTotal: number;
  /** A roll-up that lacks most of the demand is held until it is repeated, or a person accepts or refuses it. */
  readonly held: {
    readonly sinceMs: number;
    readonly count: number;
    readonly rows: number;
    readonly knownRows: number;
    readonly isRefused: boolean;
  } | null;
}

export interface ShortfallView extends NeedRef {
  readonly missing: Quantities;
  readonly reason: UnmetReason;
  /** A sentence without its full stop. */
  readonly why: string;
  readonly ageCycles: number;
  readonly isEscalated: boolean;
}

/** An action. What was added since 0.1.0 is missing in journals of that version. */
export interface ActionView
  extends Omit<ActionRecord, LaterInActions>,
    Partial<Pick<ActionRecord, LaterInActions>> {}

type LaterInActions = 'capacityType' | 'zone' | 'from' | 'leaving' | 'acceptedMs' | 'errorClass';

/** How capacity was lost. */
export type LossKind =
  /** The provider says that it is Failed. */
  | 'failed'
  /** The provider says that it is Failed, because the cloud took the spot host back. */
  | 'interrupted'
  /** The provider no longer has the machine, or no longer a host for it. */
  | 'vanished'
  /** It was taken out of its cluster by neither the shard nor a failure. */
  | 'unbound';

/** A machine that had, or was getting, a host and lost it without an action of the shard that failed. */
export interface LossView {
  readonly atMs: number;
  readonly loss: LossKind;
  readonly machine: string;
  readonly provider: string;
  readonly zone: string;
  readonly capacityType: string;
  /** Its state before. */
  readonly was: string;
  /** The cluster it served or was joining; '' for none. */
  readonly cluster: string;
  /** The row it was bound for, or on its way to. */
  readonly need: NeedRef | null;
  readonly errorClass: ErrorClass;
  /** In the provider's words; '' if it said nothing. */
  readonly error: string;
}

/** Losses in one zone that came together and are told as one. */
export interface LossesView {
  readonly atMs: number;
  /** When the first of them came. */
  readonly sinceMs: number;
  readonly provider: string;
  readonly zone: string;
  /** Whether at least half of what the provider had in the zone is lost: the zone has gone dark. */
  readonly isDark: boolean;
  readonly count: number;
  /** Machines with a host that the provider had in the zone when the first of them came. */
  readonly of: number;
  /** The clusters that lost most, at most ten. */
  readonly clusters: readonly { readonly cluster: string; readonly count: number }[];
  /** Of the error that most of them have, and its words. */
  readonly errorClass: ErrorClass;
  readonly error: string;
}

/** Decided, and held back by the guardrails or by what actuation knows. */
export interface WaitingActionView {
  readonly kind: ActionKind;
  readonly machine: string;
  readonly cluster: string;
  readonly reason: ActionReason;
  readonly why: string;
  readonly provider: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly pricePerHour: number;
  /** The row it is for; null for Reclaim and Delete. */
  readonly need: NeedRef | null;
  /** The row that a machine would leave, and why where no row counts on it; missing in older journals. */
  readonly from?: NeedRef | null;
  readonly leaving?: Leaving | null;
  /** The freeze that stops it, cut where it is long; null if none does. */
  readonly freeze: Pick<Freeze, 'id' | 'who' | 'why'> | null;
}

/** What the last cycle decided and did not carry out. */
export interface PlanView {
  /** Of the cycle; null before the first. */
  readonly cycle: number | null;
  readonly atMs: number | null;
  readonly dryRun: boolean;
  /** Of all actions that were held back, whatever the filters. */
  readonly heldBack: readonly HeldBackView[];
  /** Clusters that are frozen by name and claim no machines meanwhile, so that no action for them is decided. */
  readonly frozenClusters: readonly { readonly cluster: string; readonly unmet: number }[];
  /** In the order of the plan for each reason: the most urgent Need first. */
  readonly actions: Page<WaitingActionView>;
}

export interface MachineFilter {
  readonly id?: string;
  readonly state?: string;
  readonly cluster?: string;
  readonly provider?: string;
  /** Forgotten machines are left out unless asked for. */
  readonly withForgotten?: boolean;
}

/** `trouble`: what needs attention first, such as Failed machines or clusters that are not connected. */
export type ListOrder = 'name' | 'trouble';

/** What can be asked, with the answer to each. */
export interface Questions {
  status: { ask: object; answer: StatusView };
  machines: {
    ask: PageAsk & { where: MachineFilter; order?: ListOrder | undefined };
    answer: Page<MachineView>;
  };
  needs: {
    ask: PageAsk & { cluster?: string | undefined; onlyUnmet: boolean };
    answer: Page<NeedView>;
  };
  /** null: there is no such Need. */
  explain: { ask: { need: string }; answer: NeedExplanation | null };
  /**
   * `alsoNamed`: clusters in trouble with their roll-ups, included although nothing else may be known of them. `cluster`:
   * only this one.
   */
  clusters: {
    ask: PageAsk & {
      cluster?: string | undefined;
      alsoNamed?: readonly string[];
      order?: ListOrder | undefined;
    };
    answer: Page<ClusterView>;
  };
  shortfalls: { ask: PageAsk; answer: Page<ShortfallView> };
  /** `only`: the list that is wanted, which `after` belongs to; of the other one the total is said. */
  actions: {
    ask: PageAsk & {
      machine?: string | undefined;
      cluster?: string | undefined;
      only?: 'actions' | 'waiting' | undefined;
    };
    answer: { readonly actions: Page<ActionView>; readonly waiting: Page<WaitingActionView> };
  };
  /** `cluster`: actions to, from or for it. */
  plan: {
    ask: PageAsk & { machine?: string | undefined; cluster?: string | undefined };
    answer: PlanView;
  };
  /** Points after `sinceMs`. */
  series: { ask: { sinceMs: number }; answer: SeriesView };
  /** The newest `limit` since a time, or after an event. */
  events: {
    ask: {
      sinceMs?: number | undefined;
      afterId?: string | undefined;
      limit: number;
      maxBytes?: number | undefined;
    };
    answer: EventsView;
  };
  /** `id`: this one only. */
  freezes: { ask: PageAsk & { id?: string | undefined }; answer: Page<Freeze> };
  /** Frames of ShardRead.InspectNeeds; '' is all clusters, 0 no limit. */
  inspect: { ask: { cluster: string; limit: number }; answer: readonly InspectNeedsResponse[] };
  /** Text of the controller's metrics. */
  metrics: { ask: object; answer: string };
}

export type QuestionName = keyof Questions;
export type Answer<Q extends QuestionName> = Questions[Q]['answer'];

/** What can be told. Everything is logged with who and why. */
export type Order =
  | { readonly kind: 'freeze'; readonly scope: FreezeScope; readonly who: string; readonly why: string }
  | { readonly kind: 'unfreeze'; readonly id: string; readonly who: string }
  | { readonly kind: 'quarantine'; readonly machine: string; readonly who: string; readonly why: string }
  | ({ readonly kind: 'retry' | 'forget'; readonly machine: string } & Signed)
  /** A shrunken List is right. */
  | ({ readonly kind: 'accept-list'; readonly provider: string } & Signed)
  /** Machines of a cluster may be reclaimed although rows of it are set aside. */
  | ({ readonly kind: 'lift-set-aside'; readonly cluster: string } & Signed)
  | RollupOrder;

/** A held roll-up is meant, or is wrong however often it comes. */
export type RollupOrder = {
  readonly kind: 'accept-rollup' | 'refuse-rollup';
  readonly cluster: string;
} & Signed;

interface Signed {
  readonly who: string;
  /** Left out where nothing was said. */
  readonly why?: string | undefined;
}

/** `message` is for people in both cases. */
export interface OrderResult {
  readonly isDone: boolean;
  readonly message: string;
}

/** Numbers of a shard at one moment, and of what happened since the moment before. */
export interface SeriesPoint {
  readonly atMs: number;
  readonly costPerHour: number;
  /** What the total consists of. */
  readonly costByPart: Readonly<Record<string, number>>;
  readonly machinesByState: Counts;
  readonly needs: number;
  /** The highest since the point before, so that a short outage is not missed. */
  readonly unmet: number;
  /** Actions that were begun and that failed since the point before. */
  readonly begun: number;
  readonly failed: number;
}

/** The last hour: a point every ten seconds, and every second of the last two minutes. */
export interface SeriesView {
  readonly nowMs: number;
  /** Of the first point that is kept, whatever was asked for; null if there is none. Earlier times are not known. */
  readonly fromMs: number | null;
  /** Oldest first. */
  readonly points: readonly SeriesPoint[];
}

/** Something that happened, as it is kept. */
export type EventView = Exclude<ShardEvent, { readonly kind: 'cycle' }> & {
  readonly id: string;
  readonly atMs: number;
};

/** `items` oldest first; `total` counts all that are kept and were asked for. */
export interface EventsView {
  readonly items: readonly EventView[];
  readonly total: number;
}

/** What happens, as it happens; for live views. All but cycles have an id and a time. */
export type ShardEvent = { readonly id?: string; readonly atMs?: number } & ShardEventBody;

type ShardEventBody =
  | { readonly kind: 'cycle'; readonly status: StatusView }
  | { readonly kind: 'action-started' | 'action-ended'; readonly action: ActionView }
  /** One machine. Where many are lost in a zone within a minute, `losses` tells of the others in one piece. */
  | { readonly kind: 'loss'; readonly loss: LossView }
  | { readonly kind: 'losses'; readonly losses: LossesView }
  /** A line of the shard's log. Failed actions and losses have one each besides what is told of them above. */
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

/** A shard as the API, the commands and the views see it. */
export interface ShardPort {
  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>>;
  order(order: Order): Promise<OrderResult>;
  /** The returned function ends it. */
  listen(listener: (event: ShardEvent) => void): () => void;
}
