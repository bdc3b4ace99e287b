// The one validator of every text and JSON edge: zod schemas with the codes, paths and texts of this project. A schema is
// plain zod; this file turns its issues into problems, gives built-in checks one wording, and has the kinds of values that
// several edges read. Wire messages have their own strict decoder in src/wire.

import * as z from 'zod';
import {
  BigFleetError,
  type ErrorCode,
  excerpt,
  ok,
  type Problem,
  parseQuantity,
  printable,
  type ResourceVector,
  type Result,
  type Rounding,
  refused,
} from '../model/index.ts';
import { didYouMean } from './nearest.ts';

type RawIssue = z.core.$ZodRawIssue;
type UnknownFields = z.core.$ZodRawIssue<z.core.$ZodIssueUnrecognizedKeys>;

/** Reads a value. All problems are reported, in the order of the fields of the schema, unknown fields last. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, path = ''): Result<T> {
  const { success, data, error } = schema.safeParse(value, { error: textOf });
  return success ? ok(data) : refused(error.issues.flatMap((issue) => problemsOf(issue, path)));
}

/** The value; throws with a line for each problem. `what` names the value in the message. */
export function requireValid<T>(schema: z.ZodType<T>, value: unknown, code: ErrorCode, what: string): T {
  const result = validate(schema, value);
  if (result.ok) return result.value;
  const { problems } = result;
  const lines = problems.map(({ path, message }) => `\n  ${path === '' ? '' : `${path}: `}${message}`);
  throw new BigFleetError(code, `${what}:${lines.join('')}\n`, { problems });
}

/** Compiling a schema takes about 5 ms, which pays for itself from about this many records. */
const COMPILED_FROM = 1000;

/** The schema for the records of a list: compiled if the list is long. */
export function schemaFor<T extends z.ZodType>(schema: T, count: number): T {
  return count < COMPILED_FROM ? schema : z.compile(schema);
}

/**
 * Reads a record and passes it to `rules` although some of its fields may be invalid: those count as not given, so that
 * one pass over a file also finds what is wrong with the valid ones. `lenient` is the schema with its mandatory fields
 * optional. Appends to `problems`: invalid fields, then what `rules` appends, then unknown fields. Returns what `rules`
 * returns; undefined if the value is not an object.
 */
export function validateRecord<T, R>(
  { schema, lenient }: { readonly schema: z.ZodType<T>; readonly lenient: z.ZodType<T> },
  value: unknown,
  path: string,
  problems: Problem[],
  rules: (record: T) => R,
): R | undefined {
  const { success, data, error } = schema.safeParse(value, { error: textOf });
  if (success) return rules(data);
  const unknown = error.issues.filter((issue) => isUnknownField(issue));
  const invalid = error.issues.filter((issue) => !isUnknownField(issue));
  problems.push(...invalid.flatMap((issue) => problemsOf(issue, path)));
  let result: R | undefined;
  if (isObject(value)) {
    const wrong = new Set([
      ...invalid.map(({ path: [field] }) => field),
      ...unknown.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : [])),
    ]);
    const rest = lenient.safeParse(
      Object.fromEntries(Object.entries(value).filter(([field]) => !wrong.has(field))),
    );
    if (rest.success) result = rules(rest.data);
  }
  problems.push(...unknown.flatMap((issue) => problemsOf(issue, path)));
  return result;
}

/** An unknown field of the record itself; one of an object inside it is an ordinary problem of that field. */
function isUnknownField(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'unrecognized_keys' && issue.path.length === 0;
}

function problemsOf(issue: z.core.$ZodIssue, path: string): readonly Problem[] {
  const at = issue.path.reduce<string>(joinPath, path);
  const { message } = issue;
  if (issue.code !== 'unrecognized_keys') return [{ code: codeOf(issue), path: at, message }];
  const lines = message.split('\n');
  return issue.keys.map((key, i) => {
    return { code: 'BF_INPUT_INVALID', path: joinPath(at, key), message: lines[i] ?? message };
  });
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  const code: unknown = issue.code === 'custom' ? issue.params?.['code'] : undefined;
  return (code as ErrorCode | undefined) ?? 'BF_INPUT_INVALID';
}

/** Names with dots or slashes are put in brackets, which keeps paths unambiguous. */
export function joinPath(path: string, field: PropertyKey): string {
  if (typeof field === 'number') return `${path}[${field}]`;
  const name = excerpt(String(field));
  if (path === '') return name;
  return /^[\w-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** The text of a check of zod that has none of its own; undefined: zod's text. */
function textOf(issue: RawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const hint = issue.expected === 'string' ? quoteHint(issue.input) : '';
    return `Expected ${EXPECTED[issue.expected] ?? issue.expected}, found ${describe(issue.input)}.${hint}`;
  }
  if (issue.code === 'invalid_value') {
    return `Expected ${listText(issue.values.map(String))}, found ${describe(issue.input)}.`;
  }
  if (issue.code !== 'unrecognized_keys') return undefined;
  return unknownFieldsText(issue, {});
}

/** `texts`: by name of a field that is often expected, why there is none. */
function unknownFieldsText(issue: UnknownFields, texts: Readonly<Record<string, string>>): string {
  // One line for each key, which `problemsOf` takes apart: zod reports all of them as one issue.
  const known = Object.keys((issue.inst as z.ZodObject).shape);
  const text = `Unknown field; known here: ${known.join(', ')}.`;
  return issue.keys
    .map((key) => (Object.hasOwn(texts, key) ? texts[key] : text + didYouMean(key, known)))
    .join('\n');
}

/** Parameters of a strict object: says of fields that are often expected why there are none. */
export function refusedFields(texts: Readonly<Record<string, string>>) {
  return {
    error: (issue: RawIssue) =>
      issue.code === 'unrecognized_keys' ? unknownFieldsText(issue, texts) : undefined,
  };
}

/** `a, b or c`. */
export function listText(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An optional field with a default; null and an absent field both mean "not given". */
export function given<T extends z.ZodType, F>(type: T, fallback: F) {
  return type.nullish().transform((value): z.output<T> | F => value ?? fallback);
}

/** A field that must not be empty; absent counts as empty. */
export function mandatoryText(message: string, code: ErrorCode) {
  return given(z.string(), '').refine((text) => text !== '', { message, params: { code } });
}

interface NumberRule {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** A number within a range. The refusal names the whole range. */
export function numberIn(rule: NumberRule): z.ZodNumber {
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE, integer = false } = rule;
  const error = ({ input }: RawIssue) =>
    typeof input === 'number'
      ? `Expected ${describeRule(rule)}, found ${input}.`
      : `Expected a number, found ${describe(input)}.`;
  const type = z.number({ error }).min(min, { error }).max(max, { error });
  return integer ? type.int({ error }) : type;
}

function describeRule({ min, max, integer = false }: NumberRule): string {
  const kind = integer ? 'a whole number' : 'a number';
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
  if (min !== undefined) return `${kind} of at least ${min}`;
  return max === undefined ? kind : `${kind} of at most ${max}`;
}

/** A value that `read` understands; undefined is a refusal with the text of `refusal`. */
export function parsed<T>(
  read: (value: unknown) => T | undefined,
  refusal: (value: unknown) => string,
  code: ErrorCode = 'BF_INPUT_INVALID',
) {
  return z.unknown().transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', input: value, message: refusal(value), params: { code } });
    return z.NEVER;
  });
}

/** Milliseconds since 1970 from RFC 3339 text or a number. */
export const TIME = parsed(
  (value) => {
    const ms = typeof value === 'string' ? parseTime(value) : value;
    return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined;
  },
  (value) => `Expected RFC 3339 time or milliseconds, found ${describe(value)}.`,
);

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

const OBJECT = z.custom<Readonly<Record<string, unknown>>>(isObject, {
  error: ({ input }) => `Expected an object, found ${describe(input)}.`,
});

/**
 * Values by name, such as labels. Unlike z.record it keeps a name such as `__proto__`. `nameProblem` returns what is wrong
 * with a name.
 */
export function mapOf<T>(type: z.ZodType<T>, nameProblem?: (name: string) => string | undefined) {
  return OBJECT.transform((object, context): ReadonlyMap<string, T> => {
    const map = new Map<string, T>();
    for (const [name, value] of Object.entries(object)) {
      const { success, data, error } = type.safeParse(value, { error: textOf });
      if (success) map.set(name, data);
      for (const issue of error?.issues ?? []) {
        const { path, message } = issue;
        const params = { code: codeOf(issue) };
        context.issues.push({ code: 'custom', input: value, path: [name, ...path], message, params });
      }
      const message = nameProblem?.(name);
      if (message !== undefined) context.issues.push({ code: 'custom', input: name, path: [name], message });
    }
    return map;
  });
}

/** Quantities by resource name as exact integers of their unit; a number counts as its text. */
export function resources(rounding: Rounding) {
  return OBJECT.transform((object, context): ResourceVector => {
    const vector = new Map<string, number>();
    const refuse = (path: string[], input: unknown, message: string, code: ErrorCode) =>
      context.issues.push({ code: 'custom', path, input, message, params: { code } });
    for (const [name, value] of Object.entries(object)) {
      if (name === '') refuse([], value, 'A resource has no name.', 'BF_RESOURCE_NAME');
      if (typeof value !== 'string' && typeof value !== 'number') {
        refuse([name], value, `Expected a quantity, found ${describe(value)}.`, 'BF_QUANTITY_SYNTAX');
        continue;
      }
      try {
        vector.set(name, parseQuantity(String(value), name, rounding));
      } catch (error) {
        if (!(error instanceof BigFleetError)) throw error;
        for (const { message, code } of error.problems) refuse([name], value, message, code);
      }
    }
    return vector;
  });
}
