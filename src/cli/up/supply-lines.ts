// The part of the live screen (screen.ts) that sets supply against demand: for each kind of hardware a line on its
// Needs, and a bar for each of its resources.

import { type SupplyGroup, type SupplyRow, supplyGroups } from '../../web/index.ts';
import { type Line, padCut, piece, servedBar, title } from './spans.ts';

/** Width of the names in front of figures and bars. */
export const LABEL = 10;
/** Rows of one kind of hardware, where there are two kinds. */
const ROWS_OF_KIND = { one: 3, general: 2, accelerated: 1 } as const;

/** Served, of what is wanted: by kind of hardware, since one kind's spare capacity is of no use to the other. */
export function hardwareLines(status: Parameters<typeof supplyGroups>[0], width: number): readonly Line[] {
  const groups = supplyGroups(status);
  if (groups.length === 0) return [title('Served, of what is wanted')];
  const shown = groups.map((group) => ({ ...group, rows: rowsOf(group, groups.length) }));
  // Bars have one width, however long the figures behind them are.
  const figures = Math.max(
    0,
    ...shown.flatMap(({ rows }) => rows.map(({ shortText }) => shortText.length + 1)),
  );
  return shown.flatMap((group) => [
    kindLine(group, width),
    ...group.rows.map((row) => supplyLine(row, group.isShort, width - LABEL - figures)),
  ]);
}

/** Leaves out the word "Needs" where there is little room; the headline has it. */
function kindLine({ title: name, needText, isShort, usedText }: SupplyGroup, width: number): Line {
  const used = usedText === '' ? '' : `, ${usedText}`;
  const isTight = name.length + 1 + needText.length + used.length > width;
  const words = isTight ? needText.replace(/ Needs?/, '') : needText;
  return [...title(name), piece(` ${words}`, isShort ? 'red' : undefined), piece(used, 'dim')];
}

function rowsOf({ rows }: SupplyGroup, groups: number): readonly SupplyRow[] {
  if (groups === 1) return rows.slice(0, ROWS_OF_KIND.one);
  const accelerators = rows.filter(({ isAccelerator }) => isAccelerator);
  if (accelerators.length > 0) return accelerators.slice(0, ROWS_OF_KIND.accelerated);
  return rows.slice(0, ROWS_OF_KIND.general);
}

function supplyLine({ name, shortText, ...shares }: SupplyRow, isShort: boolean, barWidth: number): Line {
  return [
    piece(padCut(name, LABEL)),
    ...servedBar(shares, Math.max(4, barWidth), isShort),
    piece(` ${shortText}`),
  ];
}
