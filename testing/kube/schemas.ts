// Schemas of CustomResourceDefinitions, as far as those of the operator and of the tests go: fields that a schema does not
// name are dropped, and values that it does not allow are refused. Used by api-writes.ts.

import { isRecord, type Json } from './patches.ts';

/** The structural OpenAPI schema of a version of a custom resource. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

export interface Violation {
  readonly field: string;
  readonly problem: string;
}

/** Fields of every object, which its schema need not describe. */
const OF_EVERY_OBJECT = ['apiVersion', 'kind', 'metadata'];

/** The object without the fields that its schema does not name. */
export function pruned(schema: Schema, object: Json): Json {
  const kept = Object.entries(object).filter(([key]) => OF_EVERY_OBJECT.includes(key));
  return { ...(prune(schema, object) as Json), ...Object.fromEntries(kept) };
}

function prune(schema: Schema, value: unknown): unknown {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value))
    return items === undefined ? value : value.map((each: unknown) => prune(items, each));
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields'] === true) return value;
  const entries = Object.entries(value).flatMap(([key, each]) => {
    const child = properties?.[key] ?? additionalProperties;
    return child === undefined ? [] : [[key, prune(child, each)] as const];
  });
  return Object.fromEntries(entries);
}

/** The first thing about the object that its schema does not allow. */
export function violationOf(schema: Schema, object: Json): Violation | null {
  const { metadata: _metadata, ...rest } = object;
  return violation(schema, rest, '');
}

function violation(schema: Schema, value: unknown, field: string): Violation | null {
  const refused = (problem: string): Violation => ({ field, problem });
  const shown = JSON.stringify(value);
  if (!isOfType(schema, value)) return refused(`Invalid value: ${shown}: must be of type ${schema.type}`);
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return refused(`Unsupported value: ${shown}: supported values: ${JSON.stringify(schema.enum)}`);
  if (typeof value === 'string' && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    return refused(`Invalid value: ${shown}: should match '${schema.pattern}'`);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (typeof value === 'number' && (value < minimum || value > maximum))
    return refused(`Invalid value: ${shown}: should be from ${minimum} to ${maximum}`);
  if (Array.isArray(value))
    return firstOf(value.map((each: unknown, i) => [`${field}[${i}]`, schema.items, each]));
  if (!isRecord(value)) return null;
  const inside = (key: string): string => (field === '' ? key : `${field}.${key}`);
  const missing = schema.required?.find((key) => value[key] === undefined);
  if (missing !== undefined) return { field: inside(missing), problem: 'Required value' };
  return firstOf(
    Object.entries(value).map(([key, each]) => [
      inside(key),
      schema.properties?.[key] ?? schema.additionalProperties,
      each,
    ]),
  );
}

function firstOf(
  all: readonly (readonly [field: string, schema: Schema | undefined, value: unknown])[],
): Violation | null {
  for (const [field, schema, value] of all) {
    const found = schema === undefined ? null : violation(schema, value, field);
    if (found !== null) return found;
  }
  return null;
}

function isOfType(schema: Schema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string'] === true)
    return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case undefined:
      return true;
    default:
      return typeof value === schema.type;
  }
}
