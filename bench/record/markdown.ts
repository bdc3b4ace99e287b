// Makes tables of Markdown pages and replaces text between markers in them, for page.ts, `bench ladder` and `npm run
// generate`.

export interface Column {
  readonly header: string;
  readonly isNumber?: boolean;
}

export function markdownTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const head = columns.map(({ header }) => header);
  const rule = columns.map(({ isNumber }) => (isNumber ? '---:' : '---'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Headers of which all but the first `texts` are numbers. */
export function columnsOf(headers: readonly string[], texts = 1): Column[] {
  return headers.map((header, i) => ({ header, isNumber: i >= texts }));
}

/** The document with the text between the two markers of this name replaced. */
export function betweenMarkers(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from === -1 || to < from) throw new Error(`the document has no ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Three significant digits, the precision of a measurement; JSON has null where nothing was measured. */
export function short(value: number | null): string {
  if (value === null) return '';
  if (value >= 100) return whole(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
