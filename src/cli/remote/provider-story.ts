// Everything about one provider, for `bigfleet describe provider` (describe.ts).

import { BigFleetError, printable } from '../../model/index.ts';
import type { MachineView, Page, ProviderView } from '../../shard/index.ts';
import { cutText } from '../../web/index.ts';
import { age, count, countOf } from '../amounts.ts';
import type { ShardClient } from './client.ts';
import { factLines } from './facts.ts';
import { machineTable } from './machines.ts';
import { notesOf } from './providers.ts';
import { readPages } from './read-pages.ts';
import { type OutputOptions, sectionLines, table, titled } from './tables.ts';

/** Failed machines before the rest is only counted. */
const MAX_FAILED = 12;
const MAX_PROVIDERS = 100_000;

export async function describedProvider(
  client: ShardClient,
  name: string,
  options: OutputOptions,
): Promise<{ readonly answer: object; readonly lines: readonly string[] }> {
  const all = await readPages(MAX_PROVIDERS, (part) =>
    client.get<Page<ProviderView>>('/v1/providers', { ...part }),
  );
  const provider = all.items.find((each) => each.name === name);
  if (provider === undefined)
    throw new BigFleetError('BF_SHARD_REFUSED', `There is no provider ${printable(name)}.`);
  const query = { provider: name, state: 'FAILED', limit: String(MAX_FAILED) };
  const failed = await client.get<Page<MachineView>>('/v1/machines', query);
  const lines = sectionLines([
    factSection(provider, options),
    titled('Zones with failing machines', zoneLines(provider, options), options),
    titled('Failed machines', failedLines(failed, options), options),
  ]);
  return { answer: { provider, failed }, lines };
}

function factSection(provider: ProviderView, { paint, nowMs }: OutputOptions): readonly string[] {
  const { name, machines, breaker, health, waiting, lastListMs } = provider;
  return [
    `${paint('bold', printable(name))}  ${health.state}`,
    ...factLines([
      ['machines', `${count(machines)}, ${count(health.machines)} of them with a host`],
      ['failing', health.failing === 0 ? 'none' : countOf(health.failing, 'machine')],
      ['calls', `${count(waiting)} waiting, breaker ${breaker}`],
      ['last List', lastListMs === null ? 'never' : `${age(nowMs - lastListMs)} ago`],
      ['note', notesOf(provider)],
    ]),
  ];
}

function zoneLines({ health }: ProviderView, options: OutputOptions): readonly string[] {
  if (health.zones.length === 0) return [];
  const columns = [
    { header: 'ZONE', isWhole: true },
    { header: 'STATE' },
    { header: 'FAILING', align: 'right' },
    { header: 'OF', align: 'right' },
    { header: 'WHY' },
  ] as const;
  const rows = health.zones.map(({ zone, state, failing, machines, errorClass, error }) => [
    { text: zone },
    { text: state },
    { text: count(failing) },
    { text: count(machines) },
    { text: error === '' ? errorClass : `${errorClass}: ${error}` },
  ]);
  return table(columns, rows, options, { indent: 2 });
}

function failedLines(page: Page<MachineView>, options: OutputOptions): readonly string[] {
  if (page.items.length === 0) return [];
  const cut = cutText(page.items.length, page.total, 'machine', 'by id');
  return [...machineTable(page.items, options, 2), ...(cut === '' ? [] : [`  ${cut}`])];
}
