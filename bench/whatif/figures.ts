// What `bench whatif` reports. Read by bench/record/whatif-section.ts, too.

import type { Quantiles } from '../quantiles.ts';

export interface QuestionFigures {
  readonly question: string;
  /** From the question to its answer. */
  readonly ms: Quantiles;
  /** Longest time after the answer, in which the changes are undone. */
  readonly undoneMs: number;
  /** Whether one answer needs one decision on the changed fleet; false for a fleet that settles, which has no goal. */
  readonly hasGoal: boolean;
}

export interface ExplainFigures {
  readonly what: 'a Need' | 'a machine';
  readonly ms: Quantiles;
}

/** The live cycle under churn, one a second. */
export interface LiveFigures {
  /** Without a replica. */
  readonly quiet: Quantiles;
  /** With a replica that is fed, and a question every ten seconds. */
  readonly asked: Quantiles;
  /** Parts of the replica that bring it up to date, of one question; they are part of the cycle after them. */
  readonly packingMs: Quantiles;
  /** From a question to its answer, the parts before it and the waits for cycles included. */
  readonly answersMs: Quantiles;
  readonly seconds: number;
}

export interface WhatIfFigures {
  readonly profile: string;
  readonly questions: readonly QuestionFigures[];
  readonly explain: readonly ExplainFigures[];
  /** null: not measured. */
  readonly live: LiveFigures | null;
}
