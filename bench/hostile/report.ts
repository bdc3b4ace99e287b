// The text report of `bench hostile` (printed by main.ts): latencies of the neighbours before, during and after each
// attack; at most 100 columns.

import type { AttackFigures, Period } from './figures.ts';
import type { Settings } from './settings.ts';

export function reportOf(settings: Settings, attacks: readonly AttackFigures[]): string {
  const { neighbours, everyMs, seconds, times } = settings;
  const perPeriod = attacks[0]?.before.ackMs.samples ?? 0;
  return [
    `${neighbours} neighbours report every ${everyMs} ms, ${seconds} s before, during and after; about ${perPeriod} acks each`,
    times === 1 ? '' : `attacks run at ${times} times their rate\n`,
    row('', ['ack p50', '', 'ack p99', '', '', '', 'lag', '', 'idle', 'CPU %', '']),
    row('attack', [
      ...['before', 'during', 'before', 'during', 'after', 'ratio'],
      ...['p99', 'max', 'p99', 'shard', 'attack'],
    ]),
    ...attacks.map(rowOf),
    '',
    "Milliseconds, during the attack: lag of the shard's session thread, and of an idle process.",
    '',
    ...cycleTable(attacks),
    '',
    ...attacks.flatMap(outcomeLines),
  ].join('\n');
}

function rowOf({ attack, before, during, after, ratio }: AttackFigures): string {
  return row(attack, [
    short(before.ackMs.p50),
    short(during.ackMs.p50),
    short(before.ackMs.p99),
    short(during.ackMs.p99),
    short(after.ackMs.p99),
    ratio.toFixed(2),
    short(during.lagMs.p99),
    short(during.lagMs.max),
    short(during.idleLagMs.p99),
    cpuOf(during, 'shard'),
    cpuOf(during, 'attacker'),
  ]);
}

function cycleTable(attacks: readonly AttackFigures[]): string[] {
  const title = row('decision cycles', ['p50', '', 'p99', '', 'ratio', 'shard', 'MiB']);
  const head = row('attack', ['before', 'during', 'before', 'during', 'p50', 'before', 'during']);
  return [
    title,
    head,
    ...attacks.map(({ attack, before, during, cycleRatio }) =>
      row(attack, [
        ...[before.cycleMs.p50, during.cycleMs.p50, before.cycleMs.p99, during.cycleMs.p99].map(short),
        cycleRatio.toFixed(2),
        rssOf(before),
        rssOf(during),
      ]),
    ),
  ];
}

function rssOf({ processes }: Period): number {
  return Math.round(processes.find(({ name }) => name === 'shard')?.rssMiB ?? 0);
}

function cpuOf({ processes }: Period, name: string): number {
  return processes.find((each) => each.name === name)?.cpuPercent ?? 0;
}

const NAME_WIDTH = 17;
const COLUMN_WIDTH = 7;
const WIDTH = 100;

function row(name: string, columns: readonly (string | number)[]): string {
  const cells = columns.map((each) => String(each).padStart(COLUMN_WIDTH)).join('');
  return (name.padEnd(NAME_WIDTH) + cells).trimEnd();
}

function short(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}

/** The outcomes of an attack. */
function outcomeLines(figures: AttackFigures): string[] {
  const { attack, about, attempts, heldBack, outcomes, counted, sessionsLost, unacknowledged } = figures;
  const lost = pairs(sessionsLost);
  return [
    `${attack}: ${about}`,
    ...wrapped(`${attempts} attempts: ${pairs(outcomes)}${heldBack > 0 ? `; ${heldBack} skipped` : ''}`),
    ...wrapped(`the shard counted: ${pairs(counted) || 'nothing'}`),
    ...(lost === '' ? [] : wrapped(`NEIGHBOURS LOST SESSIONS: ${lost}`)),
    ...(unacknowledged === 0 ? [] : wrapped(`${unacknowledged} ROLL-UPS OF NEIGHBOURS WITHOUT AN ACK`)),
  ];
}

/** Indented lines that fit. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDTH) lines.push(`${lines.pop()} ${word}`);
    else lines.push(last === undefined ? `  ${word}` : `    ${word}`);
  }
  return lines;
}

function pairs(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
