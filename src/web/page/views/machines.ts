// The list of machines: searched, filtered, sorted and paged by the shard.

import type { MachineCounts, MachineRow, Page } from '../../feed-details.ts';
import { count, counted, perHour } from '../../figures.ts';
import { linkTo, type Place } from '../../place.ts';
import { STATES } from '../../sentences.ts';
import { apiPath, Filters, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import {
  Bar,
  ClusterLink,
  MachineLink,
  NeedLink,
  Quiet,
  restText,
  Section,
  StateChip,
  Table,
} from '../parts.ts';
import { type Data, useData } from '../requests.ts';

const LIMIT = '50';
const NAMES = ['text', 'state', 'cluster', 'provider', 'labels', 'sort', 'after'];

const ASPECTS = [
  ['', 'hidden'],
  ['zone', 'zone'],
  ['capacity-type', 'capacity type'],
  ['instance-type', 'type'],
  ['hardware', 'hardware'],
  ['cluster', 'cluster'],
] as const;
/** Rows of the summary. */
const SHOWN = 20;

export function Machines({ place }: { readonly place: Place }): VNode {
  const path = apiPath('/v1/machines', place.query, NAMES, { limit: LIMIT });
  const machines = useData<Page<MachineRow>>(path);
  const { by } = place.query;
  const counts = useData<MachineCounts>(by === undefined ? null : `/v1/machine-counts?by=${by}`).value;
  return html`<div>
    ${by === undefined || counts === undefined ? null : countsView({ by, counts })}
    ${machinesView({ place, machines })}
  </div>`;
}

/** All machines of the fleet by one aspect, whatever the filters are. */
export function countsView({ by, counts }: { readonly by: string; readonly counts: MachineCounts }): VNode {
  const shown = counts.items.slice(0, SHOWN);
  const most = Math.max(1, ...shown.map(({ machines }) => machines));
  const states = STATES.filter(({ state }) => shown.some(({ byState }) => (byState[state] ?? 0) > 0));
  const aspect = ASPECTS.find(([value]) => value === by)?.[1] ?? by;
  return html`<${Section} id="machine-counts-section" title=${`The fleet by ${aspect}`} kind="wide">
    <${Table} id="machine-counts" titles=${[aspect, '#Machines', '', ...states.map(({ label }) => `#${label}`)]} empty="There are no machines."
      rows=${shown.map(({ name, machines, byState }) => [
        nameOf(by, name),
        count(machines),
        html`<${Bar} share=${machines / most} />`,
        ...states.map(({ state }) => count(byState[state] ?? 0)),
      ])} />
    <p class="quiet">${restText(shown.length, counts.total, aspect, 'most machines first')}</p>
  <//>`;
}

/** Names of the filters of the search by aspect. */
const SEARCHES: Readonly<Record<string, string>> = {
  zone: 'zone',
  'capacity-type': 'capacity',
  'instance-type': 'type',
};

function nameOf(by: string, name: string): VNode | string {
  if (by === 'cluster') return html`<${ClusterLink} name=${name} />`;
  const search = SEARCHES[by];
  if (search === undefined) return name;
  const text = by === 'capacity-type' ? capacityText(name) : name;
  return html`<a href=${linkTo('machines', [], { text: `${search}=${text}` })}>${text}</a>`;
}

interface View {
  readonly place: Place;
  readonly machines: Data<Page<MachineRow>>;
}

const STATE_CHOICES = [
  ['', 'all states'] as const,
  ...STATES.map(({ state, label }) => [state, label] as const),
];

const SORTS = [
  ['', 'name'],
  ['price', 'price, lowest first'],
  ['-price', 'price, highest first'],
  ['state', 'state'],
  ['zone', 'zone'],
  ['type', 'type'],
  ['cluster', 'cluster'],
] as const;

export function machinesView({ place, machines: { value, error } }: View): VNode {
  return html`<${Section} id="machines-list" title="Machines" kind="wide">
    <${Filters} place=${place} filters=${[
      { name: 'text', label: 'Search', hint: 'name, type, key=value' },
      { name: 'state', label: 'State', choices: STATE_CHOICES },
      { name: 'cluster', label: 'Cluster', hint: 'all' },
      { name: 'provider', label: 'Provider', hint: 'all' },
      { name: 'by', label: 'Summary by', choices: ASPECTS },
      { name: 'labels', label: 'Labels', hint: 'rack in (r1,r2),!gpu' },
      { name: 'sort', label: 'Order', choices: SORTS },
    ]} />
    ${error === '' ? null : html`<p class="failed">${error}</p>`}
    ${value === undefined ? html`<${Quiet}>Loading.<//>` : html`<${MachineTable} machines=${value.items} />`}
    ${
      value === undefined
        ? null
        : html`<${Pager} place=${place} next=${value.next} text=${value.total === null ? '' : counted(value.total, 'machine')} />`
    }
  <//>`;
}

export function MachineTable({ machines }: { readonly machines: readonly MachineRow[] }): VNode {
  return html`<${Table} id="machine-rows" titles=${['Machine', 'State', 'Cluster', 'Type', 'Zone', 'Capacity', '#Price', 'Serves', 'Remark']}
    empty="No machine matches."
    rows=${machines.map((machine) => [
      html`<${MachineLink} id=${machine.id} />`,
      html`<${StateChip} state=${machine.state} />`,
      html`<${ClusterLink} name=${machine.cluster} />`,
      html`<a href=${linkTo('machines', [], { text: `type=${machine.instanceType}` })}>${machine.instanceType}</a>`,
      html`<a href=${linkTo('machines', [], { text: `zone=${machine.zone}` })}>${machine.zone}</a>`,
      capacityText(machine.capacityType),
      perHour(machine.pricePerHour),
      machine.need === null ? '' : html`<${NeedLink} id=${machine.need.id} />`,
      html`<span class=${machine.lastError === '' ? '' : 'failed'}>${remarkOn(machine)}</span>`,
    ])} />`;
}

/** `on-demand`. */
export function capacityText(capacityType: string): string {
  return capacityType.toLowerCase().replaceAll('_', '-');
}

/** The most important thing to know about a machine besides its state. */
function remarkOn(machine: MachineRow): string {
  if (machine.isForgotten) return 'forgotten';
  if (machine.quarantine !== null) return `quarantined by ${machine.quarantine.by}`;
  if (machine.lastError !== '') return machine.lastError;
  if (machine.held !== null) return machine.held.why;
  return machine.drain?.sentence ?? machine.unclaimed?.sentence ?? machine.renewal?.sentence ?? '';
}
