// The state of a live view, kept by page/main.ts and cli/up/follow.ts: the newest status, the last actions and events,
// the series of the last hour, and polled details. Reduced from shard events, starting with those from before the view
// was opened. All lists are bounded, so that a view may stay open for weeks.

import type {
  Action,
  Cluster,
  FailedMachine,
  Freeze,
  Plan,
  Point,
  ShardEvent,
  Shortfall,
  Status,
} from './feed.ts';
import { lossesText, lossText, SHOWN_ELSEWHERE } from './loss-text.ts';
import { actionText, logText, type Sentence } from './sentences.ts';

/** A log line as a sentence. */
interface Remark {
  readonly atMs: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** About machines that were lost. */
  readonly isLoss?: true;
}

export interface Live {
  /** null until the first event of a cycle. */
  readonly status: Status | null;
  /** The last to begin first. */
  readonly actions: readonly Action[];
  /** The last hour, oldest first. */
  readonly series: readonly Point[];
  /** Warnings, errors and orders, newest first. */
  readonly events: readonly Remark[];
  /** The last warning or error. */
  readonly remark: Remark | null;
  readonly shortfalls: readonly Shortfall[];
  /** Those in trouble first. */
  readonly clusters: readonly Cluster[];
  readonly clustersTotal: number;
  /** Failed machines, as far as a view has room for them. */
  readonly failed: readonly FailedMachine[];
  readonly failedTotal: number;
  readonly freezes: readonly Freeze[];
  /** What was decided and is not carried out; null if the shard did not report it. */
  readonly plan: Plan | null;
}

export const MAX_ACTIONS = 200;
export const MAX_EVENTS = 100;
/** Shortfalls that a view has room for. */
export const MAX_SHORTFALLS = 20;
/** Clusters that a view has room for. */
export const MAX_CLUSTERS = 100;
/** Failed machines that a view has room for. */
export const MAX_FAILED = 10;
/** Actions that were decided and not begun, as far as a view has room for them. */
export const MAX_PLANNED = 20;
/** The freeze that stops everything. */
export const FLEET_FREEZE = 'fleet';

export const NOTHING_YET: Live = {
  status: null,
  actions: [],
  series: [],
  events: [],
  remark: null,
  shortfalls: [],
  clusters: [],
  clustersTotal: 0,
  failed: [],
  failedTotal: 0,
  freezes: [],
  plan: null,
};

export function withEvent(live: Live, event: ShardEvent): Live {
  switch (event.kind) {
    case 'cycle':
      return withStatus(live, event.status);
    case 'action-started':
    case 'action-ended':
      return { ...live, actions: withAction(live.actions, event.action) };
    case 'loss':
      return withLoss(live, event.loss.atMs, 'warn', lossText(event.loss));
    case 'losses':
      return withLoss(
        live,
        event.losses.atMs,
        event.losses.isDark ? 'error' : 'warn',
        lossesText(event.losses),
      );
    case 'log':
      return isWorthShowing(event) ? withLog(live, event) : live;
    default:
      // A newer shard may send kinds of events that this view does not know.
      return live;
  }
}

/**
 * A restarted shard resets the view: the new process provides the series of the last hour, and in-flight actions of the old
 * process are dropped.
 */
function withStatus(live: Live, status: Status): Live {
  const isSame = live.status === null || live.status.startedMs === status.startedMs;
  if (isSame) return { ...live, status };
  return { ...live, status, series: [], actions: live.actions.filter(({ outcome }) => outcome !== null) };
}

type LogEvent = Extract<ShardEvent, { readonly kind: 'log' }>;

/** Excludes info lines other than orders, and events that the list of actions or losses shows already. */
function isWorthShowing({ level, event }: LogEvent): boolean {
  return event === 'order' || (level !== 'info' && !SHOWN_ELSEWHERE.has(event));
}

function withLog(live: Live, { atMs, level, event, fields }: LogEvent): Live {
  const remark: Remark = { atMs: atMs ?? live.status?.nowMs ?? 0, level, text: logText(event, fields) };
  return withEvents(live, withRemark(live.events, remark));
}

/** Deduplicates: a restarted shard sends the journal's events of the old process again. */
function withRemark(events: readonly Remark[], remark: Remark): readonly Remark[] {
  if (events.some(({ atMs, text }) => atMs === remark.atMs && text === remark.text)) return events;
  return [remark, ...events].sort((a, b) => b.atMs - a.atMs).slice(0, MAX_EVENTS);
}

function withEvents(live: Live, events: readonly Remark[]): Live {
  return { ...live, events, remark: events.find(({ level }) => level !== 'info') ?? null };
}

/** Merges earlier events (`past`, oldest first) into `live`, whose own events are newer. */
export function withPast(live: Live, past: readonly ShardEvent[]): Live {
  const before = past.reduce(withEvent, { ...NOTHING_YET, status: live.status });
  const actions = live.actions.toReversed().reduce(withAction, before.actions);
  return withEvents({ ...live, actions }, live.events.toReversed().reduce(withRemark, before.events));
}

function withLoss(live: Live, atMs: number, level: Remark['level'], text: string): Live {
  return withEvents(live, withRemark(live.events, { atMs, level, text, isLoss: true }));
}

export interface TimedSentence extends Sentence {
  readonly atMs: number;
}

/**
 * The last actions and losses, newest first, by when they ended or, if they have not, began. Losses of the last minute come
 * before everything else: the actions that follow from them would push them out at once.
 */
export function latestSentences(
  { actions, events, status }: Pick<Live, 'actions' | 'events' | 'status'>,
  most: number,
): readonly TimedSentence[] {
  const all = events.filter(({ isLoss }) => isLoss === true);
  const freshMs = (status?.nowMs ?? 0) - FRESH_LOSS_MS;
  const fresh = all.slice(0, MAX_FRESH_LOSSES).filter(({ atMs }) => status !== null && atMs >= freshMs);
  const rest: TimedSentence[] = [...all.slice(fresh.length).map(lossOf), ...newestActions(actions)];
  return [...fresh.map(lossOf), ...rest.sort(newestFirst)].slice(0, most);
}

/** Sentences on actions, newest first, by when they ended or, if they have not, began. */
export function newestActions(actions: readonly Action[]): readonly (TimedSentence & Pick<Action, 'id'>)[] {
  return actions
    .map((action) => ({ id: action.id, atMs: action.endedMs ?? action.startedMs, ...actionText(action) }))
    .sort(newestFirst);
}

function newestFirst(a: TimedSentence, b: TimedSentence): number {
  return b.atMs - a.atMs;
}

const FRESH_LOSS_MS = 60_000;
const MAX_FRESH_LOSSES = 3;

function lossOf({ atMs, text }: Remark): TimedSentence {
  return { atMs, mood: 'failed', text };
}

function withAction(actions: readonly Action[], action: Action): readonly Action[] {
  const at = actions.findIndex(({ id }) => id === action.id);
  if (at === -1) return [action, ...actions.slice(0, MAX_ACTIONS - 1)];
  return actions.with(at, action);
}

export function isFrozen({ freezes }: Pick<Live, 'freezes'>): boolean {
  return freezes.some(({ id }) => id === FLEET_FREEZE);
}
