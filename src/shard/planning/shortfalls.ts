// Shortfalls: rows that the last cycle could not meet, with the number of consecutive cycles. A row that draining
// machines will cover is unmet, but is not a shortfall. Rows are distinguished by their whole key, so that cluster and
// gang are known; a report aggregates them (report.ts). cycles.ts updates them after each decision.

import { firstOf } from '../../collections/first-of.ts';
import {
  compareKeys,
  type FittingSupply,
  type NeedKey,
  NO_RESOURCES,
  type Profile,
  type ResourceVector,
  type UnmetReason,
  type Verdict,
} from '../../model/index.ts';
import { KeyMap } from './key-map.ts';

export interface Shortfall {
  readonly key: NeedKey;
  readonly profile: Profile;
  /** What is missing after Phase 1. */
  readonly deficit: ResourceVector;
  readonly reason: UnmetReason;
  readonly fitting: FittingSupply;
  /** Consecutive cycles, the last one included; from 1. */
  readonly ageCycles: number;
  readonly isEscalated: boolean;
}

/** A shortfall of more consecutive cycles than this is escalated: capacity has to come from outside the shard. */
const ESCALATION_CYCLES = 5;

/** Bound on rows kept, above what demand has in practice. Rows beyond it, lowest in rank, are counted but do not age. */
const MAX_REMEMBERED = 1_000_000;

export const AGE_BUCKETS = ['1-9', '10-59', '60-299', '300+'] as const;
type AgeBucket = (typeof AGE_BUCKETS)[number];

export const PRIORITY_CLASSES = ['critical', 'service', 'batch', 'other'] as const;
type PriorityClass = (typeof PRIORITY_CLASSES)[number];

function ageBucketOf(cycles: number): AgeBucket {
  if (cycles >= 300) return '300+';
  if (cycles >= 60) return '60-299';
  return cycles >= 10 ? '10-59' : '1-9';
}

function priorityClassOf(priority: number): PriorityClass {
  if (priority >= 1_000_000) return 'critical';
  if (priority >= 1000) return 'service';
  return priority >= 100 ? 'batch' : 'other';
}

export interface ShortfallGauges {
  readonly total: number;
  readonly escalated: number;
  /** For the ceiling on spending. */
  readonly stopped: number;
  readonly byAge: Readonly<Record<AgeBucket, number>>;
  readonly byPriorityClass: Readonly<Record<PriorityClass, number>>;
  /** By place in PRIORITY_CLASSES times the number of AGE_BUCKETS, plus place in AGE_BUCKETS. */
  readonly byBoth: readonly number[];
}

interface Row extends Shortfall {
  readonly unmetCycles: number;
}

/** A row that became unmet in this cycle or changed its reason; `reason` null: it is no longer unmet. */
export interface UnmetChange {
  readonly key: NeedKey;
  readonly priority: number;
  readonly reason: UnmetReason | null;
  readonly deficit: ResourceVector;
}

interface Observed {
  readonly changes: readonly UnmetChange[];
  readonly escalated: readonly Shortfall[];
}

export class Shortfalls {
  readonly #limit: number;
  #rows = new KeyMap<Row>();
  #gauges: ShortfallGauges = noShortfalls();

  constructor(limit = MAX_REMEMBERED) {
    this.#limit = limit;
  }

  /**
   * Records the rows that a cycle did not meet, which come in rank order. `profileOf` is called for newly unmet rows only.
   * Returns the changes since the previous cycle and the rows that escalated in this one.
   */
  observe(unmet: readonly Verdict[], profileOf: (key: NeedKey) => Profile): Observed {
    const rows = new KeyMap<Row>();
    const gauges = noShortfalls();
    const escalated: Shortfall[] = [];
    const changes: UnmetChange[] = [];
    let stayed = 0;
    for (const verdict of unmet) {
      const before = this.#rows.get(verdict.key);
      const row = rowOf(verdict, before, before?.profile ?? profileOf(verdict.key));
      if (rows.size < this.#limit) rows.set(verdict.key, row);
      if (row.ageCycles > 0) count(gauges, row);
      if (row.isEscalated && before?.isEscalated !== true) escalated.push(row);
      if (before !== undefined) stayed++;
      if (before?.reason !== row.reason) changes.push(changeOf(row, row.reason));
    }
    if (stayed < this.#rows.size) {
      for (const row of this.#rows.values())
        if (rows.get(row.key) === undefined) changes.push(changeOf(row, null));
    }
    this.#rows = rows;
    this.#gauges = gauges;
    return { changes, escalated };
  }

  get gauges(): ShortfallGauges {
    return this.#gauges;
  }

  /** Consecutive cycles that a row has been unmet, for any reason; 0 if it is met. */
  unmetCyclesOf(key: NeedKey): number {
    return this.#rows.get(key)?.unmetCycles ?? 0;
  }

  /** All shortfalls, in no particular order. */
  *all(): Generator<Shortfall> {
    for (const row of this.#rows.values()) if (row.ageCycles > 0) yield row;
  }

  /** The first `limit` shortfalls: highest priority first, then oldest, then by key. */
  top(limit = 100): readonly Shortfall[] {
    return firstOf(this.all(), limit, compareShortfalls).first;
  }
}

function compareShortfalls(a: Shortfall, b: Shortfall): number {
  return b.profile.priority - a.profile.priority || b.ageCycles - a.ageCycles || compareKeys(a.key, b.key);
}

function rowOf({ key, deficit, unmet }: Verdict, before: Row | undefined, profile: Profile): Row {
  const { reason, fitting } = unmet!;
  const ageCycles = reason === 'preempting' ? 0 : (before?.ageCycles ?? 0) + 1;
  const unmetCycles = (before?.unmetCycles ?? 0) + 1;
  return {
    key,
    profile,
    deficit,
    reason,
    fitting,
    ageCycles,
    isEscalated: ageCycles > ESCALATION_CYCLES,
    unmetCycles,
  };
}

function changeOf({ key, profile, deficit }: Row, reason: UnmetReason | null): UnmetChange {
  return { key, priority: profile.priority, reason, deficit: reason === null ? NO_RESOURCES : deficit };
}

function noShortfalls() {
  return {
    total: 0,
    escalated: 0,
    stopped: 0,
    byAge: { '1-9': 0, '10-59': 0, '60-299': 0, '300+': 0 },
    byPriorityClass: { critical: 0, service: 0, batch: 0, other: 0 },
    byBoth: new Array<number>(PRIORITY_CLASSES.length * AGE_BUCKETS.length).fill(0),
  };
}

function count(gauges: ReturnType<typeof noShortfalls>, row: Row): void {
  const { ageCycles, isEscalated, profile, reason } = row;
  gauges.total++;
  if (isEscalated) gauges.escalated++;
  if (reason === 'spend-limit') gauges.stopped++;
  const age = ageBucketOf(ageCycles);
  const priority = priorityClassOf(profile.priority);
  gauges.byAge[age]++;
  gauges.byPriorityClass[priority]++;
  gauges.byBoth[PRIORITY_CLASSES.indexOf(priority) * AGE_BUCKETS.length + AGE_BUCKETS.indexOf(age)]!++;
}
