// Renders the live screen of `bigfleet up`, which terminal.ts draws, as lines of text from a model and a size;
// independent of terminal, clock and shard. It fits 80 × 24; more room goes to actions first, then to shortfalls and to
// a table of clusters.

import {
  byTrouble,
  costByState,
  count,
  counted,
  cutText,
  DEMO_SCENARIOS,
  failedText,
  frozenClusterText,
  headline,
  heldBackText,
  heldOnPurpose,
  isFrozen,
  isInTrouble,
  type Live,
  latestSentences,
  type Mood,
  machinesIn,
  milliseconds,
  missingText,
  moment,
  ownedText,
  perHour,
  plannedText,
  providerText,
  resampled,
  STATES,
  span,
  sparkline,
  unmetSinceText,
  WHAT_IT_IS,
} from '../../web/index.ts';
import type { Paint, Style } from '../table.ts';
import { bar, type Line, padCut, padded, painted, piece, sideBySide, title } from './spans.ts';
import { hardwareLines, LABEL } from './supply-lines.ts';

export interface ScreenModel {
  readonly live: Live;
  /** Of the web page; '' until there is one. */
  readonly url: string;
  /** The command that starts this program, for hints. */
  readonly call: string;
  /** Steps of the start-up, oldest first. */
  readonly steps: readonly string[];
  /** What the last key did; '' after a while. */
  readonly notice: string;
}

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
}

type Status = NonNullable<Live['status']>;

/** Lines from here on also get a table of clusters. */
const TALL = 34;
/** Least width for two columns; on a narrower screen their right end is cut. */
const NARROW = 60;
const GAP = 2;
/** Lines of the tables of clusters and of Failed machines. */
const MAX_CLUSTER_LINES = 8;
const MAX_FAILED_LINES = 3;
/** Dollars per hour of machines in a state; they add up to the cost. */
const COST = 9;

/** At most `height` lines of at most `width` characters; keys come last. */
export function renderScreen(model: ScreenModel, { width, height, paint }: ScreenSize): readonly string[] {
  const top = [titleLine(model), ...headlineLines(model, width)];
  const bottom = [noticeLine(model), keyLine(model)].filter((line) => line.length > 0);
  const room = Math.max(0, height - top.length - bottom.length);
  const { status } = model.live;
  const middle = status === null ? stepLines(model) : statusLines(status, model, width, room);
  const body = [...top, ...filled(middle, room)].slice(0, Math.max(0, height - bottom.length));
  return [...body, ...bottom.slice(-height)].map((line) => painted(line, width, paint));
}

function filled(lines: readonly Line[], room: number): readonly Line[] {
  return Array.from({ length: room }, (_, i) => lines[i] ?? []);
}

/** The address precedes the optional parts, so that it is not cut. */
function titleLine({ live: { status }, url }: ScreenModel): Line {
  const parts = [url];
  if (status !== null) {
    const cycle = status.cycle;
    if (cycle !== null) parts.push(`cycle ${count(cycle.number)}: ${milliseconds(cycle.durationMs)}`);
    parts.push(`shard ${status.shard}`, `up ${span(status.nowMs - status.startedMs)}`);
  }
  return [piece('BigFleet', ['bold', 'cyan']), piece(parts.map((part) => `  ${part}`).join(''), 'dim')];
}

/** Two lines: a headline that needs both leaves none for what BigFleet is. */
function headlineLines({ live }: ScreenModel, width: number): readonly Line[] {
  const text = headline(live.status, live.shortfalls, isFrozen(live));
  const end = text.length <= width ? -1 : text.lastIndexOf(' ', width);
  if (end <= 0) return [[piece(text, 'bold')], [piece(WHAT_IT_IS, 'dim')]];
  return [[piece(text.slice(0, end), 'bold')], [piece(text.slice(end + 1), 'bold')]];
}

function noticeLine({ live, notice }: ScreenModel): Line {
  const { remark } = live;
  if (notice !== '') return [piece(notice, 'cyan')];
  if (remark === null) return [];
  const { atMs, level, text } = remark;
  return [
    piece(`${moment(atMs, live.status?.nowMs ?? atMs)} `, 'dim'),
    piece(text, level === 'error' ? 'red' : 'yellow'),
  ];
}

function keyLine({ live }: ScreenModel): Line {
  const keys = [
    ...DEMO_SCENARIOS.map(({ key, label }) => [key, label] as const),
    ['f', isFrozen(live) ? 'unfreeze' : 'freeze'] as const,
    ['q', 'quit'] as const,
  ];
  return keys.flatMap(([key, label], i) => [
    piece(`${i === 0 ? '' : '  '}${key}`, 'bold'),
    piece(` ${label}`, 'dim'),
  ]);
}

function stepLines({ steps }: ScreenModel): readonly Line[] {
  return steps.map((step) => [piece(step)]);
}

function statusLines(status: Status, model: ScreenModel, width: number, room: number): readonly Line[] {
  const { live } = model;
  const half = Math.floor((Math.max(width, NARROW) - GAP) / 2);
  const overview = sideBySide(
    machineLines(status, half),
    supplyLines(status, live, Math.max(width, NARROW) - GAP - half),
    half,
    GAP,
  );
  const clusters = room >= TALL ? [[], ...failedLines(live), ...clusterLines(live)] : [];
  const left = room - overview.length - clusters.length;
  // The title and the hint come with them.
  const wanted = live.shortfalls.length === 0 ? 0 : live.shortfalls.length + 2;
  const missing = missingLines(model, Math.min(wanted, Math.max(4, Math.floor(left / 3))));
  const plan = planLines(status, model, Math.floor((left - missing.length) / 2));
  const actions = actionLines(live, left - missing.length - plan.length);
  return [...overview, ...actions, ...plan, ...missing, ...clusters];
}

/** Actions that a freeze or a dry run holds back; those that the shard itself defers for a moment would flicker. */
function planLines(
  { cycle }: Status,
  { live: { plan }, url, call }: ScreenModel,
  room: number,
): readonly Line[] {
  const heldBack = cycle?.heldBack ?? [];
  const clusters = plan?.frozenClusters ?? [];
  if (room < 2 || (heldOnPurpose(heldBack).length === 0 && clusters.length === 0)) return [];
  const total = heldBack.reduce((sum, held) => sum + held.total, 0);
  const items = plan?.actions.items ?? [];
  const fits = Math.max(0, room - 1 - clusters.length);
  // The hint gets its own line: a truncated command cannot be copied.
  const shown = items.slice(0, total > fits ? Math.max(0, fits - 1) : fits);
  const cut = cutText(shown.length, total, 'action', 'most urgent first');
  return [
    [
      ...title(cut === '' ? 'What would be done' : `What would be done: ${cut}`),
      piece(items[0] === undefined ? '' : `  (${heldBackText(items[0].why, items[0].freeze)})`, 'dim'),
    ],
    ...(cut === '' ? [] : [[piece(`${call} get plan --shard ${url}`, 'dim')]]),
    ...clusters.map((frozen): Line => [piece(frozenClusterText(frozen), 'yellow')]),
    ...shown.map((planned): Line => [piece(plannedText(planned), 'yellow')]),
  ].slice(0, room);
}

const STATE_STYLES: Readonly<Record<string, Style>> = {
  CONFIGURED: 'green',
  IDLE: 'blue',
  DRAINING: 'yellow',
  DELETING: 'yellow',
  FAILED: 'red',
};

/** Machines that can be bought have no bar: it would dwarf those that exist. */
function machineLines(status: Status, width: number): readonly Line[] {
  const counts = STATES.map((each) => ({ ...each, machines: machinesIn(status, each.state) }));
  const there = counts.filter(({ state }) => state !== 'SPECULATIVE');
  const most = Math.max(1, ...there.map(({ machines }) => machines));
  const costs = costByState(status.cost);
  const figure = 8;
  const cost = Math.max(COST, ...[...costs.values()].map((text) => text.length + 1));
  const barWidth = width - LABEL - figure - cost;
  return [
    title('Machines'),
    ...counts.map(({ state, label, machines }): Line => {
      const style = STATE_STYLES[state] ?? 'cyan';
      const bars =
        state === 'SPECULATIVE' ? [piece('not bought', 'dim')] : bar(machines / most, barWidth, style);
      return [
        piece(label.padEnd(LABEL)),
        ...padded(bars, barWidth),
        piece(count(machines).padStart(figure)),
        piece((costs.get(state) ?? '').padStart(cost), 'dim'),
      ];
    }),
  ];
}

function supplyLines(status: Status, live: Live, width: number): readonly Line[] {
  const providers = [...status.providers].sort(byTrouble).slice(0, 2);
  const owned = ownedText(status.ownedCost);
  return [
    ...hardwareLines(status, width),
    costLine(status, live.series, width),
    ...unmetLines(status, live.series, width),
    ...(owned === '' ? [] : [[piece('owned'.padEnd(LABEL)), piece(owned.replace(' owned,', ''))]]),
    ...providers.map(
      (provider): Line => [
        piece(padCut(provider.name, LABEL)),
        piece(providerText(provider), isInTrouble(provider) ? 'red' : undefined),
        piece(`, ${counted(provider.machines, 'machine')}`, 'dim'),
      ],
    ),
    ...cutLine(providers.length, status.providers.length, 'provider', 'trouble first'),
    clusterLine(status, live),
  ];
}

function costLine(status: Status, series: Live['series'], width: number): Line {
  const words = `${perHour(status.costPerHour)}  `;
  const over = spanText(series);
  const room = Math.max(1, width - LABEL - words.length - over.length);
  return [
    piece('cost'.padEnd(LABEL)),
    piece(words, 'bold'),
    piece(
      sparkline(
        resampled(series, room, ({ costPerHour }) => costPerHour),
        room,
      ),
      'cyan',
    ),
    piece(over, 'dim'),
  ];
}

/** The time that the sparkline covers. */
function spanText(series: Live['series']): string {
  const [first] = series;
  return first === undefined ? '' : ` ${span(series.at(-1)!.atMs - first.atMs)}`;
}

/** Since when Needs have been unmet, with the course of the last hour; nothing if all were met. */
function unmetLines(status: Status, series: Live['series'], width: number): readonly Line[] {
  if (series.every(({ unmet }) => unmet === 0)) return [];
  const since = unmetSinceText(series, status.nowMs);
  const words = since === '' ? 'none now  ' : `${count(series.at(-1)!.unmet)} ${since}  `;
  const room = Math.max(1, width - LABEL - words.length);
  return [
    [
      piece('unmet'.padEnd(LABEL)),
      piece(words, since === '' ? undefined : 'yellow'),
      piece(
        sparkline(
          resampled(series, room, ({ unmet }) => unmet),
          room,
        ),
        'yellow',
      ),
    ],
  ];
}

function clusterLine(status: Status, { clusters }: Live): Line {
  const short = clusters.filter(({ unmet }) => unmet > 0).sort((a, b) => b.unmet - a.unmet);
  const away = status.clusters - status.sessions;
  const words =
    away > 0 ? `${count(away)} of ${count(status.clusters)} not connected` : `${count(status.clusters)}, `;
  const unmet = short.map(({ cluster, unmet }) => `${cluster} (${count(unmet)})`).join(', ');
  return [
    piece('clusters'.padEnd(LABEL)),
    piece(away > 0 ? `${words}${unmet === '' ? '' : ', '}` : words, away > 0 ? 'red' : undefined),
    unmet === '' ? piece(away > 0 ? '' : 'no Need is unmet', 'dim') : piece(`unmet: ${unmet}`, 'yellow'),
  ];
}

const MOOD_STYLES: Readonly<Record<Mood, Style | undefined>> = {
  doing: 'yellow',
  done: undefined,
  failed: 'red',
};

function actionLines(live: Live, room: number): readonly Line[] {
  if (room < 2) return [];
  const nowMs = live.status?.nowMs ?? 0;
  const lines = latestSentences(live, room - 1).map(
    ({ mood, text, atMs }): Line => [piece(`${moment(atMs, nowMs)} `, 'dim'), piece(text, MOOD_STYLES[mood])],
  );
  const shown = lines.length === 0 ? [[piece('no actions yet', 'dim')]] : lines;
  return [title('What is done, and why'), ...filled(shown, room - 1)];
}

function missingLines(
  { live: { shortfalls, status }, url, call }: ScreenModel,
  room: number,
): readonly Line[] {
  if (shortfalls.length === 0 || room < 3) return [];
  const total = Math.max(status?.shortfalls ?? 0, shortfalls.length);
  const shown = shortfalls.slice(0, room - 2);
  return [
    title(
      `What is missing: ${cutText(shown.length, total, 'shortfall', 'most urgent first') || counted(total, 'shortfall')}`,
    ),
    [piece(`${call} explain NEED --shard ${url}`, 'dim')],
    ...shown.map(
      (shortfall): Line => [
        piece(shortfall.id, shortfall.isEscalated ? 'red' : 'yellow'),
        piece(` lacks ${missingText(shortfall)}: ${shortfall.why}`),
      ],
    ),
  ];
}

/** A last line that says how much of a list is not shown; none if all of it is. */
function cutLine(shown: number, total: number, noun: string, order: string): readonly Line[] {
  const words = cutText(shown, total, noun, order);
  return words === '' ? [] : [[piece(words, 'dim')]];
}

/** The shard lists those in trouble first. */
function clusterLines({ clusters, clustersTotal }: Live): readonly Line[] {
  const shown = clusters.slice(0, MAX_CLUSTER_LINES);
  return [
    title('Clusters'),
    ...shown.map(
      (cluster): Line => [
        piece(padCut(cluster.cluster, 20)),
        piece(count(cluster.needs).padStart(7)),
        piece(' Needs', 'dim'),
        piece(`${count(cluster.unmet).padStart(6)} unmet`, cluster.unmet > 0 ? 'yellow' : 'dim'),
        piece(count(machinesIn(cluster, 'CONFIGURED')).padStart(7)),
        piece(' serving', 'dim'),
        piece(`${perHour(cluster.costPerHour).padStart(12)}  `),
        piece(cluster.ownedCost === null ? '' : `${perHour(cluster.ownedCost.perHour)} owned  `, 'dim'),
        piece(cluster.hasSession ? cluster.cannotBind : 'not connected', 'red'),
      ],
    ),
    ...cutLine(shown.length, clustersTotal, 'cluster', 'those in trouble first'),
  ];
}

function failedLines({ failed, failedTotal }: Live): readonly Line[] {
  if (failed.length === 0) return [];
  const shown = failed.slice(0, MAX_FAILED_LINES);
  return [
    title('Failed machines'),
    ...shown.map((machine): Line => [piece(failedText(machine), 'red')]),
    ...cutLine(shown.length, failedTotal, 'Failed machine', 'by name'),
  ];
}
