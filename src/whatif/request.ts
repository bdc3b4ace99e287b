// The question "what if": changes to a fleet, its demand and its policies, as the body of the API and as a small file in
// YAML or JSON. One pass finds every problem, each with its path. Read by the API and by `bigfleet whatif`;
// change-fleet.ts applies the changes.

import * as z from 'zod';
import type { CapacityType, MachineState } from '../model/index.ts';
import { describe, given, listText, mapOf, numberIn, parsed, refusedFields } from '../runtime/validation.ts';
import { ECONOMY_OVERRIDES } from '../scenario/economy-options.ts';
import { CAPACITY_TYPE_NAMES, STATE_NAMES } from '../scenario/enum-names.ts';
import type { Changes, WhatIfRequest } from './changes.ts';

/** Changes of one kind in a question. Each costs a pass over the classes, the machines or the Needs of the fleet. */
const MAX_CHANGES = 100;
/** Machines added by one change. */
const MAX_ADDED = 100_000;
/** Such amounts are exact in whole micro-dollars. */
const MOST_DOLLARS = 1e9;
const MOST_TIMES = 1000;
const MAX_CYCLES = 100;
/** Cycles of `settle: true`. */
const DEFAULT_CYCLES = 20;
const MAX_LISTED = 200;
const DEFAULT_LISTED = 20;

/** One text, or a list of which any may hold. */
const TEXTS = parsed(
  (value) => {
    const list = Array.isArray(value) ? value : [value];
    return list.length > 0 && list.every((text) => typeof text === 'string') ? (list as string[]) : undefined;
  },
  (value) => `Expected a text or a list of texts, found ${describe(value)}.`,
);

/** Names of an enumeration; patterns stay patterns. */
const nameOf = <T extends number>(table: {
  parse: (name: string) => T | undefined;
  format: (value: T) => string;
  known: string;
}) =>
  TEXTS.transform((texts, context): readonly string[] =>
    texts.map((text) => {
      const value = table.parse(text);
      if (value !== undefined) return table.format(value);
      if (text.includes('*')) return text.toUpperCase().replaceAll('-', '_');
      const message = `There is no ${describe(text)}; known: ${table.known}.`;
      context.issues.push({ code: 'custom', input: text, message });
      return text;
    }),
  );

/** Why no shard can be removed. `fields`: by which machines can be, as the question names them. */
export function noShardText(fields: readonly string[]): string {
  return `A question cannot name a shard: one shard is all there is until a coordinator exists. Machines can be removed or changed by ${listText(fields)}.`;
}

const MATCH_FIELDS = {
  name: given(TEXTS, null),
  provider: given(TEXTS, null),
  zone: given(TEXTS, null),
  capacityType: given(nameOf<CapacityType>(CAPACITY_TYPE_NAMES), null),
  instanceType: given(TEXTS, null),
  state: given(nameOf<MachineState>(STATE_NAMES), null),
  cluster: given(TEXTS, null),
  labels: given(mapOf(TEXTS), new Map<string, readonly string[]>()),
};

const MATCH = z
  .strictObject(MATCH_FIELDS, refusedFields({ shard: noShardText(Object.keys(MATCH_FIELDS)) }))
  .refine(
    ({ labels, ...texts }) => labels.size > 0 || Object.values(texts).some((text) => text !== null),
    'It names no machine; for all of them write name: "*".',
  );

const TIMES = numberIn({ min: 0, max: MOST_TIMES });

/** A factor or a value: exactly one of them. */
const amount = <T extends z.ZodType<number>>(value: T) => ({
  times: given(TIMES, null),
  set: given(value, null),
});
const IS_ONE: [(change: { times: number | null; set: number | null }) => boolean, string] = [
  ({ times, set }) => (times === null) !== (set === null),
  'Give either times or set.',
];

const NEEDS = { cluster: given(TEXTS, null), need: given(TEXTS, null) };
const NAMES_NEEDS: [(change: { cluster: unknown; need: unknown }) => boolean, string] = [
  ({ cluster, need }) => cluster !== null || need !== null,
  'It names no Need; for all of them write cluster: "*".',
];

const INT32 = numberIn({ min: -(2 ** 31), max: 2 ** 31 - 1, integer: true });

const listOf = <T extends z.ZodType>(item: T) =>
  given(z.array(item).max(MAX_CHANGES, `At most ${MAX_CHANGES} changes of one kind.`), []);

const LIMIT = parsed(
  (value) => {
    if (value === 'none') return Number.POSITIVE_INFINITY;
    return typeof value === 'number' && value >= 0 && value <= MOST_DOLLARS ? value : undefined;
  },
  (value) => `Expected dollars per hour, or "none", found ${describe(value)}.`,
);

const CHANGES = z.strictObject({
  without: listOf(MATCH),
  prices: listOf(
    z.strictObject({ match: MATCH, ...amount(numberIn({ min: 0, max: MOST_DOLLARS })) }).refine(...IS_ONE),
  ),
  probabilities: listOf(
    z.strictObject({ match: MATCH, ...amount(numberIn({ min: 0, max: 1 })) }).refine(...IS_ONE),
  ),
  stock: listOf(
    z.strictObject({
      count: numberIn({ min: 1, max: MAX_ADDED, integer: true }),
      instanceType: z.string(),
      zone: given(z.string(), null),
      capacityType: given(
        parsed(
          (value) => (typeof value === 'string' ? CAPACITY_TYPE_NAMES.parse(value) : undefined),
          (value) => `There is no capacity type ${describe(value)}; known: ${CAPACITY_TYPE_NAMES.known}.`,
        ),
        null,
      ),
    }),
  ),
  demand: listOf(z.strictObject({ ...NEEDS, times: TIMES }).refine(...NAMES_NEEDS)),
  priorities: listOf(z.strictObject({ ...NEEDS, set: INT32 }).refine(...NAMES_NEEDS)),
  options: given(z.strictObject({ ...ECONOMY_OVERRIDES, maxPurchasedPerHour: given(LIMIT, null) }), null),
}) satisfies z.ZodType<Changes>;

/** The body of a question. */
export const WHAT_IF_REQUEST = z.strictObject({
  changes: given(CHANGES, CHANGES.parse({})),
  settle: given(
    parsed(
      (value) => {
        if (typeof value === 'boolean') return value ? DEFAULT_CYCLES : 0;
        const isCount = typeof value === 'number' && Number.isInteger(value);
        return isCount && value >= 0 && value <= MAX_CYCLES ? value : undefined;
      },
      (value) => `Expected true, false or a number of cycles up to ${MAX_CYCLES}, found ${describe(value)}.`,
    ),
    0,
  ),
  limit: given(numberIn({ min: 0, max: MAX_LISTED, integer: true }), DEFAULT_LISTED),
}) satisfies z.ZodType<WhatIfRequest>;
