// Plots as inline SVG: grouped bars and lines. Pure functions from numbers to text, without a script. Used by the pages of
// `bigfleet assess` and of the economy benchmark.

const WIDTH = 720;
const HEIGHT = 300;
const MARGIN = { top: 20, right: 20, bottom: 40, left: 60 };
/** Of the series, in a light and in a dark page. */
const COLOURS = [
  ['#1f6feb', '#58a6ff'],
  ['#d1570d', '#f0883e'],
  ['#2da44e', '#3fb950'],
  ['#8250df', '#bc8cff'],
  ['#bf3989', '#f778ba'],
  ['#57606a', '#9198a1'],
] as const;
/** Divisions of the vertical axis. */
const TICKS = 5;

/** The style of a page with plots, which follows the light or dark scheme of the reader. */
export const PLOT_STYLE = `
:root { color-scheme: light dark; --page: #ffffff; --ink: #1f2328; --soft: #57606a; --grid: #d0d7de; ${variables(0)} }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --grid: #30363d; ${variables(1)} }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem;
  background: var(--page); color: var(--ink); }
figure { margin: 2rem 0; } figcaption { font-weight: 600; margin-bottom: .5rem; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--soft); } .grid { stroke: var(--grid); }
.legend span { margin-right: 1rem; } .legend i { display: inline-block; width: 12px; height: 12px; margin-right: .3rem; }
`;

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

/** One group of bars for each label, one bar for each series in it. */
export function barChart(title: string, labels: readonly string[], series: readonly Series[]): string {
  const top = niceTop(Math.max(...series.flatMap(({ values }) => values)));
  const groupWidth = plotWidth() / labels.length;
  const barWidth = (groupWidth * 0.8) / series.length;
  const bars = series.flatMap(({ name, values }, s) =>
    values.map((value, i) => {
      const x = MARGIN.left + i * groupWidth + groupWidth * 0.1 + s * barWidth;
      const y = yOf(value, top);
      const height = HEIGHT - MARGIN.bottom - y;
      const label = `<text x="${x + barWidth / 2}" y="${y - 4}" text-anchor="middle">${value.toFixed(2)}</text>`;
      return `<rect x="${x}" y="${y}" width="${barWidth - 2}" height="${height}" style="fill:${colour(s)}"><title>${escaped(name)}: ${value}</title></rect>${label}`;
    }),
  );
  const names = labels.map((label, i) => {
    const x = MARGIN.left + (i + 0.5) * groupWidth;
    return `<text x="${x}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${escaped(label)}</text>`;
  });
  return figure(title, series, [...axis(top), ...bars, ...names]);
}

/** The numbers along the horizontal axis: `first`, `first + step`, … */
export interface Axis {
  readonly label: string;
  readonly first: number;
  readonly step: number;
}

export function lineChart(
  title: string,
  { label: xLabel, first, step }: Axis,
  series: readonly Series[],
): string {
  const top = niceTop(Math.max(...series.flatMap(({ values }) => values)));
  const longest = Math.max(...series.map(({ values }) => values.length));
  const xOf = (i: number): number => MARGIN.left + (plotWidth() * i) / Math.max(1, longest - 1);
  const lines = series.map(({ values }, s) => {
    const points = values.map((value, i) => `${xOf(i).toFixed(1)},${yOf(value, top).toFixed(1)}`);
    return `<polyline points="${points.join(' ')}" fill="none" style="stroke:${colour(s)}" stroke-width="2"/>`;
  });
  const ends = [0, longest - 1].map((i) => {
    return `<text x="${xOf(i)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${first + i * step}</text>`;
  });
  const label = `<text x="${WIDTH / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escaped(xLabel)}</text>`;
  return figure(title, series, [...axis(top), ...lines, ...ends, label]);
}

export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

function figure(title: string, series: readonly Series[], parts: readonly string[]): string {
  const legend = series
    .map(({ name }, s) => `<span><i style="background:${colour(s)}"></i>${escaped(name)}</span>`)
    .join(' ');
  return [
    `<figure><figcaption>${escaped(title)}</figcaption>`,
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    ...parts,
    '</svg>',
    `<p class="legend">${legend}</p></figure>`,
  ].join('\n');
}

function axis(top: number): string[] {
  return Array.from({ length: TICKS + 1 }, (_, i) => {
    const value = (top * i) / TICKS;
    const y = yOf(value, top);
    const line = `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}" class="grid"/>`;
    const text = Number(value.toPrecision(3)).toLocaleString('en');
    return `${line}<text x="${MARGIN.left - 8}" y="${y + 4}" text-anchor="end">${text}</text>`;
  });
}

/** The least of 1, 2, 5 × a power of ten, times a whole number up to ten, that is not below the value. */
function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((n) => n * unit).find((top) => top >= value) ?? 10 * unit;
}

function yOf(value: number, top: number): number {
  return HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * value) / top;
}

function plotWidth(): number {
  return WIDTH - MARGIN.left - MARGIN.right;
}

function colour(index: number): string {
  return `var(--series-${index % COLOURS.length})`;
}

function variables(scheme: 0 | 1): string {
  return COLOURS.map((pair, i) => `--series-${i}: ${pair[scheme]};`).join(' ');
}
