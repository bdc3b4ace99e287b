// Decides a past cycle again from the journal, and compares the result with what the journal says about that cycle. Runs
// on the thread of process/redecide-worker.ts, because it reads many cycles and needs a ledger of its own.

import { type Fleet, NeedProfiles } from '../../fleet/index.ts';
import { type Action, BigFleetError } from '../../model/index.ts';
import { rowOf } from '../planning/leaving.ts';
import { capacityLabel } from '../planning/queries/action-view.ts';
import { needRef } from '../planning/queries/need-names.ts';
import { firstWithin } from '../planning/queries/pages.ts';
import type { CycleActionView, CycleAsk, CycleRedecisionView } from '../views.ts';
import { JournalReader } from './journal-reader.ts';
import { actionsOf, cycleActionOf, decidedCount, type PastCycle, pastCycle } from './past-cycle.ts';
import { type ReplayedCycle, restored } from './replay.ts';

export interface RedecideParts {
  readonly now: () => number;
  /** Waits while a cycle of the shard runs. */
  readonly pause: () => void;
  /** Longest time to read the journal. */
  readonly limitMs: number;
}

/** Bytes of JSON of each of the three lists. */
const LIST_BYTES = 250_000;

type Ask = CycleAsk & { readonly limit: number };

/** Throws BF_JOURNAL_RANGE, BF_JOURNAL_UNREADABLE or BF_REDECIDE_LATE. */
export function redecide(path: string, ask: Ask, parts: RedecideParts): CycleRedecisionView {
  const reader = new JournalReader(path);
  try {
    return answerTo(reader, ask, parts);
  } finally {
    reader.close();
  }
}

function answerTo(
  reader: JournalReader,
  ask: Ask,
  { now, pause, limitMs }: RedecideParts,
): CycleRedecisionView {
  const past = pastCycle(reader, ask);
  const startMs = now();
  let cyclesRead = 0;
  const decide = restored(reader, past.seq, {
    probe: pause,
    onCycle: (read, all) => {
      pause();
      if (now() - startMs > limitMs) throw late(past, { read, all, limitMs });
      cyclesRead = read + 1;
    },
  });
  const readMs = now() - startMs;
  const again = decide();
  const durationMs = now() - startMs - readMs;
  return { ...comparison(reader, past, again, ask.limit), durationMs, readMs, cyclesRead };
}

function late({ cycle }: PastCycle, { read, all, limitMs }: Record<'read' | 'all' | 'limitMs', number>) {
  const parts = `${all} cycles from the last checkpoint on, and ${read} of them were read in ${limitMs / 1000} s`;
  return new BigFleetError('BF_REDECIDE_LATE', `The input of cycle ${cycle} is in ${parts}.`);
}

function comparison(reader: JournalReader, past: PastCycle, replayed: ReplayedCycle, limit: number) {
  const { seq, cycle, epoch, atMs, outcome } = past;
  const { decision, digest, fleet } = replayed;
  const decided = decision.actions();
  const viewOf = viewsOn(fleet);
  const recorded = [...actionsOf(reader, seq)].map(cycleActionOf);
  const listed = listWithin(limit);
  const known = new Set(recorded.map(nameOf));
  const now = new Set(decided.map(nameOf));
  // An action that an earlier cycle held back already is in no event of this one.
  const isComplete = recorded.length >= decidedCount(outcome);
  return {
    ...{ cycle, epoch, atMs },
    isSame: digest === outcome.digest,
    recorded: { digest: outcome.digest, decided: outcome.decided, unmet: outcome.unmet },
    again: { digest, decided: decision.counts, unmet: decision.unmet.length },
    onlyRecorded: listed(
      recorded.filter((action) => !now.has(nameOf(action))),
      (action) => action,
    ),
    onlyAgain: isComplete
      ? listed(
          decided.filter((action) => !known.has(nameOf(action))),
          viewOf,
        )
      : null,
    actions: listed(decided, viewOf),
  };
}

/** A cycle decides at most one action of a kind on a machine. */
function nameOf({ kind, machine, cluster }: Pick<Action, 'kind' | 'machine' | 'cluster'>): string {
  return JSON.stringify([kind, machine, cluster]);
}

function listWithin(limit: number) {
  return <T>(all: readonly T[], viewOf: (item: T) => CycleActionView) => ({
    total: all.length,
    items: limit === 0 ? [] : firstWithin(all.slice(0, limit).map(viewOf), limit, LIST_BYTES),
  });
}

/** The journal has neither the providers of machines nor why they leave. */
function viewsOn(fleet: Fleet): (action: Action) => CycleActionView {
  const profiles = new NeedProfiles(fleet);
  return ({ kind, machine, cluster, reason, need, preemptorPriority }) => {
    const slot = fleet.machines.slotOf(machine);
    const record = slot === undefined ? null : fleet.machines.recordAt(slot);
    return {
      ...{ kind, machine, cluster, reason },
      need: need === null ? null : needRef(need, profiles.of(need)?.priority ?? preemptorPriority),
      provider: '',
      capacityType: record === null ? '' : capacityLabel(record.capacityType),
      zone: record?.zone ?? '',
      ...(record === null ? {} : { pricePerHour: record.pricePerHour, from: rowOf(record) }),
    };
  };
}
