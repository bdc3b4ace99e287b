// A list of what happened, newest first, to all things or to one, read from the history of the shard.

import type { HistoryEvent, Page } from '../../feed-details.ts';
import { count, moment } from '../../figures.ts';
import { historyLine } from '../../history-text.ts';
import { cycleLink, linkTo } from '../../place.ts';
import { html, type VNode } from '../html.ts';
import { Linked } from '../linked.ts';
import { Lines, Section } from '../parts.ts';
import { useData } from '../requests.ts';

interface HistoryProps {
  /** `machine`, `need`, `cluster`, or `cycle` with `epoch`, as the route and the timeline have them. */
  readonly query: Readonly<Record<string, string>>;
  readonly nowMs: number;
  readonly title: string;
}

const LIMIT = '30';

export function History({ query, nowMs, title }: HistoryProps): VNode {
  const search = new URLSearchParams({ ...query, limit: LIMIT });
  const past = useData<Page<HistoryEvent>>(`/v1/history?${search}`);
  const lines = historyLines(past.value?.items ?? [], nowMs);
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
