// Restores a new process's series of the last hour and its last events from the journal: a few hundred rows, read once
// at the start. Without a readable journal, both begin empty. Called by process/controller-factory.ts.

import { existsSync } from 'node:fs';
import type { Past } from '../planning/controller.ts';
import { COARSE } from '../planning/queries/series.ts';
import { MAX_OTHER_EVENTS } from '../telemetry/event-log.ts';
import type { JournalEvent } from './format.ts';
import { JournalReader } from './journal-reader.ts';

/** Newest events that are searched; `waiting` and `need` events among them are not shown. */
const AMONG = 20_000;

export function readPast(path: string, nowMs: number): Past | undefined {
  if (!existsSync(path)) return undefined;
  let reader: JournalReader | undefined;
  try {
    reader = new JournalReader(path);
    return {
      points: reader.points(nowMs - COARSE.stepMs * COARSE.points),
      events: withoutMany(reader.lastEvents(MAX_OTHER_EVENTS, AMONG)).flatMap(newsOf),
    };
  } catch {
    // The writer logs the reason.
    return undefined;
  } finally {
    reader?.close();
  }
}

/** Removes `loss` events that a `losses` event summarises. */
function withoutMany(events: readonly JournalEvent[]): readonly JournalEvent[] {
  const pieces = events.flatMap(({ body }) => (body.kind === 'losses' ? [body.losses] : []));
  return events.filter(({ body }) => {
    if (body.kind !== 'loss') return true;
    const { provider, zone, atMs } = body.loss;
    return !pieces.some(
      (piece) =>
        (piece.provider === '' || (piece.provider === provider && piece.zone === zone)) &&
        piece.sinceMs <= atMs &&
        atMs <= piece.atMs,
    );
  });
}

function newsOf({ atMs, body }: JournalEvent): Past['events'] {
  switch (body.kind) {
    case 'action':
      return [{ atMs, event: { kind: 'action-ended', action: body.action } }];
    case 'loss':
    case 'losses':
    case 'log':
      return [{ atMs, event: body }];
    case 'waiting':
    case 'need':
      return [];
  }
}
