// Keeps a consumer up to date with all objects of one resource: lists in pages, then watches with bookmarks. A watch that
// ends is resumed from the last resource version; a complete list is repeated only after 410. Objects are handed on one
// at a time and not kept. One `Reflector` for each resource that the operator reads.
//
//   const reflector = new Reflector<Pod>({ client, path: pathOf(RESOURCES.pods), consumer, random });
//   reflector.start();  …  reflector.isCurrent, reflector.problem  …  await reflector.stop();

import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { type KubeClient, KubeError, type Query, type WatchEvent } from './client.ts';
import { watchError } from './failures.ts';
import type { KubeList, KubeObject } from './objects.ts';
import type { ObjectConsumer, ReflectorState } from './reflector.ts';

export interface ReflectorSettings {
  /** Objects in one page of a list. Default 500, as client-go. */
  readonly pageSize: number;
  /**
   * How long the watch may be lost before `isCurrent` turns false. Default 30 s: API servers close watches all the time,
   * and a restart of one takes some seconds.
   */
  readonly toleranceMs: number;
  /** The API server is asked to close a watch after a random time between this and twice this. Default 5 min. */
  readonly watchSeconds: number;
  /**
   * A watch without any event or bookmark for this time is given up and resumed. Default 150 s: bookmarks come every minute,
   * except on clusters where nothing at all changes.
   */
  readonly silenceMs: number;
  /** Largest delay before a watch that the API server closed is resumed. Default 1 s. */
  readonly resumeJitterMs: number;
  /** After failures. Default 500 ms to 30 s. */
  readonly backoff: BackoffLimits;
}

const DEFAULT_REFLECTOR_SETTINGS: ReflectorSettings = {
  pageSize: 500,
  toleranceMs: 30_000,
  watchSeconds: 300,
  silenceMs: 150_000,
  resumeJitterMs: 1_000,
  backoff: { baseMs: 500, maxMs: 30_000 },
};

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeClient;
  /** Collection, such as /api/v1/pods. */
  readonly path: string;
  readonly consumer: ObjectConsumer<T>;
  readonly random: Random;
  /** `labelSelector` and `fieldSelector`, if any. */
  readonly selector?: Query;
  readonly settings?: Partial<ReflectorSettings>;
  readonly clock?: Clock;
  /** Called when `isCurrent` may have changed, and with each failure. Must not throw. */
  readonly changed?: () => void;
}

/** Counts since the start, for metrics and tests. */
export interface ReflectorCounters {
  /** Complete lists. */
  lists: number;
  pages: number;
  watches: number;
  events: number;
  bookmarks: number;
  /** Lists repeated because the resource version was too old. */
  expired: number;
  /** Watches given up because nothing came. */
  silent: number;
  failures: number;
}

/** Pages grow if lists expire before their end, and shrink if an answer exceeds the limit of the client. */
const MAX_PAGE = 10_000;
const MIN_PAGE = 1;
/** A watch that the API server closes earlier than this, without an event, counts as a failure: else the loop would spin. */
const SHORT_WATCH_MS = 1_000;

export class Reflector<T extends KubeObject> implements ReflectorState {
  readonly #options: ReflectorOptions<T>;
  readonly #settings: ReflectorSettings;
  readonly #clock: Clock;
  readonly counters: ReflectorCounters = {
    lists: 0,
    pages: 0,
    watches: 0,
    events: 0,
    bookmarks: 0,
    expired: 0,
    silent: 0,
    failures: 0,
  };
  #stopping: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  #pageSize: number;
  /** Resource version to watch from; null: a list is needed. */
  #version: string | null = null;
  #hasListed = false;
  #isWatching = false;
  /** Since when no watch is open. */
  #lostMs: number;
  /** Consecutive ones. */
  #failures = 0;
  #failure: KubeError | Error | null = null;
  #cancelTolerance: (() => void) | null = null;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#settings = { ...DEFAULT_REFLECTOR_SETTINGS, ...options.settings };
    this.#clock = options.clock ?? systemClock;
    this.#pageSize = this.#settings.pageSize;
    this.#lostMs = this.#clock.now();
  }

  get hasListed(): boolean {
    return this.#hasListed;
  }

  get isCurrent(): boolean {
    if (!this.#hasListed || this.#stopping === null) return false;
    return this.#isWatching || this.#clock.now() - this.#lostMs <= this.#settings.toleranceMs;
  }

  get problem(): string | null {
    if (this.isCurrent) return null;
    const { path } = this.#options;
    if (this.#failure !== null) return this.#failure.message;
    if (this.#stopping === null) return `${path} is not watched`;
    return this.#hasListed ? `${path}: the watch is lost` : `${path} has not been listed completely yet`;
  }

  /** The last failure since the watch was last open, even if it is current still; null if there is none. */
  get failure(): Error | null {
    return this.#failure;
  }

  start(): void {
    if (this.#stopping !== null) return;
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#running = this.#run(stopping.signal);
  }

  /** Resolves when the consumer gets no more calls. A later `start` goes on from the last resource version. */
  async stop(): Promise<void> {
    this.#stopping?.abort(new Error('the reflector was stopped'));
    await this.#running;
    this.#stopping = null;
    this.#cancelTolerance?.();
    this.#cancelTolerance = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let delayMs: number;
      try {
        if (this.#version === null) await this.#list(signal);
        delayMs = await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        delayMs = this.#failed(error);
      }
      await this.#sleep(delayMs, signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, path, consumer, selector = {} } = this.#options;
    consumer.listing();
    let version = '';
    let token: string | undefined;
    do {
      const query: Query = { ...selector, limit: this.#pageSize, continue: token };
      const page: KubeList<T> = await client.list<T>(path, { query, signal });
      signal.throwIfAborted();
      for (const object of page.items) {
        checkObject(object, path);
        consumer.set(object);
      }
      this.counters.pages++;
      version = page.metadata.resourceVersion;
      token = page.metadata.continue === '' ? undefined : page.metadata.continue;
    } while (token !== undefined);
    consumer.listed();
    this.counters.lists++;
    this.#version = version;
    this.#hasListed = true;
    this.#failure = null;
    // Complete as of now, so the tolerance begins again.
    this.#isWatching = true;
    this.#lost();
    this.#options.changed?.();
  }

  /** Returns the delay before the next watch, or throws. */
  async #watch(signal: AbortSignal): Promise<number> {
    const { client, path, selector = {}, random } = this.#options;
    const { watchSeconds, silenceMs, resumeJitterMs } = this.#settings;
    const given = new AbortController();
    const end = (): void => given.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    const timeoutSeconds = Math.max(1, random.between(watchSeconds, 2 * watchSeconds));
    // No watch may outlast its timeout, and none may be silent for long: either means that the connection is dead.
    const lastMs = this.#clock.now() + timeoutSeconds * 1000 + silenceMs;
    let isSilent = false;
    const silence = new Silence(this.#clock, silenceMs, lastMs, () => {
      isSilent = true;
      given.abort(new Error('silent'));
    });
    const query: Query = {
      ...selector,
      resourceVersion: this.#version ?? undefined,
      allowWatchBookmarks: true,
      timeoutSeconds,
    };
    const startedMs = this.#clock.now();
    let events = 0;
    try {
      const stream = client.watch<T>(path, query, given.signal, () => this.#opened());
      for await (const event of stream) {
        signal.throwIfAborted();
        if (events++ === 0) this.#opened();
        silence.broken();
        this.#handle(event);
      }
    } catch (error) {
      // Silence is no failure by itself: on a quiet cluster there is nothing to send, not even bookmarks. If the connection
      // is dead, opening the next watch fails.
      if (!isSilent || signal.aborted) throw error;
      this.counters.silent++;
    } finally {
      silence.end();
      signal.removeEventListener('abort', end);
      this.#lost();
    }
    // Events reset the count of failures by themselves.
    const isShort = events === 0 && this.#clock.now() - startedMs < SHORT_WATCH_MS;
    if (!isShort) this.#failures = 0;
    return isShort ? this.#nextBackoffMs() : random.below(resumeJitterMs + 1);
  }

  #handle(event: WatchEvent<T>): void {
    const { consumer, path } = this.#options;
    if (event.type === 'ERROR') throw watchError(path, event.object);
    const version = event.object.metadata?.resourceVersion;
    if (event.type === 'BOOKMARK') this.counters.bookmarks++;
    else {
      checkObject(event.object, path);
      if (event.type === 'DELETED') consumer.remove(event.object);
      else consumer.set(event.object);
      this.counters.events++;
    }
    // After the consumer: an event that it could not handle is not skipped.
    if (version !== undefined) this.#version = version;
    this.#failures = 0;
  }

  #failed(error: unknown): number {
    const failure = error instanceof Error ? error : new Error(String(error));
    this.counters.failures++;
    if (failure instanceof KubeError && failure.isGone) {
      this.counters.expired++;
      // A list that expires before its end gets larger pages, hence fewer of them.
      if (this.#version === null) this.#pageSize = Math.min(MAX_PAGE, this.#pageSize * 2);
      this.#version = null;
      // Normal after a quiet time without bookmarks; a second one in a row is not, and lists are expensive.
      if (this.#failures++ === 0) return this.#options.random.below(this.#settings.resumeJitterMs + 1);
      this.#failure = failure;
    } else if (failure instanceof KubeError) {
      this.#failure = failure;
      if (failure.reason === 'ResponseTooLarge' && this.#version === null)
        this.#pageSize = Math.max(MIN_PAGE, this.#pageSize >> 1);
    } else {
      // The consumer failed: it may have lost the object, so it gets all of them again.
      this.#failure = new Error(`${this.#options.path}: an object could not be handled: ${failure.message}`, {
        cause: failure,
      });
      this.#version = null;
    }
    const delayMs = this.#nextBackoffMs();
    this.#options.changed?.();
    return delayMs;
  }

  #nextBackoffMs(): number {
    this.#failures++;
    return backoffMs(this.#options.random, this.#settings.backoff, this.#failures);
  }

  #opened(): void {
    if (this.#isWatching) return;
    this.counters.watches++;
    this.#isWatching = true;
    this.#failure = null;
    this.#cancelTolerance?.();
    this.#cancelTolerance = null;
    this.#options.changed?.();
  }

  /** From now on no watch is open. */
  #lost(): void {
    if (this.#isWatching || this.#cancelTolerance === null) {
      this.#lostMs = this.#clock.now();
      this.#cancelTolerance?.();
      this.#cancelTolerance = this.#clock.after(this.#settings.toleranceMs + 1, () => {
        this.#options.changed?.();
      });
    }
    this.#isWatching = false;
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** Calls `run` once nothing has happened for `silenceMs`, or at `lastMs`. One timer, not one per event. */
class Silence {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #lastMs: number;
  readonly #run: () => void;
  #brokenMs: number;
  #cancel: () => void;

  constructor(clock: Clock, silenceMs: number, lastMs: number, run: () => void) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#lastMs = lastMs;
    this.#run = run;
    this.#brokenMs = clock.now();
    this.#cancel = this.#schedule();
  }

  broken(): void {
    this.#brokenMs = this.#clock.now();
  }

  end(): void {
    this.#cancel();
  }

  #schedule(): () => void {
    const dueMs = Math.min(this.#brokenMs + this.#silenceMs, this.#lastMs);
    const waitMs = dueMs - this.#clock.now();
    return this.#clock.after(Math.max(0, waitMs), () => {
      const nowMs = this.#clock.now();
      if (nowMs >= Math.min(this.#brokenMs + this.#silenceMs, this.#lastMs)) this.#run();
      else this.#cancel = this.#schedule();
    });
  }
}

function checkObject(object: KubeObject, path: string): void {
  if (typeof object?.metadata?.name === 'string') return;
  throw new KubeError(`${path}: the API server sent an object without a name`, {
    status: 0,
    reason: 'Malformed',
  });
}
