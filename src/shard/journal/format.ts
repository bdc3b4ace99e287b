// The format of the journal. A cycle is written in two parts: its input, before the decision, so that a decision that
// crashes the process can be replayed; and its outcome. Besides cycles the journal has events, for people: what was done
// about decisions, and on whose order. docs/reference/journal.md describes the whole format.

import { join } from 'node:path';
import type { ClassFacts } from '../../fleet/index.ts';
import type { DecisionOptions, EconomyOptions, Stamp, UnmetReason } from '../../model/index.ts';
import type { SqliteFormat } from '../../runtime/sqlite-file.ts';
import type {
  ActionView,
  Counts,
  CycleView,
  LossesView,
  LossView,
  NeedRef,
  Quantities,
  SeriesPoint,
  ShardEvent,
  WaitingActionView,
} from '../views.ts';
import type { RollupRecord } from './rollup-records.ts';

/**
 * How a segment begins; a reader can start at the beginning of one and nowhere else.
 *  start  with the process: the state is empty
 *  pass   the complete state is written again, a slice with each cycle, so that older segments can be dropped
 *  gap    like pass, but after cycles that were not written: the state from before the gap is invalid
 */
export type Begin = 'start' | 'pass' | 'gap';

/** Machines in columns. Texts, classes and stamps are addressed by their index among all that the segment contains. */
export interface PackedMachines {
  readonly ids: readonly string[];
  /** By machine: class, flags, cluster (a text), stamp. */
  readonly columns: Int32Array;
  /** Of the machines with a known Idle time, in order. */
  readonly idleSinceMs: Float64Array;
  /** Of the machines that no row claims while a reclaim hold runs, in order. Journals of earlier versions have none. */
  readonly unclaimedSinceMs?: Float64Array;
  /** Of the machines with a target: cluster, fingerprint and group (texts). */
  readonly targets: Int32Array;
  /** Texts, classes and stamps that appear in the segment for the first time. */
  readonly texts: readonly string[];
  readonly classes: readonly ClassFacts[];
  readonly stamps: readonly Stamp[];
}

/** A sighting other than an expected transition. */
export interface Oddity {
  readonly id: string;
  readonly meaning: string;
}

/** undefined: unchanged in this segment. */
export interface PackedOptions {
  readonly readyClusters: DecisionOptions['readyClusters'] | undefined;
  readonly cannotBind: DecisionOptions['cannotBind'] | undefined;
  /** Journals of versions in which a freeze ended holds do not have the field. */
  readonly connected?: DecisionOptions['connected'];
  /** null: no ceiling on spending. Journals of versions in which decisions had none do not have the field. */
  readonly purchaseBudget?: DecisionOptions['purchaseBudget'] | null;
  /** Machines that are to be replaced from this cycle on, and those that no longer are. */
  readonly retiring?: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Journals of versions before sharing have no options of the economy, which means `UNSHARED_OPTIONS`. */
  readonly others:
    | (Pick<DecisionOptions, 'releaseHoldSeconds' | 'weights'> & Partial<EconomyOptions>)
    | undefined;
}

/** The input of a cycle as a delta to the previous one; serialised by `node:v8`. */
export interface PackedInput {
  readonly machines: PackedMachines;
  readonly removed: readonly string[];
  /** By instance type: the new drain time of all its machines. Applied before `machines`. */
  readonly retimed: ReadonlyMap<string, number>;
  readonly demand: readonly RollupRecord[];
  readonly oddities: readonly Oddity[];
  /** null: nothing was decided. */
  readonly options: PackedOptions | null;
}

/** The outcome of a cycle. */
export interface CycleOutcome {
  readonly cycle: number;
  readonly digest: string;
  /** Whether the digest covers which row counts on which machine. */
  readonly hasClaims: boolean;
  readonly durationMs: number;
  readonly unmet: number;
  readonly decided: CycleView['decided'];
  readonly admitted: CycleView['admitted'];
  readonly waiting: Counts;
  /** About every ten seconds: cost, machines and Needs at that time. Journals of earlier versions have none. */
  readonly point?: SeriesPoint;
}

/** Journals of earlier versions have the first five fields only. */
export type HeldBackAction = Pick<WaitingActionView, 'kind' | 'machine' | 'cluster' | 'reason' | 'why'> &
  Partial<WaitingActionView>;

export type EventBody =
  | { readonly kind: 'action'; readonly action: ActionView }
  /** One lost machine; written for each, including those that a `losses` event summarises. */
  | { readonly kind: 'loss'; readonly loss: LossView }
  /** A summary of many lost machines. */
  | { readonly kind: 'losses'; readonly losses: LossesView }
  /** Decided and held back. */
  | { readonly kind: 'waiting'; readonly action: HeldBackAction }
  /** A Need is not met, or no longer for the same reason; null: it is met, or its cluster no longer reports it. */
  | {
      readonly kind: 'need';
      readonly need: NeedRef;
      readonly reason: UnmetReason | null;
      readonly missing: Quantities;
    }
  | Extract<ShardEvent, { readonly kind: 'log' }>;

/** An event with the machine, cluster and Need it concerns, which are its search keys. */
export interface JournalEvent {
  readonly atMs: number;
  readonly machine: string | null;
  /** '': all clusters. */
  readonly cluster: string | null;
  /** Short id of the Need. */
  readonly need: string | null;
  readonly body: EventBody;
}

export type JournalMessage =
  | {
      readonly kind: 'input';
      readonly epoch: number;
      readonly atMs: number;
      readonly begin: Begin | null;
      /** From here on a reader that began with the segment has the complete state. True once per segment. */
      readonly isWhole: boolean;
      readonly isDecided: boolean;
      readonly input: Uint8Array;
    }
  /** Outcome of the last input. */
  | { readonly kind: 'outcome'; readonly outcome: CycleOutcome }
  | { readonly kind: 'events'; readonly events: readonly JournalEvent[] };

/** Receives the controller's messages for the journal. `put` does not wait for the write, where the sink is a thread. */
export interface JournalSink {
  /** Bytes posted and not yet written. */
  readonly behindBytes: number;
  put(message: JournalMessage): void;
}

export interface JournalLimits {
  /** Size of the file. */
  readonly maxBytes: number;
  /** Older entries are dropped. */
  readonly maxAgeMs: number;
}

export const JOURNAL_LIMITS: JournalLimits = { maxBytes: 2 ** 30, maxAgeMs: 7 * 86_400_000 };

/** Where a shard writes its journal. */
export function journalFileIn(dataDir: string): string {
  return join(dataDir, 'journal.db');
}

/** First byte of an input: how the rest is written. */
export const PLAIN_INPUT = 0;
export const DEFLATED_INPUT = 1;

// Names in `events` are JSON: texts in SQLite may end at a NUL, and ids may hold one.
export const JOURNAL_FORMAT: SqliteFormat = {
  applicationId: 0x42466a6f, // "BFjo"
  version: 1,
  schema: `
    CREATE TABLE cycles (
      seq INTEGER PRIMARY KEY,
      epoch INTEGER NOT NULL,
      at_ms REAL NOT NULL,
      segment INTEGER NOT NULL,
      begin TEXT,
      whole INTEGER NOT NULL,
      is_decided INTEGER NOT NULL,
      cycle INTEGER,
      outcome TEXT,
      input BLOB NOT NULL
    ) STRICT;
    CREATE INDEX whole_segments ON cycles (seq) WHERE whole = 1;
    CREATE INDEX cycle_times ON cycles (at_ms);
    CREATE TABLE events (
      id INTEGER PRIMARY KEY,
      seq INTEGER NOT NULL,
      at_ms REAL NOT NULL,
      machine TEXT,
      cluster TEXT,
      need TEXT,
      body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX events_of_cycle ON events (seq);
    CREATE INDEX events_of_machine ON events (machine) WHERE machine IS NOT NULL;
    CREATE INDEX events_of_cluster ON events (cluster) WHERE cluster IS NOT NULL;
    CREATE INDEX events_of_need ON events (need) WHERE need IS NOT NULL;
  `,
  isNot: 'is no journal of a shard',
  isShared: true,
};
