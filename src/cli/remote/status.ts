// `bigfleet get status`: the status of a shard on one screen. listing.ts reads it over HTTP and prints these lines.

import { printable } from '../../model/index.ts';
import type { CycleView, StatusView } from '../../shard/index.ts';
import { costPartText, heldBackText, kindName, perHour, supplyGroups, wouldText } from '../../web/index.ts';
import { age, count, countOf } from '../amounts.ts';
import { type Fact, factLines } from './facts.ts';
import type { Listing } from './list-shape.ts';
import { notesOf } from './providers.ts';
import type { OutputOptions } from './tables.ts';
import { countText } from './wire-text.ts';

export const STATUS: Listing<StatusView, never> = {
  noun: 'status',
  aliases: [],
  summary: 'status of the shard on one screen',
  filters: [],
  examples: `  bigfleet get status
  bigfleet get status --shard http://127.0.0.1:7777 -o json`,
  path: '/v1/status',
  lines: statusLines,
};

const PHASES: Readonly<Record<StatusView['phase'], string>> = {
  starting: 'starting: providers are being read, nothing is decided yet',
  running: 'running',
  stopping: 'stopping: it begins nothing new',
  fenced: 'fenced: a newer shard of this name exists, this one does nothing',
};

function statusLines(status: StatusView, { paint }: OutputOptions): readonly string[] {
  const { nowMs, cycle } = status;
  const style = status.phase === 'running' ? 'green' : 'red';
  return [
    `${paint('bold', printable(status.shard))}  ${paint(style, PHASES[status.phase])}`,
    ...factLines([
      ['dry run', status.dryRun ? 'decides, and carries out nothing' : ''],
      ['up', `${age(nowMs - status.startedMs)}, epoch ${status.epoch}`],
      ['machines', `${count(status.machines)}: ${countText(status.machinesByState)}`],
      ['cost', costText(status.cost)],
      [
        'owned',
        status.ownedCost === null ? '' : `${costText(status.ownedCost)} (amortised, beside the cost)`,
      ],
      ['supply', supplyTexts(status)],
      [
        'demand',
        `${countOf(status.needs, 'Need')} of ${countOf(status.clusters, 'cluster')}, ${count(status.sessions)} connected`,
      ],
      ['shortfalls', shortfallText(status)],
      ['freezes', status.freezes === 0 ? '' : `${count(status.freezes)} in force: bigfleet get freezes`],
      ...(cycle === null ? [] : cycleFacts(cycle, nowMs)),
      ['providers', status.providers.map(providerText)],
    ]),
  ];
}

function costText(cost: StatusView['cost']): string {
  const parts = costPartText(cost, 'part');
  return `${perHour(cost.perHour).replace('/h', ' per hour')}${parts === '' ? '' : `: ${parts}`}`;
}

/** By kind of hardware: its Needs and how much of it is used, then a line for each resource. */
function supplyTexts(status: StatusView): readonly string[] {
  return supplyGroups(status).flatMap(({ title, needText, spareText, rows }) => [
    `${title}: ${needText}${spareText === '' ? '' : `; ${spareText}`}`,
    ...rows.map(({ name, longText }) => `- ${name} ${longText}`),
  ]);
}

function shortfallText({ shortfalls, escalated }: StatusView): string {
  if (shortfalls === 0) return 'none';
  return `${count(shortfalls)}${escalated === 0 ? '' : ` (${count(escalated)} escalated)`}: bigfleet get shortfalls`;
}

function cycleFacts(cycle: CycleView, nowMs: number): readonly Fact[] {
  const took = cycle.durationMs.toLocaleString('en-US', { maximumFractionDigits: 1 });
  return [
    ['last cycle', `number ${count(cycle.number)}, ${age(nowMs - cycle.atMs)} ago, took ${took} ms`],
    ['decided', kindText(cycle.decided)],
    ['begun', kindText(cycle.admitted)],
    ['held back', cycle.heldBack.map((held) => `${wouldText(held)}: ${heldBackText(held.why)}`)],
  ];
}

function kindText(kinds: Readonly<Record<string, number>>): string {
  const some = Object.entries(kinds).filter(([, n]) => n > 0);
  return some.length === 0 ? 'nothing' : some.map(([kind, n]) => `${count(n)} ${kindName(kind)}`).join(', ');
}

function providerText(provider: StatusView['providers'][number]): string {
  const notes = notesOf(provider);
  const breaker = provider.breaker === 'closed' ? [] : [`breaker ${provider.breaker}`];
  const health = provider.health.state === 'fine' ? [] : [provider.health.state];
  return [`${provider.name}: ${countOf(provider.machines, 'machine')}`, ...health, ...breaker, ...notes].join(
    ', ',
  );
}
