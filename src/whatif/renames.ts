// Which Need of the fleet as it is a Need of the changed fleet is. A change of priority gives a Need another key, and may
// give it the key that another Need has now, so that both become one. Filled by change-fleet.ts, read by differences.ts.

import { keyText, type NeedKey } from '../model/index.ts';

interface Rename {
  readonly from: NeedKey;
  readonly to: NeedKey;
}

export class Renames {
  /** By text of the key that a Need has now. */
  readonly #needs = new Map<string, Rename>();
  /** By text of the key of a fold now: those of the folds that its Needs would be in, where they are others. */
  readonly #folds = new Map<string, Set<string>>();
  /** By text of a key in the changed fleet; null: to be computed. */
  #former: ReadonlyMap<string, readonly NeedKey[]> | null = null;

  /** To be called for a Need whose key changes, and for one whose key another Need gets too. */
  add(from: NeedKey, to: NeedKey): void {
    this.#needs.set(keyText(from), { from, to });
    this.#former = null;
  }

  addFold(from: NeedKey, to: NeedKey): void {
    const text = keyText(from);
    const folds = this.#folds.get(text) ?? new Set();
    folds.add(keyText(to));
    this.#folds.set(text, folds);
  }

  /** The key in the changed fleet. */
  laterOf(key: NeedKey): NeedKey {
    return this.#needs.get(keyText(key))?.to ?? key;
  }

  /** The keys that the Needs of a key in the changed fleet have now; more than one where Needs became one. */
  formerOf(key: NeedKey): readonly NeedKey[] {
    this.#former ??= new Map(
      [...Map.groupBy(this.#needs.values(), ({ to }) => keyText(to))].map(([text, renames]) => [
        text,
        renames.map(({ from }) => from),
      ]),
    );
    return this.#former.get(keyText(key)) ?? [key];
  }

  /** Whether `after` is the Need `now` of the changed fleet; for folds: whether a Need of the one may be in the other. */
  isSame(now: NeedKey, after: NeedKey): boolean {
    const text = keyText(after);
    return keyText(this.laterOf(now)) === text || this.#folds.get(keyText(now))?.has(text) === true;
  }
}
