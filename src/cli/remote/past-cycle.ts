// A past cycle for `bigfleet describe cycle`: what it decided, started and held back, and the same cycle decided again.

import type { CyclePlanView, CycleRedecisionView } from '../../shard/index.ts';
import {
  decidedText,
  decidedWhy,
  fateText,
  kindName,
  milliseconds,
  notListedText,
  redecisionTexts,
  waitingTexts,
} from '../../web/index.ts';
import { age, count, countOf, instant } from '../amounts.ts';
import type { ShardClient } from './client.ts';
import { factLines, proseLines } from './facts.ts';
import { type OutputOptions, sectionLines, table, titled, type WideColumn } from './tables.ts';

/** Actions in a table before the rest is only counted. */
const MAX_ACTIONS = 50;

export interface PastCycleFlags {
  /** Which start of the shard is meant; by default the newest one that had such a cycle. */
  readonly epoch?: number | undefined;
  /** Decides it again. */
  readonly again?: true | undefined;
}

export interface PastCycle {
  readonly plan: CyclePlanView;
  /** null: not asked for. */
  readonly redecision: CycleRedecisionView | null;
}

export async function pastCycle(
  client: ShardClient,
  cycle: string,
  { epoch, again }: PastCycleFlags,
): Promise<PastCycle> {
  const path = `/v1/cycles/${encodeURIComponent(cycle)}`;
  const limit = String(MAX_ACTIONS);
  const plan = await client.get<CyclePlanView>(path, { epoch: epoch?.toString(), limit });
  if (again !== true) return { plan, redecision: null };
  const body = { epoch: plan.epoch, limit: MAX_ACTIONS };
  return { plan, redecision: await client.post<CycleRedecisionView>(`${path}/redecide`, body) };
}

const COLUMNS: readonly WideColumn[] = [
  { header: 'ACTION' },
  { header: 'MACHINE', isWhole: true },
  { header: 'CLUSTER' },
  { header: 'NEED', isWhole: true },
  { header: 'WHY' },
  { header: '' },
];

export function pastCycleLines({ plan, redecision }: PastCycle, options: OutputOptions): readonly string[] {
  const { actions, notListed } = plan;
  const rest = [
    ...(actions.total > actions.items.length
      ? [`${countOf(actions.total - actions.items.length, 'action')} more: -o json, or the dashboard`]
      : []),
    ...(notListed === 0 ? [] : [notListedText(plan)]),
  ];
  const again = redecision === null ? [] : againLines(redecision, options);
  return sectionLines([
    headLines(plan, options),
    titled('Started and held back', [...actionLines(actions.items, options), ...proseLines(rest)], options),
    titled('Decided again', again, options),
  ]);
}

function headLines(plan: CyclePlanView, { paint, nowMs }: OutputOptions): readonly string[] {
  const { cycle, epoch, atMs, durationMs, decided, waiting, unmet, digest } = plan;
  return [
    `${paint('bold', `Cycle ${count(cycle)}`)}  ${instant(atMs)}, ${age(nowMs - atMs)} ago`,
    ...factLines([
      ['decided', `${decidedText(decided)}, in ${milliseconds(durationMs)}`],
      ['held back', waitingTexts(waiting)],
      ['Needs', unmet === 0 ? 'all were met' : `${count(unmet)} not met`],
      ['digest', digest],
      ['epoch', String(epoch)],
    ]),
  ];
}

function actionLines(actions: CyclePlanView['actions']['items'], options: OutputOptions): readonly string[] {
  if (actions.length === 0) return [];
  const rows = actions.map((action) => [
    { text: kindName(action.kind) },
    { text: action.machine },
    { text: action.cluster },
    { text: action.need?.id ?? '' },
    { text: decidedWhy(action) },
    { text: fateText(action) },
  ]);
  return table(COLUMNS, rows, options, { indent: 2 });
}

function againLines(redecision: CycleRedecisionView, options: OutputOptions): readonly string[] {
  const { isSame, onlyRecorded, onlyAgain, actions } = redecision;
  const texts = redecisionTexts(redecision);
  if (isSame) return [...proseLines(texts), ...actionLines(actions.items, options)];
  return [
    ...proseLines(texts),
    ...titled('In the record only', actionLines(onlyRecorded.items, options), options),
    ...titled('Decided now only', actionLines(onlyAgain?.items ?? [], options), options),
  ];
}
