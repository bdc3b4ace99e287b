// What the fleet costs: now and over time, by any of several aspects; what is paid for and not used; what spot saves; the
// bill at the present rate; and what meeting all Needs would add.

import { costPartText, ownedText } from '../../cost-text.ts';
import { percentText } from '../../coverage.ts';
import type { CostGroup, CostReport, CostSeries, Remedies } from '../../feed-details.ts';
import { count, counted, dollars, HOURS_PER_MONTH, instant, moment, perHour } from '../../figures.ts';
import { linkTo, type Place } from '../../place.ts';
import { Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { Bar, ClusterLink, Facts, MachineLink, NeedLink, Quiet, Section, Table } from '../parts.ts';
import { Plot } from '../plot.ts';
import { type Data, useData } from '../requests.ts';
import { capacityText } from './machines.ts';

const LIMIT = '50';

const ASPECTS = [
  ['cluster', 'cluster'],
  ['capacity-type', 'capacity type'],
  ['priority', 'priority'],
  ['hardware', 'kind of hardware'],
  ['zone', 'zone'],
  ['instance-type', 'instance type'],
] as const;

const DEFAULT_ASPECT = 'cluster';

export function CostPage({ place }: { readonly place: Place }): VNode {
  const by = place.query['by'] ?? DEFAULT_ASPECT;
  const after = place.query['after'];
  const search = new URLSearchParams({ by, limit: LIMIT, ...(after === undefined ? {} : { after }) });
  // Answers say which aspect they are by, so the page keeps the last one, and the focus of the filter, until the next arrives.
  const report = useData<CostReport>(`/v1/cost?${search}`, '/v1/cost');
  const series = useData<CostSeries>(`/v1/cost/series?by=${by}`, '/v1/cost/series');
  const remedies = useData<Remedies>('/v1/cost/remedies?limit=20');
  return costView({ place, report, series: series.value, remedies: remedies.value });
}

interface View {
  readonly place: Place;
  readonly report: Data<CostReport>;
  readonly series: CostSeries | undefined;
  readonly remedies: Remedies | undefined;
}

export function costView({ place, report: { value, error }, series, remedies }: View): VNode {
  if (value === undefined)
    return html`<${Section} id="cost-page" title="Cost"><${Quiet}>${error === '' ? 'Loading.' : error}<//><//>`;
  return html`<div class="grid">
    <${Now} report=${value} />
    <${Groups} place=${place} report=${value} />
    <${OverTime} series=${series} />
    <${Unused} report=${value} />
    <${Spot} report=${value} />
    <${Remedy} remedies=${remedies} />
  </div>`;
}

function Now({ report }: { readonly report: CostReport }): VNode {
  const { cost, ownedCost, forecast, nowMs } = report;
  const { restOfMonth, wholeMonth, monthEndMs, sinceStart } = forecast;
  return html`<${Section} id="cost-page" title="Cost" kind="wide">
    <p class="lead" id="cost-sentence">
      ${perHour(cost.perHour)} now: ${costPartText(cost) || 'nothing is paid for'}.
    </p>
    <${Facts} facts=${[
      [
        'Until the month ends',
        `${dollars(restOfMonth)} at the present rate, by ${moment(monthEndMs, nowMs)}`,
      ],
      [`All of ${calendarMonth(monthEndMs)}`, `${dollars(wholeMonth)} at the present rate`],
      ['Measured', `${dollars(sinceStart.dollars)} since ${moment(sinceStart.fromMs, nowMs)}`],
      ['Besides', ownedText(ownedCost)],
    ]} />
  <//>`;
}

/** `2026-11, 720 h`: the month (UTC) that ends then. */
function calendarMonth(endMs: number): string {
  const end = new Date(endMs);
  const startMs = Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  return `${instant(startMs).slice(0, '2026-11'.length)}, ${count((endMs - startMs) / 3_600_000)} h`;
}

interface GroupsProps {
  readonly place: Place;
  readonly report: CostReport;
}

function Groups({ place, report: { by, groups, cost } }: GroupsProps): VNode {
  const download = `/v1/cost?by=${by}&format=csv`;
  return html`<${Section} id="cost-groups-section" title=${`By ${titleOf(by).toLowerCase()}`} kind="wide"
    aside=${html`<a href=${download} download=${`cost-by-${by}.csv`}>CSV</a>`}>
    <${Filters} place=${{ ...place, query: { by: DEFAULT_ASPECT, ...place.query } }} filters=${[{ name: 'by', label: 'By', choices: ASPECTS }]} />
    <${Table} id="cost-groups" titles=${[titleOf(by), '#Machines', '#Cost', '', '#Share', `#In ${HOURS_PER_MONTH} h`, 'Of which']} empty="Nothing costs anything."
      rows=${groups.items.map((group) => {
        const share = cost.perHour === 0 ? 0 : group.cost.perHour / cost.perHour;
        return [
          nameOf(by, group),
          count(group.machines),
          perHour(group.cost.perHour),
          html`<${Bar} share=${share} />`,
          percentText(share),
          dollars(group.cost.perHour * HOURS_PER_MONTH),
          costPartText(group.cost),
        ];
      })} />
    <${Pager} place=${place} next=${groups.next} text=${counted(groups.total ?? 0, 'group')} />
  <//>`;
}

function titleOf(by: string): string {
  const title = ASPECTS.find(([value]) => value === by)?.[1] ?? by;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function nameOf(by: string, { name }: CostGroup): VNode | string {
  if (name === '') return by === 'cluster' ? 'no cluster' : 'none';
  if (by === 'cluster') return html`<${ClusterLink} name=${name} />`;
  if (by === 'capacity-type') return capacityText(name);
  if (by === 'zone' || by === 'instance-type')
    return html`<a href=${linkTo('machines', [], { text: name })}>${name}</a>`;
  return name;
}

/** Colours of the lines of a plot. */
const COLOURS = 8;

function OverTime({ series }: { readonly series: CostSeries | undefined }): VNode {
  if (series === undefined || series.points.length < 2)
    return html`<${Section} id="cost-series" title="Over time" kind="wide"><${Quiet}>A point is kept every minute, for a day; there are not enough yet.<//><//>`;
  const { by, points, names } = series;
  return html`<${Section} id="cost-series" title="Over time" kind="wide"
    aside=${html`<a href=${`/v1/cost/series?by=${by}&format=csv`} download=${`cost-over-time-by-${by}.csv`}>CSV</a>`}>
    <${Plot} label=${`Cost per hour over time, by ${by}`} isStacked=${true} format=${dollars}
      timesMs=${points.map(({ atMs }) => atMs)}
      series=${names.map((name, i) => ({
        label: by === 'capacity-type' ? capacityText(name) : name === '' ? 'none' : name,
        kind: `line-${i % COLOURS}`,
        values: points.map(({ byName }) => byName[name] ?? 0),
      }))} />
  <//>`;
}

function Unused({ report: { stranded, cost } }: { readonly report: CostReport }): VNode {
  const idle = (cost.byPart['idle'] ?? 0) + (cost.byPart['onHold'] ?? 0);
  return html`<${Section} id="unused" title="Paid for and not used">
    <${Facts} facts=${[
      ['Idle', perHour(cost.byPart['idle'] ?? 0)],
      ['On hold', perHour(cost.byPart['onHold'] ?? 0)],
      ['Stranded', perHour(stranded.perHour)],
      [
        'Together',
        `${perHour(idle + stranded.perHour)}, ${percentText(cost.perHour === 0 ? 0 : (idle + stranded.perHour) / cost.perHour)} of the cost`,
      ],
    ]} />
    <${Table} titles=${['Hardware', '#Serving', '#Used', 'Of', '#Stranded']} empty=""
      rows=${stranded.byHardware.map(({ kind, servingPerHour, usedShare, resource, perHour: cost }) => [
        kind,
        perHour(servingPerHour),
        percentText(usedShare),
        resource,
        perHour(cost),
      ])} />
    <${Quiet}>Stranded: the part of serving machines that no Need counts on, by the resource that is used most.<//>
  <//>`;
}

function Spot({ report: { spot } }: { readonly report: CostReport }): VNode {
  const {
    machines,
    perHour: cost,
    onDemandPerHour,
    savesPerHour,
    interruptionsPerHour,
    netSavesPerHour,
    unpriced,
  } = spot;
  const facts = [
    ['Spot machines', count(machines)],
    ['Cost', perHour(cost)],
    ['The same on demand', perHour(onDemandPerHour)],
    ['Saves', perHour(savesPerHour)],
    ['Interruptions', `${perHour(interruptionsPerHour)}, as decisions weigh them`],
    ['Saves, net', perHour(netSavesPerHour)],
    ['Not compared', unpriced === 0 ? '' : `${counted(unpriced, 'machine')} without an on-demand price`],
  ] as const;
  return html`<${Section} id="spot" title="What spot saves">
    ${machines === 0 ? html`<${Quiet}>No spot machine is paid for.<//>` : html`<${Facts} facts=${facts} />`}
  <//>`;
}

/** Empty where the fewest machines are also the cheapest. */
function cheapestText(remedies: Remedies | undefined): string {
  if (remedies === undefined || remedies.cheapest.perHour >= remedies.perHour) return '';
  const { machines, perHour: cost } = remedies.cheapest;
  return ` The cheapest purchase is ${counted(machines, 'machine')} for ${perHour(cost)}.`;
}

function Remedy({ remedies }: { readonly remedies: Remedies | undefined }): VNode {
  const items = remedies?.items ?? [];
  const without = remedies?.withoutRemedy ?? 0;
  return html`<${Section} id="remedies" title="What would meet the Needs that are not met" kind="wide">
    ${items.length === 0 ? null : html`<p class="lead">${perHour(remedies?.perHour ?? 0)} more, for ${counted(remedies?.total ?? 0, 'Need')}.${cheapestText(remedies)}</p>`}
    <${Table} titles=${['Need', '#Priority', '#Machines', 'Like', 'Type', 'Zone', 'Capacity', '#Adds']} empty=${
      without === 0 ? 'All Needs are met.' : 'No known machine would meet what is not met.'
    }
      rows=${items.map(({ need, count: machines, like, instanceType, zone, capacityType, perHour: adds }) => [
        html`<${NeedLink} id=${need.id} />`,
        count(need.priority),
        count(machines),
        html`<${MachineLink} id=${like} />`,
        instanceType,
        zone,
        capacityText(capacityType),
        perHour(adds),
      ])} />
    ${items.length === 0 ? null : html`<${Quiet}>For each the fewest machines, and of these the cheapest.<//>`}
    ${without === 0 ? null : html`<${Quiet}>${counted(without, 'Need')} without a known machine that would do.<//>`}
  <//>`;
}
