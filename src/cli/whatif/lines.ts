// The answer to a what-if question for people: figures now and after, then what differs.

import { ACTION_KINDS, ACTION_WORDS, COST_PARTS } from '../../model/index.ts';
import type {
  Listed,
  Settled,
  WhatIfAction,
  WhatIfAnswer,
  WhatIfCost,
  WhatIfVerdict,
} from '../../whatif/answer.ts';
import { age, amounts, count, countOf, dollars } from '../amounts.ts';
import { type Cell, type Paint, tableLines } from '../table.ts';

export function answerLines(answer: WhatIfAnswer, paint: Paint): readonly string[] {
  const { verdicts, actions, settled } = answer;
  return [
    touchedText(answer),
    ...answer.unmatched.map((path) => paint('yellow', `${path} matches nothing.`)),
    '',
    ...figureLines(answer, paint),
    ...verdictLines('No longer met', verdicts.unmet, paint),
    ...verdictLines('Met by the changes', verdicts.met, paint),
    ...verdictLines('Unmet for another reason', verdicts.changed, paint),
    ...actionLines('Actions that are not taken now', actions.added, paint),
    ...actionLines('Actions that are no longer taken', actions.dropped, paint),
    ...(settled === null ? [] : settledLines(settled, paint)),
    '',
    'Nothing was executed.',
  ];
}

function touchedText({ touched: { removed, repriced, added, needs } }: WhatIfAnswer): string {
  const parts = [
    removed > 0 ? `${countOf(removed, 'machine')} gone` : '',
    repriced > 0 ? `${countOf(repriced, 'machine')} with another price or probability` : '',
    added > 0 ? `${countOf(added, 'machine')} more to buy` : '',
    needs > 0 ? `${countOf(needs, 'Need')} changed` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'What if: no machine and no Need is changed.' : `What if: ${parts.join(', ')}.`;
}

const FIGURES = [
  { header: '' },
  { header: 'NOW', align: 'right' },
  { header: 'AFTER', align: 'right' },
  { header: 'DIFFERENCE', align: 'right' },
] as const;

type Row = readonly Cell[];

function figureLines({ actions, cost, disruption, verdicts }: WhatIfAnswer, paint: Paint): readonly string[] {
  const rows: Row[] = [
    countRow('Needs met', verdicts.now.met, verdicts.after.met),
    countRow('Needs unmet', verdicts.now.unmet, verdicts.after.unmet),
    ...ACTION_KINDS.map((kind) => countRow(ACTION_WORDS[kind].verb, actions.now[kind], actions.after[kind])),
    countRow('machines in use lost', disruption.now.lost, disruption.after.lost),
    ...costRows(cost.now, cost.after),
  ];
  return tableLines(FIGURES, rows, { paint });
}

function costRows(now: WhatIfCost, after: WhatIfCost): readonly Row[] {
  const row = (name: string, of: (cost: WhatIfCost) => number): Row => {
    const change = of(after) - of(now);
    return [
      { text: name },
      { text: dollars(of(now)) },
      { text: dollars(of(after)) },
      { text: change === 0 ? '' : `${change < 0 ? '−' : '+'}${dollars(Math.abs(change))}` },
    ];
  };
  const parts = COST_PARTS.filter((part) => now.byPart[part] !== 0 || after.byPart[part] !== 0);
  return [
    row('cost per hour', ({ perHour }) => perHour),
    ...parts.map((part) => row(`  ${PART_WORDS[part]}`, ({ byPart }) => byPart[part])),
    row('once actions are done', ({ afterActions }) => afterActions),
    row('expected loss', ({ risk }) => risk),
  ];
}

const PART_WORDS: Readonly<Record<(typeof COST_PARTS)[number], string>> = {
  serving: 'serving',
  onHold: 'on hold',
  joining: 'joining',
  idle: 'idle',
  draining: 'draining',
  deleting: 'deleting',
  failed: 'failed',
};

function countRow(name: string, now: number, after: number): Row {
  const change = after - now;
  const sign = change < 0 ? '−' : '+';
  return [
    { text: name },
    { text: count(now) },
    { text: count(after) },
    { text: change === 0 ? '' : `${sign}${count(Math.abs(change))}` },
  ];
}

function verdictLines(
  title: string,
  { total, items }: Listed<WhatIfVerdict>,
  paint: Paint,
): readonly string[] {
  if (total === 0) return [];
  const columns = [
    { header: 'NEED', isWhole: true },
    { header: 'PRIORITY', align: 'right' },
    { header: 'REASON', isWhole: true },
    { header: 'SHORT OF' },
    { header: 'WHY' },
  ] as const;
  const rows = items.map(
    ({ need, reason, reasonNow, why, whyNow, missing }): Row => [
      { text: need.group === '' ? need.id : `${need.id} ${need.group}` },
      { text: count(need.priority) },
      { text: reason ?? `was ${reasonNow}`, style: reason === null ? 'green' : 'red' },
      { text: reason === null ? '' : amounts(missing) },
      { text: why ?? `now: ${whyNow}`, style: 'dim' },
    ],
  );
  return listLines(title, total, tableLines(columns, rows, { paint, indent: 2 }), items.length, paint);
}

function actionLines(title: string, { total, items }: Listed<WhatIfAction>, paint: Paint): readonly string[] {
  if (total === 0) return [];
  const columns = [
    { header: 'ACTION' },
    { header: 'MACHINE', isWhole: true },
    { header: 'CLUSTER' },
    { header: 'NEED', isWhole: true },
  ] as const;
  const rows = items.map(
    ({ kind, machine, cluster, need }): Row => [
      { text: ACTION_WORDS[kind].verb },
      { text: machine },
      { text: cluster },
      { text: need?.id ?? '' },
    ],
  );
  return listLines(title, total, tableLines(columns, rows, { paint, indent: 2 }), items.length, paint);
}

function listLines(
  title: string,
  total: number,
  lines: readonly string[],
  shown: number,
  paint: Paint,
): readonly string[] {
  const rest = total > shown ? [`  … and ${count(total - shown)} more`] : [];
  return ['', paint('bold', `${title}: ${count(total)}`), ...lines, ...rest];
}

function settledLines(settled: Settled, paint: Paint): readonly string[] {
  const { cycles, isQuiet, remark, simulatedSeconds, cost, costDifference, needs } = settled;
  const time = simulatedSeconds === 0 ? '' : ` and ${age(simulatedSeconds * 1000)} of waiting for holds`;
  const end = isQuiet
    ? `Quiet after ${countOf(cycles, 'cycle')}${time}`
    : `Not quiet after ${countOf(cycles, 'cycle')}${time}`;
  const change = costDifference.perHour;
  const difference = change === 0 ? 'as now' : `${change < 0 ? '−' : '+'}${dollars(Math.abs(change))}`;
  const rows: Row[] = [
    [{ text: 'bought' }, { text: count(settled.bought) }],
    [{ text: 'bound' }, { text: count(settled.bound) }],
    [{ text: 'preempted' }, { text: count(settled.preempted) }],
    [{ text: 'reclaimed' }, { text: count(settled.drained) }],
    [{ text: 'released' }, { text: count(settled.released) }],
    [{ text: 'Needs unmet' }, { text: `${count(needs.unmet)} of ${count(needs.met + needs.unmet)}` }],
    [{ text: 'cost per hour' }, { text: `${dollars(cost.perHour)} (${difference})` }],
  ];
  return [
    '',
    paint('bold', `${end}, where moves take no time`),
    ...(remark === null ? [] : [`  ${paint('yellow', remark)}`]),
    ...tableLines([{ header: '' }, { header: '' }], rows, { paint, indent: 2 }),
    ...verdictLines('Then no longer met', settled.unmet, paint),
    ...verdictLines('Then met', settled.met, paint),
  ];
}
