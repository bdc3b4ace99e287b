// The last events of a shard, for readers that connect later: each with a time and an id that no other event has,
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
    const actions = this.#actions.slice(-MAX_ACTION_EVENTS).filter(isWanted);
    const others = this.#others.slice(-MAX_OTHER_EVENTS).filter(isWanted);
    const maxOf = maxBytes ?? Number.POSITIVE_INFINITY;
    // Actions are many: they get what the others leave of the answer, which is at least half of it.
    const share = Math.max(Math.floor(limit / 2), limit - actions.length);
    const rest = newest(others, { events: share, bytes: maxOf / 2 });
    const kept = newest(actions, { events: limit - rest.events.length, bytes: maxOf - rest.bytes });
    const items = [...rest.events, ...kept.events].sort((a, b) => a.number - b.number);
    return { items: items.map(({ event }) => event), total: actions.length + others.length };
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

/** The newest of some events that fit. */
function newest(
  events: readonly Kept[],
  most: { readonly events: number; readonly bytes: number },
): { readonly events: readonly Kept[]; readonly bytes: number } {
  let bytes = 0;
  let first = events.length;
  while (first > 0 && events.length - first < most.events) {
    const more = JSON.stringify(events[first - 1]!.event).length;
    if (bytes + more > most.bytes) break;
    bytes += more;
    first--;
  }
  return { events: events.slice(first), bytes };
}

function shortFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return plainFields(fields, FIELD_LIMITS);
}
