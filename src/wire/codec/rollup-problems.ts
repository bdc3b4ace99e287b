// The problems of a roll-up: the first ones with their places, and how many there are. Collected by intake.ts and
// combination.ts for the operator's answer.

import type { Problem } from '../../model/index.ts';
import type { Row, RowEffect } from './need.ts';

/** Maximum number of listed problems; the rest is only counted, so that a hostile roll-up cannot fill a log. */
const MAX_PROBLEMS = 50;
/** Maximum characters of listed problems: a name of control characters is six times as long when escaped. */
const MAX_PROBLEM_CHARACTERS = 16 * 1024;

/** Something wrong with a roll-up, with its place in it; `index` is the row, -1 for the roll-up as a whole. */
export interface RollupProblem extends Problem {
  readonly index: number;
  readonly effect: RowEffect;
}

/** All problems of a roll-up: the first few, and how many there are. */
export interface RollupProblems {
  readonly first: readonly RollupProblem[];
  readonly total: number;
}

export const NO_PROBLEMS: RollupProblems = { first: [], total: 0 };

/** Problems of a roll-up as a whole. */
export function wholeProblems(problems: readonly Problem[]): RollupProblems {
  return {
    first: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem, index: -1, effect: 'refused' })),
    total: problems.length,
  };
}

/** Collects the remarks of rows; the first are listed, the others counted. */
export class ProblemList {
  readonly #first: RollupProblem[] = [];
  #characters = 0;
  #total = 0;

  addAll({ remarks, moreRemarks = 0 }: Pick<Row, 'remarks' | 'moreRemarks'>, index: number): void {
    this.#total += remarks.length + moreRemarks;
    for (const { code, effect, words } of remarks) {
      if (this.#first.length >= MAX_PROBLEMS || this.#characters >= MAX_PROBLEM_CHARACTERS) return;
      const { path, message } = words();
      this.#characters += path.length + message.length;
      this.#first.push({ code, effect, index, message, path: `needs[${index}]${path}` });
    }
  }

  get problems(): RollupProblems {
    return this.#total === 0 ? NO_PROBLEMS : { first: this.#first, total: this.#total };
  }
}
