// The last events of a shard, for whoever begins to watch it later: each with a time and an id that no other event has,
// also of an earlier process. Actions have room of their own: they may come by the thousand, and must not push out the
// warning that explains them.

import type { Clock } from '../../model/index.ts';
import { plainFields } from '../log-fields.ts';
import type { EventsView, EventView, News } from '../views.ts';

/** Events that are kept of actions, and of everything else. */
export const MAX_ACTION_EVENTS = 1000;
export const MAX_OTHER_EVENTS = 1000;
/** Fields of a kept log line, in bytes. A thousand of them take a few megabytes at most. */
const FIELD_LIMITS = { bytes: 4000, textBytes: 1000 };

export class EventLog {
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #actions: Kept[] = [];
  readonly #others: Kept[] = [];
  #number = 0;

  constructor(clock: Clock, epoch: bigint) {
    this.#clock = clock;
    this.#prefix = epoch.toString(36);
  }

  /** Events of earlier processes, oldest first. They get ids of this one, before all that happens from now on. */
  fill(events: readonly { readonly atMs: number; readonly news: EventNews }[]): void {
    for (const { atMs, news } of events) this.#keep(news, atMs);
  }

  /** Keeps what happened. Returns it with its id and time; a cycle is not kept and stays as it is. */
  add(news: News): News {
    return news.kind === 'cycle' ? news : this.#keep(news, this.#clock.now());
  }

  /** The newest of those that are asked for, oldest first. */
  view({ sinceMs, afterId, limit, maxBytes }: EventsAsk): EventsView {
    const number = afterId === undefined ? undefined : this.#numberOf(afterId);
    const isWanted = (kept: Kept): boolean =>
      number === undefined ? kept.event.atMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) : kept.number > number;
    const wanted = [...this.#actions.slice(-MAX_ACTION_EVENTS), ...this.#others.slice(-MAX_OTHER_EVENTS)]
      .filter(isWanted)
      .sort((a, b) => b.number - a.number);
    const items: EventView[] = [];
    let bytes = 0;
    for (const { event } of wanted) {
      bytes += JSON.stringify(event).length;
      if (items.length >= limit || (items.length > 0 && bytes > (maxBytes ?? Number.POSITIVE_INFINITY)))
        break;
      items.push(event);
    }
    return { items: items.reverse(), total: wanted.length };
  }

  #keep(news: EventNews, atMs: number): EventView {
    const number = ++this.#number;
    const stamped = { ...news, id: `${this.#prefix}-${number.toString(36)}`, atMs };
    const event = stamped.kind === 'log' ? { ...stamped, fields: shortFields(stamped.fields) } : stamped;
    const [list, most] =
      news.kind === 'action-started' || news.kind === 'action-ended'
        ? ([this.#actions, MAX_ACTION_EVENTS] as const)
        : ([this.#others, MAX_OTHER_EVENTS] as const);
    list.push({ number, event });
    // Now and then instead of each time; the view shows no more than `most`.
    if (list.length >= most * 2) list.splice(0, list.length - most);
    return stamped;
  }

  /** undefined for the id of another process: what that one told may be missed, so all that is kept is told. */
  #numberOf(id: string): number | undefined {
    const [prefix, number = ''] = id.split('-');
    return prefix === this.#prefix && /^[0-9a-z]{1,10}$/.test(number)
      ? Number.parseInt(number, 36)
      : undefined;
  }
}

type EventNews = Exclude<News, { readonly kind: 'cycle' }>;

interface EventsAsk {
  readonly sinceMs?: number | undefined;
  readonly afterId?: string | undefined;
  readonly limit: number;
  readonly maxBytes?: number | undefined;
}

interface Kept {
  readonly number: number;
  readonly event: EventView;
}

function shortFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return plainFields(fields, FIELD_LIMITS);
}
