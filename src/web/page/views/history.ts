// A list of what happened, newest first, to all things or to one. Read from the history of the shard; a shard without
// that route answers with the actions that it remembers.

import type { Action } from '../../feed.ts';
import type { HistoryEvent, Page } from '../../feed-details.ts';
import { count, moment } from '../../figures.ts';
import { historyLine } from '../../history-text.ts';
import { namesOf } from '../../linked-text.ts';
import { newestActions } from '../../live.ts';
import { cycleLink, linkTo } from '../../place.ts';
import { html, type VNode } from '../html.ts';
import { Linked } from '../linked.ts';
import { Lines, Section } from '../parts.ts';
import { useData, useRoute } from '../requests.ts';

interface HistoryProps {
  /** `machine`, `need`, `cluster`, or `cycle` with `epoch`, as the route and the timeline have them. */
  readonly query: Readonly<Record<string, string>>;
  readonly nowMs: number;
  readonly title: string;
}

const LIMIT = '30';

export function History({ query, nowMs, title }: HistoryProps): VNode {
  const has = useRoute('/v1/history');
  const search = new URLSearchParams({ ...query, limit: LIMIT });
  const past = useData<Page<HistoryEvent>>(has ? `/v1/history?${search}` : null);
  // The list of actions has neither of these filters.
  const isOnlyInHistory = query['need'] !== undefined || query['cycle'] !== undefined;
  const fallback = has || isOnlyInHistory ? null : `/v1/actions?${search}`;
  const actions = useData<{ actions: Page<Action> }>(fallback);
  const lines = has
    ? historyLines(past.value?.items ?? [], nowMs)
    : actionLines(actions.value?.actions.items ?? [], nowMs);
  return html`<${Section} id="history-section" title=${title} kind="wide">
    <${Lines} id="history" lines=${lines} empty="Nothing is known." />
    ${past.value === undefined ? null : moreView(query, past.value)}
  <//>`;
}

/** The rest is on the timeline, with the same filter. */
export function moreView(query: HistoryProps['query'], { items, next }: Page<HistoryEvent>): VNode | null {
  if (next === null) return null;
  const text =
    items.length === 0 ? 'Search the timeline' : `The newest ${count(items.length)}; more on the timeline`;
  return html`<p class="pager"><a href=${linkTo('timeline', [], query)}>${text}</a></p>`;
}

export function historyLines(events: readonly HistoryEvent[], nowMs: number) {
  return events.map((event) => {
    const { mood, text, names } = historyLine(event);
    return {
      mood,
      text: html`<time>${moment(event.atMs, nowMs)}</time> <${Linked} text=${text} names=${names} />${
        event.cycle === null
          ? null
          : html` <small><a href=${cycleLink(event.cycle, event.epoch)}>cycle ${event.cycle}</a></small>`
      }`,
    };
  });
}

function actionLines(actions: readonly Action[], nowMs: number) {
  const named = new Map(actions.map((action) => [action.id, action]));
  return newestActions(actions).map(({ id, mood, text, atMs }) => ({
    mood,
    text: html`<time>${moment(atMs, nowMs)}</time> <${Linked} text=${text} names=${namesOf(named.get(id)!)} />`,
  }));
}
