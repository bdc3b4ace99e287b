// What a person may change: freezes with their reasons, Lists and roll-ups that wait for a decision, and in a demo the
// buttons that break things.

import { useState } from 'preact/hooks';
import type { Freeze } from '../../feed.ts';
import type { ClusterRow, Page } from '../../feed-details.ts';
import { count, moment, span } from '../../figures.ts';
import { clusterLink } from '../../place.ts';
import { kindName } from '../../plan-text.ts';
import { DEMO_SCENARIOS, VERBS } from '../../sentences.ts';
import { html, type VNode } from '../html.ts';
import { OrderButton, OrderNote } from '../orders.ts';
import { Quiet, Section, Table } from '../parts.ts';
import { freeze, order, unfreeze, useData } from '../requests.ts';
import type { PageState } from '../store.ts';
import { isDemo, WHAT_TO_WATCH } from './demo-controls.ts';
import { WhatIf } from './what-if.ts';

export function Controls({ state }: { readonly state: PageState }): VNode {
  const nowMs = state.live.status?.nowMs ?? 0;
  const clusters = useData<Page<ClusterRow>>('/v1/clusters?order=trouble&limit=20').value?.items ?? [];
  return html`<div class="grid">
    <${FreezeForm} />
    ${freezesView({ freezes: state.freezes, nowMs })}
    <${Waiting} state=${state} clusters=${clusters} nowMs=${nowMs} />
    <${WhatIf} about=${{}} />
    ${isDemo() ? html`<${Break} />` : null}
  </div>`;
}

export function freezesView({
  freezes,
  nowMs,
}: {
  readonly freezes: readonly Freeze[];
  readonly nowMs: number;
}): VNode {
  return html`<${Section} id="freezes-section" title="Freezes in force" kind="wide">
    <${Table} id="freezes" titles=${['Freeze', 'By', 'Reason', 'Since', 'Ends', '']} empty="Nothing is frozen."
      rows=${freezes.map(({ id, who, why, sinceMs, untilMs }) => [
        id === 'fleet' ? 'the whole fleet' : id,
        who,
        why,
        nowMs === 0 ? '' : `for ${span(nowMs - sinceMs)}`,
        untilMs === null ? 'when lifted' : nowMs === 0 ? '' : moment(untilMs, nowMs),
        html`<${OrderButton} data-unfreeze=${id} run=${() => unfreeze(id)}>Lift<//>`,
      ])} />
  <//>`;
}

/** Seconds after which a freeze ends; empty: when it is lifted. */
const ENDS = [
  ['', 'when lifted'],
  ['900', 'after 15 min'],
  ['3600', 'after 1 h'],
  ['14400', 'after 4 h'],
  ['86400', 'after 1 day'],
  ['604800', 'after 1 week'],
] as const;

function FreezeForm(): VNode {
  const [cluster, setCluster] = useState('');
  const [action, setAction] = useState('');
  const [why, setWhy] = useState('');
  const [seconds, setSeconds] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    const scope = {
      ...(cluster.trim() === '' ? {} : { cluster: cluster.trim() }),
      ...(action === '' ? {} : { action }),
      ...(seconds === '' ? {} : { forSeconds: Number(seconds) }),
    };
    void freeze(scope, why.trim());
  };
  const text = (set: (value: string) => void) => (event: Event) =>
    set((event.target as HTMLInputElement).value);
  return html`<${Section} id="freeze-section" title="Freeze" kind="wide">
    <p>A freeze stops actions from being carried out, across restarts; decisions go on, and are shown.</p>
    <form id="freeze-form" class="filters" onSubmit=${submit}>
      <label><span>Cluster</span><input name="cluster" value=${cluster} placeholder="all" autocomplete="off" onInput=${text(setCluster)} /></label>
      <label><span>Actions</span>
        <select name="action" onChange=${text(setAction)}>
          <option value="" selected=${action === ''}>all</option>
          ${Object.keys(VERBS).map((kind) => html`<option value=${kind} selected=${kind === action}>${kindName(kind)}</option>`)}
        </select>
      </label>
      <label><span>Ends</span>
        <select name="for" onChange=${text(setSeconds)}>
          ${ENDS.map(([value, label]) => html`<option value=${value} selected=${value === seconds}>${label}</option>`)}
        </select>
      </label>
      <label><span>Reason</span><input name="why" value=${why} required autocomplete="off" onInput=${text(setWhy)} /></label>
      <${OrderButton}>Freeze<//>
    </form>
    <${OrderNote} />
  <//>`;
}

interface WaitingProps {
  readonly state: PageState;
  readonly clusters: readonly ClusterRow[];
  readonly nowMs: number;
}

/** Inputs that the shard does not act on before a person agrees. */
function Waiting({ state, clusters, nowMs }: WaitingProps): VNode {
  const providers = (state.live.status?.providers ?? []).filter(({ heldLosses }) => heldLosses > 0);
  const rollups = clusters.filter(({ reports }) => reports?.held != null);
  const rows = [
    ...providers.map(({ name, heldLosses }) => [
      `A List of ${name} lost ${count(heldLosses)} machines.`,
      html`<${OrderButton} run=${() => order(`/v1/providers/${encodeURIComponent(name)}/accept-list`)}>Accept<//>`,
    ]),
    ...rollups.map(({ cluster, reports }) => [
      html`A roll-up of <a href=${clusterLink(cluster)}>${cluster}</a> has ${count(reports!.held!.rows)} rows instead of ${count(reports!.held!.knownRows)}, since ${moment(reports!.held!.sinceMs, nowMs)}.`,
      html`<${OrderButton} run=${() => order(`/v1/clusters/${encodeURIComponent(cluster)}/accept-rollup`)}>Accept<//>
        <${OrderButton} run=${() => order(`/v1/clusters/${encodeURIComponent(cluster)}/refuse-rollup`)}>Refuse<//>`,
    ]),
    ...clusters
      .filter(({ setAside }) => setAside !== null && !setAside.isLifted)
      .map(({ cluster, setAside }) => [
        html`Machines of <a href=${clusterLink(cluster)}>${cluster}</a> are kept, because ${count(setAside!.rows)} rows are set aside.`,
        html`<${OrderButton} run=${() => order(`/v1/clusters/${encodeURIComponent(cluster)}/lift-set-aside`)}>Let them go<//>`,
      ]),
  ];
  return html`<${Section} id="waiting-section" title="Waits for a person" kind="wide">
    <${Table} titles=${['What', 'Order']} rows=${rows} empty="Nothing waits for a person." />
  <//>`;
}

function Break(): VNode {
  return html`<${Section} id="break-section" title="Break something, and watch" kind="wide">
    <${Quiet}>This is a demo: its clouds and clusters are simulated, and nothing is paid for.<//>
    <${Table} id="break" titles=${['Button', 'What happens, and what to watch']} empty=""
      rows=${DEMO_SCENARIOS.map(({ name, label }) => [
        html`<${OrderButton} data-break=${name} run=${() => order(`/up/stories/${name}`)}>${label}<//>`,
        WHAT_TO_WATCH[name],
      ])} />
  <//>`;
}
