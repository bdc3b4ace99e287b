// `bigfleet cost`: what the fleet costs per hour, by what the machines do and by group. Groups other than clusters come
// from `/v1/cost`, which shards of earlier versions do not have.

import { Command, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import type { ClusterView, Page, StatusView } from '../../shard/index.ts';
import { costPartText, perHour } from '../../web/index.ts';
import { count, dollars } from '../amounts.ts';
import type { ShardClient } from './client.ts';
import { factLines } from './facts.ts';
import { addShardFlags, clientOf, EXIT_CODES, PROCESS_IO, type RemoteIo, type ShardFlags } from './flags.ts';
import { formatted } from './formats.ts';
import { readPages } from './read-pages.ts';
import { type ItemTable, pageLines } from './tables.ts';

const GROUPS = ['cluster', 'capacity-type', 'priority', 'hardware', 'zone', 'instance-type'] as const;
type GroupName = (typeof GROUPS)[number];

type Cost = StatusView['cost'];

interface CostGroup {
  readonly name: string;
  readonly machines: number;
  readonly cost: Cost;
}

/** The part of the answer of `/v1/cost` that is read here. */
interface CostReport {
  readonly cost: Cost;
  readonly ownedCost: Cost | null;
  readonly stranded?: { readonly perHour: number };
  readonly spot?: {
    readonly machines: number;
    readonly savesPerHour: number;
    readonly netSavesPerHour: number;
  };
  readonly forecast?: { readonly wholeMonth: number };
  readonly groups: Page<CostGroup>;
}

interface Flags extends ShardFlags {
  readonly by: GroupName;
  readonly output: 'table' | 'json' | 'yaml' | 'csv';
  readonly headers: boolean;
}

/** All of them, in any number of pages: a total that leaves some out would be wrong. */
const MAX_GROUPS = Number.MAX_SAFE_INTEGER;

const TABLE: ItemTable<CostGroup> = {
  kind: 'group',
  order: 'most expensive first',
  nameOf: ({ name }) => name,
  columns: [
    { header: 'NAME', isWhole: true },
    { header: 'MACHINES', align: 'right' },
    { header: 'PER HOUR', align: 'right' },
    { header: 'SERVING', align: 'right' },
    { header: 'ON HOLD', align: 'right' },
    { header: 'JOINING', align: 'right' },
    { header: 'IDLE', align: 'right' },
    { header: 'DRAINING', align: 'right' },
    { header: 'DELETING', align: 'right' },
    { header: 'FAILED', align: 'right' },
  ],
  rowOf: ({ name, machines, cost: { perHour: total, byPart } }) => [
    { text: name === '' ? '(none)' : name },
    { text: count(machines) },
    { text: dollars(total) },
    ...PARTS.map((part) => ({ text: byPart[part] > 0 ? dollars(byPart[part]) : '' })),
  ],
};

const PARTS = ['serving', 'onHold', 'joining', 'idle', 'draining', 'deleting', 'failed'] as const;

export function costCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('cost')
    .description('show what the fleet costs per hour, and what for')
    .addOption(new Option('--by <group>', GROUPS.join(', ')).choices([...GROUPS]).default('cluster'))
    .addOption(
      new Option('-o, --output <format>', 'table, json, yaml or csv')
        .choices(['table', 'json', 'yaml', 'csv'])
        .default('table'),
    )
    .option('--no-headers', 'leave out headers and totals');
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Machines cost the price that their provider names, while they have a host.
${EXIT_CODES}

Examples:
  bigfleet cost
  bigfleet cost --by capacity-type
  bigfleet cost --by hardware -o csv > cost.csv`,
    )
    .action(async (flags: Flags) => {
      const client = await clientOf(flags);
      const report = await reportOf(client, flags.by);
      const options = { paint: io.paint, isWide: false, nowMs: 0, hasNoHeaders: !flags.headers };
      const lines = () => [
        ...(flags.headers ? [...totalLines(report), ''] : []),
        ...pageLines(report.groups, TABLE, options),
      ];
      io.out(
        await formatted(flags.output, report, { items: report.groups.items, lines, table: TABLE, options }),
      );
    });
}

async function reportOf(client: ShardClient, by: GroupName): Promise<CostReport> {
  let first: CostReport | undefined;
  try {
    const groups = await readPages(MAX_GROUPS, async (part) => {
      // By name: costs change while pages are read, and by name each group that stays comes exactly once.
      const report = await client.get<CostReport>('/v1/cost', { by, order: 'name', ...part });
      first ??= report;
      return report.groups;
    });
    return { ...first!, groups: { ...groups, items: groups.items.toSorted(byCost) } };
  } catch (error) {
    if (!isUnknownRoute(error)) throw error;
  }
  if (by !== 'cluster')
    throw new BigFleetError(
      'BF_SHARD_REFUSED',
      'This shard shows its cost by cluster only; --by needs a later version.',
    );
  return await fromClusters(client);
}

function byCost(a: CostGroup, b: CostGroup): number {
  return b.cost.perHour - a.cost.perHour;
}

function isUnknownRoute(error: unknown): boolean {
  return error instanceof BigFleetError && error.message.includes('There is nothing at');
}

async function fromClusters(client: ShardClient): Promise<CostReport> {
  const { cost, ownedCost } = await client.get<StatusView>('/v1/status');
  const { items, total, next } = await readPages(MAX_GROUPS, (part) =>
    client.get<Page<ClusterView>>('/v1/clusters', { ...part }),
  );
  const groups = items.map(({ cluster, machinesByState, cost: own }) => ({
    name: cluster,
    machines: Object.values(machinesByState).reduce((sum, machines) => sum + machines, 0),
    cost: own,
  }));
  groups.sort(byCost);
  return { cost, ownedCost, groups: { items: groups, total, next } };
}

function totalLines({ cost, ownedCost, stranded, spot, forecast }: CostReport): readonly string[] {
  const parts = costPartText(cost, 'part');
  return factLines([
    ['cost', `${perHour(cost.perHour)}${parts === '' ? '' : `: ${parts}`}`],
    ['owned', ownedCost === null ? '' : `${perHour(ownedCost.perHour)} (amortised, beside the cost)`],
    [
      'stranded',
      stranded === undefined ? '' : `${perHour(stranded.perHour)} of serving machines that no Need counts on`,
    ],
    [
      'spot',
      spot === undefined || spot.machines === 0
        ? ''
        : `${count(spot.machines)} machines save ${perHour(spot.savesPerHour)}, ${perHour(spot.netSavesPerHour)} net of interruptions`,
    ],
    ['this month', forecast === undefined ? '' : `${dollars(forecast.wholeMonth)} at the present rate`],
  ]);
}
