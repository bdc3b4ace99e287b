// The latest events of a shard, for readers that connect later. Each has a time and an id that is unique across
// processes. Actions have a buffer of their own: they may come by the thousand, and must not evict the warning that
// explains them. Filled by planning/controller.ts, and at a start from the journal (journal/past.ts).

import type { Clock } from '../../runtime/clock.ts';
import { plainFields } from '../../runtime/log-fields.ts';
import type { EventsView, EventView, ShardEvent } from '../views.ts';

/** Bounds on kept events of actions, and of all other kinds. */
export const MAX_ACTION_EVENTS = 1000;
export const MAX_OTHER_EVENTS = 1000;
/** Bounds on the fields of a kept log line: 1,000 lines take a few megabytes at most. */
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

  /** Loads events of earlier processes, oldest first. They get ids of this process, below those of all later events. */
  fill(events: readonly { readonly atMs: number; readonly event: LoggedEvent }[]): void {
    for (const { atMs, event } of events) this.#keep(event, atMs);
  }

  /** Stores an event and returns it with id and time; a cycle is returned unchanged and not stored. */
  add(event: ShardEvent): ShardEvent {
    return event.kind === 'cycle' ? event : this.#keep(event, this.#clock.now());
  }

  /** The newest of the requested events, oldest first. */
  view({ sinceMs, afterId, limit, maxBytes }: EventsAsk): EventsView {
    const number = afterId === undefined ? undefined : this.#numberOf(afterId);
    const isWanted = (kept: Kept): boolean =>
      number === undefined ? kept.event.atMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) : kept.number > number;
    const actions = this.#actions.slice(-MAX_ACTION_EVENTS).filter(isWanted);
    const others = this.#others.slice(-MAX_OTHER_EVENTS).filter(isWanted);
    const maxOf = maxBytes ?? Number.POSITIVE_INFINITY;
    // Actions are numerous: they get what the other events leave of the answer, which is at least half of it.
    const share = Math.max(Math.floor(limit / 2), limit - actions.length);
    const rest = newest(others, { events: share, bytes: maxOf / 2 });
    const kept = newest(actions, { events: limit - rest.events.length, bytes: maxOf - rest.bytes });
    const items = [...rest.events, ...kept.events].sort((a, b) => a.number - b.number);
    return { items: items.map(({ event }) => event), total: actions.length + others.length };
  }

  #keep(event: LoggedEvent, atMs: number): EventView {
    const number = ++this.#number;
    const stamped = { ...event, id: `${this.#prefix}-${number.toString(36)}`, atMs };
    const kept = stamped.kind === 'log' ? { ...stamped, fields: shortFields(stamped.fields) } : stamped;
    const [list, most] =
      kept.kind === 'action-started' || kept.kind === 'action-ended'
        ? ([this.#actions, MAX_ACTION_EVENTS] as const)
        : ([this.#others, MAX_OTHER_EVENTS] as const);
    list.push({ number, event: kept });
    // Trimmed at twice the bound, so that the cost of the splice is amortised; the view shows at most `most`.
    if (list.length >= most * 2) list.splice(0, list.length - most);
    return stamped;
  }

  /** undefined for an id of another process: the reader may have missed events, so it gets all that are kept. */
  #numberOf(id: string): number | undefined {
    const [prefix, number = ''] = id.split('-');
    return prefix === this.#prefix && /^[0-9a-z]{1,10}$/.test(number)
      ? Number.parseInt(number, 36)
      : undefined;
  }
}

type LoggedEvent = Exclude<ShardEvent, { readonly kind: 'cycle' }>;

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

/** The newest events that fit both bounds. */
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
