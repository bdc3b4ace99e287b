// `bigfleet get actions`: what is being done, what was done, and what waits and why.

import type { ActionView, Answer } from '../../shard/index.ts';
import { kindName, reasonText, VERBS } from '../../web/index.ts';
import { age } from '../amounts.ts';
import { asCalledHere } from '../invocation.ts';
import type { Cell } from '../table.ts';
import type { Listing } from './list-shape.ts';
import { PLANNED } from './plan.ts';
import { type PageRequest, pageRequest, readPages } from './read-pages.ts';
import { type ItemTable, type OutputOptions, pageLines, table, type WideColumn } from './tables.ts';

const FROM: WideColumn = { header: 'FROM', isWhole: true };

const COLUMNS: readonly WideColumn[] = [
  { header: 'BEGAN', align: 'right' },
  { header: 'ACTION' },
  { header: 'MACHINE', isWhole: true },
  { header: 'CLUSTER' },
  { header: 'OUTCOME' },
  { header: 'FOR', isWhole: true },
  { ...FROM, isWide: true },
  { header: 'PROVIDER', isWide: true },
  { header: 'NOTE' },
];

const TABLE: ItemTable<ActionView> = {
  kind: 'action',
  order: 'newest first',
  nameOf: ({ id }) => id,
  columns: COLUMNS,
  rowOf,
};

export const ACTIONS: Listing<Answer<'actions'>, ActionView> = {
  noun: 'actions',
  aliases: ['action', 'ac'],
  summary: 'actions in flight, ended and waiting',
  filters: ['machine', 'cluster', 'limit'],
  examples: `  bigfleet get actions --limit 20
  bigfleet get actions --machine m-17 -o wide`,
  path: '/v1/actions',
  read: async (client, query, limit) => {
    const fetchPage = (part: PageRequest) =>
      client.get<Answer<'actions'>>('/v1/actions', { ...query, ...part });
    // The first request returns both lists; a cursor continues the list that it belongs to.
    const { actions, waiting } = await fetchPage(pageRequest(limit));
    return {
      actions: await readPages(limit, async (part) => (await fetchPage(part)).actions, actions),
      waiting: await readPages(limit, async (part) => (await fetchPage(part)).waiting, waiting),
    };
  },
  items: {
    ...TABLE,
    of: ({ actions }) => actions,
    replaced: ({ waiting }, actions) => ({ actions, waiting }),
  },
  lines: ({ actions, waiting }, options) => [
    ...pageLines(actions, TABLE, options),
    ...(waiting.total === 0 || options.hasNoHeaders === true
      ? []
      : [
          '',
          options.paint('bold', asCalledHere('Decided, and held back: bigfleet get plan says more')),
          ...pageLines(waiting, PLANNED, options),
        ]),
  ],
};

/** Columns of the actions of one Need: the rows that get and lose a machine matter more than the cluster. */
const OF_NEED: readonly string[] = ['BEGAN', 'ACTION', 'MACHINE', 'OUTCOME', 'FOR', 'FROM', 'NOTE'];

/** Actions of one Need: done for it, or to machines that it used. */
export function needActionTable(
  actions: readonly ActionView[],
  options: OutputOptions,
  indent: number,
): readonly string[] {
  const isShown = COLUMNS.map(({ header }) => OF_NEED.includes(header));
  const columns = COLUMNS.filter((_, i) => isShown[i]).map((column) =>
    column.header === FROM.header ? FROM : column,
  );
  const rows = actions.map((action) => rowOf(action, options).filter((_, i) => isShown[i]));
  return table(columns, rows, options, { indent });
}

function rowOf(action: ActionView, { nowMs }: OutputOptions): readonly Cell[] {
  const { kind, machine, cluster, need, from, provider, message, attempts } = action;
  const tries = attempts > 1 ? `${attempts} attempts` : '';
  return [
    { text: `${age(nowMs - action.startedMs)} ago` },
    { text: kindName(kind) },
    { text: machine },
    { text: cluster },
    outcomeCell(action),
    { text: need?.id ?? '' },
    { text: from?.id ?? '' },
    { text: provider },
    { text: [message, tries, reasonText(action)].filter((part) => part !== '').join('; '), style: 'dim' },
  ];
}

/** Kinds that drain a machine say so until it has drained. */
const DOING: Readonly<Partial<Record<ActionView['kind'], string>>> = {
  Preempt: 'draining',
  Reclaim: 'draining',
};

/** `ordered`, `bought`, `failed: zone-outage`. */
function outcomeCell({ kind, outcome, errorClass }: ActionView): Cell {
  if (outcome === null) return { text: DOING[kind] ?? VERBS[kind].doing, style: 'cyan' };
  if (outcome === 'success') return { text: VERBS[kind].done, style: 'green' };
  return { text: `failed: ${errorClass ?? outcome}`, style: 'red' };
}
