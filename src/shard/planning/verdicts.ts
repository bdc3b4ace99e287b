// Verdicts of the last cycle as it was carried out: those of the decision, except that rows whose purchases the ceiling on
// spending stopped are not met. The ceiling applies after the decision, which counts on these machines. Made by cycles.ts;
// read by shortfalls and queries.

import type { Decision, VerdictQuestion } from '../../engine/index.ts';
import type { Action, NeedKey, Verdict } from '../../model/index.ts';
import { KeyMap } from './key-map.ts';

export class Verdicts {
  readonly #decision: Decision;
  /** Verdicts that differ from those of the decision. */
  readonly #changed = new KeyMap<Verdict>();
  /** Verdicts on the Needs that are not met, by rank. */
  readonly unmet: readonly Verdict[];

  constructor(decision: Decision, stoppedPurchases: readonly Action[]) {
    this.#decision = decision;
    if (stoppedPurchases.length === 0) {
      this.unmet = decision.unmet;
      return;
    }
    const machines = new Set(stoppedPurchases.map(({ machine }) => machine));
    const { unmet, changed } = decision.verdictsWithout(machines, 'spend-limit');
    this.unmet = unmet;
    for (const verdict of changed) this.#changed.set(verdict.key, verdict);
  }

  /** The verdict on one Need; null if there is no such row. Valid as long as the decision. */
  of(key: NeedKey): Verdict | null {
    return this.#changed.get(key) ?? this.#decision.verdictOf(key);
  }

  /** One verdict per Need that the question selects. Valid as long as the decision. */
  list(question: VerdictQuestion): readonly Verdict[] {
    const verdicts = this.#decision.verdicts(question);
    return verdicts.map((verdict) => this.#changed.get(verdict.key) ?? verdict);
  }
}
