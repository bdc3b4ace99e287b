// The interface of a shard to its API, its commands and its live views: questions, orders and events. The views themselves
// are the schemas in views/, whose types are exported here, so that importing a type does not load zod.

import type { Requirement, UnmetReason } from '../model/index.ts';
import type { WhatIfAnswer, WhatIfRequest } from '../whatif/index.ts';
import type { InspectNeedsResponse } from '../wire/gen/bigfleet/v1alpha1/shardread.ts';
import type { Freeze, FreezeScope } from './planning/freezes.ts';
import type { NeedFindings } from './planning/queries/need-findings.ts';
import type { Page, PageAsk } from './planning/queries/pages.ts';
import type { ReplicaPart } from './planning/replica-feed.ts';
import type { CostAspect } from './telemetry/cost-breakdown.ts';
import type { ActionView, PlanView, WaitingActionView } from './views/actions.ts';
import type { ClusterView } from './views/clusters.ts';
import type { CostReport, CostSeries, MachineCounts, Remedies } from './views/costs.ts';
import type { CyclePlanView, CycleRedecisionView } from './views/cycles.ts';
import type { SeriesView, ShardEvent } from './views/events.ts';
import type { HistoryKind, HistoryPage } from './views/history.ts';
import type { MachineView } from './views/machines.ts';
import type { NeedExplanation, NeedView, ShortfallView } from './views/needs.ts';
import type { StatusView } from './views/status.ts';

export type { Page } from './planning/queries/pages.ts';
export type { ActionView, PlanView, WaitingActionView } from './views/actions.ts';
export type { ClusterView, ReportsView, SetAsideView } from './views/clusters.ts';
export type { CostGroupView, CostReport } from './views/costs.ts';
export type { CycleActionView, CyclePlanView, CycleRedecisionView } from './views/cycles.ts';
export type {
  LossesView,
  LossKind,
  LossView,
  SeriesPoint,
  SeriesView,
  ShardEvent,
} from './views/events.ts';
export type { HistoryEvent, HistoryKind, HistoryPage } from './views/history.ts';
export type { MachineView } from './views/machines.ts';
export type { NeedExplanation, NeedView, OnTheWayView, ShortfallView } from './views/needs.ts';
export type { ProviderHealth, ProviderView, ZoneHealth } from './views/providers.ts';
export type { Counts, NeedRef, Quantities } from './views/schema.ts';
export type {
  CycleView,
  HardwareView,
  HeldBackView,
  ResourceView,
  StatusView,
  VersionView,
} from './views/status.ts';

export interface MachineFilter {
  readonly id?: string;
  readonly state?: string;
  readonly cluster?: string;
  readonly provider?: string;
  /** Conditions on labels, all of which it meets. */
  readonly labels?: readonly Requirement[];
  /** Part of an id, a node name, an instance type, a zone, a capacity type or a label, in any case. */
  readonly text?: string;
  /** Without it, forgotten machines are excluded. */
  readonly withForgotten?: boolean;
}

/** `trouble`: items that need attention first, such as Failed machines or clusters without a session. */
export type ListOrder = 'name' | 'trouble';

/** Properties by which machines are sorted; machines of one value by id. */
export const MACHINE_SORTS = ['id', 'price', 'state', 'zone', 'type', 'cluster'] as const;

export interface MachineSort {
  readonly by: (typeof MACHINE_SORTS)[number];
  readonly isDescending: boolean;
}

interface NeedFilter {
  readonly cluster?: string | undefined;
  readonly onlyUnmet: boolean;
  /** Why they are not met; Needs that are met have no reason. */
  readonly reason?: UnmetReason | undefined;
  /** The least priority. */
  readonly minPriority?: number | undefined;
}

/** The questions to a shard, with the type of each answer. */
export interface Questions {
  status: { ask: object; answer: StatusView };
  machines: {
    ask: PageAsk & {
      where: MachineFilter;
      order?: ListOrder | undefined;
      /** Takes precedence over `order`; `after` is then made by `sortedPosition`. */
      sort?: MachineSort | undefined;
      /** For `where.id`: when the shard bought it, as the journal has it. */
      boughtMs?: number | null | undefined;
    };
    answer: Page<MachineView>;
  };
  needs: {
    ask: PageAsk & NeedFilter;
    answer: Page<NeedView>;
  };
  /** null: there is no such Need. */
  explain: { ask: { need: string }; answer: NeedExplanation | null };
  /** 'large': finding what explains the Need would delay the next cycle, so it has to be found on a replica of the ledger. */
  explainUnlessLarge: { ask: { need: string }; answer: NeedExplanation | 'large' | null };
  /** The explanation of a Need from what was found on a replica, as of the decision there. */
  explainFound: { ask: { found: NeedFindings }; answer: NeedExplanation };
  /**
   * `alsoNamed`: clusters whose roll-ups have problems; the list includes them even if the controller does not know them.
   * `cluster`: this cluster only.
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
  /** `only`: the list that `after` belongs to; the answer has items of this list and the total of the other one. */
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
  /** The newest `limit` events since a time, or after an event. */
  events: {
    ask: {
      sinceMs?: number | undefined;
      afterId?: string | undefined;
      limit: number;
      maxBytes?: number | undefined;
    };
    answer: EventsView;
  };
  /** Past events, newest first. */
  history: { ask: HistoryAsk; answer: HistoryPage };
  /** `id`: this freeze only. */
  freezes: { ask: PageAsk & { id?: string | undefined }; answer: Page<Freeze> };
  /** Frames of ShardRead.InspectNeeds; '' is all clusters, 0 no limit. */
  inspect: { ask: { cluster: string; limit: number }; answer: readonly InspectNeedsResponse[] };
  /** `order`: the groups by name; by default the most expensive first. */
  cost: { ask: PageAsk & { by: CostAspect; order?: 'name' | undefined }; answer: CostReport };
  /** Points after `sinceMs`. */
  costSeries: { ask: { by: CostAspect; sinceMs: number }; answer: CostSeries };
  remedies: { ask: { limit: number; maxBytes?: number | undefined }; answer: Remedies };
  machineCounts: {
    ask: { by: Exclude<CostAspect, 'priority'>; maxBytes?: number | undefined };
    answer: MachineCounts;
  };
  /** The next part of a replica of the ledger; null: parts were dropped, and the replica must begin again. */
  replica: { ask: { isFirst: boolean }; answer: ReplicaPart | null };
  /** Text of the controller's metrics. */
  metrics: { ask: object; answer: string };
}

/** Conditions that events meet; `need` also finds actions that took machines from it. `epoch` goes with `cycle`. */
export interface HistoryAsk extends PageAsk {
  readonly cycle?: number | undefined;
  readonly epoch?: number | undefined;
  readonly machine?: string | undefined;
  readonly need?: string | undefined;
  readonly cluster?: string | undefined;
  readonly kinds?: readonly HistoryKind[] | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** A past cycle: its number, and the start of the shard that had it; by default the newest one that had such a number. */
export interface CycleAsk {
  readonly cycle: number;
  readonly epoch?: number | undefined;
}

export type QuestionName = keyof Questions;
export type Answer<Q extends QuestionName> = Questions[Q]['answer'];

/** The orders to a shard. Each is logged with `who` and `why`. */
export type Order =
  | {
      readonly kind: 'freeze';
      readonly scope: FreezeScope;
      readonly who: string;
      readonly why: string;
      /** Absent: until it is lifted. */
      readonly forSeconds?: number | undefined;
    }
  | { readonly kind: 'unfreeze'; readonly id: string; readonly who: string }
  | { readonly kind: 'quarantine'; readonly machine: string; readonly who: string; readonly why: string }
  | ({ readonly kind: 'retry' | 'forget' | 'undrain'; readonly machine: string } & Signed)
  /** Replaces a machine by others, then gives it back. */
  | { readonly kind: 'drain'; readonly machine: string; readonly who: string; readonly why: string }
  /** Accepts a List that lost many machines. */
  | ({ readonly kind: 'accept-list'; readonly provider: string } & Signed)
  /** Lets machines of a cluster be reclaimed although rows of its demand are set aside. */
  | ({ readonly kind: 'lift-set-aside'; readonly cluster: string } & Signed)
  /** Declares a cluster gone for good: its machines are drained and given back. */
  | { readonly kind: 'retire'; readonly cluster: string; readonly who: string; readonly why: string }
  | ({ readonly kind: 'unretire'; readonly cluster: string } & Signed)
  | RollupOrder;

/** Accepts a quarantined roll-up, or refuses it however often it is repeated. */
export type RollupOrder = {
  readonly kind: 'accept-rollup' | 'refuse-rollup';
  readonly cluster: string;
} & Signed;

interface Signed {
  readonly who: string;
  /** Absent if the caller gave no reason. */
  readonly why?: string | undefined;
}

/** `message` is for people, whether the order was carried out or not. */
export interface OrderResult {
  readonly isDone: boolean;
  readonly message: string;
}

/** An event as the shard keeps it. */
export type EventView = Exclude<ShardEvent, { readonly kind: 'cycle' }> & {
  readonly id: string;
  readonly atMs: number;
};

/** `items` oldest first; `total` counts all kept events that match the question. */
export interface EventsView {
  readonly items: readonly EventView[];
  readonly total: number;
}

/** A shard as the API, the commands and the live views use it. */
export interface ShardPort {
  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>>;
  order(order: Order): Promise<OrderResult>;
  /** The returned function ends the subscription. */
  listen(listener: (event: ShardEvent) => void): () => void;
}

/** What-if questions about a shard. They throw BF_WHATIF_BUSY where the caller should ask again. */
export interface WhatIfPort {
  whatIf(request: WhatIfRequest): Promise<WhatIfAnswer>;
  /** Writes the fleet as a scenario, in pieces. */
  export(write: (piece: string) => Promise<void>): Promise<void>;
}

/** Past cycles, from the journal. */
export interface PastCyclesPort {
  /** Throws BF_JOURNAL_RANGE for a cycle that the journal does not have. */
  plan(ask: CycleAsk & PageAsk): Promise<CyclePlanView>;
  /** Decides a cycle again, with at most `limit` items in each list. Throws BF_REDECIDE_BUSY and BF_REDECIDE_LATE as well. */
  redecide(ask: CycleAsk & { readonly limit: number }): Promise<CycleRedecisionView>;
}
