// The objects of the fake API server with one growing resource version, and a bounded history of changes from which
// watches are resumed. What is older has been compacted: such a watch or list ends with 410.

import type { StoredObject } from './api-resources.ts';

export interface Change {
  readonly version: number;
  readonly storageKey: string;
  /** The new object; for a deletion the last one, with the version of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | null;
  readonly isDeletion: boolean;
}

/** Changes that are kept for watches, of all resources together. */
const DEFAULT_HISTORY = 20_000;

export class ObjectStore {
  #version = 1;
  readonly #collections = new Map<string, Map<string, StoredObject>>();
  #history: Change[] = [];
  #historyLimit: number;
  /** Watches from this version or a later one can be resumed. */
  #oldest = 1;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(historyLimit = DEFAULT_HISTORY) {
    this.#historyLimit = historyLimit;
  }

  get version(): number {
    return this.#version;
  }

  get(storageKey: string, key: string): StoredObject | undefined {
    return this.#collections.get(storageKey)?.get(key);
  }

  /** All objects of a collection, sorted by namespace and name as in etcd. */
  all(storageKey: string): readonly StoredObject[] {
    const collection = this.#collections.get(storageKey);
    if (collection === undefined) return [];
    return [...collection.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** In no particular order, without the cost of sorting. */
  each(storageKey: string): Iterable<StoredObject> {
    return this.#collections.get(storageKey)?.values() ?? [];
  }

  put(storageKey: string, object: StoredObject): StoredObject {
    const key = keyOf(object);
    const collection = this.#collections.get(storageKey) ?? new Map<string, StoredObject>();
    this.#collections.set(storageKey, collection);
    const previous = collection.get(key) ?? null;
    const stored = this.#stamped(object);
    collection.set(key, stored);
    this.#publish({ version: this.#version, storageKey, object: stored, previous, isDeletion: false });
    return stored;
  }

  remove(storageKey: string, object: StoredObject): StoredObject {
    const previous = this.get(storageKey, keyOf(object)) ?? null;
    this.#collections.get(storageKey)?.delete(keyOf(object));
    const last = this.#stamped(object);
    this.#publish({ version: this.#version, storageKey, object: last, previous, isDeletion: true });
    return last;
  }

  /** Changes after a version; null if some of them have been compacted. */
  since(version: number): readonly Change[] | null {
    if (version < this.#oldest - 1) return null;
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#history[middle]!.version <= version) low = middle + 1;
      else high = middle;
    }
    return this.#history.slice(low);
  }

  /** Forgets the history: each watch that resumes from an earlier version ends with 410. */
  compact(): void {
    this.#history = [];
    // A version of its own, so that even the latest version that clients know is too old.
    this.#version++;
    this.#oldest = this.#version + 1;
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamped(object: StoredObject): StoredObject {
    this.#version++;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #publish(change: Change): void {
    this.#history.push(change);
    // Half as much again is allowed to build up, because removing from the front is expensive.
    if (this.#history.length > this.#historyLimit * 1.5) {
      this.#history = this.#history.slice(-this.#historyLimit);
      this.#oldest = this.#history[0]!.version;
    }
    for (const listener of this.#listeners) listener(change);
  }
}

export function keyOf({ metadata }: Pick<StoredObject, 'metadata'>): string {
  return objectKey(metadata.namespace, metadata.name);
}

export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
