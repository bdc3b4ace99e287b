// Pages of past events from those in memory, for `/v1/history` where there is no journal, and what they share with pages
// from the journal (journal/history-page.ts): conditions and bounds. Used by answers.ts.

import type { EventView, HistoryAsk, HistoryEvent, HistoryPage } from '../../views.ts';

/** Events in memory, oldest first, as a page; a position is an id. */
export function recentHistory(events: readonly EventView[], ask: HistoryAsk): HistoryPage {
  const items = events.map((event) => memoryItem(event)).reverse();
  const at = ask.after === undefined ? 0 : items.findIndex(({ id }) => id === ask.after) + 1;
  const page = new HistoryPageBuilder(ask);
  let position: string | null = null;
  // An event that is no longer in memory was older than all that are.
  for (const item of ask.after !== undefined && at === 0 ? [] : items.slice(at)) {
    if (item.atMs < (ask.sinceMs ?? Number.NEGATIVE_INFINITY)) break;
    if (matchesHistory(ask, item) && !page.add(item)) return page.end(position ?? ask.after ?? null);
    position = item.id;
  }
  return page.end(null);
}

/** Bounds a page by its items and bytes. */
export class HistoryPageBuilder {
  readonly #ask: HistoryAsk;
  readonly #items: HistoryEvent[] = [];
  #bytes = 0;

  constructor(ask: HistoryAsk) {
    this.#ask = ask;
  }

  /** False: the item belongs to the next page. */
  add(item: HistoryEvent): boolean {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = this.#ask;
    if (this.#items.length >= limit) return false;
    this.#bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (this.#items.length > 0 && this.#bytes > maxBytes) return false;
    this.#items.push(item);
    return true;
  }

  end(next: string | null): HistoryPage {
    return { items: this.#items, next };
  }
}

export function matchesHistory(ask: HistoryAsk, item: HistoryEvent): boolean {
  const { cycle, machine, need, cluster, kinds, untilMs } = ask;
  return (
    item.atMs <= (untilMs ?? Number.POSITIVE_INFINITY) &&
    (cycle === undefined || item.cycle === cycle) &&
    (machine === undefined || item.machine === machine) &&
    (cluster === undefined || item.cluster === cluster) &&
    (need === undefined || item.need === need || fromOf(item) === need) &&
    (kinds === undefined || kinds.includes(item.kind))
  );
}

/** The Need that an action takes its machine from. */
function fromOf({ event }: HistoryEvent): string | undefined {
  return 'action' in event ? event.action.from?.id : undefined;
}

function memoryItem(shown: EventView): HistoryEvent {
  const { id, atMs, ...event } = shown;
  const base = { id, atMs, cycle: null };
  switch (event.kind) {
    case 'action-started':
    case 'action-ended': {
      const { machine, cluster, need } = event.action;
      return { ...base, kind: 'action', machine, cluster: cluster || null, need: need?.id ?? null, event };
    }
    case 'loss': {
      const { machine, cluster, need } = event.loss;
      return { ...base, kind: 'loss', machine, cluster: cluster || null, need: need?.id ?? null, event };
    }
    case 'losses':
      return { ...base, kind: 'loss', machine: null, cluster: null, need: null, event };
    case 'log': {
      const { machine, cluster } = event.fields;
      const text = (value: unknown) => (typeof value === 'string' ? value : null);
      return { ...base, kind: 'log', machine: text(machine), cluster: text(cluster), need: null, event };
    }
  }
}
