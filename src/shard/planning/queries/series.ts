// Time series of the last hour, so that a dashboard opened during an outage shows when it began. It is derived from
// the events that the shard emits. Two rings: one point per 10 s for an hour, and one per second for the last two
// minutes. The 10 s points are also written to the journal, from which a new process reads the hour before its start.
// Fed by controller.ts; answers.ts returns it.

import { roundedShare, usedShareOf } from '../../telemetry/used-share.ts';
import type { SeriesPoint, SeriesView, ShardEvent, StatusView } from '../../views.ts';

export const COARSE = { stepMs: 10_000, points: 360 } as const;
export const FINE = { stepMs: 1_000, points: 120 } as const;

export class Series {
  readonly #coarse = new Ring(COARSE);
  readonly #fine = new Ring(FINE);
  /** The coarse point that the last cycle completed; null if it completed none. */
  #closed: SeriesPoint | null = null;

  /** Loads points of an earlier process, oldest first; points outside the hour before `nowMs` are dropped. */
  fill(points: readonly SeriesPoint[], nowMs: number): void {
    const oldestMs = nowMs - COARSE.stepMs * COARSE.points;
    for (const point of points) if (point.atMs > oldestMs && point.atMs <= nowMs) this.#coarse.push(point);
  }

  hear(event: ShardEvent): void {
    if (event.kind === 'action-started') this.#count('begun');
    if (event.kind === 'action-ended' && event.action.outcome !== 'success') this.#count('failed');
    if (event.kind !== 'cycle') return;
    this.#closed = this.#coarse.sample(event.status);
    this.#fine.sample(event.status);
  }

  get closed(): SeriesPoint | null {
    return this.#closed;
  }

  /** Points after `sinceMs`, oldest first: coarse ones until the first fine one. */
  view(nowMs: number, sinceMs: number): SeriesView {
    const fine = this.#fine.points;
    const fineFromMs = fine[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const all = [...this.#coarse.points.filter(({ atMs }) => atMs < fineFromMs), ...fine];
    return { nowMs, fromMs: all[0]?.atMs ?? null, points: all.filter(({ atMs }) => atMs > sinceMs) };
  }

  #count(what: 'begun' | 'failed'): void {
    this.#coarse.count(what);
    this.#fine.count(what);
  }
}

/** The latest points, one per step of time that had a cycle. */
class Ring {
  readonly #limits: { readonly stepMs: number; readonly points: number };
  #points: SeriesPoint[] = [];
  #counts = { begun: 0, failed: 0 };
  /** Maximum since the last point, so that a peak shorter than a step is not lost. */
  #unmet = 0;
  #cycleMs = 0;

  constructor(limits: { readonly stepMs: number; readonly points: number }) {
    this.#limits = limits;
  }

  get points(): readonly SeriesPoint[] {
    return this.#points;
  }

  push(point: SeriesPoint): void {
    this.#points.push(point);
    if (this.#points.length > this.#limits.points) this.#points.shift();
  }

  count(what: 'begun' | 'failed'): void {
    this.#counts[what]++;
  }

  /** Completes and returns a point if one is due. */
  sample(status: StatusView): SeriesPoint | null {
    const { nowMs } = status;
    this.#unmet = Math.max(this.#unmet, status.cycle?.unmet ?? 0);
    this.#cycleMs = Math.max(this.#cycleMs, status.cycle?.durationMs ?? 0);
    // After the clock was set back, points in the future would block new ones until the clock reaches them.
    if ((this.#points.at(-1)?.atMs ?? nowMs) > nowMs)
      this.#points = this.#points.filter(({ atMs }) => atMs <= nowMs);
    const last = this.#points.at(-1);
    if (last !== undefined && nowMs - last.atMs < this.#limits.stepMs) return null;
    const cycleMs = Math.round(this.#cycleMs * 100) / 100;
    const point = { ...gaugesOf(status), unmet: this.#unmet, ...this.#counts, cycleMs };
    this.#counts = { begun: 0, failed: 0 };
    this.#unmet = 0;
    this.#cycleMs = 0;
    this.push(point);
    return point;
  }
}

function gaugesOf(status: StatusView): Omit<SeriesPoint, 'unmet' | 'begun' | 'failed' | 'cycleMs'> {
  const { nowMs: atMs, costPerHour, cost, machinesByState, needs } = status;
  return {
    atMs,
    costPerHour,
    costByPart: cost.byPart,
    machinesByState,
    needs,
    usedShare: usedShareOfFleet(status),
  };
}

/** By kind of hardware with serving machines: the share of the resource that is used most. */
function usedShareOfFleet({ hardware }: StatusView): NonNullable<SeriesPoint['usedShare']> {
  return Object.fromEntries(
    hardware.flatMap(({ kind, resources }) => {
      const amounts = Object.values(resources);
      const most = usedShareOf(
        amounts.map(({ used }) => used),
        amounts.map(({ offered }) => offered),
      );
      return most === null ? [] : [[kind, roundedShare(most.share)]];
    }),
  );
}
