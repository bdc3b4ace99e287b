// What `bench whatif` reports, and the bars that its figures are compared with. Read by bench/record/whatif-section.ts, too.

import { type Quantiles, rounded } from '../quantiles.ts';

export interface QuestionFigures {
  readonly question: string;
  /** From the question to its answer. */
  readonly ms: Quantiles;
  /** Longest time after the answer, in which the changes are undone. */
  readonly undoneMs: number;
  /** Whether one answer needs one decision on the changed fleet; false for a fleet that settles, which has no bar. */
  readonly hasGoal: boolean;
}

export interface ExplainFigures {
  readonly what: 'a Need' | 'a machine';
  /** Answers that were timed. */
  readonly count: number;
  /** From the question to the JSON of the answer. */
  readonly ms: Quantiles;
}

/** What is asked during the cycles of a kind of window, one question in each. */
export const LIVE_KINDS = ['nothing', 'what-if', 'explain'] as const;
export type LiveKind = (typeof LIVE_KINDS)[number];

export interface LiveWindows {
  readonly kind: LiveKind;
  readonly cycles: number;
  /** Of a cycle, and the time by which it began late because its thread was busy with a question. */
  readonly cycleMs: Quantiles;
  readonly questions: number;
  /** Time that the thread of the cycles spent on a question; null: nothing was asked. */
  readonly busyMs: Quantiles | null;
  /** From a question to its answer, with waits for cycles; null: nothing was asked. */
  readonly answerMs: Quantiles | null;
}

/** The live cycle under churn, in windows that take turns. */
export interface LiveFigures {
  /** Of all windows of a kind together. */
  readonly seconds: number;
  readonly windowSeconds: number;
  /** From the end of a cycle until the next one is due. */
  readonly spacingMs: number;
  readonly windows: readonly LiveWindows[];
}

interface MeasuredFleet {
  readonly profile: string;
  readonly questions: readonly QuestionFigures[];
  readonly explain: readonly ExplainFigures[];
  /** null: not measured. */
  readonly live: LiveFigures | null;
}

export interface Bar {
  readonly what: string;
  readonly unit: 'ms' | '%';
  /** The figure has to be below it, or for percentages at most this. */
  readonly most: number;
  readonly measured: number;
  readonly isMet: boolean;
}

export interface WhatIfFigures extends MeasuredFleet {
  readonly bars: readonly Bar[];
}

/** Most milliseconds of one answer, by profile. */
const ANSWER_MS: Readonly<Record<string, number>> = { 'uber-5k': 100, 'uber-500k': 1000 };
/** By how many percent questions may lengthen the p99 of the live cycle. */
export const MOST_LONGER_PERCENT = 10;

/** By the slowest answer; profiles without a limit have bars for the live cycle only. */
export function barsOf({ profile, questions, explain, live }: MeasuredFleet): readonly Bar[] {
  const most = ANSWER_MS[profile];
  const slowest = (figures: readonly { readonly ms: Quantiles }[]): number =>
    Math.max(...figures.map(({ ms }) => ms.max));
  const answers = [
    ['what-if without settling', slowest(questions.filter(({ hasGoal }) => hasGoal))],
    ['explain', slowest(explain)],
  ] as const;
  return [
    ...(most === undefined
      ? []
      : answers
          .filter(([, measured]) => measured > 0)
          .map(([what, measured]): Bar => ({ what, unit: 'ms', most, measured, isMet: measured < most }))),
    ...(live === null ? [] : liveBars(live)),
  ];
}

function liveBars({ windows }: LiveFigures): readonly Bar[] {
  const without = windows.find(({ kind }) => kind === 'nothing')!.cycleMs.p99;
  return windows
    .filter(({ kind }) => kind !== 'nothing')
    .map(({ kind, cycleMs: { p99 } }): Bar => {
      const measured = rounded((p99 / without - 1) * 100);
      const what = `live p99 longer, with a question of ${kind}`;
      return { what, unit: '%', most: MOST_LONGER_PERCENT, measured, isMet: measured <= MOST_LONGER_PERCENT };
    });
}
