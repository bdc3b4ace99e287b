// Fields of an event as plain JSON of a bounded size. Errors, bigints, maps and sets become what is in them; bytes
// become their number. What does not fit is cut and marked, so that one long text costs itself and never the whole
// line. Used by logger.ts, event-log.ts and api/event-stream.ts.

import { excerpt, isLongerThan, printable } from '../model/index.ts';

export interface FieldLimits {
  /** All fields together, in bytes as a line has them. */
  readonly bytes: number;
  /** One text, in UTF-8 bytes. */
  readonly textBytes: number;
}

type Fields = Readonly<Record<string, unknown>>;

export function plainFields(fields: Fields, limits: FieldLimits): Record<string, unknown> {
  return new FieldWriter(limits).entries(Object.entries(fields), 0);
}

/** Deeper values are replaced by their type; only cyclic values nest this deep. */
const MAX_DEPTH = 8;

/** Replaces a text that does not fit at all. */
const CUT = '…';
/** Room for the marks of what was cut, on every level. */
const MARK_BYTES = 64;

class FieldWriter {
  readonly #textBytes: number;
  #left: number;

  constructor({ bytes, textBytes }: FieldLimits) {
    this.#left = bytes - MARK_BYTES * (MAX_DEPTH + 1);
    this.#textBytes = textBytes;
  }

  entries(all: readonly (readonly [unknown, unknown])[], depth: number): Record<string, unknown> {
    const plain: [string, unknown][] = [];
    for (const [i, [key, value]] of all.entries()) {
      if (this.#left <= 0) {
        plain.push([CUT, `${all.length - i} more`]);
        break;
      }
      const name = this.#text(String(key));
      plain.push([name, this.#value(value, depth)]);
    }
    return Object.fromEntries(plain);
  }

  #list(all: readonly unknown[], depth: number): unknown[] {
    const plain: unknown[] = [];
    for (const [i, value] of all.entries()) {
      if (this.#left <= 0) {
        plain.push(`${CUT} ${all.length - i} more`);
        break;
      }
      plain.push(this.#value(value, depth));
    }
    return plain;
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'bigint') return this.#text(String(value));
    if (typeof value === 'number' && !Number.isFinite(value)) return this.#text(String(value));
    if (typeof value !== 'object' || value === null || value instanceof Date) {
      this.#left -= NUMBER_BYTES;
      return value;
    }
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return this.#text(`<${value.byteLength} bytes>`);
    if (depth === MAX_DEPTH) return this.#text('<more>');
    this.#left -= 2;
    if (value instanceof Error) return this.entries(errorEntries(value), depth + 1);
    if (Array.isArray(value) || value instanceof Set) return this.#list([...value], depth + 1);
    return this.entries(value instanceof Map ? [...value] : Object.entries(value), depth + 1);
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(this.#left, this.#textBytes));
    if (!isLongerThan(text, most) && this.#fits(text)) return text;
    // Escapes make a text up to seven times as long.
    for (const bytes of [most, Math.floor(most / 8)]) {
      const cut = excerpt(text, bytes);
      if (this.#fits(cut)) return cut;
    }
    this.#left = 0;
    return CUT;
  }

  /** Takes the room for a text, if there is enough. */
  #fits(text: string): boolean {
    const bytes = lineBytes(text);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** The longest number, or a date, with its comma. */
const NUMBER_BYTES = 28;

/** Of a text in a line of either form, with quotes and comma. */
function lineBytes(text: string): number {
  return Buffer.byteLength(printable(JSON.stringify(text))) + 1;
}

function errorEntries(error: Error): readonly (readonly [string, unknown])[] {
  const { name, message, stack, cause } = error;
  const own = Object.entries(error).filter(([key]) => key !== 'name' && key !== 'cause');
  const last: readonly (readonly [string, unknown])[] = cause === undefined ? [] : [['cause', cause]];
  return [['name', name], ['message', message], ...own, ['stack', stack], ...last];
}
