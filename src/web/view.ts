// Builds the page's content from its state, as a tree of plain data, without a browser; page/main.ts writes it into the
// document (dom.ts). Texts stay texts, so that a name can never become markup.

import { costByState, costPartText, ownedText } from './cost-text.ts';
import type { Point, Status } from './feed.ts';
import { count, counted, milliseconds, moment, perHour, span } from './figures.ts';
import { curve, eventItems, historyRows, sinceText } from './history-view.ts';
import { isFrozen, type Live, newestActions } from './live.ts';
import {
  byTrouble,
  clusterNotes,
  DEMO_SCENARIOS,
  failedText,
  frozenClusterText,
  headline,
  heldBackLine,
  isInTrouble,
  machinesIn,
  missingText,
  plannedLine,
  providerText,
  STATES,
  WHAT_IT_IS,
} from './sentences.ts';
import { type SupplyGroup, type SupplyRow, supplyGroups } from './supply-text.ts';
import { element, leftOut, leftOutRow, row, type Tree, type TreeElement } from './tree.ts';

export type { Tree } from './tree.ts';

/** Everything the page shows: the shard, its own connection, and answers to buttons. */
export interface PageState {
  readonly live: Live;
  /** '' while events arrive; otherwise what is wrong with the connection. */
  readonly trouble: string;
  /** The answer to the last button, or that the shard is a new one. */
  readonly notice: string;
  /** The answer about the machine or the Need that the reader asked about last. */
  readonly answer: readonly string[];
  /** Demo scenarios that can be started here; none at a shard outside the demo. */
  readonly scenarios: readonly string[];
}

/** Most items of each list on the page. */
const MAX_SHOWN = { actions: 20, planned: 10, shortfalls: 10, providers: 20, clusters: 50 };

/** Keys of the parts of the page; index.html has an element with each as its id. */
export interface PageParts {
  readonly intro: readonly Tree[];
  readonly headline: readonly Tree[];
  readonly about: readonly Tree[];
  readonly trouble: readonly Tree[];
  readonly notice: readonly Tree[];
  readonly controls: readonly Tree[];
  readonly answer: readonly Tree[];
  readonly machines: readonly Tree[];
  readonly failed: readonly Tree[];
  readonly supply: readonly Tree[];
  readonly cost: readonly Tree[];
  readonly history: readonly Tree[];
  readonly since: readonly Tree[];
  readonly actions: readonly Tree[];
  readonly events: readonly Tree[];
  readonly plan: readonly Tree[];
  readonly shortfalls: readonly Tree[];
  readonly providers: readonly Tree[];
  readonly clusters: readonly Tree[];
}

export function pageParts(state: PageState): PageParts {
  const { live, trouble, notice, answer } = state;
  const { status } = live;
  return {
    intro: [WHAT_IT_IS],
    headline: [headline(status, live.shortfalls, isFrozen(live))],
    about: [status === null ? '' : aboutText(status)],
    trouble: [trouble],
    notice: [notice],
    controls: controls(state),
    answer: answer.map((line) => element('li', {}, line)),
    machines: status === null ? [] : machineRows(status),
    failed: failedItems(live),
    supply: status === null ? [] : supplyRows(status),
    cost: status === null ? [] : costParts(status, live.series),
    history: historyRows(live),
    since: [sinceText(live)],
    actions: actionItems(live),
    events: eventItems(live),
    plan: planItems(live),
    shortfalls: shortfallItems(live),
    providers: status === null ? [] : providerRows(status),
    clusters: clusterRows(live),
  };
}

/** A bar without a label: the figure is shown beside it. */
function bar(share: number, cssClass: string): TreeElement {
  const width = `${Math.round(Math.max(0, Math.min(1, share)) * 1000) / 10}%`;
  return element(
    'svg',
    { class: `bar ${cssClass}`, 'aria-hidden': 'true' },
    element('rect', { class: 'track', width: '100%', height: '100%', rx: '3' }),
    element('rect', { class: 'fill', width, height: '100%', rx: '3' }),
  );
}

function aboutText(status: Status): string {
  const cycle =
    status.cycle === null
      ? 'no cycle yet'
      : `cycle ${count(status.cycle.number)} took ${milliseconds(status.cycle.durationMs)}`;
  return `Shard ${status.shard}, running for ${span(status.nowMs - status.startedMs)}; ${cycle}.`;
}

function controls({ live, scenarios, trouble }: PageState): readonly Tree[] {
  const off: Record<string, string> = trouble === '' && live.status !== null ? {} : { disabled: '' };
  const buttons = DEMO_SCENARIOS.filter(({ name }) => scenarios.includes(name)).map(({ name, label }) =>
    element('button', { type: 'button', 'data-scenario': name, ...off }, capital(label)),
  );
  const frozen = isFrozen(live);
  return [
    ...buttons,
    element(
      'button',
      { type: 'button', 'data-freeze': frozen ? 'off' : 'on', ...off },
      frozen ? 'Unfreeze the fleet' : 'Freeze the fleet',
    ),
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Machines that can be bought have no bar: it would dwarf those that exist. */
function machineRows(status: Status): readonly Tree[] {
  const counts = STATES.map((each) => ({ ...each, machines: machinesIn(status, each.state) }));
  const most = Math.max(1, ...counts.filter(hasHost).map(({ machines }) => machines));
  const costs = costByState(status.cost);
  return counts.map((each) =>
    row(
      element('span', { title: each.what }, capital(each.label)),
      hasHost(each) ? bar(each.machines / most, each.state.toLowerCase()) : element('small', {}, each.what),
      count(each.machines),
      costs.get(each.state) ?? '',
    ),
  );
}

function hasHost({ state }: { readonly state: string }): boolean {
  return state !== 'SPECULATIVE';
}

/** A line for each kind of hardware, and one for each resource of it. */
function supplyRows(status: Status): readonly Tree[] {
  return supplyGroups(status).flatMap((group) => [
    kindRow(group),
    ...group.rows.map((each) => supplyRow(each, group)),
  ]);
}

function kindRow({ title, needText, isShort, spareText }: SupplyGroup): TreeElement {
  return element(
    'tr',
    { class: 'kind' },
    element(
      'th',
      { colspan: '3', scope: 'rowgroup' },
      element('strong', {}, title),
      ' ',
      element('span', { class: isShort ? 'failed' : '' }, needText),
      spareText === '' ? '' : `; ${spareText}`,
    ),
  );
}

function supplyRow({ name, longText, ...shares }: SupplyRow, { isShort }: SupplyGroup): TreeElement {
  return row(name, stackedBar(shares, isShort ? 'short' : 'enough'), longText);
}

/** Least width of a part of a bar, in percent, so that a small part is visible. */
const MIN_PART_WIDTH = 1.5;

/** Served, coming and unmet, one behind the other: full only if all that is wanted is served. */
function stackedBar(
  { served, coming, unmet }: Pick<SupplyRow, 'served' | 'coming' | 'unmet'>,
  cssClass: string,
): TreeElement {
  const missing = unmet > 0 ? Math.max(MIN_PART_WIDTH, unmet * 100) : 0;
  const soon = coming > 0 ? Math.max(MIN_PART_WIDTH, coming * 100) : 0;
  const now = Math.max(0, Math.min(served * 100, 100 - missing - soon));
  const part = (kind: string, from: number, width: number): readonly Tree[] =>
    width <= 0
      ? []
      : [element('rect', { class: kind, x: `${round(from)}%`, width: `${round(width)}%`, height: '100%' })];
  return element(
    'svg',
    { class: `bar ${cssClass}`, 'aria-hidden': 'true' },
    element('rect', { class: 'track', width: '100%', height: '100%', rx: '3' }),
    ...part('fill', 0, now),
    ...part('coming', now, soon),
    ...part('unmet', 100 - missing, missing),
  );
}

function costParts(status: Status, series: readonly Point[]): readonly Tree[] {
  const parts = costPartText(status.cost);
  const owned = ownedText(status.ownedCost);
  return [
    element('strong', {}, perHour(status.costPerHour)),
    curve(series, ({ costPerHour }) => costPerHour),
    element('small', {}, parts === '' ? '' : `${parts}.`, owned === '' ? '' : ` Besides, ${owned}.`),
  ];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function actionItems({ actions, status }: Live): readonly Tree[] {
  if (actions.length === 0) {
    return [element('li', { class: 'quiet' }, status === null ? '' : 'No actions yet.')];
  }
  const shown = newestActions(actions).slice(0, MAX_SHOWN.actions);
  return [
    ...shown.map(({ mood, text, atMs }) =>
      element('li', { class: mood }, element('time', {}, moment(atMs, status?.nowMs ?? atMs)), ` ${text}`),
    ),
    ...leftOut(shown.length, actions.length, 'action', 'newest first'),
  ];
}

/** Failed machines, each with its provider's error; empty if there are none. */
function failedItems({ failed, failedTotal }: Live): readonly Tree[] {
  return [
    ...failed.map((machine) => element('li', { class: 'failed' }, failedText(machine))),
    ...leftOut(failed.length, failedTotal, 'Failed machine', 'by name'),
  ];
}

/** What is held back, in numbers for each reason and then one by one. */
function planItems({ status, plan }: Live): readonly Tree[] {
  const heldBack = status?.cycle?.heldBack ?? [];
  const clusters = plan?.frozenClusters ?? [];
  if (heldBack.length === 0 && clusters.length === 0) {
    return [element('li', { class: 'quiet' }, status === null ? '' : 'Nothing is held back.')];
  }
  const shown = (plan?.actions.items ?? []).slice(0, MAX_SHOWN.planned);
  const total = heldBack.reduce((sum, held) => sum + held.total, 0);
  return [
    ...heldBack.map((held) => element('li', {}, element('strong', {}, capital(heldBackLine(held))))),
    ...clusters.map((frozen) => element('li', {}, frozenClusterText(frozen))),
    ...shown.map((planned) => element('li', { class: 'doing' }, plannedLine(planned))),
    ...leftOut(shown.length, total, 'action', 'most urgent first'),
  ];
}

function shortfallItems({ shortfalls, status }: Live): readonly Tree[] {
  if (shortfalls.length === 0) {
    return [element('li', { class: 'quiet' }, status === null ? '' : 'None: all demand is met.')];
  }
  const shown = shortfalls.slice(0, MAX_SHOWN.shortfalls);
  const total = Math.max(status?.shortfalls ?? 0, shortfalls.length);
  return [
    ...shown.map((shortfall) =>
      element(
        'li',
        { class: shortfall.isEscalated ? 'failed' : 'doing' },
        element('strong', {}, shortfall.id),
        ` lacks ${missingText(shortfall)} (priority ${shortfall.priority}, for ${counted(shortfall.ageCycles, 'cycle')}): `,
        shortfall.why,
      ),
    ),
    ...leftOut(shown.length, total, 'shortfall', 'most urgent first'),
  ];
}

function providerRows({ providers }: Status): readonly Tree[] {
  const shown = [...providers].sort(byTrouble).slice(0, MAX_SHOWN.providers);
  return [
    ...shown.map((provider) =>
      row(
        provider.name,
        counted(provider.machines, 'machine'),
        element('span', { class: isInTrouble(provider) ? 'failed' : '' }, providerText(provider)),
      ),
    ),
    ...leftOutRow(shown.length, providers.length, 'provider', 'those in trouble first'),
  ];
}

function clusterRows({ clusters, clustersTotal }: Live): readonly Tree[] {
  const shown = clusters.slice(0, MAX_SHOWN.clusters);
  return [
    ...shown.map((cluster) =>
      row(
        cluster.cluster,
        counted(cluster.needs, 'Need'),
        element('span', { class: cluster.unmet > 0 ? 'failed' : '' }, `${count(cluster.unmet)} not met`),
        `${count(machinesIn(cluster, 'CONFIGURED'))} serving`,
        perHour(cluster.costPerHour),
        ownedText(cluster.ownedCost),
        clusterNotes(cluster).join('; '),
      ),
    ),
    ...leftOutRow(shown.length, clustersTotal, 'cluster', 'those in trouble first'),
  ];
}
