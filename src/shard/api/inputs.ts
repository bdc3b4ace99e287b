// Schemas of the parameters and fields that callers send, and the text of the refusal if one does not match. Input is
// read strictly: an unknown parameter or field is refused, because a misspelt `cluster` would otherwise freeze the
// whole fleet. Used by the routes and by http-app.ts.

import * as z from 'zod';
import { ACTION_KINDS, ACTION_WORDS, excerpt, MachineState, UNMET_REASONS } from '../../model/index.ts';
import { didYouMean } from '../../runtime/nearest.ts';
import { HISTORY_KINDS } from '../views/history.ts';
import { MACHINE_SORTS } from '../views.ts';
import { labelSelector } from './label-selector.ts';
import { Refusal } from './refusal.ts';

/** Items of a page: by default, and at most. */
const DEFAULT_LIMIT = 1_000;
export const MAX_LIMIT = 10_000;

/** Bytes of JSON of the lists of an answer; the cursor and the rest of it fit besides, below a megabyte. */
export const PAGE_BYTES = 900_000;

/** Characters of an id, a name or a reason. */
const MAX_TEXT = 1_000;

/** The id of a freeze contains the name of a cluster. */
const MAX_FREEZE_ID = 2_000;

/** A cursor may contain the id of a freeze. */
const MAX_CURSOR = 8_192;

/** Unknown names that a refusal repeats. */
const MAX_NAMED = 10;

function text(max = MAX_TEXT) {
  return (
    z
      .string()
      .trim()
      .min(1)
      .max(max)
      // A lone surrogate would become another character in a cursor or a database.
      .refine((value) => value.isWellFormed(), 'is not well-formed Unicode')
  );
}

function oneOf<const T extends readonly string[]>(values: T) {
  return text().pipe(z.enum(values));
}

const flag = oneOf(['true', 'false'])
  .transform((value) => value === 'true')
  .pipe(z.boolean());

const NOT_A_NUMBER = 'must be a whole number';
const NOT_A_LIMIT = `must be a whole number from 1 to ${MAX_LIMIT}`;
const NOT_A_TIME = 'must be a time in milliseconds since the epoch';

export const since = text()
  .regex(/^\d{1,15}(\.\d{1,6})?$/, { error: NOT_A_TIME, abort: true })
  .transform(Number)
  .pipe(z.number())
  .optional();

/** One or more of some words, separated by commas. */
export const historyKinds = text()
  .transform((value) => value.split(','))
  .pipe(z.array(z.enum(HISTORY_KINDS, `must be some of ${HISTORY_KINDS.join(', ')}, separated by commas`)))
  .optional();

const STATES = Object.keys(MachineState).map((name) => name.toUpperCase());

/** At most sixteen digits, since epochs are milliseconds with a factor. */
function wholeNumber() {
  return text()
    .regex(/^\d{1,16}$/, { error: NOT_A_NUMBER, abort: true })
    .transform(Number)
    .pipe(z.int(NOT_A_NUMBER));
}

/** A part of a path that is the number of a cycle. */
export const cycleNumber = wholeNumber();

const epoch = wholeNumber()
  .optional()
  .describe(
    'Epoch of the start of the shard that had the cycle; by default the newest one with that number.',
  );

export const filters = {
  cycle: wholeNumber()
    .optional()
    .describe('Only events of the cycle with this number, for a shard with a journal.'),
  epoch,
  cluster: text().optional(),
  machine: text().optional(),
  need: text().optional().describe('Id of a Need.'),
  provider: text().optional(),
  state: text()
    .transform((value) => value.toUpperCase().replaceAll('-', '_'))
    .pipe(z.enum(STATES))
    .optional()
    .describe('In upper or lower case.'),
  forgotten: flag.optional().describe('Includes forgotten machines.'),
  text: text()
    .optional()
    .describe(
      'Only machines with this text in their id, node name, instance type, zone or capacity type, in upper or lower case; a text with `=` is compared with labels (`key=value`) and with `type=…`, `zone=…` and `capacity=…`.',
    ),
  unmet: flag.optional().describe('Only Needs that are not met.'),
  reason: oneOf(UNMET_REASONS).optional().describe('Only Needs that are not met for this reason.'),
  minPriority: text()
    .regex(/^-?\d{1,10}$/, { error: NOT_A_NUMBER, abort: true })
    .transform(Number)
    .pipe(z.int(NOT_A_NUMBER))
    .optional()
    .describe('Only Needs of this priority or a higher one.'),
  freezeId: text(MAX_FREEZE_ID).optional().describe('Only this freeze, if it is in force.'),
};

export const order = oneOf(['name', 'trouble'])
  .optional()
  .describe('`trouble`: items that need attention first.');

/** Stays a text, which the OpenAPI document shows; `labelSelector` parses it. */
export const labels = text()
  .superRefine((value, context) => {
    const terms = labelSelector(value);
    if (typeof terms === 'string') context.addIssue({ code: 'custom', message: terms });
  })
  .optional()
  .describe('A label selector as for Kubernetes, such as `rack in (r1,r2),!spot`.');

const SORTS = MACHINE_SORTS.flatMap((by) => [by, `-${by}`] as const);

export const sort = oneOf(SORTS)
  .optional()
  .describe('With `-` before it in descending order. Not together with `order`.');

/** Kinds of events on the stream. */
const EVENT_KINDS = ['cycle', 'action-started', 'action-ended', 'loss', 'losses', 'log'];
/** Longest `pace`. */
const MAX_PACE_MS = 60_000;

export const eventFilters = {
  kinds: text()
    .transform((value) => value.split(','))
    .pipe(z.array(z.enum(EVENT_KINDS, `must be some of ${EVENT_KINDS.join(', ')}, separated by commas`)))
    .optional()
    .describe('Only these kinds, separated by commas.'),
  pace: text()
    .regex(/^\d{1,5}$/, { error: `must be a number of milliseconds up to ${MAX_PACE_MS}`, abort: true })
    .transform(Number)
    .pipe(z.int().max(MAX_PACE_MS, `must be a number of milliseconds up to ${MAX_PACE_MS}`))
    .optional()
    .describe('Least time between two `cycle` events, in milliseconds; those between are left out.'),
};

/** What machines and costs are grouped by. */
const COST_ASPECTS = ['cluster', 'capacity-type', 'priority', 'hardware', 'zone', 'instance-type'] as const;
const COUNT_ASPECTS = ['cluster', 'capacity-type', 'hardware', 'zone', 'instance-type'] as const;

export const aspects = {
  cost: oneOf(COST_ASPECTS).default('capacity-type').describe('By default `capacity-type`.'),
  counts: oneOf(COUNT_ASPECTS).default('zone').describe('By default `zone`.'),
};

export const costOrder = oneOf(['cost', 'name'])
  .default('cost')
  .describe('`cost`, the default: the most expensive groups first.');

export const format = oneOf(['json', 'csv'])
  .optional()
  .describe('`csv`: the answer as CSV, as with the header `Accept: text/csv`.');

/** The parameters that every list has. */
export const paging = {
  limit: text()
    .regex(/^\d{1,9}$/, { error: NOT_A_LIMIT, abort: true })
    .transform(Number)
    .pipe(z.int().min(1, NOT_A_LIMIT).max(MAX_LIMIT, NOT_A_LIMIT))
    .default(DEFAULT_LIMIT)
    .describe('Items of the page at most; a page may end earlier, at about 900 kB of JSON.'),
  after: text(MAX_CURSOR).optional().describe('Cursor: the `next` of the page before.'),
};

/** A part of a path. */
export const pathPart = z.string();

export const NO_PARAMETERS = z.strictObject({});

/** Unknown parameters are ignored: probes and scrapers may add their own. */
export const ANY_PARAMETERS = z.looseObject({});

/** The author and the reason of an order. Fields that are null count as absent. */
export const who = text().describe(
  'Author of the order, for the log; of a caller with an identity its name is used instead.',
);
export const why = text().describe('Reason of the order, for the log.');

const VERBS = ACTION_KINDS.map((kind) => ACTION_WORDS[kind].verb);

/** An action as the wire spells it or as people do: `Provision` and `buy` are one. */
export const actionName = text()
  .pipe(z.enum([...VERBS, ...ACTION_KINDS], `must be one of ${VERBS.join(', ')}`))
  .nullish()
  .describe('Only this kind of action.');

export const clusterField = text().nullish().describe('Only actions of this cluster.');

/** A freeze for longer is one without an end. */
const MAX_FREEZE_SECONDS = 366 * 86_400;
const NOT_SECONDS = `must be a whole number of seconds from 1 to ${MAX_FREEZE_SECONDS}`;

export const forSeconds = z
  .int(NOT_SECONDS)
  .min(1, NOT_SECONDS)
  .max(MAX_FREEZE_SECONDS, NOT_SECONDS)
  .nullish()
  .describe('Ends by itself after this time, by the clock of the shard; absent: when it is lifted.');

type Part = 'parameter' | 'field';

/** What `schema` makes of a part of a request; a refusal names everything that is wrong with it. */
export function accepted(
  part: Part,
  schema: z.ZodObject,
  given: unknown,
): { value: unknown } | { error: Refusal } {
  const { success, data, error } = schema.safeParse(given);
  if (success) return { value: data };
  const known = Object.keys(schema.shape);
  const texts = error.issues.map((issue) => problemText(part, known, given as Given, issue));
  return { error: new Refusal(400, texts.join(' ')) };
}

type Given = Readonly<Record<string, unknown>>;

function problemText(part: Part, known: readonly string[], given: Given, issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return unknownText(part, known, issue.keys);
  const name = String(issue.path[0]);
  const subject = `The ${part} "${name}"`;
  const value = given[name];
  if (value === undefined || value === null) return `${subject} is missing.`;
  if (Array.isArray(value) && part === 'parameter') return `${subject} was given more than once.`;
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid'))
    return `${subject} must be ${issue.expected === 'string' ? 'a text' : `of type ${issue.expected}`}.`;
  if (issue.code === 'too_small' && issue.origin === 'string')
    return `${subject} is empty; leave it out instead.`;
  if (issue.code === 'too_big' && issue.origin === 'string')
    return `${subject} has more than ${issue.maximum} characters.`;
  if (issue.code === 'invalid_value' && issue.message.startsWith('Invalid'))
    return `${subject} must be one of ${issue.values.join(', ')}.`;
  return `${subject} ${issue.message}.`;
}

function unknownText(part: Part, known: readonly string[], unknown: readonly string[]): string {
  const shown = unknown.slice(0, MAX_NAMED);
  const suggestions = shown.map((name) => didYouMean(name, known)).join('');
  const accepted = known.length === 0 ? 'There are none' : `There are ${known.join(', ')}`;
  return `Unknown ${part}${unknown.length === 1 ? '' : 's'}: ${excerpt(shown.join(', '))}.${suggestions} ${accepted}.`;
}

/** Parameters by name; a list of values where a name was given more than once. */
export function queryOf(search: string): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const before = values.get(name);
    if (before === undefined) values.set(name, value);
    else if (typeof before === 'string') values.set(name, [before, value]);
    else before.push(value);
  }
  return Object.fromEntries(values);
}

/** The JSON object in the body of a request. */
export function jsonObjectOf(body: string): object {
  const value = jsonOf(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal(400, 'The request must be a JSON object.');
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Refusal(400, `The request is not JSON: ${excerpt((error as Error).message)}.`);
  }
}
