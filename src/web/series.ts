// The last hour as live views keep and show it: a series of points with their times, thinned as they age, so that a
// view that stays open for weeks keeps no more than one that was just opened. What a view shows is read from these
// points alone. Used by the page and by cli/up (follow.ts, screen.ts).

import type { Point, Status } from './feed.ts';
import { count, span, timeOfDay } from './figures.ts';

const HOUR_MS = 3_600_000;
/** Younger points are kept unchanged. */
const FINE_MS = 120_000;
/** Older points are merged to one for each step. */
const STEP_MS = 10_000;
/** The time between points that are further apart is unknown. */
const GAP_MS = 3 * STEP_MS;

/** `series` with the points that came after it. Both oldest first. */
export function withPoints(series: readonly Point[], points: readonly Point[]): readonly Point[] {
  const lastMs = series.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  const all = [...series, ...points.filter(({ atMs }) => atMs > lastMs)];
  const nowMs = all.at(-1)?.atMs ?? 0;
  const kept: Point[] = [];
  for (const point of all) {
    if (nowMs - point.atMs > HOUR_MS) continue;
    const before = kept.at(-1);
    const isSame = before !== undefined && stepOf(before, nowMs) === stepOf(point, nowMs);
    if (isSame) kept[kept.length - 1] = joined(before, point);
    else kept.push(point);
  }
  return kept;
}

/** Points with an equal value are merged once they are old; each young point has its own value. */
function stepOf({ atMs }: Point, nowMs: number): number {
  return nowMs - atMs < FINE_MS ? atMs : -1 - Math.floor(atMs / STEP_MS);
}

function joined(a: Point, b: Point): Point {
  const counts = { begun: a.begun + b.begun, failed: a.failed + b.failed };
  return { ...b, unmet: Math.max(a.unmet, b.unmet), ...counts };
}

/** One point for each complete step of ten seconds, so that their counts are comparable. */
export function steps(series: readonly Point[]): readonly Point[] {
  const bySteps = Map.groupBy(series, ({ atMs }) => Math.floor(atMs / STEP_MS));
  return [...bySteps.values()].slice(0, -1).map((points) => points.reduce(joined));
}

/** At most `width` values over the whole time, the highest of each part; NaN where nothing is known. */
export function resampled(
  series: readonly Point[],
  width: number,
  figureOf: (point: Point) => number,
): readonly number[] {
  const fromMs = series[0]?.atMs ?? 0;
  const spanMs = (series.at(-1)?.atMs ?? 0) - fromMs;
  const columns = Math.max(0, Math.min(width, series.length));
  const values = new Array<number>(columns).fill(Number.NaN);
  const placeOf = (ms: number) =>
    Math.min(columns - 1, Math.floor(((ms - fromMs) / Math.max(1, spanMs)) * columns));
  series.forEach((point, i) => {
    const place = placeOf(point.atMs);
    const value = figureOf(point);
    values[place] = Number.isNaN(values[place]) ? value : Math.max(values[place]!, value);
    const next = series[i + 1];
    if (next === undefined || next.atMs - point.atMs > GAP_MS) return;
    for (let gap = place + 1; gap < placeOf(next.atMs); gap++) values[gap] = value;
  });
  return values;
}

/** Sequences of points without a gap between them. */
export function stretches(series: readonly Point[]): readonly (readonly Point[])[] {
  const sequences: Point[][] = [];
  for (const point of series) {
    const sequence = sequences.at(-1);
    if (sequence === undefined || point.atMs - sequence.at(-1)!.atMs > GAP_MS) sequences.push([point]);
    else sequence.push(point);
  }
  return sequences;
}

/**
 * Since when Needs have been unmet without a break; null if all are met. `isOlder`: it may have begun earlier, at a time
 * without points.
 */
function unmetSince(
  series: readonly Point[],
): { readonly sinceMs: number; readonly isOlder: boolean } | null {
  const sequence = stretches(series).at(-1) ?? [];
  if ((sequence.at(-1)?.unmet ?? 0) === 0) return null;
  const lastMet = sequence.findLastIndex(({ unmet }) => unmet === 0);
  return { sinceMs: sequence[lastMet + 1]!.atMs, isOlder: lastMet === -1 };
}

/** `since 13:05:20Z (52 min)`, `since 12:07:10Z or before`; '' if all Needs are met. */
export function unmetSinceText(series: readonly Point[], nowMs: number): string {
  const found = unmetSince(series);
  if (found === null) return '';
  const { sinceMs, isOlder } = found;
  if (isOlder) return `since ${timeOfDay(sinceMs)} or before`;
  return `since ${timeOfDay(sinceMs)} (${span(nowMs - sinceMs)})`;
}

type Now = Pick<Status, 'nowMs' | 'cycle'>;

/** `3 now, since 13:05:20Z (52 min); highest 4`: unmet Needs in the last hour. */
export function unmetHistoryText(series: readonly Point[], { nowMs, cycle }: Now): string {
  // A point has the highest count of its step, which may be past.
  const now = cycle?.unmet ?? 0;
  const highest = Math.max(now, ...series.map(({ unmet }) => unmet));
  const since = unmetSinceText(series, nowMs);
  if (now > 0) return `${count(now)} now${since === '' ? '' : `, ${since}`}; highest ${count(highest)}`;
  const last = series.findLast(({ unmet }) => unmet > 0);
  return last === undefined
    ? 'none in this time'
    : `none now; highest ${count(highest)}, the last at ${timeOfDay(last.atMs)}`;
}
