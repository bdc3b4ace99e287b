// What concerns many pods at once: policies of namespaces, priority classes, and the values of labels that `Gt` and `Lt` are
// compared with. Changes are noted here; pod-demand.ts applies them to the pods concerned before the next read.

import type { Namespace, PriorityClass } from '../kube/objects.ts';
import { canonicalKey } from '../pods/node-terms.ts';
import { ListedObjects } from './listed-objects.ts';
import { SeenValues } from './seen-values.ts';
import { type NamespacePolicy, NO_POLICY, policyOf } from './standing.ts';

export class ClusterPolicies {
  readonly namespaces = new ListedObjects<Namespace, NamespacePolicy>(policyOf, (name, policy, before) => {
    if (policy?.isIgnored !== before?.isIgnored || policy?.isOptedIn !== before?.isOptedIn)
      this.#dirtyNamespaces.add(name);
  });
  readonly priorityClasses = new ListedObjects<
    PriorityClass,
    { readonly value: number; readonly isDefault: boolean }
  >(
    (each) => ({ value: each.value, isDefault: each.globalDefault === true }),
    (_, kept, before) => {
      if (kept?.value !== before?.value || kept?.isDefault !== before?.isDefault)
        this.#arePrioritiesDirty = true;
    },
  );
  readonly #seenValues = new SeenValues();
  #dirtyNamespaces = new Set<string>();
  #areSeenValuesDirty = false;
  #arePrioritiesDirty = false;

  constructor(knownValues: Readonly<Record<string, readonly string[]>>) {
    for (const [key, values] of Object.entries(knownValues))
      for (const value of values) this.#seenValues.add(canonicalKey(key), value);
  }

  sawValue(key: string, value: string): void {
    if (this.#seenValues.add(canonicalKey(key), value)) this.#areSeenValuesDirty = true;
  }

  seenValues(key: string): Iterable<string> {
    return this.#seenValues.valuesOf(key);
  }

  policyOf(namespace: string): NamespacePolicy {
    return this.namespaces.get(namespace) ?? NO_POLICY;
  }

  /** The priority of a class, or of pods without one; null if the class is not known. */
  priorityOf(name: string | undefined): number | null {
    if (name !== undefined && name !== '') return this.priorityClasses.get(name)?.value ?? null;
    for (const { value, isDefault } of this.priorityClasses.values()) if (isDefault) return value;
    return 0;
  }

  /** What changed since the last call. */
  takeChanged(): {
    readonly namespaces: ReadonlySet<string>;
    readonly hasSeenValues: boolean;
    readonly hasPriorities: boolean;
  } {
    const namespaces = this.#dirtyNamespaces;
    const hasSeenValues = this.#areSeenValuesDirty;
    const hasPriorities = this.#arePrioritiesDirty;
    if (namespaces.size > 0) this.#dirtyNamespaces = new Set();
    this.#areSeenValuesDirty = this.#arePrioritiesDirty = false;
    return { namespaces, hasSeenValues, hasPriorities };
  }
}
