// Why a cluster has what it has, for `bigfleet explain cluster` and `describe cluster`: demand, machines and cost, what is
// unmet, what is held back, and the guardrails in force.

import { printable } from '../../model/index.ts';
import type { Answer, ClusterView, NeedView, Page, StatusView } from '../../shard/index.ts';
import { costPartText, cutText, frozenClusterText, perHour } from '../../web/index.ts';
import { age, count, countOf } from '../amounts.ts';
import type { ShardClient } from './client.ts';
import { reportLines } from './clusters.ts';
import { factLines, proseLines } from './facts.ts';
import { clientOf, type RemoteIo, type ShardFlags } from './flags.ts';
import { NEEDS } from './needs.ts';
import { PLANNED } from './plan.ts';
import { type ItemTable, type OutputOptions, sectionLines, table, titled } from './tables.ts';
import { countText } from './wire-text.ts';

/** Rows of a table before the rest is only counted. */
const MAX_ROWS = 12;

interface ClusterStory {
  readonly cluster: ClusterView;
  readonly unmet: Page<NeedView>;
  readonly plan: Answer<'plan'>;
}

export async function showCluster(
  id: string,
  flags: ShardFlags & { readonly output: 'text' | 'json' },
  { out, paint }: RemoteIo,
): Promise<void> {
  const client = await clientOf(flags);
  const story = await clusterStory(client, id);
  if (flags.output === 'json') return out(`${JSON.stringify(story, null, 2)}\n`);
  const { nowMs } = await client.get<StatusView>('/v1/status');
  out(`${clusterLines(story, { paint, isWide: false, nowMs }).join('\n')}\n`);
}

export async function clusterStory(client: ShardClient, id: string): Promise<ClusterStory> {
  const cluster = await client.get<ClusterView>(`/v1/clusters/${encodeURIComponent(id)}`);
  const limit = String(MAX_ROWS);
  const unmet = await client.get<Page<NeedView>>('/v1/needs', { cluster: id, unmet: 'true', limit });
  const plan = await client.get<Answer<'plan'>>('/v1/plan', { cluster: id, limit });
  return { cluster, unmet, plan };
}

export function clusterLines(story: ClusterStory, options: OutputOptions): readonly string[] {
  const { cluster, unmet, plan } = story;
  return sectionLines([
    headSection(cluster, options),
    titled('Guardrails in force', proseLines(guardrailTexts(story, options), '- '), options),
    titled('Roll-ups', reportLines(cluster).slice(2), options),
    titled('Unmet Needs', tableOf(unmet, NEEDS.items!, options), options),
    titled('Decided, and held back', tableOf(plan.actions, PLANNED, options), options),
  ]);
}

function headSection(view: ClusterView, { paint, nowMs }: OutputOptions): readonly string[] {
  const { cluster, needs, unmet, cost, ownedCost, reports } = view;
  const parts = costPartText(cost, 'part');
  const reported = reports?.lastReportMs ?? null;
  const met =
    unmet === 0
      ? 'all are met'
      : `${count(unmet)} ${unmet === 1 ? 'is' : 'are'} not met, ${count(needs - unmet)} ${needs - unmet === 1 ? 'is' : 'are'}`;
  const machines = countText(view.machinesByState);
  return [
    `${paint('bold', printable(cluster))}  ${view.hasSession ? paint('green', 'connected') : paint('red', 'not connected')}`,
    ...factLines([
      ['demand', needs === 0 ? 'none' : `${countOf(needs, 'Need')}: ${met}`],
      ['machines', machines === '' ? 'none' : machines],
      ['cost', `${perHour(cost.perHour)}${parts === '' ? '' : `: ${parts}`}`],
      ['owned', ownedCost === null ? '' : `${perHour(ownedCost.perHour)} (amortised, beside the cost)`],
      ['last report', reported === null ? 'never, since the start' : `${age(nowMs - reported)} ago`],
    ]),
  ];
}

/** What keeps the shard from carrying out what the cluster asks for, or from reclaiming its machines. */
function guardrailTexts({ cluster, plan }: ClusterStory, { nowMs }: OutputOptions): readonly string[] {
  const { freeze, retired, cannotBind, hasReported, setAside } = cluster;
  const frozen = plan.frozenClusters.filter((each) => each.cluster === cluster.cluster);
  return [
    ...(freeze === null
      ? []
      : [
          `${freeze.action ?? 'All actions'} frozen by ${freeze.who} for ${age(nowMs - freeze.sinceMs)}: ${freeze.why}.${freeze.untilMs === null ? '' : ` It ends in ${age(freeze.untilMs - nowMs)}.`}`,
        ]),
    ...frozen.map((each) => `${frozenClusterText(each)}.`),
    ...(retired === null
      ? []
      : [
          `Retired by ${retired.who} ${age(nowMs - retired.sinceMs)} ago: ${retired.why}. It is given no machines.`,
        ]),
    ...(cannotBind === '' ? [] : [`No machine can join: ${cannotBind}.`]),
    ...(hasReported ? [] : ['It has not reported since the start, so nothing is reclaimed from it.']),
    ...(setAside === null || setAside.isLifted
      ? []
      : [`${countOf(setAside.rows, 'row')} set aside, so no machine that may serve them is reclaimed.`]),
    ...(plan.dryRun ? ['The shard is in a dry run: it carries out nothing.'] : []),
  ];
}

function tableOf<I>(page: Page<I>, items: ItemTable<I>, options: OutputOptions): readonly string[] {
  if (page.items.length === 0) return [];
  const rows = page.items.map((item) => items.rowOf(item, options));
  const lines = table(items.columns, rows, options, { indent: 2 });
  const cut = cutText(page.items.length, page.total, items.noun ?? items.kind, items.order);
  return cut === '' ? lines : [...lines, `  ${cut}`];
}
