// One machine: what it is, who uses it, what happened to it, what it costs, and the orders that a person may give.

import { useState } from 'preact/hooks';
import type { MachineRow } from '../../feed-details.ts';
import { count, dollars, moment, perHour, perMonth, span } from '../../figures.ts';
import { clusterLink, linkTo, type Place } from '../../place.ts';
import { html, type VNode } from '../html.ts';
import { ActionSentence } from '../linked.ts';
import { OrderButton, OrderNote } from '../orders.ts';
import { Facts, NeedLink, Quiet, Section, StateChip, Table } from '../parts.ts';
import { type Data, order, useData } from '../requests.ts';
import { History } from './history.ts';
import { capacityText } from './machines.ts';
import { quantitiesText } from './needs.ts';

export function Machine({ place, nowMs }: { readonly place: Place; readonly nowMs: number }): VNode {
  const [id = ''] = place.parts;
  const machine = useData<MachineRow>(`/v1/machines/${encodeURIComponent(id)}`);
  return html`<div>
    ${machineView({ id, nowMs, machine })}
    ${machine.value === undefined ? null : html`<${Orders} machine=${machine.value} />`}
    <${History} query=${{ machine: id }} nowMs=${nowMs} title="What happened to it, and why" />
  </div>`;
}

interface View {
  readonly id: string;
  readonly nowMs: number;
  readonly machine: Data<MachineRow>;
}

export function machineView({ id, nowMs, machine: { value, error } }: View): VNode {
  if (value === undefined)
    return html`<${Section} id="machine" title=${`Machine ${id}`}>
      ${error === '' ? html`<${Quiet}>Loading.<//>` : html`<p class="failed" role="status">${error}</p>`}
    <//>`;
  return html`<div class="grid">
    <${About} machine=${value} nowMs=${nowMs} />
    <${Users} machine=${value} />
    <${Labels} machine=${value} />
  </div>`;
}

interface AboutProps {
  readonly machine: MachineRow;
  readonly nowMs: number;
}

function About({ machine, nowMs }: AboutProps): VNode {
  const sentences = [
    machine.usage?.sentence,
    machine.unclaimed?.sentence,
    machine.renewal?.sentence,
    machine.drain?.sentence,
    machine.drainOrder?.sentence,
  ].flatMap((text) => (text === undefined || text === '' ? [] : [`${text}.`]));
  const { held, quarantine, action } = machine;
  return html`<${Section} id="machine" title=${`Machine ${machine.id}`} kind="wide" aside=${html`<${StateChip} state=${machine.state} />`}>
    ${sentences.map((text) => html`<p class="lead">${text}</p>`)}
    ${machine.lastError === '' ? null : html`<p class="failed">${machine.lastError}</p>`}
    ${held === null ? null : html`<p class="doing">Kept out of decisions: ${held.why}${held.untilMs === null ? '' : `, until ${moment(held.untilMs, nowMs)}`}.</p>`}
    ${quarantine === null ? null : html`<p class="doing">Quarantined by ${quarantine.by}${quarantine.why === '' ? '' : `: ${quarantine.why}`}.</p>`}
    ${action === null ? null : html`<p class="doing">Now: <${ActionSentence} action=${action} />.</p>`}
    <${Facts} facts=${[
      [
        'Provider',
        html`<a href=${linkTo('machines', [], { provider: machine.provider })}>${machine.provider}</a>`,
      ],
      [
        'Cluster',
        machine.cluster === '' ? '' : html`<a href=${clusterLink(machine.cluster)}>${machine.cluster}</a>`,
      ],
      ['Bound for', machine.need === null ? '' : html`<${NeedLink} id=${machine.need.id} />`],
      [
        'Type',
        html`<a href=${linkTo('machines', [], { text: `type=${machine.instanceType}` })}>${machine.instanceType}</a>`,
      ],
      ['Zone', html`<a href=${linkTo('machines', [], { text: `zone=${machine.zone}` })}>${machine.zone}</a>`],
      ['Capacity', capacityText(machine.capacityType)],
      ['Price', perHour(machine.pricePerHour)],
      ['A month', perMonth(machine.pricePerHour)],
      ['Cost so far', costSoFar(machine, nowMs)],
      [
        'Interruption',
        machine.interruptionProbability === 0
          ? ''
          : `${Math.round(machine.interruptionProbability * 1000) / 10} % an hour`,
      ],
      ['Offers', quantitiesText(machine.allocatable)],
      ['Node', machine.nodeName],
      ['Host', machine.hostRef],
      [
        'Idle for',
        machine.idleSinceMs === null || nowMs === 0 || machine.state !== 'IDLE'
          ? ''
          : span(nowMs - machine.idleSinceMs),
      ],
    ]} />
  <//>`;
}

/** '' for a machine without a host. */
function costSoFar({ hostRef, costSoFar: known = null }: MachineRow, nowMs: number): string {
  if (hostRef === '') return '';
  if (known === null) return 'not known: its purchase is not on record';
  return `${dollars(known.dollars)} since it was bought, ${moment(known.sinceMs, nowMs)}`;
}

function Users({ machine: { usage } }: { readonly machine: MachineRow }): VNode {
  return html`<${Section} id="users" title="Who counts on it">
    <${Table} titles=${['Need', '#Priority', 'Takes', '']} empty="No Need counts on it."
      rows=${(usage?.users ?? []).map(({ need, isShare, amount }) => [
        html`<${NeedLink} id=${need.id} />`,
        count(need.priority),
        amount === null ? 'an unknown amount' : quantitiesText(amount),
        isShare ? 'shares it' : 'claims it',
      ])} />
    ${usage === null ? null : html`<p class="quiet">Left over: ${quantitiesText(usage.leftOver) || 'nothing'}.</p>`}
  <//>`;
}

function Labels({ machine: { labels } }: { readonly machine: MachineRow }): VNode {
  return html`<${Section} id="labels" title="Labels">
    <${Table} titles=${['Label', 'Value']} empty="It has no labels."
      rows=${Object.entries(labels).map(([key, value]) => [
        key,
        html`<a href=${linkTo('machines', [], { text: `${key}=${value}` })}>${value}</a>`,
      ])} />
  <//>`;
}

/** Verbs with what each does. */
const ORDERS = [
  { verb: 'retry', label: 'Retry', about: 'ends back-off and quarantine' },
  { verb: 'quarantine', label: 'Quarantine', about: 'keeps it out of decisions until a retry' },
  { verb: 'drain', label: 'Drain', about: 'serves its Needs elsewhere, then takes it out of its cluster' },
  { verb: 'undrain', label: 'Undo drain', about: 'takes a drain order back' },
  { verb: 'forget', label: 'Forget', about: 'hides it while it is Failed at its provider' },
] as const;

function Orders({ machine }: { readonly machine: MachineRow }): VNode {
  const [why, setWhy] = useState('');
  const isOrdered = machine.drainOrder !== null && machine.drainOrder !== undefined;
  const offered = ORDERS.filter(({ verb }) => {
    if (verb === 'drain') return !isOrdered && machine.state === 'CONFIGURED';
    if (verb === 'undrain') return isOrdered;
    if (verb === 'forget') return machine.state === 'FAILED';
    return verb === 'retry' || machine.quarantine === null;
  });
  return html`<${Section} id="orders" title="Orders" kind="wide">
    <div class="filters">
      <label><span>Reason, for the log</span>
        <input name="why" value=${why} autocomplete="off" onInput=${(event: Event) => setWhy((event.target as HTMLInputElement).value)} />
      </label>
      ${offered.map(
        ({ verb, label, about }) =>
          html`<${OrderButton} data-order=${verb} title=${about}
            run=${() => order(`/v1/machines/${encodeURIComponent(machine.id)}/${verb}`, why.trim() || undefined)}>${label}<//>`,
      )}
    </div>
    <${OrderNote} />
    <p class="quiet">${offered.map(({ label, about }) => `${label} ${about}.`).join(' ')}</p>
  <//>`;
}
