// Whether the picture of the cluster is complete. A roll-up replaces all demand, so one that lacks the pods of a list in
// progress would withdraw them, and the shard would take their machines.

import type { ReflectorState } from '../kube/reflector.ts';

/** Resources that must have been listed once before the first roll-up. */
const LISTED_FIRST = [
  'pods',
  'nodes',
  'capacityrequests',
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'daemonsets',
  'priorityclasses',
] as const;

/** Resources that make demand: while the watch of one is lost, the last roll-up is repeated. */
const ESSENTIAL: readonly string[] = ['pods', 'nodes', 'capacityrequests'];

export type WatchedResource = (typeof LISTED_FIRST)[number] | 'poddisruptionbudgets';

export class WatchGate {
  readonly #listed = new Set<WatchedResource>();
  readonly #listing = new Set<WatchedResource>();
  readonly #reflectors = new Map<WatchedResource, ReflectorState>();

  /** Registers the reflector of a resource, which knows whether its watch is lost. */
  observe(resource: WatchedResource, state: ReflectorState): void {
    this.#reflectors.set(resource, state);
  }

  listing(resource: WatchedResource): void {
    this.#listing.add(resource);
  }

  listed(resource: WatchedResource): void {
    this.#listing.delete(resource);
    this.#listed.add(resource);
  }

  /** What was never listed; null if nothing is missing. */
  get missing(): string | null {
    const missing = LISTED_FIRST.filter((resource) => !this.#listed.has(resource));
    if (missing.length === 0) return null;
    const why = missing.map((resource) => {
      const problem = this.#reflectors.get(resource)?.problem ?? null;
      return problem === null ? resource : `${resource} (${problem})`;
    });
    return `No roll-up before these have been listed completely: ${why.join(', ')}.`;
  }

  /** Which watch is lost; null if none is. */
  get lost(): string | null {
    for (const resource of LISTED_FIRST) {
      if (!ESSENTIAL.includes(resource)) continue;
      const state = this.#reflectors.get(resource);
      if (this.#listing.has(resource))
        return `The last roll-up is repeated while ${resource} are listed again.`;
      if (state !== undefined && !state.isCurrent)
        return `The last roll-up is repeated while the watch of ${resource} is lost: ${state.problem ?? 'no reason given'}.`;
    }
    return null;
  }
}
