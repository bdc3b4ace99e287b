// Lines of the live screen (screen.ts, supply-lines.ts), composed of spans of one style each. Widths are those of the
// texts; colour is applied last, so that escape sequences are never measured.

import { printable } from '../../model/index.ts';
import { type Paint, type Style, shorten } from '../table.ts';

export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type Line = readonly Span[];

/** A span whose control characters are escaped, so that a name in it cannot affect the terminal. */
export function piece(text: string, style?: Style): Span {
  return { text: printable(text), style };
}

export function title(text: string): Line {
  return [piece(text, 'underline')];
}

/** A name of at most `width` characters, with room behind it. */
export function padCut(text: string, width: number): string {
  return text.length < width ? text.padEnd(width) : `${text.slice(0, width - 2)}… `;
}

function widthOf(line: Line): number {
  return line.reduce((width, { text }) => width + text.length, 0);
}

/** At most `width` wide; what is too long ends in …. */
function cut(line: Line, width: number): Line {
  if (widthOf(line) <= width) return line;
  const kept: Span[] = [];
  let left = width;
  for (const span of line) {
    if (left <= 0) break;
    // The … also replaces everything that follows, so a span that just fits loses its last character.
    const isWhole = span.text.length < left;
    kept.push(isWhole ? span : { ...span, text: shorten(`${span.text} `, left) });
    left -= span.text.length;
  }
  return kept;
}

/** Exactly `width` wide. */
export function padded(line: Line, width: number): Line {
  const fitted = cut(line, width);
  return [...fitted, { text: ' '.repeat(width - widthOf(fitted)) }];
}

/** Columns of lines side by side; the shorter ones are filled up. */
export function sideBySide(
  left: readonly Line[],
  right: readonly Line[],
  leftWidth: number,
  gap: number,
): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [
    ...padded(left[i] ?? [], leftWidth),
    { text: ' '.repeat(gap) },
    ...(right[i] ?? []),
  ]);
}

export function painted(line: Line, width: number, paint: Paint): string {
  return cut(line, width)
    .map(({ text, style }) => (style === undefined || text === '' ? text : paint(style, text)))
    .join('')
    .trimEnd();
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of `width` characters, filled to `share`; a share above 0 shows at least an eighth of a character. */
export function bar(share: number, width: number, style: Style): Line {
  const eighths = Math.min(width * 8, Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8)));
  const filled = '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
  return [
    { text: filled, style },
    { text: '·'.repeat(width - filled.length), style: 'dim' },
  ];
}

/** Marks of the parts of a bar, which differ without colour too. */
const MARKS = { served: '█', coming: '▒', unmet: '░' } as const;

/**
 * A bar of `width` characters for all that is wanted: what is served, what is coming, what is unmet. A part above 0
 * has at least one character, so that a bar of one mark means that there is no other part. While a Need is unmet, no part
 * is green.
 */
export function servedBar(
  { served, coming, unmet }: { readonly served: number; readonly coming: number; readonly unmet: number },
  width: number,
  isShort: boolean,
): Line {
  if (served + coming + unmet === 0) return [{ text: '·'.repeat(width), style: 'dim' }];
  const cells = (share: number): number => (share > 0 ? Math.max(1, Math.round(share * width)) : 0);
  const others = width - (served > 0 ? 1 : 0);
  const missing = Math.min(others - (coming > 0 ? 1 : 0), cells(unmet));
  const soon = Math.min(others - missing, cells(coming));
  return [
    { text: MARKS.served.repeat(width - missing - soon), style: isShort ? 'yellow' : 'green' },
    { text: MARKS.coming.repeat(soon), style: 'cyan' },
    { text: MARKS.unmet.repeat(missing), style: 'red' },
  ];
}
