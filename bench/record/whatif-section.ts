// The part of docs/reference/performance.md about what-if questions and explanations: how long answers take, and what they
// do to the live cycle.

import { type Bar, type LiveWindows, MOST_LONGER_PERCENT, type WhatIfFigures } from '../whatif/figures.ts';
import { columnsOf, markdownTable, short, whole } from './markdown.ts';

export function whatIfSection(figures: readonly WhatIfFigures[]): string {
  const live = figures.flatMap((each) => (each.live === null ? [] : [{ ...each, live: each.live }]));
  return [
    'What answers may take, by the slowest one, and by how much one question every ten seconds may lengthen the live cycle.',
    barTable(figures),
    'What-if questions on a replica that is up to date, and explanations as the API gives them: of Needs, up to half of them\nunmet, and of machines of all parts of the fleet. In milliseconds. A fleet that settles is decided on up to 20 times\nmore and has no bar.',
    answerTable(figures),
    ...(live.length === 0 ? [] : [liveText(live[0]!.live), liveTable(live)]),
  ].join('\n\n');
}

function barTable(figures: readonly WhatIfFigures[]): string {
  const rows = figures.flatMap(({ profile, bars }) =>
    bars.map((bar) => [profile, bar.what, limitText(bar), measuredText(bar), bar.isMet ? 'met' : 'not met']),
  );
  return markdownTable([...columnsOf(['fleet', 'what', 'bar', 'measured'], 2), { header: '' }], rows);
}

function limitText({ unit, most }: Bar): string {
  return unit === 'ms' ? `below ${whole(most)} ms` : `at most ${most} %`;
}

function measuredText({ unit, measured }: Bar): string {
  return unit === 'ms'
    ? `${short(measured)} ms`
    : `${measured < 0 ? '−' : ''}${Math.abs(measured).toFixed(1)} %`;
}

function answerTable(figures: readonly WhatIfFigures[]): string {
  const rows = figures.flatMap(({ profile, questions, explain }) => [
    ...questions.map(({ question, ms, undoneMs }) => [
      ...[profile, question, short(ms.p50), short(ms.max), short(undoneMs)],
    ]),
    ...explain.map(({ what, count, ms }) => [
      ...[profile, `explain ${what} (${count})`, short(ms.p50), short(ms.max), ''],
    ]),
  ]);
  return markdownTable(columnsOf(['fleet', 'question', 'p50', 'slowest', 'undone in'], 2), rows);
}

function liveText({ seconds, windowSeconds, spacingMs }: NonNullable<WhatIfFigures['live']>): string {
  return [
    `Cycles under churn, each ${spacingMs} ms after the end of the one before, as in a shard whose demand never stops changing. For ${whole(seconds)} s each,`,
    `in windows of ${windowSeconds} s that take turns, nothing is asked, a what-if question is asked, or a Need is explained; with a question in each`,
    'window. A cycle that begins late, because its thread packed parts of the replica or completed an explanation, counts from when it was due. In',
    `milliseconds. The bar is a p99 that is at most ${MOST_LONGER_PERCENT} % longer than with nothing asked.`,
  ].join('\n');
}

type Measured = Pick<WhatIfFigures, 'profile'> & { readonly live: NonNullable<WhatIfFigures['live']> };

function liveTable(figures: readonly Measured[]): string {
  const rows = figures.flatMap(({ profile, live: { windows } }) =>
    windows.map(({ kind, cycles, cycleMs, questions, busyMs, answerMs }: LiveWindows) => [
      ...[profile, kind, whole(cycles), short(cycleMs.p50), short(cycleMs.p99), short(cycleMs.max)],
      ...[questions === 0 ? '' : whole(questions), short(busyMs?.max ?? null)],
      ...[short(answerMs?.p50 ?? null), short(answerMs?.max ?? null)],
    ]),
  );
  const headers = [
    ...['fleet', 'asked', 'cycles', 'cycle p50', 'p99', 'slowest'],
    ...['questions', 'thread busy, longest', 'answer p50', 'slowest'],
  ];
  return markdownTable(columnsOf(headers, 2), rows);
}
