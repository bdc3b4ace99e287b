// What a new process shows of the time before it: the last hour in numbers and the last events, from the journal. A few
// hundred rows, read once at the start. Without a journal, or with one that cannot be read, history begins now.

import { existsSync } from 'node:fs';
import type { Past } from '../planning/controller.ts';
import { COARSE } from '../planning/queries/series.ts';
import { MAX_OTHER_EVENTS } from '../telemetry/event-log.ts';
import type { JournalEvent } from './format.ts';
import { JournalReader } from './journal-reader.ts';

/** Events that are looked at: what was held back, or has become short, is among them and not shown. */
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
    // Its writer says what is wrong with it.
    return undefined;
  } finally {
    reader?.close();
  }
}

/** Losses of a zone that one piece tells of, without those told one by one. */
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
