// The list of Needs in the order in which they are served, with how much of each is covered and why it is not met.

import { coverageOf, percentText } from '../../coverage.ts';
import type { NeedRow, Page } from '../../feed-details.ts';
import { count, counted, measured, quantityValue, resourceName, span } from '../../figures.ts';
import type { Place } from '../../place.ts';
import { UNMET_REASONS } from '../../unmet-reasons.ts';
import { apiPath, Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { Bar, NeedLink, Quiet, Section, Table } from '../parts.ts';
import { type Data, useData } from '../requests.ts';

const LIMIT = '50';
const NAMES = ['cluster', 'unmet', 'reason', 'minPriority', 'after'];

const REASONS = [['', 'any'] as const, ...UNMET_REASONS.map((reason) => [reason, reason] as const)];

export function Needs({ place, nowMs }: { readonly place: Place; readonly nowMs: number }): VNode {
  const needs = useData<Page<NeedRow>>(apiPath('/v1/needs', place.query, NAMES, { limit: LIMIT }));
  return needsView({ place, nowMs, needs });
}

interface View {
  readonly place: Place;
  readonly nowMs: number;
  readonly needs: Data<Page<NeedRow>>;
}

export function needsView({ place, nowMs, needs: { value, error } }: View): VNode {
  const { unmet, reason } = place.query;
  const which = unmet === 'true' || reason ? 'Need that is not met' : 'Need';
  return html`<${Section} id="needs-section" title="Needs, the most important first" kind="wide">
    <${Filters} place=${place} filters=${[
      { name: 'cluster', label: 'Cluster', hint: 'all' },
      {
        ...{ name: 'unmet', label: 'Show' },
        choices: [
          ['', 'all Needs'],
          ['true', 'not met'],
        ] as const,
      },
      { name: 'reason', label: 'Not met because', choices: REASONS },
      { name: 'minPriority', label: 'Least priority', hint: 'any' },
    ]} />
    ${error === '' ? null : html`<p class="failed">${error}</p>`}
    ${value === undefined ? html`<${Quiet}>Loading.<//>` : html`<${NeedTable} needs=${value.items} nowMs=${nowMs} />`}
    ${value === undefined ? null : html`<${Pager} place=${place} next=${value.next} text=${counted(value.total ?? 0, which).replace('Need that is not mets', 'Needs that are not met')} />`}
  <//>`;
}

export function NeedTable({
  needs,
  nowMs,
}: {
  readonly needs: readonly NeedRow[];
  readonly nowMs: number;
}): VNode {
  return html`<${Table} id="needs" titles=${['Need', '#Priority', 'Wants', '#Covered', '', 'State', '#Since']}
    empty="No Need matches."
    rows=${needs.map((need) => {
      const coverage = need.isMet ? 1 : coverageOf(need);
      return [
        html`<${NeedLink} id=${need.id} />${need.group === '' ? null : html` <small>${need.group}</small>`}`,
        count(need.priority),
        quantitiesText(need.wants),
        percentText(coverage),
        html`<${Bar} share=${coverage} kind=${need.isMet ? '' : 'short'} />`,
        need.isMet
          ? html`<span class="done">met</span>`
          : html`<span class="failed">${need.why === '' ? 'not met' : need.why}</span>`,
        nowMs === 0 ? '' : span(nowMs - need.firstSeenMs),
      ];
    })} />`;
}

/** `12 cores, 48 GiB memory`. */
export function quantitiesText(quantities: Readonly<Record<string, string>>): string {
  return Object.entries(quantities)
    .map(([resource, quantity]) => {
      const value = quantityValue(quantity);
      const text = value === undefined ? quantity : measured(resource, value);
      return resource === 'cpu' ? text : `${text} ${resourceName(resource)}`;
    })
    .join(', ');
}
