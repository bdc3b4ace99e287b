// `bigfleet get plan`: what the last cycle decided and did not carry out, and why.

import type { Answer, PlanView, WaitingActionView } from '../../shard/index.ts';
import { frozenClusterText, heldBackLine, heldBackText, kindName } from '../../web/index.ts';
import { age, count, dollars } from '../amounts.ts';
import type { Cell } from '../table.ts';
import { proseLines } from './facts.ts';
import type { Listing } from './list-shape.ts';
import { type PageRequest, pageRequest, readPages } from './read-pages.ts';
import { type ItemTable, type OutputOptions, pageLines, type WideColumn } from './tables.ts';
import { wireWord } from './wire-text.ts';

const COLUMNS: readonly WideColumn[] = [
  { header: 'ACTION' },
  { header: 'MACHINE', isWhole: true },
  { header: 'CLUSTER' },
  { header: 'NEED', isWhole: true },
  { header: 'PRIORITY', align: 'right' },
  { header: 'PER HOUR', align: 'right' },
  { header: 'HELD BACK' },
  { header: 'REASON', isWide: true },
  { header: 'CAPACITY', isWide: true },
  { header: 'ZONE', isWide: true },
  { header: 'PROVIDER', isWide: true },
];

/** Actions that were decided and not started. */
export const PLANNED: ItemTable<WaitingActionView> = {
  kind: 'action',
  order: 'most urgent first',
  nameOf: ({ kind, machine }) => `${kindName(kind)}-${machine}`,
  columns: COLUMNS,
  rowOf: waitingRow,
};

export const PLAN: Listing<Answer<'plan'>, WaitingActionView> = {
  noun: 'plan',
  aliases: [],
  summary: 'decided actions that are not carried out, as in a dry run or a freeze',
  filters: ['machine', 'cluster', 'limit'],
  examples: `  bigfleet get plan
  bigfleet get plan --cluster ml -o wide`,
  path: '/v1/plan',
  read: async (client, query, limit) => {
    const fetchPage = (part: PageRequest) => client.get<Answer<'plan'>>('/v1/plan', { ...query, ...part });
    const first = await fetchPage(pageRequest(limit));
    const actions = await readPages(limit, async (part) => (await fetchPage(part)).actions, first.actions);
    return { ...first, actions };
  },
  items: {
    ...PLANNED,
    isReordered: true,
    of: ({ actions }) => actions,
    replaced: (plan, actions) => ({ ...plan, actions }),
  },
  lines: (plan, options) => [
    ...(options.hasNoHeaders === true ? [] : headLines(plan, options)),
    ...(plan.actions.total === 0
      ? options.hasNoHeaders === true
        ? []
        : ['Nothing is held back.']
      : pageLines(plan.actions, PLANNED, options)),
  ],
};

function headLines(plan: PlanView, { nowMs }: OutputOptions): readonly string[] {
  const { cycle, atMs, dryRun, heldBack, frozenClusters } = plan;
  const when = cycle === null ? 'No cycle yet.' : `Cycle ${count(cycle)}, ${age(nowMs - atMs!)} ago.`;
  const texts = [
    ...heldBack.map((held) => `${heldBackLine(held)}.`),
    ...frozenClusters.map((frozen) => `${frozenClusterText(frozen)}.`),
  ];
  return [dryRun ? `${when} This is a dry run.` : when, ...proseLines(texts), ''];
}

function waitingRow(action: WaitingActionView): readonly Cell[] {
  const { kind, machine, cluster, need, why, freeze, pricePerHour } = action;
  const sign = kind === 'Provision' ? '+' : kind === 'Delete' ? '-' : '';
  return [
    { text: kindName(kind) },
    { text: machine },
    { text: cluster },
    { text: need?.id ?? '' },
    { text: need === null ? '' : count(need.priority) },
    { text: sign === '' ? '' : `${sign}${dollars(pricePerHour)}` },
    { text: heldBackText(why, freeze) },
    { text: action.reason },
    { text: wireWord(action.capacityType) },
    { text: action.zone },
    { text: action.provider },
  ];
}
