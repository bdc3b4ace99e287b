// PodDisruptionBudgets: which pods match one that allows no disruption now. Pods refer to a set of labels by number; each
// set is compared with the budgets of its namespace once, not each pod.

import type { LabelSelector, PodDisruptionBudget } from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import { CountedInterner } from './counted-interner.ts';
import { ListedObjects } from './listed-objects.ts';

interface Budget {
  readonly namespace: string;
  readonly selectorText: string;
  readonly selector: LabelSelector | undefined;
  readonly hasRoom: boolean;
}

/** Labels of pods in one namespace. They are parsed from the text only to compare them with a new budget. */
interface LabelSet {
  readonly namespace: string;
  /** Names of the budgets that match; null: not compared since budgets of the namespace changed. */
  budgets: readonly string[] | null;
}

const NO_BUDGETS: readonly string[] = [];

export class Budgets {
  readonly sets = new CountedInterner<LabelSet>();
  readonly #byNamespace = new Map<string, Set<string>>();
  #version = 0;
  readonly budgets = new ListedObjects<PodDisruptionBudget, Budget>(
    ({ metadata, spec, status }) => ({
      namespace: metadata.namespace ?? '',
      selectorText: JSON.stringify(spec?.selector ?? null),
      selector: spec?.selector,
      hasRoom: (status?.disruptionsAllowed ?? 0) > 0,
    }),
    (name, budget, before) => this.#changed(name, budget, before),
  );

  /** Changes whenever the answer of `isWithoutRoom` may have changed for a set. */
  get version(): number {
    return this.#version;
  }

  /** The number of the labels of a pod. */
  setOf(namespace: string, labels: Readonly<Record<string, string>> | undefined): number {
    const text = JSON.stringify([namespace, labels ?? {}]);
    return this.sets.numberOf(text, () => ({ namespace, budgets: null }));
  }

  /** Whether pods with these labels match a budget that allows no disruption now. */
  isWithoutRoom(set: number): boolean {
    const labels = this.sets.valueOf(set);
    labels.budgets ??= this.#matching(labels.namespace, this.sets.textOf(set));
    for (const name of labels.budgets) if (this.budgets.get(name)?.hasRoom === false) return true;
    return false;
  }

  #matching(namespace: string, text: string): readonly string[] {
    const names = this.#byNamespace.get(namespace);
    if (names === undefined) return NO_BUDGETS;
    const [, labels] = JSON.parse(text) as [string, Record<string, string>];
    const matching = [...names].filter((name) => selects(this.budgets.get(name)!.selector, labelsOf(labels)));
    return matching.length === 0 ? NO_BUDGETS : matching;
  }

  #changed(name: string, budget: Budget | undefined, before: Budget | undefined): void {
    if (budget?.selectorText === before?.selectorText) {
      if (budget?.hasRoom !== before?.hasRoom) this.#version++;
      return;
    }
    this.#version++;
    const { namespace } = (budget ?? before)!;
    const names = this.#byNamespace.get(namespace) ?? new Set();
    if (budget === undefined) names.delete(name);
    else names.add(name);
    if (names.size === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, names);
    for (const [, set] of this.sets.entries()) if (set.namespace === namespace) set.budgets = null;
  }
}
