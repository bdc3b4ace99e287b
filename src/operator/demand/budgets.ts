// PodDisruptionBudgets: which pods match one that allows no disruption now, by the rules of the eviction API. Pods refer to a
// set of labels by number; each set is compared with the budgets of its namespace once, not each pod.

import type { LabelSelector, PodDisruptionBudget } from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import { releasesUnready } from '../pods/disruption.ts';
import { CountedInterner } from './counted-interner.ts';
import { ListedObjects } from './listed-objects.ts';

interface Budget {
  readonly namespace: string;
  readonly selectorText: string;
  readonly selector: LabelSelector | undefined;
  readonly hasRoom: boolean;
  /** Pods that are not ready are evicted without room. */
  readonly releasesUnready: boolean;
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
  /** Names of budgets that allow disruptions now and did not before, or the other way round. */
  readonly #changedRoom = new Set<string>();
  /** Namespaces with budgets that select other pods than before. */
  readonly #changedNamespaces = new Set<string>();
  readonly budgets = new ListedObjects<PodDisruptionBudget, Budget>(
    (budget) => ({
      namespace: budget.metadata.namespace ?? '',
      selectorText: JSON.stringify(budget.spec?.selector ?? null),
      selector: budget.spec?.selector,
      hasRoom: (budget.status?.disruptionsAllowed ?? 0) > 0,
      releasesUnready: releasesUnready(budget),
    }),
    (name, budget, before) => this.#changed(name, budget, before),
  );

  /** Numbers of the sets for which the answer of `isWithoutRoom` may have changed since the last call. */
  takeChanged(): ReadonlySet<number> {
    const changed = new Set<number>();
    if (this.#changedRoom.size + this.#changedNamespaces.size === 0) return changed;
    for (const [number, set] of this.sets.entries()) {
      if (this.#changedNamespaces.has(set.namespace)) {
        set.budgets = null;
        changed.add(number);
      } else if (set.budgets?.some((name) => this.#changedRoom.has(name)) === true) changed.add(number);
    }
    this.#changedRoom.clear();
    this.#changedNamespaces.clear();
    return changed;
  }

  /** The number of the labels of a pod. */
  setOf(namespace: string, labels: Readonly<Record<string, string>> | undefined): number {
    const text = JSON.stringify([namespace, labels ?? {}]);
    return this.sets.numberOf(text, () => ({ namespace, budgets: null }));
  }

  /** Whether running pods with these labels match a budget that allows no disruption now. */
  isWithoutRoom(set: number, isUnready: boolean): boolean {
    const labels = this.sets.valueOf(set);
    labels.budgets ??= this.#matching(labels.namespace, this.sets.textOf(set));
    // Of several budgets the eviction API refuses every pod, so none of them releases one.
    const mayRelease = isUnready && labels.budgets.length === 1;
    for (const name of labels.budgets) {
      const budget = this.budgets.get(name);
      if (budget?.hasRoom === false && !(mayRelease && budget.releasesUnready)) return true;
    }
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
      const isSame =
        budget?.hasRoom === before?.hasRoom && budget?.releasesUnready === before?.releasesUnready;
      if (!isSame) this.#changedRoom.add(name);
      return;
    }
    const { namespace } = (budget ?? before)!;
    const names = this.#byNamespace.get(namespace) ?? new Set();
    if (budget === undefined) names.delete(name);
    else names.add(name);
    if (names.size === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, names);
    this.#changedNamespaces.add(namespace);
  }
}
