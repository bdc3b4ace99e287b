// Cost over time by aspect: a point a minute for a day, in memory, and the dollars since the start. A point has the most
// expensive names of each aspect and the sum of the others, so that its size does not depend on the number of clusters.
// Fed by planning/cycles.ts; read by queries/cost.ts.

import { dollarsOfMicros } from '../../model/index.ts';
import type { StatusView } from '../views.ts';
import type { CostAspect, CostBreakdown, CostGroups } from './cost-breakdown.ts';

export const COST_STEP_MS = 60_000;
const MAX_POINTS = 24 * 60;
/** Names of one aspect in a point; the others are `OTHERS`. */
const MAX_NAMES = 10;
const OTHERS = 'other';
const HOUR_MS = 3_600_000;
/** Time without a cycle for which the cost is taken as unchanged: a shard that was stopped has measured nothing. */
const MAX_GAP_MS = 600_000;

export const COST_ASPECTS: readonly CostAspect[] = [
  'cluster',
  'capacity-type',
  'priority',
  'hardware',
  'zone',
  'instance-type',
];

interface CostPoint {
  readonly atMs: number;
  readonly perHour: number;
  readonly byName: Readonly<Record<string, number>>;
}

interface Sample {
  readonly atMs: number;
  readonly perHour: number;
  readonly byAspect: ReadonlyMap<CostAspect, Readonly<Record<string, number>>>;
}

export class CostHistory {
  readonly #breakdown: CostBreakdown;
  #samples: Sample[] = [];
  #last: { readonly atMs: number; readonly perHour: number } | null = null;
  #dollars = 0;
  #fromMs: number;

  constructor(breakdown: CostBreakdown, startedMs: number) {
    this.#breakdown = breakdown;
    this.#fromMs = startedMs;
  }

  /** Dollars since the start, by the cost after each cycle. */
  get sinceStart(): { readonly fromMs: number; readonly dollars: number } {
    return { fromMs: this.#fromMs, dollars: this.#dollars };
  }

  /** Called after every cycle. */
  sample({ nowMs: atMs, costPerHour: perHour }: Pick<StatusView, 'nowMs' | 'costPerHour'>): void {
    this.#add(atMs);
    this.#last = { atMs, perHour };
    // After the clock was set back, samples in the future would block new ones.
    if ((this.#samples.at(-1)?.atMs ?? atMs) > atMs)
      this.#samples = this.#samples.filter((each) => each.atMs <= atMs);
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < COST_STEP_MS) return;
    const byAspect = new Map(
      COST_ASPECTS.map((aspect) => [aspect, amounts(this.#breakdown.by(aspect, atMs))]),
    );
    this.#samples.push({ atMs, perHour, byAspect });
    if (this.#samples.length > MAX_POINTS) this.#samples.shift();
  }

  /** Points after `sinceMs`, oldest first. */
  points(aspect: CostAspect, sinceMs: number): readonly CostPoint[] {
    return this.#samples
      .filter(({ atMs }) => atMs > sinceMs)
      .map(({ atMs, perHour, byAspect }) => ({ atMs, perHour, byName: byAspect.get(aspect) ?? {} }));
  }

  #add(atMs: number): void {
    if (this.#last === null) return;
    const ms = Math.min(MAX_GAP_MS, Math.max(0, atMs - this.#last.atMs));
    this.#dollars += (this.#last.perHour * ms) / HOUR_MS;
  }
}

/** Dollars per hour by name. */
function amounts(groups: CostGroups): Readonly<Record<string, number>> {
  const sums = [...groups].map(
    ([name, { cost }]) => [name, cost.reduce((sum, part) => sum + part, 0)] as const,
  );
  sums.sort((a, b) => b[1] - a[1]);
  const shown = sums.slice(0, MAX_NAMES).map(([name, micros]) => [name, dollarsOfMicros(micros)] as const);
  const rest = sums.slice(MAX_NAMES).reduce((sum, [, micros]) => sum + micros, 0);
  return Object.fromEntries(rest === 0 ? shown : [...shown, [OTHERS, dollarsOfMicros(rest)]]);
}
