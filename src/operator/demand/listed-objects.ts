// A consumer for resources of which a cluster has few: keeps by name what it needs of each object, and after a complete list
// removes the objects that were not in it. Pods and CapacityRequests have a table of their own.

import type { KubeObject } from '../kube/objects.ts';
import type { ObjectConsumer } from '../kube/reflector.ts';

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** `read` takes what is kept of an object; null keeps nothing. It must not throw. `changed` is called after the change. */
export class ListedObjects<T extends KubeObject, Kept> implements ObjectConsumer<T> {
  readonly #kept = new Map<string, Kept>();
  readonly #read: (object: T) => Kept | null;
  readonly #changed: (name: string, kept: Kept | undefined, before: Kept | undefined) => void;
  /** Names of the list in progress; null without one. */
  #listing: Set<string> | null = null;

  constructor(
    read: (object: T) => Kept | null,
    changed: (name: string, kept: Kept | undefined, before: Kept | undefined) => void,
  ) {
    this.#read = read;
    this.#changed = changed;
  }

  get(name: string): Kept | undefined {
    return this.#kept.get(name);
  }

  get size(): number {
    return this.#kept.size;
  }

  values(): IterableIterator<Kept> {
    return this.#kept.values();
  }

  listing(): void {
    this.#listing = new Set();
  }

  set(object: T): void {
    const name = nameOf(object);
    this.#listing?.add(name);
    this.#replace(name, this.#read(object) ?? undefined);
  }

  remove(object: T): void {
    this.#replace(nameOf(object), undefined);
  }

  listed(): void {
    const seen = this.#listing;
    this.#listing = null;
    if (seen === null) return;
    for (const name of [...this.#kept.keys()]) if (!seen.has(name)) this.#replace(name, undefined);
  }

  #replace(name: string, kept: Kept | undefined): void {
    const before = this.#kept.get(name);
    if (kept === undefined) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    if (kept !== undefined || before !== undefined) this.#changed(name, kept, before);
  }
}
