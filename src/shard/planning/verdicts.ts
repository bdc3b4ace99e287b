// Verdicts of the last cycle as it was carried out: those of the decision, except that rows whose purchases the ceiling on
// spending stopped are not met. The ceiling applies after the decision, which counts on these machines. Made by cycles.ts;
// read by shortfalls and queries.

import type { Decision, VerdictQuestion } from '../../engine/index.ts';
import type { Action, MachineUser, NeedKey, Verdict } from '../../model/index.ts';
import { KeyMap } from './key-map.ts';

export class Verdicts {
  readonly #decision: Decision;
  /** Verdicts that differ from those of the decision. */
  readonly #changed = new KeyMap<Verdict>();
  /** Verdicts on the Needs that are not met, by rank. */
  readonly unmet: readonly Verdict[];
  /** Machines that the decision buys and the ceiling stops. */
  readonly #stopped: ReadonlySet<string>;

  constructor(decision: Decision, stoppedPurchases: readonly Action[]) {
    this.#decision = decision;
    this.#stopped = new Set(stoppedPurchases.map(({ machine }) => machine));
    if (stoppedPurchases.length === 0) {
      this.unmet = decision.unmet;
      return;
    }
    const { unmet, changed } = decision.verdictsWithout(this.#stopped, 'spend-limit');
    this.unmet = unmet;
    for (const verdict of changed) this.#changed.set(verdict.key, verdict);
  }

  /** The verdict on one Need; null if there is no such row. Valid as long as the decision. */
  of(key: NeedKey): Verdict | null {
    return this.#changed.get(key) ?? this.#decision.verdictOf(key);
  }

  /** Rows that count on a machine: its claimant, then those that share it. Valid as long as the decision. */
  usersOf(machine: string): readonly MachineUser[] {
    return this.#stopped.has(machine) ? [] : this.#decision.usersOf(machine);
  }

  /** One verdict per Need that the question selects. Valid as long as the decision. */
  list(question: VerdictQuestion): readonly Verdict[] {
    const verdicts = this.#decision.verdicts(question);
    return verdicts.map((verdict) => this.#changed.get(verdict.key) ?? verdict);
  }
}
