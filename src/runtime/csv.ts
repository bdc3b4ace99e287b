// Tables as CSV (RFC 4180), for spreadsheets. Used by the API (cost-csv.ts) and by `-o csv` of commands.

export type Cell = string | number;

/** Lines end with CRLF, as the format has it. */
export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${csvLine(cells)}\r\n`).join('');
}

/** Without an end of line. */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(cellOf).join(',');
}

/** Amounts of money too. */
const NUMBER = /^[+-]?\$?[\d,]+(?:\.\d+)?$/;

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe before it: names of clusters are chosen by others
 * than the reader.
 */
function cellOf(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const isFormula = /^[=+\-@\t\r]/.test(cell) && !NUMBER.test(cell);
  const text = isFormula ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
