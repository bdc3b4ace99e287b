// What happened and why, newest first, filterable; an entry leads to the machine, the Need, the cluster and the cycle.

import type { HistoryEvent, Page } from '../../feed-details.ts';
import { count } from '../../figures.ts';
import type { Live } from '../../live.ts';
import { cycleLink, linkTo, type Place } from '../../place.ts';
import { apiPath, Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { Lines, Quiet, Section } from '../parts.ts';
import { useData } from '../requests.ts';
import { historyLines } from './history.ts';

const LIMIT = '100';
const NAMES = ['kind', 'machine', 'need', 'cluster', 'cycle', 'epoch', 'since', 'until', 'after'];

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
  const nowMs = live.status?.nowMs ?? 0;
  const { cycle, epoch } = place.query;
  // An epoch alone, left over from a cycle that was cleared, would be refused.
  const query = { ...place.query, epoch: cycle ? (epoch ?? '') : '', ...sinceOf(place.query['span'], nowMs) };
  const path = apiPath('/v1/history', query, NAMES, { limit: LIMIT });
  // Entries stay while the start of the span moves on.
  const past = useData<Page<HistoryEvent>>(nowMs > 0 ? path : null, linkTo('timeline', [], place.query));
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
    ${past.value === undefined ? null : pageView(place, past.value, nowMs)}
    ${past.value === undefined && past.error === '' ? html`<${Quiet}>Loading.<//>` : null}
    <${Cycles} live=${live} />
  <//>`;
}

/** A whole minute, so that the address of the request changes once a minute and not with every update. */
function sinceOf(span: string | undefined, nowMs: number): { readonly since?: string } {
  const ms = SPAN_MS[span ?? ''];
  return ms === undefined ? {} : { since: String(Math.floor((nowMs - ms) / 60_000) * 60_000) };
}

function pageView(place: Place, { items, next }: Page<HistoryEvent>, nowMs: number): VNode {
  return html`<div>
    <${Lines} id="timeline" lines=${historyLines(items, nowMs)} empty="Nothing matches." />
    <${Pager} place=${place} next=${next} text=${`${count(items.length)} shown`} />
  </div>`;
}

function Cycles({ live }: { readonly live: Live }): VNode {
  const { cycle, epoch } = live.status ?? { cycle: null };
  return html`<${Quiet}>
    Every entry leads to its cycle: what it decided, started and held back, and a button that decides it again.
    ${cycle === null ? null : html`The last one was <a href=${cycleLink(cycle.number, epoch)}>cycle ${cycle.number}</a>.`}
  <//>`;
}
