// What happened and why, newest first, filterable; an entry leads to the machine, the Need, the cluster and the cycle. A
// shard without a history route shows the actions and events that the page has received.

import type { HistoryEvent, Page } from '../../feed-details.ts';
import { count, moment } from '../../figures.ts';
import type { Live } from '../../live.ts';
import { latestSentences } from '../../live.ts';
import { cycleLink, linkTo, type Place } from '../../place.ts';
import { apiPath, Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { Lines, Quiet, Section } from '../parts.ts';
import { useData, useRoute } from '../requests.ts';
import { historyLines } from './history.ts';

const LIMIT = '100';
const NAMES = ['kind', 'machine', 'need', 'cluster', 'cycle', 'epoch', 'since', 'until', 'after'];
const SHOWN = 100;

const KINDS = [
  ['', 'everything'],
  ['action', 'actions'],
  ['loss', 'losses'],
  ['waiting', 'held back'],
  ['need', 'Needs met and unmet'],
  ['log', 'warnings and orders'],
] as const;

const SPANS = [
  ['', 'all of it'],
  ['15m', '15 minutes'],
  ['1h', 'the last hour'],
  ['24h', 'the last day'],
] as const;
const SPAN_MS: Readonly<Record<string, number>> = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000 };

interface TimelineProps {
  readonly place: Place;
  readonly live: Live;
}

export function Timeline({ place, live }: TimelineProps): VNode {
  const has = useRoute('/v1/history');
  const nowMs = live.status?.nowMs ?? 0;
  const { cycle, epoch } = place.query;
  // An epoch alone, left over from a cycle that was cleared, would be refused.
  const query = { ...place.query, epoch: cycle ? (epoch ?? '') : '', ...sinceOf(place.query['span'], nowMs) };
  const path = apiPath('/v1/history', query, NAMES, { limit: LIMIT });
  const past = useData<Page<HistoryEvent>>(has && nowMs > 0 ? path : null);
  const items = past.value?.items ?? [];
  return html`<${Section} id="timeline-section" title="What happened, and why" kind="wide">
    <${Filters} place=${place} filters=${[
      { name: 'kind', label: 'Show', choices: KINDS },
      { name: 'span', label: 'Of', choices: SPANS },
      { name: 'machine', label: 'Machine', hint: 'all' },
      { name: 'need', label: 'Need', hint: 'cluster/0123456789' },
      { name: 'cluster', label: 'Cluster', hint: 'all' },
      { name: 'cycle', label: 'Cycle', hint: 'all' },
    ]} />
    ${cycle ? html`<p class="lead"><a href=${linkTo('cycle', [cycle], { epoch })}>The plan of cycle ${cycle}</a></p>` : null}
    ${past.error === '' ? null : html`<p class="failed">${past.error}</p>`}
    ${has ? html`<${Lines} id="timeline" lines=${historyLines(items, nowMs)} empty="Nothing matches." />` : html`<${Received} live=${live} />`}
    ${has && past.value !== undefined ? html`<${Pager} place=${place} next=${past.value.next} text=${`${count(items.length)} shown`} />` : null}
    ${has ? html`<${Cycles} live=${live} />` : null}
  <//>`;
}

/** A whole minute, so that the address of the request changes once a minute and not with every update. */
function sinceOf(span: string | undefined, nowMs: number): { readonly since?: string } {
  const ms = SPAN_MS[span ?? ''];
  return ms === undefined ? {} : { since: String(Math.floor((nowMs - ms) / 60_000) * 60_000) };
}

function Received({ live }: { readonly live: Live }): VNode {
  const nowMs = live.status?.nowMs ?? 0;
  const newest = latestSentences(live, SHOWN).toSorted((a, b) => b.atMs - a.atMs);
  const lines = newest.map(({ mood, text, atMs }) => ({
    mood,
    text: html`<time>${moment(atMs, nowMs)}</time> ${text}`,
  }));
  return html`<${Lines} id="timeline" lines=${lines} empty="Nothing has happened yet." />`;
}

function Cycles({ live }: { readonly live: Live }): VNode {
  const { cycle, epoch } = live.status ?? { cycle: null };
  return html`<${Quiet}>
    Every entry leads to its cycle: what it decided, started and held back, and a button that decides it again.
    ${cycle === null ? null : html`The last one was <a href=${cycleLink(cycle.number, epoch)}>cycle ${cycle.number}</a>.`}
  <//>`;
}
