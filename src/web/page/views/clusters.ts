// The list of clusters, and one cluster: demand, machines, cost, session, rows set aside, and what keeps it from being
// served.

import { costPartText, ownedText } from '../../cost-text.ts';
import { usedText } from '../../coverage.ts';
import type { ClusterRow, MachineRow, NeedRow, Page } from '../../feed-details.ts';
import { count, counted, moment, perHour, perMonth } from '../../figures.ts';
import { linkTo, type Place } from '../../place.ts';
import { clusterNotes, machinesIn, STATES } from '../../sentences.ts';
import { apiPath, Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { OrderButton, OrderNote } from '../orders.ts';
import { Bar, ClusterLink, Facts, Lines, Quiet, Section, Table } from '../parts.ts';
import { type Data, freeze, unfreeze, useData } from '../requests.ts';
import { History } from './history.ts';
import { MachineTable } from './machines.ts';
import { NeedTable } from './needs.ts';
import { WhatIf } from './what-if.ts';

const LIMIT = '100';
const SHOWN = 20;

export function Clusters({ place }: { readonly place: Place }): VNode {
  const query = { order: 'trouble', ...place.query };
  const path = apiPath('/v1/clusters', query, ['cluster', 'order', 'after'], { limit: LIMIT });
  return clustersView({ place, clusters: useData<Page<ClusterRow>>(path) });
}

export function clustersView({
  place,
  clusters: { value, error },
}: {
  readonly place: Place;
  readonly clusters: Data<Page<ClusterRow>>;
}): VNode {
  const wanted = place.query['cluster'];
  const most = Math.max(0.01, ...(value?.items ?? []).map(({ costPerHour }) => costPerHour));
  return html`<${Section} id="clusters-section" title="Clusters" kind="wide">
    <${Filters} place=${place} filters=${[
      { name: 'cluster', label: 'Cluster', hint: 'its whole name' },
      {
        ...{ name: 'order', label: 'Order' },
        choices: [
          ['trouble', 'those in trouble first'],
          ['name', 'name'],
        ] as const,
      },
    ]} />
    ${error === '' ? null : html`<p class="failed">${error}</p>`}
    ${
      value === undefined
        ? html`<${Quiet}>Loading.<//>`
        : html`<${Table} id="clusters" titles=${['Cluster', '#Needs', '#Not met', '#Serving', '#Coming', '#Leaving', '#Used', '#Cost', '', 'Owned', 'Session', 'Remarks']}
            empty=${wanted === undefined ? 'No cluster is known.' : `No cluster is called ${wanted}.`}
            rows=${value.items.map((cluster) => [
              html`<${ClusterLink} name=${cluster.cluster} />`,
              count(cluster.needs),
              html`<span class=${cluster.unmet > 0 ? 'failed' : ''}>${count(cluster.unmet)}</span>`,
              count(machinesIn(cluster, 'CONFIGURED')),
              count(machinesIn(cluster, 'CONFIGURING')),
              count(machinesIn(cluster, 'DRAINING')),
              usedText(cluster.usedShare),
              perHour(cluster.costPerHour),
              html`<${Bar} share=${cluster.costPerHour / most} />`,
              ownedText(cluster.ownedCost),
              cluster.hasSession ? 'connected' : html`<span class="failed">not connected</span>`,
              remarksOn(cluster).join('; '),
            ])} />`
    }
    ${value === undefined ? null : html`<${Pager} place=${place} next=${value.next} text=${counted(value.total ?? 0, 'cluster')} />`}
  <//>`;
}

/** Guardrails and conditions in force, and what is wrong with its roll-ups. */
function remarksOn(cluster: ClusterRow): readonly string[] {
  const { freeze: frozen, retired, reports, hasReported, hasSession } = cluster;
  return [
    ...clusterNotes(cluster).filter((note) => note !== 'not connected'),
    frozen === null ? '' : `frozen by ${frozen.who}`,
    retired === null ? '' : `retired by ${retired.who}`,
    hasSession && !hasReported ? 'has not reported yet; nothing is reclaimed from it' : '',
    reports?.held == null
      ? ''
      : `a roll-up with ${counted(reports.held.rows, 'row')} instead of ${count(reports.held.knownRows)} is held`,
  ].filter((text) => text !== '');
}

export function ClusterPage({ place, nowMs }: { readonly place: Place; readonly nowMs: number }): VNode {
  const [name = ''] = place.parts;
  const query = new URLSearchParams({ cluster: name, limit: String(SHOWN) });
  const cluster = useData<Page<ClusterRow>>(`/v1/clusters?cluster=${encodeURIComponent(name)}&limit=1`);
  const needs = useData<Page<NeedRow>>(`/v1/needs?${query}`);
  const machines = useData<Page<MachineRow>>(`/v1/machines?${query}`);
  return html`<div>
    ${clusterView({ name, nowMs, cluster })}
    <${Section} id="cluster-needs" title="Its Needs, the most important first" kind="wide"
      aside=${html`<a href=${linkTo('needs', [], { cluster: name })}>all ${count(needs.value?.total ?? 0)}</a>`}>
      <${NeedTable} needs=${needs.value?.items ?? []} nowMs=${nowMs} />
    <//>
    <${Section} id="cluster-machines" title="Its machines" kind="wide"
      aside=${html`<a href=${linkTo('machines', [], { cluster: name })}>all ${count(machines.value?.total ?? 0)}</a>`}>
      <${MachineTable} machines=${machines.value?.items ?? []} />
    <//>
    <${WhatIf} about=${{ cluster: name }} />
    <${History} query=${{ cluster: name }} nowMs=${nowMs} title="What happened in it, and why" />
  </div>`;
}

interface View {
  readonly name: string;
  readonly nowMs: number;
  readonly cluster: Data<Page<ClusterRow>>;
}

export function clusterView({ name, nowMs, cluster: { value, error } }: View): VNode {
  const [cluster] = value?.items ?? [];
  if (cluster === undefined) {
    const text = value === undefined ? 'Loading.' : `There is no cluster ${name}.`;
    return html`<${Section} id="cluster" title=${`Cluster ${name}`}><${Quiet}>${error === '' ? text : error}<//><//>`;
  }
  const remarks = remarksOn(cluster);
  const { freeze: frozen, reports } = cluster;
  const isFrozen = frozen?.id === `cluster:${name}`;
  return html`<${Section} id="cluster" title=${`Cluster ${name}`} kind="wide"
    aside=${html`<${OrderButton} data-freeze-cluster=${isFrozen ? 'off' : 'on'}
      run=${() => (isFrozen ? unfreeze(frozen.id) : freeze({ cluster: name }, 'button on the page'))}>
      ${isFrozen ? 'Unfreeze it' : 'Freeze it'}<//>`}>
    <${OrderNote} />
    <p class=${`lead ${cluster.unmet > 0 ? 'failed' : ''}`} id="cluster-sentence">${sentenceOn(cluster)}</p>
    <${Lines} id="cluster-remarks" lines=${remarks.map((text) => ({ mood: 'doing', text }))} empty="" />
    <${Facts} facts=${[
      ['Session', cluster.hasSession ? 'connected' : 'not connected'],
      ['Last roll-up', reports?.lastReportMs == null ? '' : moment(reports.lastReportMs, nowMs)],
      [
        'Machines',
        STATES.filter(({ state }) => machinesIn(cluster, state) > 0)
          .map(({ state, label }) => `${count(machinesIn(cluster, state))} ${label}`)
          .join(', '),
      ],
      ['Used', usedText(cluster.usedShare)],
      ['Cost', `${perHour(cluster.costPerHour)}, ${perMonth(cluster.costPerHour)}`],
      ['Of which', costPartText(cluster.cost)],
      ['Besides', ownedText(cluster.ownedCost)],
      ['Rows set aside', cluster.setAside === null ? '' : count(cluster.setAside.rows)],
      ['Remarks on rows', (reports?.remarks ?? []).join('; ')],
    ]} />
  <//>`;
}

function sentenceOn({ cluster, needs, unmet, costPerHour }: ClusterRow): string {
  const demand =
    needs === 0
      ? 'wants nothing'
      : unmet === 0
        ? `has all of its ${counted(needs, 'Need')} met`
        : `lacks something for ${count(unmet)} of its ${counted(needs, 'Need')}`;
  return `${cluster} ${demand} and costs ${perHour(costPerHour)}.`;
}
