// The state of `bigfleet top` and what keys do to it; independent of terminal and shard. screen.ts renders it, command.ts
// fills it.

import type { StatusView } from '../../shard/index.ts';
import type { DescribedSubject } from '../remote/describe.ts';
import type { Cell, Column } from '../table.ts';

export const LISTS = [
  'machines',
  'needs',
  'clusters',
  'actions',
  'shortfalls',
  'providers',
  'events',
] as const;
export type ListName = (typeof LISTS)[number];

/** A screen shows some dozens; of longer lists a filter is sent to the shard too. */
export const MAX_ROWS = 1000;

export interface TopRow {
  readonly cells: readonly Cell[];
  /** What Enter opens; null: nothing. */
  readonly subject: DescribedSubject | null;
}

export interface TopList {
  readonly name: ListName;
  readonly columns: readonly Column[];
  readonly rows: readonly TopRow[];
  readonly total: number;
  /** Set if the rows are the first ones and those that the shard found for the filter: by what it searched. */
  readonly searchedBy?: string;
}

export interface TopModel {
  readonly url: string;
  readonly status: StatusView | null;
  readonly list: ListName;
  /** Of `list`; null until it is read. */
  readonly content: TopList | null;
  /** Index among the rows that the filter leaves. */
  readonly cursor: number;
  readonly filter: string;
  readonly isTyping: boolean;
  /** Lines of what was opened; null: the list is shown. */
  readonly detail: { readonly lines: readonly string[]; readonly top: number } | null;
  /** A problem of the last read; '' if there was none. */
  readonly problem: string;
}

export const EMPTY: Omit<TopModel, 'url'> = {
  ...{ status: null, list: 'machines', content: null, cursor: 0, filter: '' },
  ...{ isTyping: false, detail: null, problem: '' },
};

export function wordsOf(filter: string): readonly string[] {
  return filter.split(/\s+/).filter((word) => word !== '');
}

/** Rows that contain all words of the filter, in any case. */
export function shownRows({ content, filter }: TopModel): readonly TopRow[] {
  const words = wordsOf(filter.toLowerCase());
  if (content === null) return [];
  if (words.length === 0) return content.rows;
  return content.rows.filter(({ cells }) => {
    const text = cells
      .map((cell) => cell.text)
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function withContent(model: TopModel, content: TopList): TopModel {
  if (content.name !== model.list) return model;
  const next = { ...model, content, problem: '' };
  return { ...next, cursor: within(model.cursor, shownRows(next).length) };
}

function within(cursor: number, count: number): number {
  return Math.max(0, Math.min(cursor, count - 1));
}

/** A key as node:readline names it. */
export interface PressedKey {
  readonly name: string;
  readonly text: string;
  readonly ctrl: boolean;
}

export interface KeyResult {
  readonly model: TopModel;
  /** `quit`, or something to open. */
  readonly wants: 'quit' | DescribedSubject | null;
}

/** `page`: rows that fit the screen. */
export function pressed(model: TopModel, key: PressedKey, page: number): KeyResult {
  if (key.ctrl && (key.name === 'c' || key.name === 'd')) return { model, wants: 'quit' };
  if (model.isTyping) return { model: typed(model, key), wants: null };
  if (key.name === 'q') return { model, wants: 'quit' };
  if (model.detail !== null) return { model: inDetail(model, key, page), wants: null };
  if (key.name === 'return' || key.name === 'enter')
    return { model, wants: shownRows(model)[model.cursor]?.subject ?? null };
  if (key.text === '/') return { model: { ...model, isTyping: true }, wants: null };
  if (key.name === 'escape') return { model: { ...model, filter: '', cursor: 0 }, wants: null };
  const list = listFor(model.list, key);
  if (list !== null) return { model: { ...model, list, content: null, cursor: 0, filter: '' }, wants: null };
  const step = stepOf(key, page);
  if (step === null) return { model, wants: null };
  return { model: { ...model, cursor: within(model.cursor + step, shownRows(model).length) }, wants: null };
}

function typed(model: TopModel, { name, text, ctrl }: PressedKey): TopModel {
  if (name === 'return' || name === 'enter') return { ...model, isTyping: false };
  if (name === 'escape') return { ...model, isTyping: false, filter: '', cursor: 0 };
  if (name === 'backspace') return { ...model, filter: model.filter.slice(0, -1), cursor: 0 };
  if (ctrl || !/^[\x20-\x7e]$/.test(text)) return model;
  return { ...model, filter: model.filter + text, cursor: 0 };
}

function inDetail(model: TopModel, key: PressedKey, page: number): TopModel {
  const { lines, top } = model.detail!;
  if (['escape', 'backspace', 'left', 'h', 'return', 'enter'].includes(key.name))
    return { ...model, detail: null };
  const step = stepOf(key, page);
  if (step === null) return model;
  return { ...model, detail: { lines, top: Math.max(0, Math.min(top + step, lines.length - page)) } };
}

/** Tab and the arrows go to the next list, a digit to that list. */
function listFor(now: ListName, { name, text }: PressedKey): ListName | null {
  const at = LISTS.indexOf(now);
  if (name === 'tab' || name === 'right' || name === 'l') return LISTS[(at + 1) % LISTS.length]!;
  if (name === 'left' || name === 'h') return LISTS[(at + LISTS.length - 1) % LISTS.length]!;
  return /^[1-9]$/.test(text) ? (LISTS[Number(text) - 1] ?? null) : null;
}

const FAR = 1_000_000;

function stepOf({ name, text }: PressedKey, page: number): number | null {
  if (text === 'G' || name === 'end') return FAR;
  switch (name) {
    case 'down':
    case 'j':
      return 1;
    case 'up':
    case 'k':
      return -1;
    case 'pagedown':
    case 'space':
      return page;
    case 'pageup':
      return -page;
    case 'home':
    case 'g':
      return -FAR;
    default:
      return null;
  }
}
