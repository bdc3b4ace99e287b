// The history on the page (view.ts): curves of the last hour with a summary, and the last warnings, errors and orders
// with their times.

import type { Point } from './feed.ts';
import { count, moment, perHour, span } from './figures.ts';
import type { Live } from './live.ts';
import { machinesIn } from './sentences.ts';
import { steps, stretches, unmetHistoryText } from './series.ts';
import { element, leftOut, row, type Tree, type TreeElement } from './tree.ts';

/** Events on the page. */
const MAX_SHOWN = 20;

/** A curve over the time of the series that starts at 0, so that a small change looks small; broken at gaps. */
export function curve(series: readonly Point[], figureOf: (point: Point) => number): TreeElement {
  const most = Math.max(...series.map(figureOf), Number.MIN_VALUE);
  const fromMs = series[0]?.atMs ?? 0;
  const width = Math.max(1, (series.at(-1)?.atMs ?? 0) - fromMs);
  const placeOf = (point: Point) =>
    `${round(((point.atMs - fromMs) / width) * 100)},${round(30 - (figureOf(point) / most) * 28)}`;
  return element(
    'svg',
    { class: 'curve', viewBox: '0 0 100 30', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...stretches(series).map((stretch) => element('polyline', { points: stretch.map(placeOf).join(' ') })),
  );
}

/** The last hour: each curve with a summary. */
export function historyRows({ series, status }: Live): readonly Tree[] {
  if (series.length === 0 || status === null) return [];
  const serving = (point: Point) => machinesIn(point, 'CONFIGURED');
  const range = (figureOf: (point: Point) => number, format: (value: number) => string) => {
    const values = series.map(figureOf);
    return `lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}`;
  };
  const sum = (figureOf: (point: Point) => number) =>
    series.reduce((total, point) => total + figureOf(point), 0);
  const begun = ({ begun }: Point) => begun;
  const failed = ({ failed }: Point) => failed;
  const cost = ({ costPerHour }: Point) => costPerHour;
  const unmet = ({ unmet }: Point) => unmet;
  return [
    row('Needs not met', curve(series, unmet), unmetHistoryText(series, status)),
    row('Cost', curve(series, cost), range(cost, perHour)),
    row('Machines serving', curve(series, serving), range(serving, count)),
    row('Actions begun', curve(steps(series), begun), count(sum(begun))),
    row('Actions failed', curve(steps(series), failed), count(sum(failed))),
  ];
}

export function sinceText({ series, status }: Live): string {
  const fromMs = series[0]?.atMs;
  if (fromMs === undefined || status === null) return '';
  return `From ${moment(fromMs, status.nowMs)} to now, ${span(status.nowMs - fromMs)}.`;
}

export function eventItems({ events, status }: Live): readonly Tree[] {
  if (status === null) return [];
  if (events.length === 0) return [element('li', { class: 'quiet' }, 'No warning, error or order is known.')];
  const shown = events.slice(0, MAX_SHOWN);
  return [
    ...shown.map(({ atMs, level, text }) =>
      element(
        'li',
        { class: level === 'error' ? 'failed' : level === 'warn' ? 'doing' : '' },
        element('time', {}, moment(atMs, status.nowMs)),
        ` ${text}`,
      ),
    ),
    ...leftOut(shown.length, events.length, 'event', 'newest first'),
  ];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
