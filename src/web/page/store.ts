// The live state of the dashboard: the event stream of the shard, and what every page shows of it. Events are reduced as
// they arrive, and views are told at most once a second, at the pace at which a person reads. main.ts renders it.

import type { Action, Freeze, Point, ShardEvent, Shortfall, Status } from '../feed.ts';
import { timeOfDay } from '../figures.ts';
import { type Live, NOTHING_YET, withEvent } from '../live.ts';
import { withPoints } from '../series.ts';
import { read } from './api.ts';

/** Least time between two updates of the views, except after an order. */
const PACE_MS = 1_000;
/** A shard sends an event about every second; without one for this long, the page shows a warning. */
const SILENCE_MS = 10_000;
const RETRY_MS = 2_000;
const NOTICE_MS = 8_000;
/** Actions are read from their list and not from the stream, which may have thousands a second. */
const KINDS = ['cycle', 'loss', 'losses', 'log'];
const MAX_ACTIONS = 50;
const MAX_SHORTFALLS = 20;

/** Who the page is for the shard. */
interface Caller {
  /** null: unknown, on loopback without TLS. */
  readonly name: string | null;
  /** `operate` may also order. */
  readonly role: 'view' | 'operate';
}

export interface PageState {
  readonly live: Live;
  readonly freezes: readonly Freeze[];
  /** null before the shard has said. */
  readonly caller: Caller | null;
  /** '' while events arrive; otherwise what is wrong with the connection. */
  readonly trouble: string;
  /** The answer to the last order, or that the shard is a new one. */
  readonly notice: string;
  /** Incremented with every update that may have changed what the API answers. */
  readonly tick: number;
}

export class Store {
  #state: PageState = { live: NOTHING_YET, freezes: [], caller: null, trouble: '', notice: '', tick: 0 };
  readonly #listeners = new Set<() => void>();
  #receivedMs = Date.now();
  #toldMs = 0;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #notice: ReturnType<typeof setTimeout> | undefined;
  #isPolling = false;

  get state(): PageState {
    return this.#state;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    this.#follow();
    setInterval(() => {
      if (this.#state.trouble === '' && Date.now() - this.#receivedMs > SILENCE_MS)
        this.#update({ trouble: `Nothing received from the shard since ${timeOfDay(this.#receivedMs)}.` });
    }, SILENCE_MS / 2);
  }

  /** Shows the answer to an order, and reads everything again. */
  notify(notice: string): void {
    clearTimeout(this.#notice);
    this.#notice = setTimeout(() => this.#update({ notice: '' }, 0), NOTICE_MS);
    this.#update({ notice, tick: this.#state.tick + 1 }, 0);
    void this.#poll();
  }

  #update(change: Partial<PageState>, paceMs = PACE_MS): void {
    this.#state = { ...this.#state, ...change };
    if (paceMs === 0) clearTimeout(this.#telling);
    else if (this.#telling !== undefined) return;
    const waitMs = Math.max(0, this.#toldMs + paceMs - Date.now());
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#toldMs = Date.now();
      for (const listener of this.#listeners) listener();
    }, waitMs);
  }

  #receive(event: ShardEvent): void {
    this.#receivedMs = Date.now();
    const before = this.#state.live.status;
    const isCycle = event.kind === 'cycle';
    const isNew = isCycle && before !== null && before.startedMs !== event.status.startedMs;
    const tick = this.#state.tick + (isCycle ? 1 : 0);
    this.#update({ live: withEvent(this.#state.live, event), trouble: '', tick });
    if (isNew) this.notify('The shard was restarted; this is the new one.');
    else if (isCycle) void this.#poll();
  }

  /** Reads what events do not carry; at most one request of each kind in flight, so that a slow shard is not asked more. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const sinceMs = this.#state.live.series.at(-1)?.atMs ?? 0;
      const [shortfalls, freezes, { actions }, { points }] = await Promise.all([
        read<{ items: Shortfall[] }>(`/v1/shortfalls?limit=${MAX_SHORTFALLS}`),
        read<{ items: Freeze[] }>('/v1/freezes?limit=100'),
        read<{ actions: { items: Action[] } }>(`/v1/actions?limit=${MAX_ACTIONS}`),
        read<{ points: Point[] }>(`/v1/series?since=${sinceMs}`),
      ]);
      // Events may arrive while the requests are in flight, so the state is read after them.
      const { live } = this.#state;
      this.#update({
        freezes: freezes.items,
        live: {
          ...live,
          ...{ shortfalls: shortfalls.items, freezes: freezes.items, actions: actions.items },
          series: withPoints(live.series, points),
        },
      });
    } catch {
      // The event stream reports the state of the shard; the next cycle polls again.
    } finally {
      this.#isPolling = false;
    }
  }

  #follow(): void {
    const source = new EventSource(`/v1/events?since=0&kinds=${KINDS.join(',')}&pace=${PACE_MS}`);
    for (const kind of KINDS)
      source.addEventListener(kind, (event: MessageEvent<string>) =>
        this.#receive(JSON.parse(event.data) as ShardEvent),
      );
    source.addEventListener('open', () => {
      void this.#identify();
      void this.#begin();
    });
    source.addEventListener('error', () => {
      const since = timeOfDay(this.#receivedMs);
      this.#update({ trouble: `No connection to the shard since ${since}; trying again.` });
      // An event source does not say why it failed. If the login has ended, this request leads to the login page.
      void this.#identify();
      // Browsers reconnect by themselves unless the server refused the connection.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#follow(), RETRY_MS);
    });
  }

  async #identify(): Promise<void> {
    try {
      this.#update({ caller: await read<Caller>('/v1/whoami') });
    } catch {
      // The event stream reports the state of the connection.
    }
  }

  /** The status at once, not with the next cycle. */
  async #begin(): Promise<void> {
    try {
      this.#receive({ kind: 'cycle', status: await read<Status>('/v1/status') });
    } catch {
      // The event stream reports the state of the connection.
    }
  }
}

export const store = new Store();
