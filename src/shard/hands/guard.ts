// The quarantine of roll-ups that lose nearly everything at once. A controller that starts with an empty cache, or a list
// that failed half-way, looks like a cluster that no longer needs its machines; so such a roll-up is held until it has
// been repeated often enough to be meant, or somebody decides.

import type { Need, ResourceVector } from '../../model/index.ts';

/** How much a roll-up asks for. */
export interface Extent {
  readonly rows: number;
  /** Per resource the sum over all rows, in units. Not exact beyond 2^53, which is enough to compare sizes. */
  readonly totals: ResourceVector;
  /** Rows are set aside, whose amounts are unknown: the totals are too low. */
  readonly isPartial?: true;
}

/** Smaller baselines are never guarded: they change by large fractions in ordinary life. */
const MIN_ROWS = 10;
/** Suspicious is what keeps less than one part in this many. */
const KEPT_PART = 10;
/** This many suspicious roll-ups in a row are believed. */
const BELIEVED_AT = 3;

/** `hiddenRows` are rows that are set aside and whose key is unknown. */
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

/** Rows between two looks at the clock. */
const STEP_ROWS = 1024;

/** Whether nearly all rows are gone, or nearly all of every resource. */
export function isCollapse(baseline: Extent, now: Extent): boolean {
  if (baseline.rows < MIN_ROWS) return false;
  if (now.rows * KEPT_PART < baseline.rows) return true;
  // What is set aside may be nearly all of it: only rows can be compared.
  if (now.isPartial === true) return false;
  const wanted = [...baseline.totals].filter(([, units]) => units > 0);
  return (
    wanted.length > 0 && wanted.every(([name, units]) => (now.totals.get(name) ?? 0) * KEPT_PART < units)
  );
}

/** The guard of one cluster. */
export class CollapseGuard {
  /** The last accepted roll-up, of this process or one before it; null if there never was one. */
  #baseline: Extent | null;
  /** Somebody has decided that collapses of this cluster are wrong; none is believed until the demand is back. */
  #isRefused: boolean;
  #held = 0;

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

  /** Suspicious roll-ups in a row so far. */
  get held(): number {
    return this.#held;
  }

  /** Whether a roll-up has to wait; counts it if so. */
  holds(extent: Extent): boolean {
    if (this.#baseline === null || !isCollapse(this.#baseline, extent)) return false;
    if (this.#held + 1 >= BELIEVED_AT && !this.#isRefused) return false;
    this.#held++;
    return true;
  }

  /** The cluster's demand is this from now on. */
  accept(extent: Extent): void {
    this.#baseline = extent;
    this.reset();
  }

  /** The cluster reports what it did before. */
  reset(): void {
    this.#held = 0;
    this.#isRefused = false;
  }

  refuse(): void {
    this.#isRefused = true;
  }
}
