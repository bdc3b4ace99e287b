// The first page: the state of the fleet in one sentence, what needs attention, and its figures now and over the last
// hour. Everything that has a page of its own is a link to it.

import { attentionItems } from '../../attention.ts';
import { costByState, costPartText, ownedText } from '../../cost-text.ts';
import type { Plan, Point, Status } from '../../feed.ts';
import type { ClusterRow, Page } from '../../feed-details.ts';
import { count, counted, dollars, milliseconds, moment, perHour, perMonth, span } from '../../figures.ts';
import { namesOf } from '../../linked-text.ts';
import { isFrozen, type Live, newestActions } from '../../live.ts';
import { linkTo } from '../../place.ts';
import {
  byTrouble,
  frozenClusterText,
  headline,
  heldBackLine,
  isInTrouble,
  machinesIn,
  plannedLine,
  providerText,
  STATES,
  WHAT_IT_IS,
} from '../../sentences.ts';
import { steps, unmetHistoryText } from '../../series.ts';
import { supplyGroups } from '../../supply-text.ts';
import { html, type VNode } from '../html.ts';
import { Linked } from '../linked.ts';
import { Bar, Lines, restText, Section, Tile } from '../parts.ts';
import { Plot } from '../plot.ts';
import { useData } from '../requests.ts';
import type { PageState } from '../store.ts';
import { DemoControls } from './demo-controls.ts';
import { SupplyTable } from './supply.ts';

const MAX_ACTIONS = 15;
const MAX_EVENTS = 20;
const MAX_PLANNED = 10;
const MAX_PROVIDERS = 20;
const MINUTE_MS = 60_000;
/** Clusters in trouble that are looked at. */
const CLUSTERS = '/v1/clusters?order=trouble&limit=20';

export function Overview({ state }: { readonly state: PageState }): VNode {
  const clusters = useData<Page<ClusterRow>>(CLUSTERS).value?.items ?? [];
  const plan = useData<Plan>(`/v1/plan?limit=${MAX_PLANNED}`).value ?? null;
  const live = { ...state.live, clusters };
  const { status } = live;
  return html`<div>
    <${Head} live=${live} />
    <${DemoControls} state=${state} />
    ${status === null ? null : html`<${Figures} status=${status} live=${live} plan=${plan} />`}
  </div>`;
}

function Head({ live }: { readonly live: Live }): VNode {
  const { status, shortfalls } = live;
  return html`<div class="head">
    <p id="intro" class="quiet">${WHAT_IT_IS}</p>
    <p id="headline">${headline(status, shortfalls, isFrozen(live))}</p>
    <p id="about" class="quiet">${status === null ? '' : aboutText(status)}</p>
  </div>`;
}

function aboutText(status: Status): string {
  const cycle =
    status.cycle === null
      ? 'no cycle yet'
      : `cycle ${count(status.cycle.number)} took ${milliseconds(status.cycle.durationMs)}`;
  return `Shard ${status.shard}, running for ${span(status.nowMs - status.startedMs)}; ${cycle}.`;
}

interface FiguresProps {
  readonly status: Status;
  readonly live: Live;
  readonly plan: Plan | null;
}

function Figures({ status, live, plan }: FiguresProps): VNode {
  return html`<div>
    <${Tiles} status=${status} series=${live.series} />
    <main class="grid">
      <${Attention} live=${live} />
      <${Machines} status=${status} series=${live.series} />
      <${Section} id="supply" title="Demand and supply, and how much is used">
        <${SupplyTable} groups=${supplyGroups(status)} />
        <${UsedPlot} series=${live.series} />
      <//>
      <${Costs} status=${status} series=${live.series} />
      <${Unmet} status=${status} series=${live.series} />
      <${Doing} live=${live} />
      <${CycleTime} status=${status} series=${live.series} />
      <${Providers} status=${status} />
      <${HeldBack} status=${status} plan=${plan} />
      <${Events} live=${live} />
    </main>
  </div>`;
}

function Tiles({ status, series }: { readonly status: Status; readonly series: readonly Point[] }): VNode {
  const unmet = status.cycle?.unmet ?? 0;
  const lastMinute = series.filter(({ atMs }) => atMs > status.nowMs - MINUTE_MS);
  const begun = lastMinute.reduce((sum, point) => sum + point.begun, 0);
  const failed = lastMinute.reduce((sum, point) => sum + point.failed, 0);
  return html`<div class="tiles">
    <${Tile} name="Needs" value=${count(status.needs)} href=${linkTo('needs')}
      about=${unmet === 0 ? 'all met' : `${count(unmet)} not met`} mood=${unmet === 0 ? '' : 'failed'} />
    <${Tile} name="Machines" value=${count(machinesIn(status, 'CONFIGURED'))} about="serving" href=${linkTo('machines')} />
    <${Tile} name="Clusters" value=${count(status.clusters)} about=${`${count(status.sessions)} connected`} href=${linkTo('clusters')} />
    <${Tile} name="Cost" value=${perHour(status.costPerHour)} about=${perMonth(status.costPerHour)} href=${linkTo('cost')} />
    <${Tile} name="Actions" value=${count(begun)} href=${linkTo('timeline', [], { kind: 'action' })}
      about=${`in a minute, ${count(failed)} failed`} mood=${failed === 0 ? '' : 'busy'} />
    <${Tile} name="Cycle" value=${status.cycle === null ? '-' : milliseconds(status.cycle.durationMs)} about=${`number ${count(status.cycle?.number ?? 0)}`} />
  </div>`;
}

function Attention({ live }: { readonly live: Live }): VNode {
  const items = attentionItems(live);
  const lines = items.map(({ mood, text, href }) => ({ mood, text: html`<a href=${href}>${text}</a>` }));
  return html`<${Section} id="attention-section" title="What needs attention now" kind="wide">
    <${Lines} id="attention" lines=${lines} empty="Nothing." />
  <//>`;
}

/** States that machines of the fleet are in, in the order in which they are stacked. */
const STACKED = ['CONFIGURED', 'CONFIGURING', 'CREATING', 'IDLE', 'DRAINING', 'DELETING', 'FAILED'];

function Machines({ status, series }: { readonly status: Status; readonly series: readonly Point[] }): VNode {
  const counts = STATES.map((each) => ({ ...each, machines: machinesIn(status, each.state) }));
  const hasHost = (name: string): boolean => name !== 'SPECULATIVE';
  const most = Math.max(1, ...counts.filter(({ state }) => hasHost(state)).map(({ machines }) => machines));
  const costs = costByState(status.cost);
  return html`<${Section} id="machines-section" title="Machines by state">
    <table>
      <tbody id="machines">
        ${counts.map(
          ({ state, label, what, machines }) =>
            html`<tr>
              <th scope="row"><a href=${linkTo('machines', [], { state })} title=${what}>${capital(label)}</a></th>
              <td>${
                hasHost(state)
                  ? html`<${Bar} share=${machines / most} kind=${state.toLowerCase()} />`
                  : html`<small>${what}</small>`
              }</td>
              <td class="figure">${count(machines)}</td>
              <td class="figure">${costs.get(state) ?? ''}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <${Plot} label="Machines by state in the last hour" isStacked=${true} format=${count}
      timesMs=${series.map(({ atMs }) => atMs)}
      series=${STACKED.map((state) => ({
        label: STATES.find((each) => each.state === state)!.label,
        kind: state.toLowerCase(),
        values: series.map((point) => machinesIn(point, state)),
      }))} />
  <//>`;
}

function UsedPlot({ series }: { readonly series: readonly Point[] }): VNode | null {
  const kinds = [...new Set(series.flatMap(({ usedShare }) => Object.keys(usedShare ?? {})))];
  if (kinds.length === 0) return null;
  return html`<${Plot} label="Used share of serving machines in the last hour"
    format=${(share: number) => `${Math.round(share * 100)} %`}
    timesMs=${series.map(({ atMs }) => atMs)}
    series=${kinds.map((kind, i) => ({
      label: `${kind}, used`,
      kind: `line-${i}`,
      values: series.map(({ usedShare }) => usedShare?.[kind] ?? null),
    }))} />`;
}

/** Parts of a cost by the state whose colour they have. */
const PARTS: Readonly<Record<string, { readonly label: string; readonly kind: string }>> = {
  serving: { label: 'serving', kind: 'configured' },
  onHold: { label: 'on hold', kind: 'on-hold' },
  joining: { label: 'joining', kind: 'configuring' },
  idle: { label: 'idle', kind: 'idle' },
  draining: { label: 'leaving', kind: 'draining' },
  deleting: { label: 'returning', kind: 'deleting' },
  failed: { label: 'failed', kind: 'failed' },
};

function Costs({ status, series }: { readonly status: Status; readonly series: readonly Point[] }): VNode {
  const parts = costPartText(status.cost);
  const owned = ownedText(status.ownedCost);
  return html`<${Section} id="cost-section" title="Cost per hour" aside=${html`<a href=${linkTo('cost')}>more</a>`}>
    <div id="cost">
      <strong>${perHour(status.costPerHour)}</strong>
      <${Plot} label="Cost per hour in the last hour, by what machines do" isStacked=${true} format=${dollars}
        timesMs=${series.map(({ atMs }) => atMs)}
        series=${Object.entries(PARTS).map(([part, { label, kind }]) => ({
          ...{ label, kind },
          values: series.map(({ costByPart, costPerHour }) =>
            costByPart === undefined ? (part === 'serving' ? costPerHour : 0) : (costByPart[part] ?? 0),
          ),
        }))} />
      <small>${parts === '' ? '' : `${parts}.`}<span>${owned === '' ? '' : ` Besides, ${owned}.`}</span></small>
    </div>
  <//>`;
}

const PRIORITIES = ['critical', 'service', 'batch', 'other'];
const AGES = ['1-9', '10-59', '60-299', '300+'];

function Unmet({ status, series }: { readonly status: Status; readonly series: readonly Point[] }): VNode {
  const known = status.unmetByAge ?? [];
  const countOf = (priority: string, age: string): number =>
    known.find((each) => each.priority === priority && each.age === age)?.count ?? 0;
  return html`<${Section} id="unmet-section" title="Not met, by priority and age in cycles"
    aside=${html`<a href=${linkTo('needs', [], { unmet: 'true' })}>list</a>`}>
    <table id="unmet" class="heat">
      <thead><tr><th scope="col">priority</th>${AGES.map((age) => html`<th scope="col" class="figure">${age}</th>`)}</tr></thead>
      <tbody>
        ${PRIORITIES.map(
          (priority) =>
            html`<tr>
              <th scope="row">${priority}</th>
              ${AGES.map((age, i) => {
                const needs = countOf(priority, age);
                return html`<td class=${`figure ${needs > 0 ? `heat-${i}` : 'none'}`}>${count(needs)}</td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="quiet" id="unmet-history">${unmetHistoryText(series, status)}</p>
    <${Plot} label="Needs that are not met in the last hour" format=${count}
      timesMs=${series.map(({ atMs }) => atMs)}
      series=${[{ label: 'not met', kind: 'failed', values: series.map(({ unmet }) => unmet) }]} />
  <//>`;
}

function Doing({ live }: { readonly live: Live }): VNode {
  const { actions, status } = live;
  const nowMs = status?.nowMs ?? 0;
  const named = new Map(actions.map((action) => [action.id, action]));
  const shown = newestActions(actions).slice(0, MAX_ACTIONS);
  const perMinute = steps(live.series);
  const lines = shown.map(({ id, mood, text, atMs }) => ({
    mood,
    text: html`<time>${moment(atMs, nowMs)}</time> <${Linked} text=${text} names=${namesOf(named.get(id)!)} />`,
  }));
  return html`<${Section} id="actions-section" title="What is being done, and why" kind="wide"
    aside=${html`<a href=${linkTo('timeline')}>timeline</a>`}>
    <${Plot} label="Actions per minute in the last hour" format=${count}
      timesMs=${perMinute.map(({ atMs }) => atMs)}
      series=${[
        { label: 'begun per minute', kind: 'line-0', values: perMinute.map(({ begun }) => begun * 6) },
        { label: 'failed per minute', kind: 'failed', values: perMinute.map(({ failed }) => failed * 6) },
      ]} />
    <${Lines} id="actions" lines=${lines} empty=${status === null ? '' : 'No actions yet.'} />
  <//>`;
}

function CycleTime({
  status,
  series,
}: {
  readonly status: Status;
  readonly series: readonly Point[];
}): VNode {
  const phases = Object.entries(status.cycle?.phaseMs ?? {});
  const most = Math.max(1e-9, ...phases.map(([, ms]) => ms));
  return html`<${Section} id="cycle-section" title="Cycle time and its phases">
    <table>
      <tbody id="phases">
        ${phases.map(
          ([phase, ms]) =>
            html`<tr>
              <th scope="row">${phase}</th>
              <td><${Bar} share=${ms / most} /></td>
              <td class="figure">${milliseconds(ms)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <${Plot} label="Longest cycle in the last hour" format=${milliseconds}
      timesMs=${series.map(({ atMs }) => atMs)}
      series=${[{ label: 'longest cycle', kind: 'line-0', values: series.map(({ cycleMs }) => cycleMs ?? null) }]} />
  <//>`;
}

/** What is held back, in numbers for each reason and then one by one. */
function HeldBack({ status, plan }: { readonly status: Status; readonly plan: Plan | null }): VNode {
  const heldBack = status.cycle?.heldBack ?? [];
  const clusters = plan?.frozenClusters ?? [];
  const items = heldBack.length === 0 ? [] : (plan?.actions.items ?? []).slice(0, MAX_PLANNED);
  const total = heldBack.reduce((sum, held) => sum + held.total, 0);
  const lines = [
    ...heldBack.map((held) => ({ text: html`<strong>${capital(heldBackLine(held))}</strong>` })),
    ...clusters.map((frozen) => ({ text: frozenClusterText(frozen) })),
    ...items.map((planned) => ({
      mood: 'doing',
      text: html`<${Linked} text=${plannedLine(planned)} names=${namesOf({ ...planned, from: planned.from ?? null })} />`,
    })),
  ];
  const rest = heldBack.length === 0 ? '' : restText(items.length, total, 'action', 'most urgent first');
  return html`<${Section} id="plan-section" title="Decided and not carried out" kind="wide">
    <${Lines} id="plan" lines=${lines} empty="Nothing is held back." rest=${rest} />
  <//>`;
}

function Events({ live: { events, status } }: { readonly live: Live }): VNode {
  const shown = events.slice(0, MAX_EVENTS);
  const lines = shown.map(({ atMs, level, text }) => ({
    mood: level === 'error' ? 'failed' : level === 'warn' ? 'doing' : '',
    text: html`<time>${moment(atMs, status?.nowMs ?? atMs)}</time> ${text}`,
  }));
  const rest = restText(shown.length, events.length, 'event', 'newest first');
  return html`<${Section} id="events-section" title="Warnings, errors and orders" kind="wide"
    aside=${html`<a href=${linkTo('timeline', [], { kind: 'log' })}>timeline</a>`}>
    <${Lines} id="events" lines=${lines} empty="No warning, error or order is known." rest=${rest} />
  <//>`;
}

function Providers({ status: { providers } }: { readonly status: Status }): VNode {
  const shown = [...providers].sort(byTrouble).slice(0, MAX_PROVIDERS);
  return html`<${Section} id="providers-section" title="Providers">
    <table>
      <tbody id="providers">
        ${shown.map(
          (provider) =>
            html`<tr>
              <th scope="row"><a href=${linkTo('machines', [], { provider: provider.name })}>${provider.name}</a></th>
              <td class="figure">${counted(provider.machines, 'machine')}</td>
              <td><span class=${isInTrouble(provider) ? 'failed' : ''}>${providerText(provider)}</span></td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="quiet">${restText(shown.length, providers.length, 'provider', 'those in trouble first')}</p>
  <//>`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
