// The demand of one cluster: reads its roll-ups, refuses the bad, holds the suspicious, and gives the others their times.
// It outlives sessions, so that an operator that comes back with the same roll-up costs nothing.

import { type Need, type Problem, printable } from '../../model/index.ts';
import { RollupIntake, type SharedParts, WIRE, WireCursor, WireFormatError } from '../../wire/index.ts';
import type { BaselineRow, DemandChanges, FirstSeenRow } from './demand-store.ts';
import { FirstSeen } from './first-seen.ts';
import { CollapseGuard, type Extent, extentOf, isCollapse } from './guard.ts';
import { MAX_REQUIREMENTS, MAX_RESOURCES, MAX_VALUES } from './limits.ts';

/** A roll-up that waits for a decision, or to be repeated. */
export interface HeldRollup {
  readonly cluster: string;
  readonly sinceMs: number;
  /** How many in a row have been held. */
  readonly count: number;
  /** True: somebody has refused it, and repeating it does not help. */
  readonly isRefused: boolean;
  readonly extent: Extent;
  readonly baseline: Extent;
}

/** What others may know of a cluster's reports. */
export interface ReportView {
  readonly cluster: string;
  /** When its last roll-up was handled, whatever became of it; null: none since the start of the process. */
  readonly lastReportMs: number | null;
  /** Rows of its demand; null: no roll-up has been accepted since the start of the process. */
  readonly rows: number | null;
  readonly refusedRollups: number;
  /** Why its last roll-up was refused; null if it was not. */
  readonly problems: readonly Problem[] | null;
  readonly held: HeldRollup | null;
}

export type Taken =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'held'; readonly held: HeldRollup }
  | {
      readonly kind: 'accepted';
      readonly needs: readonly Need[];
      /** To be written before anybody acts on it. */
      readonly changes: DemandChanges;
      /** Set if nearly everything is gone and that is believed now: what there was before. */
      readonly shrunkFrom: Extent | null;
    };

/** What a roll-up may bring: by itself, and beside the demand of all other clusters. */
export interface Room {
  readonly rollupRows: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Field number of the rows in ClusterCapacityNeeds. */
const NEEDS = 3;

export class ClusterDemand {
  readonly #cluster: string;
  readonly #intake: RollupIntake;
  readonly #firstSeen = new FirstSeen();
  #guard = new CollapseGuard(null, false);
  #held: { readonly bytes: Uint8Array; readonly extent: Extent; readonly sinceMs: number } | null = null;
  /** Whether a roll-up has been accepted since the start of the process. */
  #hasDemand = false;
  #rows = 0;
  #acceptedBytes = 0;
  #lastReportMs: number | null = null;
  #refused = 0;
  #problems: readonly Problem[] | null = null;

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

  /** Of the accepted roll-up. */
  get rows(): number {
    return this.#rows;
  }

  /** Of the accepted roll-up and the one that is held. */
  get bytes(): number {
    return this.#acceptedBytes + (this.#held?.bytes.length ?? 0);
  }

  get held(): HeldRollup | null {
    const { baseline, held: count, isRefused } = this.#guard;
    if (this.#held === null || baseline === null) return null;
    const { sinceMs, extent } = this.#held;
    return { cluster: this.#cluster, sinceMs, count, isRefused, extent, baseline };
  }

  get view(): ReportView {
    return {
      cluster: this.#cluster,
      lastReportMs: this.#lastReportMs,
      rows: this.#hasDemand ? this.#guard.baseline!.rows : null,
      refusedRollups: this.#refused,
      problems: this.#problems,
      held: this.held,
    };
  }

  /** Notes what became of a roll-up, for those who ask. */
  note(taken: Taken, nowMs: number): void {
    this.#lastReportMs = nowMs;
    this.#problems = taken.kind === 'refused' ? taken.problems : null;
    if (taken.kind === 'refused') this.#refused++;
  }

  /** Whether a roll-up only repeats the accepted one; a cheap look. */
  repeats(bytes: Uint8Array): boolean {
    return this.#intake.repeats(bytes);
  }

  /** The accepted roll-up has come again. Returns what there is to write, if anything. */
  noteUnchanged(): DemandChanges | null {
    const { baseline, isRefused } = this.#guard;
    this.#guard.reset();
    this.#held = null;
    if (baseline === null || !isRefused) return null;
    return { baseline: { ...baseline, cluster: this.#cluster, isRefused: false } };
  }

  take(bytes: Uint8Array, nowMs: number, room: Room): Taken {
    return this.#take(bytes, nowMs, room, false);
  }

  /** Accepts the roll-up that is held; null if none is. */
  acceptHeld(nowMs: number, room: Room): Taken | null {
    return this.#held === null ? null : this.#take(this.#held.bytes, nowMs, room, true);
  }

  /** Believes no collapse until the demand is back; null if none is held. */
  refuseHeld(): DemandChanges | null {
    const { baseline } = this.#guard;
    if (this.#held === null || baseline === null) return null;
    this.#guard.refuse();
    return { baseline: { ...baseline, cluster: this.#cluster, isRefused: true } };
  }

  /** What has been absent too long to remember. */
  forget(nowMs: number): DemandChanges | null {
    const forgotten = this.#firstSeen.forget(nowMs);
    return forgotten.length === 0 ? null : { forgotten };
  }

  #take(bytes: Uint8Array, nowMs: number, room: Room, isForced: boolean): Taken {
    try {
      const tooMany = sizeProblem(bytes, room);
      if (tooMany !== null) return { kind: 'refused', problems: [tooMany] };
      const intake = this.#intake.read(bytes);
      if (intake.kind !== 'changed') return intake;
      const { needs } = intake;
      const extent = extentOf(needs);
      const problems = limitProblems(needs, extent);
      if (problems.length > 0) return { kind: 'refused', problems };
      if (!isForced && this.#guard.holds(extent)) return this.#hold(bytes, extent, nowMs);
      this.#intake.accept(intake);
      this.#rows = needs.length;
      this.#acceptedBytes = bytes.length;
      return this.#accept(needs, extent, nowMs);
    } catch (error) {
      if (!(error instanceof WireFormatError)) throw error;
      return { kind: 'refused', problems: error.problems };
    }
  }

  #hold(bytes: Uint8Array, extent: Extent, nowMs: number): Taken {
    // A copy, so that the network frame around it need not live on.
    this.#held = { bytes: Buffer.from(bytes), extent, sinceMs: this.#held?.sinceMs ?? nowMs };
    return { kind: 'held', held: this.held! };
  }

  #accept(rows: readonly Need[], extent: Extent, nowMs: number): Taken {
    const before = this.#guard.baseline;
    this.#guard.accept(extent);
    this.#held = null;
    this.#hasDemand = true;
    const { needs, seen, forgotten } = this.#firstSeen.report(rows, nowMs);
    const baseline = { ...extent, cluster: this.#cluster, isRefused: false };
    const shrunkFrom = before !== null && isCollapse(before, extent) ? before : null;
    return { kind: 'accepted', needs, changes: { baseline, seen, forgotten }, shrunkFrom };
  }
}

/** Counted before anything is decoded, since decoding is what costs. */
function sizeProblem(bytes: Uint8Array, room: Room): Problem | null {
  const cursor = new WireCursor().reset(bytes, 0, bytes.length);
  let rows = 0;
  while (cursor.next()) if (cursor.field === NEEDS && cursor.type === WIRE.bytes) rows++;
  if (rows > room.rollupRows) return limit('needs', rows, room.rollupRows, 'rows');
  if (rows > room.rows) return noRoom(rows, Math.max(0, room.rows), 'rows');
  return bytes.length > room.bytes ? noRoom(bytes.length, Math.max(0, room.bytes), 'bytes') : null;
}

function noRoom(found: number, left: number, what: string): Problem {
  const message = `${found} ${what}, and beside the other clusters there is room for ${left}.`;
  return { code: 'BF_DEMAND_LIMIT', path: 'needs', message };
}

function limitProblems(needs: readonly Need[], { totals }: Extent): Problem[] {
  const problems: Problem[] = [];
  for (const { profile, group } of needs) {
    const terms = profile.requirements.length + profile.spread.length;
    let values = 0;
    for (const requirement of profile.requirements) values += requirement.values.length;
    if (terms <= MAX_REQUIREMENTS && values <= MAX_VALUES) continue;
    const path = `need "${printable(profile.fingerprint.slice(0, 40))}" group "${printable(group)}"`;
    problems.push(
      terms > MAX_REQUIREMENTS
        ? limit(path, terms, MAX_REQUIREMENTS, 'requirements')
        : limit(path, values, MAX_VALUES, 'values'),
    );
  }
  if (totals.size > MAX_RESOURCES)
    problems.push(limit('aggregate_resources', totals.size, MAX_RESOURCES, 'resources'));
  return problems.slice(0, MAX_PROBLEMS);
}

/** As many as a roll-up is refused with anywhere else. */
const MAX_PROBLEMS = 20;

function limit(path: string, found: number, most: number, what: string): Problem {
  return { code: 'BF_ROLLUP_LIMIT', path, message: `${found} ${what}, the limit is ${most}.` };
}
