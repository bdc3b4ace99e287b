// Renders `bigfleet top` as lines from a model and a size; without a terminal, as plain text.

import { printable } from '../../model/index.ts';
import type { StatusView } from '../../shard/index.ts';
import { costPartText, count, milliseconds, moment, perHour, span } from '../../web/index.ts';
import { countText } from '../remote/wire-text.ts';
import { noPaint, type Paint, shorten, tableLines } from '../table.ts';
import { LISTS, MAX_ROWS, shownRows, type TopModel, type TopRow } from './model.ts';

interface TopSize {
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
}

const FACTS = 5;
/** A terminal with fewer lines shows the list without the facts. */
const SHORT = 16;
/** The title, an empty line, the names of lists, a title and headers of the table, and the keys. */
const FRAME = 6;

function hasFacts(height: number): boolean {
  return height >= SHORT;
}

/** Rows of a list, or lines of a detail, that fit. */
export function pageOf(height: number): number {
  return Math.max(1, height - FRAME - (hasFacts(height) ? FACTS : 0));
}

export function topScreen(model: TopModel, { width, height, paint }: TopSize): readonly string[] {
  const cut = (text: string): string => shorten(text, width);
  const facts = hasFacts(height) ? factTexts(model.status) : [];
  const head = [titleLine(model, cut, paint), ...facts.map(cut)];
  const body =
    model.detail === null ? listLines(model, { width, height, paint }) : detailLines(model, height, width);
  const foot = footLine(model, cut, paint);
  const room = Math.max(0, height - head.length - 2);
  const filled = Array.from({ length: room }, (_, i) => body[i] ?? '');
  return [...head, '', ...filled, foot].slice(0, height);
}

/** Everything once, for a pipe or a file. */
export function topText(model: TopModel): string {
  const { content } = model;
  const rows = content?.rows ?? [];
  const table = tableLines(
    content?.columns ?? [],
    rows.map(({ cells }) => cells),
  );
  const total = content === null ? '' : listTitle(model, rows.length);
  const head = [
    titleLine(model, (text) => text, noPaint),
    ...factTexts(model.status).filter((text) => text !== ''),
  ];
  return `${[...head, '', total, ...table].join('\n')}\n`;
}

function titleLine({ status, url }: TopModel, cut: (text: string) => string, paint: Paint): string {
  if (status === null) return cut(`Reading ${url}`);
  const up = span(status.nowMs - status.startedMs);
  const dry = status.dryRun ? ', dry run: it carries out nothing' : '';
  return paint('bold', cut(printable(`${status.shard}  ${status.phase}${dry}, up ${up}, ${url}`)));
}

function factTexts(status: StatusView | null): readonly string[] {
  if (status === null) return Array.from({ length: FACTS }, () => '');
  const { cycle, cost } = status;
  const parts = costPartText(cost, 'part');
  const unmet = cycle?.unmet ?? 0;
  const texts = [
    `machines  ${count(status.machines)}: ${countText(status.machinesByState)}`,
    `cost      ${perHour(cost.perHour)}${parts === '' ? '' : `: ${parts}`}`,
    `demand    ${count(status.needs)} Needs of ${count(status.clusters)} clusters, ${count(status.sessions)} connected; ${count(unmet)} unmet, ${count(status.escalated)} escalated`,
    cycle === null
      ? 'cycle     none yet'
      : `cycle     ${count(cycle.number)}, ${moment(cycle.atMs, status.nowMs)}, ${milliseconds(cycle.durationMs)}; decided ${sum(cycle.decided)}, begun ${sum(cycle.admitted)}, held back ${sum(cycle.waiting)}`,
    status.freezes === 0 ? '' : `freezes   ${count(status.freezes)} in force`,
  ];
  return texts;
}

function sum(counts: Readonly<Record<string, number>>): string {
  return count(Object.values(counts).reduce((total, each) => total + each, 0));
}

function listLines(model: TopModel, { width, height, paint }: TopSize): readonly string[] {
  const names = LISTS.map((name, i) => {
    const text = `${i + 1} ${name}`;
    return name === model.list ? paint('inverse', text) : text;
  }).join('  ');
  const plainWidth = LISTS.map((name) => name.length + 2).reduce((all, each) => all + each + 2, 0);
  const tabs = plainWidth > width ? shorten(`${LISTS.indexOf(model.list) + 1} ${model.list}`, width) : names;
  if (model.content === null) return [tabs, 'Reading …'];
  const rows = shownRows(model);
  const page = pageOf(height);
  const first = Math.max(0, Math.min(model.cursor - Math.floor(page / 2), rows.length - page));
  const shown = rows.slice(first, first + page);
  const lines = rowLines(model, shown, width, paint);
  const marked = rowLines(model, shown, width, noPaint);
  // The first line has the headers.
  const selected = 1 + model.cursor - first;
  const table = lines.map((line, i) => (i === selected ? paint('inverse', marked[i]!.padEnd(width)) : line));
  return [tabs, shorten(listTitle(model, rows.length), width), ...(rows.length === 0 ? [] : table)];
}

function rowLines({ content }: TopModel, rows: readonly TopRow[], width: number, paint: Paint) {
  return tableLines(
    content!.columns,
    rows.map(({ cells }) => cells),
    { paint, width },
  );
}

/** `12 of 340 machines match "web"`. */
function listTitle({ content, list, filter }: TopModel, shown: number): string {
  const { rows, total, searchedBy } = content!;
  if (filter !== '' && searchedBy !== undefined)
    return `${count(shown)} of ${count(total)} ${list} match "${filter}", by ${searchedBy}, or by any column in the first ${count(MAX_ROWS)}`;
  const read =
    total > rows.length
      ? `the first ${count(rows.length)} of ${count(total)} ${list}`
      : `${count(rows.length)} ${list}`;
  return filter === '' ? read : `${count(shown)} of ${read} match "${filter}"`;
}

function detailLines({ detail }: TopModel, height: number, width: number): readonly string[] {
  const { lines, top } = detail!;
  return lines.slice(top, top + pageOf(height) + 2).map((line) => shortenPainted(line, width));
}

/** Described things are wrapped for the width already; a longer line has no colour behind its cut. */
function shortenPainted(line: string, width: number): string {
  return line.includes('\x1b') ? line : shorten(line, width);
}

function footLine(
  { isTyping, filter, detail, problem }: TopModel,
  cut: (text: string) => string,
  paint: Paint,
): string {
  if (problem !== '') return paint('red', cut(printable(problem)));
  if (isTyping) return cut(`/${filter}▏ enter keeps it, esc clears it`);
  if (detail !== null) return paint('dim', cut('j/k scroll  esc back  q quit'));
  return paint('dim', cut('j/k move  enter open  / filter  tab or 1-7 list  esc clear  q quit'));
}
