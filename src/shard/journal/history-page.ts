// Pages of past events for `/v1/history`: from the journal, read backwards from a position with a bound on the rows of one
// page, so that an answer never waits for a scan of the whole file; and the time of a purchase. Used by process/shard-facade.ts.

import { BigFleetError } from '../../model/index.ts';
import { HistoryPageBuilder, matchesHistory } from '../planning/queries/recent-history.ts';
import type { HistoryAsk, HistoryEvent, HistoryPage } from '../views.ts';
import type { EventBody, JournalEvent } from './format.ts';
import { JournalReader } from './journal-reader.ts';

/** Rows read per page: some tens of milliseconds. */
const MAX_ROWS = 4_000;
const ROWS_PER_QUERY = 500;
const POSITION_AT_END = Number.MAX_SAFE_INTEGER;

/** Throws BF_JOURNAL_UNREADABLE. */
export function historyPage(path: string, ask: HistoryAsk): HistoryPage {
  const reader = new JournalReader(path);
  try {
    return pageOf(reader, ask);
  } finally {
    reader.close();
  }
}

/** When the shard last bought a machine; null if the journal does not have it, or is not written yet. */
export function purchaseOf(path: string, machine: string): number | null {
  try {
    const reader = new JournalReader(path);
    try {
      return reader.boughtMs(machine, MAX_ROWS);
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof BigFleetError) return null;
    throw error;
  }
}

function pageOf(reader: JournalReader, ask: HistoryAsk): HistoryPage {
  const page = new HistoryPageBuilder(ask);
  const seq = ask.cycle === undefined ? undefined : reader.numbered(ask.cycle, ask.epoch ?? null)?.seq;
  if (ask.cycle !== undefined && seq === undefined) return page.end(null);
  const where = { machine: ask.machine, cluster: ask.cluster ?? clusterOf(ask.need), seq };
  let position = ask.after === undefined ? startOf(reader, ask) : Number(ask.after);
  for (let read = 0; read < MAX_ROWS; read += ROWS_PER_QUERY) {
    const rows = reader.eventsBefore(position, where, ROWS_PER_QUERY);
    for (const { id, event, ...at } of rows) {
      if (event.atMs < (ask.sinceMs ?? Number.NEGATIVE_INFINITY)) return page.end(null);
      const item: HistoryEvent = { id: `j${id}`, ...at, ...itemOf(event) };
      if (matchesHistory(ask, item) && !page.add(item)) return page.end(String(position));
      position = id;
    }
    if (rows.length < ROWS_PER_QUERY) return page.end(null);
  }
  return page.end(String(position));
}

/** The event after which the reader is interested in none. */
function startOf(reader: JournalReader, { untilMs }: HistoryAsk): number {
  return untilMs === undefined ? POSITION_AT_END : (reader.firstEventAfter(untilMs) ?? POSITION_AT_END);
}

function clusterOf(need: string | undefined): string | undefined {
  return need?.slice(0, Math.max(0, need.lastIndexOf('/')));
}

function itemOf({ atMs, machine, cluster, need, body }: JournalEvent) {
  return { atMs, machine, need, cluster, ...eventOf(body) };
}

function eventOf(body: EventBody): Pick<HistoryEvent, 'kind' | 'event'> {
  if (body.kind === 'action') {
    const kind = body.action.outcome === null ? 'action-started' : 'action-ended';
    return { kind: 'action', event: { kind, action: body.action } };
  }
  return { kind: body.kind === 'losses' ? 'loss' : body.kind, event: body };
}
