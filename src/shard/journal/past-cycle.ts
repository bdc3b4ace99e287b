// What a past cycle decided, from the journal: its outcome, and the actions that it started or held back. Used by
// process/past-cycles.ts for `/v1/cycles`, and by redecide.ts.

import { BigFleetError } from '../../model/index.ts';
import type { PageAsk } from '../planning/queries/pages.ts';
import { pageOf } from '../planning/queries/pages.ts';
import type { CycleActionView, CycleAsk, CyclePlanView } from '../views.ts';
import type { CycleOutcome } from './format.ts';
import { type CycleHead, type DecidedEvent, JournalReader } from './journal-reader.ts';

/** A cycle that the journal has, with its outcome. */
export interface PastCycle extends CycleHead {
  readonly outcome: CycleOutcome;
}

/** Throws BF_JOURNAL_RANGE or BF_JOURNAL_UNREADABLE. */
export function cyclePlan(path: string, ask: CycleAsk & PageAsk): CyclePlanView {
  const reader = new JournalReader(path);
  try {
    return planOf(reader, pastCycle(reader, ask), ask);
  } finally {
    reader.close();
  }
}

export function pastCycle(reader: JournalReader, { cycle, epoch }: CycleAsk): PastCycle {
  const head = reader.numbered(cycle, epoch ?? null);
  const outcome = head === undefined ? null : reader.outcomeOf(head.seq);
  if (head === undefined || outcome === null) throw missing(reader, { cycle, epoch });
  return { ...head, outcome };
}

/** What it started and held back, in order, from an event on. */
export function* actionsOf(reader: JournalReader, seq: number, afterId = 0): Generator<DecidedEvent> {
  for (let id = afterId; ; ) {
    const events = reader.decidedIn(seq, id, EVENTS_PER_QUERY);
    yield* events;
    if (events.length < EVENTS_PER_QUERY) return;
    id = events.at(-1)!.id;
  }
}

const EVENTS_PER_QUERY = 500;

export function decidedCount({ decided }: CycleOutcome): number {
  return Object.values(decided).reduce((sum, n) => sum + n, 0);
}

function planOf(reader: JournalReader, past: PastCycle, ask: PageAsk): CyclePlanView {
  const { seq, cycle, epoch, atMs, outcome } = past;
  const { durationMs, digest, unmet, decided, admitted, waiting } = outcome;
  const total = reader.countDecidedIn(seq);
  return {
    ...{ cycle, epoch, atMs, durationMs, digest, unmet, decided, admitted, waiting },
    actions: pageOf(ask, {
      entries: actionsOf(reader, seq, ask.after === undefined ? 0 : Number(ask.after)),
      total,
      viewOf: cycleActionOf,
      positionOf: ({ id }) => String(id),
    }),
    notListed: Math.max(0, decidedCount(outcome) - total),
  };
}

export function cycleActionOf({ body }: DecidedEvent): CycleActionView {
  const { action } = body;
  const { kind, machine, cluster, reason, from, leaving } = action;
  return {
    ...{ kind, machine, cluster, reason },
    why: body.kind === 'waiting' ? body.action.why : null,
    need: action.need ?? null,
    provider: action.provider ?? '',
    capacityType: action.capacityType ?? '',
    zone: action.zone ?? '',
    ...(from === undefined ? {} : { from }),
    ...(leaving === undefined ? {} : { leaving }),
    ...(body.kind === 'waiting' ? heldBackFields(body.action) : {}),
  };
}

function heldBackFields({ pricePerHour, freeze }: Pick<CycleActionView, 'pricePerHour' | 'freeze'>) {
  return {
    ...(pricePerHour === undefined ? {} : { pricePerHour }),
    ...(freeze === undefined ? {} : { freeze }),
  };
}

function missing(reader: JournalReader, { cycle, epoch }: CycleAsk): BigFleetError {
  const { decided } = reader;
  const which = epoch === undefined ? `cycle ${cycle}` : `cycle ${cycle} of epoch ${epoch}`;
  const kept =
    decided === null
      ? 'It has no cycle yet.'
      : `It has ${headText(decided.first)} to ${headText(decided.last)}, but for those that it was too late to write.`;
  return new BigFleetError('BF_JOURNAL_RANGE', `The journal does not have ${which}. ${kept}`);
}

/** `cycle 7 of epoch 3 (2026-03-01T12:00:00.000Z)`. */
function headText({ cycle, epoch, atMs }: CycleHead): string {
  return `cycle ${cycle} of epoch ${epoch} (${new Date(atMs).toISOString()})`;
}
