// `bigfleet get machines [ID]`, `bigfleet explain machine ID`, and the table of machines of `bigfleet explain NEED`.

import { printable } from '../../model/index.ts';
import type { MachineView, Page } from '../../shard/index.ts';
import { VERBS } from '../../web/index.ts';
import { age, amounts, dollars, shortAmounts } from '../amounts.ts';
import type { Cell, Style } from '../table.ts';
import { factLines } from './facts.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';
import { type OutputOptions, table, type WideColumn } from './tables.ts';
import { wireWord } from './wire-text.ts';

const COLUMNS: readonly WideColumn[] = [
  { header: 'MACHINE', isWhole: true },
  { header: 'STATE' },
  { header: 'CLUSTER' },
  { header: 'TYPE' },
  { header: 'ZONE' },
  { header: 'CAPACITY' },
  { header: 'PER HOUR', align: 'right' },
  { header: 'PROVIDER', isWide: true },
  { header: 'NEED', isWide: true },
  { header: 'OFFERS', isWide: true },
  { header: 'NOTE' },
];

export const MACHINES: Listing<Page<MachineView>, MachineView> = {
  noun: 'machines',
  aliases: ['machine', 'mc'],
  summary: 'machines and what they do',
  filters: ['state', 'cluster', 'provider', 'selector', 'forgotten', 'limit'],
  examples: `  bigfleet get machines --state failed
  bigfleet get machines --cluster prod-eu -o wide
  bigfleet get machines m-17                      everything about one
  bigfleet get machine m-17 --watch               a row for each change of it
  bigfleet get mc -l 'topology.kubernetes.io/zone in (a,b),!gpu' --sort-by -pricePerHour
  bigfleet get mc --state creating --watch        what changes, until Ctrl-C
  bigfleet get machines -o json | jq '.items[].id'`,
  path: '/v1/machines',
  order: 'trouble',
  items: {
    ...ONE_PAGE,
    kind: 'machine',
    order: 'Failed first',
    nameOf: ({ id }) => id,
    columns: COLUMNS,
    rowOf,
    sorts: {
      ...{ id: 'id', state: 'state', zone: 'zone', cluster: 'cluster' },
      ...{ pricePerHour: 'price', price: 'price', instanceType: 'type', type: 'type' },
    },
  },
  one: {
    find: (client, id) => client.find<MachineView>(machinePath(id)),
    lines: machineLines,
  },
};

export function machinePath(id: string): string {
  return `/v1/machines/${encodeURIComponent(id)}`;
}

/** Machines that another view names; one that is no longer known is shown by its id alone. */
export function machineTable(
  machines: readonly (MachineView | { readonly id: string })[],
  options: OutputOptions,
  indent: number,
): readonly string[] {
  const rows = machines.map((machine) =>
    'state' in machine ? rowOf(machine, options) : [{ text: machine.id }],
  );
  return table(COLUMNS, rows, options, { indent });
}

function rowOf(machine: MachineView, { nowMs }: OutputOptions): readonly Cell[] {
  const { id, state, cluster, instanceType, zone, capacityType, pricePerHour, provider, need } = machine;
  return [
    { text: id },
    { text: wireWord(state), ...styleOf(state) },
    { text: cluster },
    { text: instanceType },
    { text: zone },
    { text: wireWord(capacityType) },
    { text: dollars(pricePerHour) },
    { text: provider },
    { text: need?.id ?? '' },
    { text: shortAmounts(machine.allocatable) },
    { text: notesOf(machine, nowMs).join('; '), style: 'dim' },
  ];
}

const STYLES: Readonly<Record<string, Style>> = {
  CONFIGURED: 'green',
  FAILED: 'red',
  DRAINING: 'yellow',
  DELETING: 'yellow',
  CREATING: 'cyan',
  CONFIGURING: 'cyan',
};

function styleOf(state: string): { readonly style?: Style } {
  const style = STYLES[state];
  return style === undefined ? {} : { style };
}

/** What is out of the ordinary about a machine. */
function notesOf(machine: MachineView, nowMs: number): readonly string[] {
  const { quarantine, held, action, lastError, idleSinceMs, unclaimed, isForgotten } = machine;
  const notes: string[] = [];
  if (quarantine !== null) {
    notes.push(`in quarantine by ${quarantine.by} for ${age(nowMs - quarantine.sinceMs)}: ${quarantine.why}`);
  } else if (held !== null) {
    const until = held.untilMs === null ? '' : ` for another ${age(held.untilMs - nowMs)}`;
    notes.push(`blocked${until}: ${held.why}`);
  }
  if (action !== null) {
    const attempt = action.attempts > 1 ? `, attempt ${action.attempts}` : '';
    const message = action.message === '' ? '' : `: ${action.message}`;
    notes.push(`${VERBS[action.kind].doing} for ${age(nowMs - action.startedMs)}${attempt}${message}`);
  }
  if (lastError !== '') notes.push(lastError);
  if (idleSinceMs !== null) notes.push(`idle for ${age(nowMs - idleSinceMs)}`);
  if (unclaimed !== null) notes.push(unclaimed.sentence);
  // A shard of an earlier version does not say.
  if (machine.renewal != null) notes.push(machine.renewal.sentence);
  if (machine.drainOrder != null) notes.push(machine.drainOrder.sentence);
  if (isForgotten) notes.push('forgotten');
  return notes;
}

/** Everything about one machine. */
export function machineLines(machine: MachineView, { paint, nowMs }: OutputOptions): readonly string[] {
  const { need, interruptionProbability } = machine;
  const risk = interruptionProbability > 0 ? `, ${interruptionProbability * 100} % interrupted per hour` : '';
  const labels = Object.entries(machine.labels).map(([name, value]) => `${name}=${value}`);
  const needName = need === null ? '' : `${need.id}${need.group === '' ? '' : `, group ${need.group}`}`;
  return [
    `${paint('bold', printable(machine.id))}  ${wireWord(machine.state)}`,
    ...factLines([
      ['provider', machine.provider],
      ['host', machine.hostRef],
      ['cluster', machine.cluster],
      ['for Need', needName],
      ['type', `${machine.instanceType}${machine.zone === '' ? '' : ` in ${machine.zone}`}`],
      ['capacity', `${wireWord(machine.capacityType)}, ${dollars(machine.pricePerHour)} per hour${risk}`],
      ['offers', amounts(machine.allocatable)],
      // A shard of an earlier version does not say.
      ['used', machine.usage?.sentence ?? ''],
      ['labels', labels],
      ['note', notesOf(machine, nowMs)],
    ]),
  ];
}
