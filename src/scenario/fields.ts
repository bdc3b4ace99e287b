// Reads fields of untyped values and collects all problems, each with its path. An invalid field yields its default and
// a problem, so one pass over a file finds all of its problems.

import {
  BigFleetError,
  type ErrorCode,
  type Problem,
  parseQuantity,
  printable,
  type ResourceVector,
  type Rounding,
} from '../model/index.ts';

export interface NumberRule {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

export const INT32: NumberRule = { min: -(2 ** 31), max: 2 ** 31 - 1, integer: true };

/** One object of the input. The caller reads its fields, then calls `done()`, which refuses all fields it did not read. */
export class Fields {
  readonly path: string;
  private readonly value: Readonly<Record<string, unknown>>;
  private readonly problems: Problem[];
  private readonly asked = new Set<string>();

  constructor(value: unknown, path: string, problems: Problem[]) {
    this.path = path;
    this.problems = problems;
    this.value = isObject(value) ? value : {};
    if (!isObject(value)) this.say('', `Expected an object, found ${describe(value)}.`);
  }

  at(field: string): string {
    return joinPath(this.path, field);
  }

  say(field: string, message: string, code: ErrorCode = 'BF_INPUT_INVALID'): void {
    this.problems.push({ code, path: field === '' ? this.path : this.at(field), message });
  }

  /** The raw value; null and a missing field both mean "not given". */
  raw(field: string): unknown {
    this.asked.add(field);
    return Object.hasOwn(this.value, field) ? (this.value[field] ?? undefined) : undefined;
  }

  has(field: string): boolean {
    return this.raw(field) !== undefined;
  }

  text(field: string, fallback = ''): string {
    const value = this.raw(field);
    if (value === undefined || typeof value === 'string') return value ?? fallback;
    this.say(field, `Expected text, found ${describe(value)}.${quoteHint(value)}`);
    return fallback;
  }

  flag(field: string, fallback: boolean): boolean {
    const value = this.raw(field);
    if (value === undefined || typeof value === 'boolean') return value ?? fallback;
    this.say(field, `Expected true or false, found ${describe(value)}.`);
    return fallback;
  }

  number(field: string, fallback: number, rule: NumberRule = {}): number {
    const value = this.raw(field);
    if (value === undefined) return fallback;
    if (typeof value !== 'number') {
      this.say(field, `Expected a number, found ${describe(value)}.`);
      return fallback;
    }
    const { min = -Infinity, max = Infinity, integer = false } = rule;
    if (value >= min && value <= max && (!integer || Number.isInteger(value))) return value;
    this.say(field, `Expected ${describeRule(rule)}, found ${value}.`);
    return fallback;
  }

  /** Milliseconds since 1970 from RFC 3339 text or a number; the fallback if absent or wrong. */
  time<T>(field: string, fallback: T): number | T {
    const value = this.raw(field);
    if (value === undefined) return fallback;
    const ms = typeof value === 'string' ? parseTime(value) : value;
    if (typeof ms === 'number' && Number.isFinite(ms)) return ms;
    this.say(field, `Expected RFC 3339 time or milliseconds, found ${describe(value)}.`);
    return fallback;
  }

  /** Quantities by resource name; a number counts as its text. */
  resources(field: string, rounding: Rounding): ResourceVector {
    const vector = new Map<string, number>();
    for (const [name, value] of this.entries(field)) {
      const path = joinPath(this.at(field), name);
      if (name === '') {
        this.problems.push({
          code: 'BF_RESOURCE_NAME',
          path: this.at(field),
          message: 'A resource has no name.',
        });
      }
      const units = this.quantity(value, name, path, rounding);
      if (units !== undefined) vector.set(name, units);
    }
    return vector;
  }

  private quantity(value: unknown, name: string, path: string, rounding: Rounding): number | undefined {
    if (typeof value !== 'string' && typeof value !== 'number') {
      const message = `Expected a quantity, found ${describe(value)}.`;
      this.problems.push({ code: 'BF_QUANTITY_SYNTAX', path, message });
      return undefined;
    }
    try {
      return parseQuantity(String(value), name, rounding);
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.problems.push(...error.problems.map((problem) => ({ ...problem, path })));
      return undefined;
    }
  }

  /** Text by name, such as labels. */
  texts(field: string): ReadonlyMap<string, string> {
    const map = new Map<string, string>();
    const parts = this.map(field);
    for (const name of parts?.names() ?? []) map.set(name, parts?.text(name) ?? '');
    return map;
  }

  /** A list of texts; undefined if not given. */
  textList(field: string): readonly string[] | undefined {
    if (!this.has(field)) return undefined;
    const texts: string[] = [];
    this.list(field).forEach((value, i) => {
      if (typeof value === 'string') texts.push(value);
      else this.say(`${field}[${i}]`, `Expected text, found ${describe(value ?? null)}.${quoteHint(value)}`);
    });
    return texts;
  }

  list(field: string): readonly unknown[] {
    const value = this.raw(field);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value as readonly unknown[];
    this.say(field, `Expected a list, found ${describe(value)}.`);
    return [];
  }

  /** The objects of a list, each with its own path. */
  objects(field: string): readonly Fields[] {
    return this.list(field).map((value, i) => new Fields(value, `${this.at(field)}[${i}]`, this.problems));
  }

  /** An object inside this one; undefined if not given. */
  map(field: string): Fields | undefined {
    const value = this.raw(field);
    return value === undefined ? undefined : new Fields(value, this.at(field), this.problems);
  }

  private entries(field: string): readonly (readonly [string, unknown])[] {
    const parts = this.map(field);
    return parts === undefined ? [] : Object.entries(parts.value);
  }

  names(): readonly string[] {
    return Object.keys(this.value);
  }

  /** Refuses every field that was not read, so that a misspelt name does not silently fall back to a default. */
  done(): void {
    for (const name of this.names()) {
      if (this.asked.has(name)) continue;
      this.say(name, `Unknown field; known here: ${[...this.asked].join(', ')}.`);
    }
  }
}

function joinPath(path: string, field: string): string {
  if (path === '') return field;
  // Names with dots or slashes are put in brackets, which keeps paths unambiguous.
  return /^[\w-]+(\[\d+\])?$/.test(field) ? `${path}.${field}` : `${path}[${JSON.stringify(field)}]`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value found, shortened for a message. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `the ${typeof value} ${String(value as number | boolean)}`;
  return printable(JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value));
}

function quoteHint(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? ` Write "${value}" in quotes.` : '';
}

function describeRule({ min, max, integer = false }: NumberRule): string {
  const kind = integer ? 'a whole number' : 'a number';
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
  if (min !== undefined) return `${kind} of at least ${min}`;
  return max === undefined ? kind : `${kind} of at most ${max}`;
}

const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 text as milliseconds, sub-millisecond fractions truncated; undefined if it is not such a time. */
function parseTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, day = '', clock = '', fraction = '', zone = ''] = match;
  const utc = Date.parse(`${day}T${clock}Z`);
  // Date.parse turns 30 February into a day in March; such a date does not round-trip.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== day) return undefined;
  const ms = Date.parse(`${day}T${clock}.${`${fraction}000`.slice(0, 3)}${zone.toUpperCase()}`);
  return Number.isNaN(ms) ? undefined : ms;
}
