// Parts of the page: sections, tables and paragraphs, with every text escaped.

import { escaped } from '../web/plot.ts';

export function section(title: string, parts: readonly string[]): string {
  return [`<h2>${escaped(title)}</h2>`, ...parts.filter((part) => part !== '')].join('\n');
}

export function paragraphs(texts: readonly string[], kind: 'warning' | 'soft'): string {
  return texts.map((text) => `<p class="${kind}">${escaped(text)}</p>`).join('\n');
}

/** `right` says which columns have numbers. */
export function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string {
  const cell = (tag: 'td' | 'th') => (text: string, i: number) =>
    `<${tag}${right.includes(i) ? ' class="number"' : ''}>${escaped(text)}</${tag}>`;
  const lines = rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`);
  return `<div class="scroll" tabindex="0"><table><tr>${headers.map(cell('th')).join('')}</tr>\n${lines.join('\n')}</table></div>`;
}

/** Columns `first` to `last`. */
export function numbers(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
