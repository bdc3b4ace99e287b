// A time series drawn by uPlot, with a legend that shows the values under the pointer, and otherwise the last ones. The
// colours come from the style of the page, so that they follow light and dark.

import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { timeOfDay } from '../figures.ts';
import { html, type VNode } from './html.ts';

interface PlotSeries {
  readonly label: string;
  /** A class that sets the colour. */
  readonly kind: string;
  /** By point; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  /** What the plot shows, for people who do not see it. */
  readonly label: string;
  readonly timesMs: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Each is drawn above the ones before it. */
  readonly isStacked?: boolean;
  readonly format: (value: number) => string;
}

const HEIGHT = 150;
/** Time between points from which on nothing is known between them. */
const GAP_MS = 30_000;

export function Plot({ label, timesMs, series, isStacked = false, format }: PlotProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [version, setVersion] = useState(0);
  const gapMs = Math.max(GAP_MS, ...spacingOf(timesMs));
  const kinds = series.map((each) => each.kind).join(' ');

  useEffect(() => {
    const redo = (): void => setVersion((before) => before + 1);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redo);
    document.addEventListener('theme', redo);
    return () => {
      scheme.removeEventListener('change', redo);
      document.removeEventListener('theme', redo);
    };
  }, []);

  useEffect(() => {
    const root = place.current!;
    const colours = [...legend.current!.querySelectorAll('i')].map((each) => getComputedStyle(each).color);
    const options = optionsOf(root, { series, colours, isStacked, format, onPoint: setAt });
    const made = new uPlot(options, dataOf(timesMs, series, isStacked, gapMs), root);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: root.clientWidth, height: HEIGHT }));
    watch.observe(root);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [kinds, isStacked, version]);

  useEffect(() => plot.current?.setData(dataOf(timesMs, series, isStacked, gapMs)), [timesMs, series]);

  const shown = indexAt(at, timesMs, gapMs);
  const shownValue = ({ values }: PlotSeries): string => {
    const value = values[shown];
    return value === null || value === undefined ? '' : format(value);
  };
  return html`<figure class="plot" aria-label=${label} data-points=${timesMs.length}>
    <div ref=${place} class="canvas" aria-hidden="true"></div>
    <ul ref=${legend} class="legend">
      ${series.map((each) => html`<li><i class=${each.kind}></i>${each.label} <span class="value">${shownValue(each)}</span></li>`)}
      <li class="quiet">${at === null || timesMs[shown] === undefined ? '' : timeOfDay(timesMs[shown])}</li>
    </ul>
  </figure>`;
}

/** Three times the usual spacing of points, for series with a point a minute. */
function spacingOf(timesMs: readonly number[]): readonly number[] {
  if (timesMs.length < 2) return [];
  return [(3 * (timesMs.at(-1)! - timesMs[0]!)) / (timesMs.length - 1)];
}

interface PlotPoint {
  readonly seconds: number;
  /** Index in the series; in a gap, of the point before it. */
  readonly i: number;
  readonly isGap: boolean;
}

/** Index in the series of a point that is drawn; without one, of the last. */
export function indexAt(at: number | null, timesMs: readonly number[], gapMs: number): number {
  return (at === null ? undefined : pointsOf(timesMs, gapMs)[at]?.i) ?? timesMs.length - 1;
}

/** The points that are drawn: those of the series, with an empty one in every gap. */
function pointsOf(timesMs: readonly number[], gapMs: number): readonly PlotPoint[] {
  return timesMs.flatMap((ms, i) => {
    const point = { seconds: ms / 1000, i, isGap: false };
    const before = timesMs[i - 1];
    if (before === undefined || ms - before <= gapMs) return [point];
    return [{ seconds: (before + 1) / 1000, i: i - 1, isGap: true }, point];
  });
}

/** Seconds and values, the topmost of a stack first. */
function dataOf(
  timesMs: readonly number[],
  series: readonly PlotSeries[],
  isStacked: boolean,
  gapMs: number,
): uPlot.AlignedData {
  const points = pointsOf(timesMs, gapMs);
  const columns: (number | null)[][] = series.map(() => []);
  for (const { i, isGap } of points) {
    let sum = 0;
    series.forEach(({ values }, s) => {
      const value = values[i] ?? null;
      sum += value ?? 0;
      columns[s]!.push(isGap ? null : isStacked ? sum : value);
    });
  }
  return [
    points.map(({ seconds }) => seconds),
    ...(isStacked ? columns.toReversed() : columns),
  ] as uPlot.AlignedData;
}

interface Look {
  readonly series: readonly PlotSeries[];
  readonly colours: readonly string[];
  readonly isStacked: boolean;
  readonly format: (value: number) => string;
  readonly onPoint: (at: number | null) => void;
}

function optionsOf(root: HTMLElement, { series, colours, isStacked, format, onPoint }: Look): uPlot.Options {
  const line = (colour: string): uPlot.Series => ({
    stroke: colour,
    width: isStacked ? 0 : 1.5,
    ...(isStacked ? { fill: colour } : {}),
    points: { show: false },
  });
  const lines = series.map((_, i) => line(colours[i]!));
  const { color } = getComputedStyle(root);
  const axis: uPlot.Axis = {
    stroke: color,
    font: '11px system-ui, sans-serif',
    grid: { stroke: `color-mix(in srgb, ${color} 15%, transparent)`, width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(100, root.clientWidth),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    legend: { show: false },
    cursor: { y: false, points: { show: !isStacked }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
    axes: [
      {
        ...axis,
        values: (_, splits) => withoutRepeats(splits.map((seconds) => timeOfDay(seconds * 1000).slice(0, 5))),
        ...{ size: 26, space: 70 },
      },
      { ...axis, values: (_, splits) => withoutRepeats(splits.map(format)), size: 64, space: 34 },
    ],
    series: [{}, ...(isStacked ? lines.toReversed() : lines)],
    hooks: { setCursor: [(made) => onPoint(made.cursor.idx ?? null)] },
  };
}

/** A rounded label that repeats the one before it says nothing. */
function withoutRepeats(labels: readonly string[]): string[] {
  return labels.map((label, i) => (label === labels[i - 1] ? '' : label));
}
