// Schemas of values that scenario and offerings files have in common: texts, labels, quantities, dollars, names. Used
// by scenario.ts, scenario-machine.ts and offerings-file.ts.

import * as z from 'zod';
import type { ErrorCode } from '../model/index.ts';
import { describe, given, mapOf, numberIn, parsed, resources } from '../runtime/validation.ts';
import type { NameTable } from './enum-names.ts';

export const TEXT = given(z.string(), '');
export const INT32 = numberIn({ min: -(2 ** 31), max: 2 ** 31 - 1, integer: true });

/** Labels; one without a value has the value ''. */
export const LABELS = given(mapOf(TEXT), new Map<string, string>());

const NOTHING: ReadonlyMap<string, number> = new Map();
/** Demand is rounded up and supply down, so that a machine never counts for more than it has. */
export const DEMAND = given(resources('up'), NOTHING);
export const SUPPLY = given(resources('down'), NOTHING);

/** A penalty in dollars: a number, or `inf`, `Infinity` or `pinned`. Below zero counts as zero. */
export const DOLLARS = parsed(
  (value) => {
    if (typeof value === 'string' && /^\+?(inf|infinity|pinned)$/i.test(value)) return Infinity;
    return typeof value === 'number' && !Number.isNaN(value) ? Math.max(0, value) : undefined;
  },
  (value) => `Expected dollars or "inf", found ${describe(value)}.`,
  'BF_PENALTY_NOT_A_NUMBER',
);

/** An enumerated value by name; the fallback if absent. `what` is the name of the field. */
export function nameIn<T extends number>(
  what: string,
  table: NameTable<T>,
  fallback: T,
  code: ErrorCode = 'BF_INPUT_INVALID',
) {
  const type = parsed(
    (value) => (typeof value === 'string' ? table.parse(value) : undefined),
    (value) => `There is no ${what} ${describe(value)}; known: ${table.known}.`,
    code,
  );
  return given(type, fallback);
}
