// Contract of a reflector: keeps a consumer up to date with all objects of one resource. Lists in pages, watches with
// bookmarks, resumes from the last resource version when a watch ends, and lists again only on 410.

import type { KubeObject } from './objects.ts';

/** Receives the objects of one resource. All calls are synchronous and in order. */
export interface ObjectConsumer<T extends KubeObject> {
  /** A complete list begins. Objects that are not set until `listed` no longer exist. */
  listing(): void;
  set(object: T): void;
  remove(object: T): void;
  /** All objects of the list have been set. */
  listed(): void;
}

/** What readers know of a reflector. */
export interface ReflectorState {
  /** Whether one list is complete, and the watch has not been lost for longer than the tolerance since. */
  readonly isCurrent: boolean;
  /** Whether a list has ever been complete. */
  readonly hasListed: boolean;
  /** Why it is not current, for a person; null if it is. */
  readonly problem: string | null;
}
