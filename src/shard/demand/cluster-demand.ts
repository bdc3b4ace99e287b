// The demand of one cluster: reads its roll-ups, refuses invalid ones, quarantines suspicious ones, and adds
// first-seen times to the rows of the others. It outlives sessions, so an operator that reconnects with an unchanged
// roll-up causes no work. Owned by rollups.ts, one per cluster.

import {
  keptRows,
  type Need,
  NO_BASE,
  type NodeFacts,
  type Problem,
  type RollupDelta,
  wholeRollup,
} from '../../model/index.ts';
import type { RollupReport } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  type IntakeLimits,
  type IntakeResult,
  NO_PROBLEMS,
  RollupIntake,
  type RollupProblem,
  type RollupProblems,
  readingNodeFacts,
  type SharedParts,
  WireFormatError,
  wholeProblems,
} from '../../wire/index.ts';
import type { BaselineRow, DemandChanges, FirstSeenRow } from '../storage/demand-store.ts';
import { CollapseGuard, type Extent, extentAfter, isCollapse } from './demand-guard.ts';
import { FirstSeen } from './first-seen.ts';
import { rollupReport } from './rollup-report.ts';

/** A roll-up that waits for a person's decision, or for repetitions that confirm it. */
export interface QuarantinedRollup {
  readonly cluster: string;
  readonly sinceMs: number;
  /** Number of consecutive quarantined roll-ups. */
  readonly count: number;
  /** True: it was refused through the API, so repetitions do not confirm it. */
  readonly isRefused: boolean;
  readonly extent: Extent;
  readonly baseline: Extent;
}

/** A read-only view of a cluster's reports. */
export interface ReportView {
  readonly cluster: string;
  /** When its last roll-up was handled, with any outcome; null: none since the start of the process. */
  readonly lastReportMs: number | null;
  /** Rows of its demand; null: no roll-up has been accepted since the start of the process. */
  readonly rows: number | null;
  readonly refusedRollups: number;
  /** Why its last roll-up was refused; null if it was not. */
  readonly problems: readonly RollupProblem[] | null;
  /** Rows of its demand that are set aside because they exceed a limit. */
  readonly rowsSetAside: number;
  /** Problems of its accepted demand, set-aside rows included: the first ones, and the total number. */
  readonly remarks: RollupProblems;
  readonly held: QuarantinedRollup | null;
}

interface Stamped {
  /** The timestamp in the roll-up; 0 if it could not be read. */
  readonly timestampUnixNanos: bigint;
}

export type Taken =
  | ({ readonly kind: 'unchanged'; readonly facts: NodeFacts | null } & Stamped)
  | ({ readonly kind: 'refused'; readonly problems: RollupProblems } & Stamped)
  | ({ readonly kind: 'quarantined'; readonly quarantined: QuarantinedRollup } & Stamped)
  | ({
      readonly kind: 'accepted';
      /** With first-seen times. */
      readonly delta: RollupDelta;
      /** Rows that are set aside, those without a known key included. */
      readonly rowsSetAside: number;
      /** The node facts; null if they are those of the last roll-up. */
      readonly facts: NodeFacts | null;
      /** Must be durable before the demand is posted or acknowledged. */
      readonly changes: DemandChanges;
      /** The previous extent if this roll-up is a collapse that was accepted; otherwise null. */
      readonly shrunkFrom: Extent | null;
    } & Stamped);

interface Accepted {
  readonly version: number;
  readonly needs: readonly Need[];
  readonly extent: Extent;
}

const NOTHING_ACCEPTED: Accepted = { version: NO_BASE, needs: [], extent: { rows: 0, totals: new Map() } };

/** What was found out about a roll-up that is accepted. */
interface Judged {
  readonly extent: Extent;
  readonly kept: Uint8Array;
  readonly nowMs: number;
  readonly facts: NodeFacts | null;
}

const NO_FACTS: NodeFacts = new Map();

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

type Changed = Extract<IntakeResult, { readonly kind: 'changed' }>;

export class ClusterDemand {
  readonly #cluster: string;
  readonly #intake: RollupIntake;
  readonly #firstSeen = new FirstSeen();
  #guard = new CollapseGuard(null, false);
  #quarantined: { readonly bytes: Uint8Array; readonly extent: Extent; readonly sinceMs: number } | null =
    null;
  /** The roll-up accepted last; version `NO_BASE`: none since the start of the process. */
  #accepted: Accepted = NOTHING_ACCEPTED;
  #weight = 0;
  #acceptedBytes = 0;
  #rowsSetAside = 0;
  #remarks: RollupProblems = NO_PROBLEMS;
  /** The encoded node facts of the last accepted or unchanged roll-up. Empty: there were none. */
  #facts: Uint8Array = new Uint8Array();
  /** Why these facts are ignored; null if they are not. */
  #factsProblem: RollupProblem | null = null;
  #lastReportMs: number | null = null;
  #refused = 0;
  #problems: RollupProblems | null = null;

  constructor(cluster: string, shared: SharedParts) {
    this.#cluster = cluster;
    this.#intake = new RollupIntake(cluster, shared);
  }

  restoreBaseline(row: BaselineRow): void {
    this.#guard = new CollapseGuard({ rows: row.rows, totals: row.totals }, row.isRefused);
  }

  restoreSeen(row: FirstSeenRow): void {
    this.#firstSeen.restore(row);
  }

  /** Weight of the accepted roll-up, in rows of ordinary size. */
  get weight(): number {
    return this.#weight;
  }

  /** Bytes of the accepted roll-up and of the quarantined one. */
  get bytes(): number {
    return this.#acceptedBytes + this.#facts.length + (this.#quarantined?.bytes.length ?? 0);
  }

  get quarantined(): QuarantinedRollup | null {
    const { baseline, quarantined: count, isRefused } = this.#guard;
    if (this.#quarantined === null || baseline === null) return null;
    const { sinceMs, extent } = this.#quarantined;
    return { cluster: this.#cluster, sinceMs, count, isRefused, extent, baseline };
  }

  get view(): ReportView {
    return {
      cluster: this.#cluster,
      lastReportMs: this.#lastReportMs,
      rows: this.#accepted.version === NO_BASE ? null : this.#accepted.extent.rows,
      refusedRollups: this.#refused,
      problems: this.#problems?.first ?? null,
      rowsSetAside: this.#rowsSetAside,
      remarks: this.#allRemarks,
      held: this.quarantined,
    };
  }

  /** The report on a roll-up for the operator. */
  reportOn(taken: Taken): RollupReport {
    const { kind, timestampUnixNanos } = taken;
    if (kind === 'refused') return rollupReport(kind, timestampUnixNanos, taken.problems);
    return rollupReport(kind === 'quarantined' ? 'held' : 'accepted', timestampUnixNanos, this.#allRemarks);
  }

  /** Records the outcome of a roll-up for `view`. */
  note(taken: Taken, nowMs: number): void {
    this.#lastReportMs = nowMs;
    this.#problems = taken.kind === 'refused' ? taken.problems : null;
    if (taken.kind === 'refused') this.#refused++;
  }

  /** The timestamp of a roll-up that equals the accepted one, node facts included, otherwise null; a cheap comparison. */
  repeats(bytes: Uint8Array): bigint | null {
    const same = this.#intake.repeats(bytes);
    return same !== null && isEqual(same.facts, this.#facts) ? same.timestampUnixNanos : null;
  }

  /** The accepted roll-up was received again. Returns the changes to write, if any. */
  noteUnchanged(): DemandChanges | null {
    const { baseline, isRefused } = this.#guard;
    this.#guard.reset();
    this.#quarantined = null;
    if (baseline === null || !isRefused) return null;
    return { baseline: { ...baseline, cluster: this.#cluster, isRefused: false } };
  }

  /** Reads a roll-up in short steps. Must be run to its end. `now` is called only when a timestamp is needed. */
  take(bytes: Uint8Array, now: () => number, limits: IntakeLimits): Generator<undefined, Taken> {
    return this.#take(bytes, now, limits, false);
  }

  /** The accepted roll-up as a whole, with first-seen times; null if there is none. */
  whole(): { readonly delta: RollupDelta; readonly rowsSetAside: number } | null {
    const { version } = this.#accepted;
    if (version === NO_BASE) return null;
    const delta = wholeRollup(this.#cluster, this.#firstSeen.rows(), version);
    return { delta, rowsSetAside: this.#rowsSetAside };
  }

  /** Accepts the quarantined roll-up; null if there is none. */
  acceptQuarantined(now: () => number, limits: IntakeLimits): Generator<undefined, Taken> | null {
    return this.#quarantined === null ? null : this.#take(this.#quarantined.bytes, now, limits, true);
  }

  /** Accepts no collapse by repetition until the demand is back; null if no roll-up is quarantined. */
  refuseQuarantined(): DemandChanges | null {
    const { baseline } = this.#guard;
    if (this.#quarantined === null || baseline === null) return null;
    this.#guard.refuse();
    return { baseline: { ...baseline, cluster: this.#cluster, isRefused: true } };
  }

  /** Drops keys that have been absent for too long; null if there are none. */
  forget(nowMs: number): DemandChanges | null {
    const forgotten = this.#firstSeen.forget(nowMs);
    return forgotten.length === 0 ? null : { forgotten };
  }

  *#take(
    bytes: Uint8Array,
    now: () => number,
    limits: IntakeLimits,
    isForced: boolean,
  ): Generator<undefined, Taken> {
    try {
      const intake = yield* this.#intake.reading(bytes, limits);
      if (intake.kind === 'refused') return intake;
      const facts = yield* this.#readFacts(intake.nodeFacts);
      if (intake.kind === 'unchanged') {
        const { timestampUnixNanos } = intake;
        return { kind: 'unchanged', timestampUnixNanos, facts: facts?.apply() ?? null };
      }
      const { version, needs } = this.#accepted;
      const kept = keptRows(intake.delta, { version, rows: needs.length });
      const extent = yield* extentAfter(this.#accepted, { ...intake, kept });
      if (!isForced && this.#guard.quarantines(extent)) return this.#quarantine(bytes, extent, now(), intake);
      // Other clusters may have used up the room while this roll-up was being read.
      const full = limits.roomFor?.(intake.size) ?? null;
      if (full !== null) return refusedWhole([full], intake.timestampUnixNanos);
      return yield* this.#accept(intake, { extent, kept, nowMs: now(), facts: facts?.apply() ?? null });
    } catch (error) {
      if (!(error instanceof WireFormatError)) throw error;
      return refusedWhole(error.problems, 0n);
    }
  }

  #quarantine(bytes: Uint8Array, extent: Extent, nowMs: number, { timestampUnixNanos }: Changed): Taken {
    // A copy: a view would keep the whole network frame in memory.
    const sinceMs = this.#quarantined?.sinceMs ?? nowMs;
    this.#quarantined = { bytes: Buffer.from(bytes), extent, sinceMs };
    return { kind: 'quarantined', quarantined: this.quarantined!, timestampUnixNanos };
  }

  *#accept(intake: Changed, { extent, kept, nowMs, facts }: Judged): Generator<undefined, Taken> {
    const { needs, rowsSetAside, remarks, size, timestampUnixNanos } = intake;
    const before = this.#guard.baseline;
    this.#intake.accept(intake);
    this.#weight = size.weight;
    this.#acceptedBytes = size.keptBytes;
    this.#rowsSetAside = rowsSetAside;
    this.#remarks = remarks;
    this.#guard.accept(extent);
    this.#quarantined = null;
    this.#accepted = { version: intake.delta.version, needs, extent };
    const report = { delta: intake.delta, kept, needs };
    const { delta, seen, forgotten } = yield* this.#firstSeen.report(report, nowMs);
    const { rows, totals } = extent;
    const baseline = { rows, totals, cluster: this.#cluster, isRefused: false };
    const shrunkFrom = before !== null && isCollapse(before, extent) ? before : null;
    const changes = { baseline, seen, forgotten };
    return { kind: 'accepted', delta, rowsSetAside, facts, changes, shrunkFrom, timestampUnixNanos };
  }

  /**
   * Reads node facts that differ from the last ones; null if they do not. `apply` makes them the last ones, which a
   * quarantined roll-up does not. Facts beyond a limit are ignored: the cluster then counts as one without facts.
   */
  *#readFacts(bytes: Uint8Array): Generator<undefined, { readonly apply: () => NodeFacts } | null> {
    if (isEqual(bytes, this.#facts)) return null;
    const { facts, problem } = yield* readingNodeFacts(bytes);
    return {
      apply: () => {
        this.#facts = new Uint8Array(bytes);
        this.#factsProblem = problem === null ? null : { ...problem, index: -1, effect: 'set-aside' };
        return facts ?? NO_FACTS;
      },
    };
  }

  get #allRemarks(): RollupProblems {
    if (this.#factsProblem === null) return this.#remarks;
    const { first, total } = this.#remarks;
    return { first: [this.#factsProblem, ...first].slice(0, Math.max(1, first.length)), total: total + 1 };
  }
}

/** A roll-up that is refused as a whole, not because of one row. */
export function refusedWhole(problems: readonly Problem[], timestampUnixNanos: bigint): Taken {
  return { kind: 'refused', problems: wholeProblems(problems), timestampUnixNanos };
}
