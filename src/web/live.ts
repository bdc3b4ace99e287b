// What a live view has in mind: the newest status, the last actions and costs, and what it asked for besides. Made from
// the news one by one. Everything has a bound, so that a view may stay open for weeks.

import type { Action, Cluster, Freeze, News, Plan, Shortfall, Status } from './feed.ts';
import { logWords } from './words.ts';

export interface Remark {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

export interface Live {
  /** null until the first news of a cycle. */
  readonly status: Status | null;
  /** Newest first; one that ends stays in its place. */
  readonly actions: readonly Action[];
  /** Per hour, one for each cycle, oldest first. */
  readonly costs: readonly number[];
  /** The last warning or error. */
  readonly remark: Remark | null;
  readonly shortfalls: readonly Shortfall[];
  readonly clusters: readonly Cluster[];
  readonly freezes: readonly Freeze[];
  /** What was decided and is not carried out; null where the shard said nothing of it. */
  readonly plan: Plan | null;
}

/** What no news brings: views ask for it now and then. Of the freezes, only whether the whole fleet is frozen. */
export type Details = Pick<Live, 'shortfalls' | 'clusters' | 'freezes' | 'plan'>;

export const MAX_ACTIONS = 200;
/** At one cycle a second: the last five minutes. */
export const MAX_COSTS = 300;
/** Shortfalls that are worth asking for. */
export const MAX_SHORTFALLS = 20;
/** Clusters that a view has room for. */
export const MAX_CLUSTERS = 100;
/** Actions that were decided and not begun, as far as a view has room for them. */
export const MAX_PLANNED = 20;
/** The freeze that stops everything. */
export const FLEET_FREEZE = 'fleet';

export const NOTHING_YET: Live = {
  status: null,
  actions: [],
  costs: [],
  remark: null,
  shortfalls: [],
  clusters: [],
  freezes: [],
  plan: null,
};

export function withNews(live: Live, news: News): Live {
  switch (news.kind) {
    case 'cycle':
      return withStatus(live, news.status);
    case 'action-started':
    case 'action-ended':
      return { ...live, actions: withAction(live.actions, news.action) };
    case 'log':
      if (news.level === 'info') return live;
      return { ...live, remark: { level: news.level, text: logWords(news.event, news.fields) } };
    default:
      // A newer shard may have more to tell.
      return live;
  }
}

/** Another process of the shard starts a new account: costs and actions of the old one would mislead. */
function withStatus(live: Live, status: Status): Live {
  const isSame = live.status === null || live.status.startedMs === status.startedMs;
  const costs = isSame ? live.costs : [];
  return { ...live, status, costs: [...costs, status.costPerHour].slice(-MAX_COSTS) };
}

function withAction(actions: readonly Action[], action: Action): readonly Action[] {
  const at = actions.findIndex(({ id }) => id === action.id);
  if (at === -1) return [action, ...actions.slice(0, MAX_ACTIONS - 1)];
  return actions.with(at, action);
}

export function isFrozen({ freezes }: Pick<Live, 'freezes'>): boolean {
  return freezes.some(({ id }) => id === FLEET_FREEZE);
}
