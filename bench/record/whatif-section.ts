// The part of docs/reference/performance.md about what-if questions: how long answers take, and what they do to the live
// cycle.

import type { LiveFigures, WhatIfFigures } from '../whatif/figures.ts';
import { columnsOf, markdownTable, short, whole } from './markdown.ts';

/** Goals in milliseconds for one answer and one explanation, by profile. */
const GOAL_MS: Readonly<Record<string, number>> = { 'uber-5k': 100, 'uber-500k': 1000 };
/** By how much questions may lengthen the p99 of the live cycle. */
const MOST_LONGER = 0.1;

export function whatIfSection(figures: readonly WhatIfFigures[]): string {
  const live = figures.flatMap((each) => (each.live === null ? [] : [{ ...each, live: each.live }]));
  const seconds = Math.max(0, ...live.map(({ live: { seconds } }) => seconds));
  return [
    'Questions on a replica that is up to date, and what the API computes to explain one Need or one machine, in milliseconds.\nThe goal is for the slowest run. A fleet that settles is decided on up to 20 times more and has no goal.',
    answerTable(figures),
    ...(live.length === 0
      ? []
      : [
          `One cycle a second under churn for ${whole(seconds)} s, without a replica, and with one that is kept up to date and a question every ten\nseconds. Time in which the controller packs parts of the replica counts as part of the next cycle. The goal is a p99 that is at\nmost ${MOST_LONGER * 100} % longer.`,
          liveTable(live),
        ]),
  ].join('\n\n');
}

function answerTable(figures: readonly WhatIfFigures[]): string {
  const rows = figures.flatMap(({ profile, questions, explain }) => [
    ...questions.map(({ question, ms, undoneMs, hasGoal }) =>
      answerRow(profile, question, ms, hasGoal, short(undoneMs)),
    ),
    ...explain.map(({ what, ms }) => answerRow(profile, `explain ${what}`, ms, true, '')),
  ]);
  const headers = ['fleet', 'question', 'goal, below', 'p50', 'slowest', 'undone in'];
  return markdownTable([...columnsOf(headers, 2), { header: '' }], rows);
}

function answerRow(
  profile: string,
  question: string,
  { p50, max }: { readonly p50: number; readonly max: number },
  hasGoal: boolean,
  undone: string,
): readonly string[] {
  const goalMs = hasGoal ? GOAL_MS[profile] : undefined;
  const verdict = goalMs === undefined ? '' : max < goalMs ? 'met' : 'not met';
  const goal = goalMs === undefined ? '' : whole(goalMs);
  return [profile, question, goal, short(p50), short(max), undone, verdict];
}

function liveTable(figures: readonly { readonly profile: string; readonly live: LiveFigures }[]): string {
  const rows = figures.map(({ profile, live: { quiet, asked, packingMs, answersMs } }) => [
    profile,
    ...[quiet.p50, quiet.p99, asked.p50, asked.p99].map(short),
    `${asked.p99 >= quiet.p99 ? '+' : '−'}${whole(Math.abs(asked.p99 / quiet.p99 - 1) * 100)} %`,
    ...[packingMs.max, answersMs.p50, answersMs.max].map(short),
    asked.p99 <= quiet.p99 * (1 + MOST_LONGER) ? 'met' : 'not met',
  ]);
  const headers = [
    ...['fleet', 'cycle p50', 'p99', 'with questions p50', 'p99', 'p99 longer by'],
    ...['packing, longest', 'answer p50', 'slowest'],
  ];
  return markdownTable([...columnsOf(headers), { header: '' }], rows);
}
