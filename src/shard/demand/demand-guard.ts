// The quarantine of roll-ups that lose nearly all demand at once. An operator that starts with an empty cache, or
// whose list failed half-way, looks like a cluster that no longer needs its machines. Such a roll-up is quarantined
// until `BELIEVED_AT` of them have come in a row, or a person decides. Used by cluster-demand.ts, one guard per
// cluster.

import type { Need, ResourceVector, RollupDelta } from '../../model/index.ts';

/** The size of a roll-up's demand. */
export interface Extent {
  readonly rows: number;
  /** Per resource: the sum over all rows, in units. Inexact beyond 2^53, which is enough to compare sizes. */
  readonly totals: ResourceVector;
  /** Some rows are set aside and their amounts are unknown, so the totals are a lower bound. */
  readonly isPartial?: true;
}

/** Smaller baselines are not guarded: small clusters change by large fractions in normal operation. */
const MIN_ROWS = 10;
/** A roll-up is suspicious if it keeps less than 1 / KEPT_PART of the baseline. */
const KEPT_PART = 10;
/** Of consecutive suspicious roll-ups, the one with this number is accepted. */
const BELIEVED_AT = 3;

/** An accepted roll-up. */
export interface Measured {
  readonly needs: readonly Need[];
  readonly extent: Extent;
}

/** A roll-up and its difference from an accepted one. */
export interface Unmeasured {
  readonly delta: RollupDelta;
  /** By row of the accepted roll-up: 1 if the delta keeps it. */
  readonly kept: Uint8Array;
  readonly needs: readonly Need[];
  /** Number of set-aside rows whose key is unknown. */
  readonly hiddenRows: number;
}

/** The extent of a roll-up: that of the accepted one, without the rows that leave and with the fresh ones. */
export function* extentAfter(before: Measured, rollup: Unmeasured): Generator<undefined, Extent> {
  const { delta, kept, needs, hiddenRows } = rollup;
  const totals = new Map(before.extent.totals);
  const isKnown = before.extent.isPartial !== true && hiddenRows === 0 && areExact(totals);
  if (!isKnown || delta.fresh.some(({ setAside }) => setAside === true))
    return yield* extentOf(needs, hiddenRows);
  let steps = 0;
  for (let at = 0; at < kept.length; at++) {
    if (kept[at] === 1) continue;
    for (const [name, units] of before.needs[at]!.aggregate) totals.set(name, totals.get(name)! - units);
    if (++steps % STEP_ROWS === 0) yield;
  }
  for (const { aggregate } of delta.fresh) {
    for (const [name, units] of aggregate) totals.set(name, (totals.get(name) ?? 0) + units);
    if (++steps % STEP_ROWS === 0) yield;
  }
  return areExact(totals) ? { rows: needs.length, totals } : yield* extentOf(needs, hiddenRows);
}

/** Whether sums can be taken back: beyond 2^53 they are rounded, and at 0 it is not known whether any row has the resource. */
function areExact(totals: ResourceVector): boolean {
  for (const units of totals.values()) if (units <= 0 || units > Number.MAX_SAFE_INTEGER) return false;
  return true;
}

/** `hiddenRows`: number of set-aside rows whose key is unknown. */
export function* extentOf(needs: readonly Need[], hiddenRows: number): Generator<undefined, Extent> {
  const totals = new Map<string, number>();
  let isPartial = hiddenRows > 0;
  for (const [i, { aggregate, setAside }] of needs.entries()) {
    if (setAside === true) isPartial = true;
    for (const [name, units] of aggregate) totals.set(name, (totals.get(name) ?? 0) + units);
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  return { rows: needs.length + hiddenRows, totals, ...(isPartial ? { isPartial } : {}) };
}

/** Rows per step: the caller reads the clock between steps. */
const STEP_ROWS = 1024;

/** Whether nearly all rows are gone, or nearly all of every resource. */
export function isCollapse(baseline: Extent, now: Extent): boolean {
  if (baseline.rows < MIN_ROWS) return false;
  if (now.rows * KEPT_PART < baseline.rows) return true;
  // Set-aside rows may hold nearly all of the demand, so only row counts can be compared.
  if (now.isPartial === true) return false;
  const wanted = [...baseline.totals].filter(([, units]) => units > 0);
  return (
    wanted.length > 0 && wanted.every(([name, units]) => (now.totals.get(name) ?? 0) * KEPT_PART < units)
  );
}

/** The guard of one cluster. */
export class CollapseGuard {
  /** Extent of the last accepted roll-up, of this process or an earlier one; null if none was ever accepted. */
  #baseline: Extent | null;
  /** A quarantined roll-up was refused through the API: no collapse is accepted by repetition until the demand is back. */
  #isRefused: boolean;
  #quarantined = 0;

  constructor(baseline: Extent | null, isRefused: boolean) {
    this.#baseline = baseline;
    this.#isRefused = isRefused;
  }

  get baseline(): Extent | null {
    return this.#baseline;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Number of consecutive suspicious roll-ups so far. */
  get quarantined(): number {
    return this.#quarantined;
  }

  /** Whether a roll-up must be quarantined; counts it if so. */
  quarantines(extent: Extent): boolean {
    if (this.#baseline === null || !isCollapse(this.#baseline, extent)) return false;
    if (this.#quarantined + 1 >= BELIEVED_AT && !this.#isRefused) return false;
    this.#quarantined++;
    return true;
  }

  /** Makes `extent` the baseline. */
  accept(extent: Extent): void {
    this.#baseline = extent;
    this.reset();
  }

  /** The cluster reports its baseline again. */
  reset(): void {
    this.#quarantined = 0;
    this.#isRefused = false;
  }

  refuse(): void {
    this.#isRefused = true;
  }
}
