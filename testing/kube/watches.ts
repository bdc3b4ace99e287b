// Watches of the fake API server: past changes, then live ones, with bookmarks and a timeout. An object that begins or
// ceases to match the selectors is reported as added or deleted, as the real API server does.

import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { type ApiError, expired } from './api-errors.ts';
import type { StoredObject } from './api-resources.ts';
import type { FaultSettings } from './faults.ts';
import type { Change, ObjectStore } from './object-store.ts';

type WatchType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Where the lines of a watch go. */
export interface WatchSink {
  line(type: WatchType, object: unknown): void;
  /** Half an event; then the connection breaks. */
  cut(): void;
  end(): void;
}

export interface WatchQuery {
  readonly storageKey: string;
  readonly matches: (object: StoredObject) => boolean;
  /** As clients see it: version and kind of the resource. */
  readonly view: (object: StoredObject) => unknown;
  /** Resource version to watch from; '' or '0': all objects first. */
  readonly from: string;
  readonly hasBookmarks: boolean;
  readonly timeoutMs: number;
  readonly bookmark: (version: string) => unknown;
}

export class Watches {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: FaultSettings;
  readonly #open = new Set<{ readonly storageKey: string; readonly close: () => void }>();
  /** Watches opened since the start. */
  opened = 0;

  constructor(store: ObjectStore, clock: Clock, random: Random, faults: FaultSettings) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Closes watches normally, as API servers do when they restart or a watch is slow. */
  closeAll(storageKey?: string): void {
    for (const each of [...this.#open])
      if (storageKey === undefined || each.storageKey === storageKey) each.close();
  }

  /** Throws 410 if the version is too old and that is to be an HTTP status. Returns a function that ends the watch. */
  open(query: WatchQuery, sink: WatchSink): () => void {
    const changes = this.#past(query);
    if (changes === null) {
      const error: ApiError = expired(`too old resource version: ${query.from} (${this.#store.version})`);
      if (this.#faults.goneForm === 'http') throw error;
      sink.line('ERROR', error.status);
      sink.end();
      return () => {};
    }
    this.opened++;
    let isOpen = true;
    const ends: (() => void)[] = [];
    const entry = { storageKey: query.storageKey, close: () => finish(() => sink.end()) };
    const finish = (how: () => void): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#open.delete(entry);
      for (const end of ends) end();
      how();
    };
    const send = (change: Change): void => {
      if (!isOpen || change.storageKey !== query.storageKey) return;
      const event = eventOf(change, query);
      if (event === null) return;
      if (this.#random.chance(this.#faults.cutWatchChance)) {
        finish(() => sink.cut());
        return;
      }
      sink.line(event.type, query.view(event.object));
      if (this.#random.chance(this.#faults.closeWatchChance)) finish(() => sink.end());
    };
    const bookmark = (): void => sink.line('BOOKMARK', query.bookmark(String(this.#store.version)));
    this.#open.add(entry);
    ends.push(this.#store.subscribe(send));
    ends.push(
      this.#clock.after(query.timeoutMs, () => {
        if (query.hasBookmarks && isOpen) bookmark();
        entry.close();
      }),
    );
    if (query.hasBookmarks && this.#faults.bookmarkMs > 0)
      ends.push(this.#every(this.#faults.bookmarkMs, bookmark));
    if (query.from === '' || query.from === '0')
      for (const object of this.#store.all(query.storageKey)) {
        if (query.matches(object)) sink.line('ADDED', query.view(object));
      }
    for (const change of changes) send(change);
    return () => finish(() => {});
  }

  #past({ from }: WatchQuery): readonly Change[] | null {
    return from === '' || from === '0' ? [] : this.#store.since(Number(from));
  }

  #every(ms: number, run: () => void): () => void {
    let cancel = (): void => {};
    const next = (): void => {
      cancel = this.#clock.after(ms, () => {
        run();
        next();
      });
    };
    next();
    return () => cancel();
  }
}

function eventOf(
  { object, previous, isDeletion }: Change,
  { matches }: WatchQuery,
): { readonly type: WatchType; readonly object: StoredObject } | null {
  const did = previous !== null && matches(previous);
  if (isDeletion) return did ? { type: 'DELETED', object } : null;
  const does = matches(object);
  if (did && does) return { type: 'MODIFIED', object };
  if (does) return { type: 'ADDED', object };
  if (!did) return null;
  // The last state that matched, with the version of the change.
  const { resourceVersion } = object.metadata;
  return {
    type: 'DELETED',
    object: {
      ...previous,
      metadata: { ...previous.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    },
  };
}
