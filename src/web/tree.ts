// The tree of plain data that the page is rendered to, and functions that build it. Built by view.ts and
// history-view.ts, written into the document by page/dom.ts.

import { cutText } from './figures.ts';

export interface TreeElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Tree[];
}

export type Tree = TreeElement | string;

export function element(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Tree[]
): TreeElement {
  return { tag, attributes, children };
}

export function row(...cells: readonly (Tree | readonly Tree[])[]): TreeElement {
  const [first, ...rest] = cells.map((cell) => (Array.isArray(cell) ? cell : [cell]) as readonly Tree[]);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, ...(first ?? [])),
    ...rest.map((cell) => element('td', {}, ...cell)),
  );
}

/** A last item that says how much of a list is not shown; none if all of it is. */
export function leftOut(shown: number, total: number, noun: string, order: string): readonly Tree[] {
  const words = cutText(shown, total, noun, order);
  return words === '' ? [] : [element('li', { class: 'quiet' }, words)];
}

/** A last row of a table that says how much of it is not shown; none if all of it is. */
export function leftOutRow(shown: number, total: number, noun: string, order: string): readonly Tree[] {
  const words = cutText(shown, total, noun, order);
  return words === '' ? [] : [element('tr', {}, element('td', { class: 'quiet', colspan: '9' }, words))];
}
