// Compares a decision with the expectation of a case file, in terms of the JSON that `bigfleet decide` prints. Used by
// cases.test.ts.

import { expect } from 'vitest';
import { attributeOf, type DecisionInput, type Plan } from '../../src/model/index.ts';
import { type PlanJson, planJson } from '../../src/scenario/plan-json.ts';
import type { Expectation, Json } from './case-file.ts';

/** The fields that identify a Need of a case. */
const IDENTITY = ['cluster', 'group', 'priority'] as const;

export function expectPlan(plan: Plan, input: DecisionInput, then: Expectation, where: string): void {
  const json = planJson(plan, input);
  if (then.actions !== undefined) {
    expect(
      json.actions.map((action, i) => picked(action, then.actions?.[i] ?? action)),
      where,
    ).toEqual(then.actions);
  }
  if (then.counts !== undefined) expect(countsByKind(json), where).toEqual(then.counts);
  const met = json.needs.filter(({ satisfied }) => satisfied).length;
  if (then.met !== undefined) expect(met, `${where}: met`).toBe(then.met);
  if (then.unmet !== undefined) expect(json.needs.length - met, `${where}: unmet`).toBe(then.unmet);
  for (const need of then.needs ?? []) expectNeed(json, need, where);
  for (const [machine, key] of Object.entries(then.claims ?? {})) {
    const claim = json.claims[machine] ?? null;
    expect(picked(claim, key), `${where}: claim on ${machine}`).toEqual(key);
  }
  if (then.claimedExactly !== undefined) {
    expect(Object.keys(json.claims).sort(), `${where}: claimed`).toEqual([...then.claimedExactly].sort());
  }
  if (then.domains !== undefined) expectDomains(json, input, then.domains, where);
  if (then.cost !== undefined) expect(json.cost, where).toMatchObject(then.cost);
}

function expectNeed(json: PlanJson, expected: Json, where: string): void {
  const identity = IDENTITY.filter((field) => expected[field] !== undefined);
  const found = json.needs.filter((need) => identity.every((field) => need[field] === expected[field]));
  const name = identity.map((field) => `${field} ${String(expected[field])}`).join(', ');
  expect(found.length, `${where}: Needs with ${name}`).toBe(1);
  expect(picked(found[0], expected), `${where}: Need with ${name}`).toEqual(expected);
}

function countsByKind(json: PlanJson): Json {
  const counts: Record<string, number> = {};
  for (const { kind } of json.actions) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function expectDomains(
  json: PlanJson,
  input: DecisionInput,
  { of, label, counts }: NonNullable<Expectation['domains']>,
  where: string,
): void {
  const chosen = new Set(
    of === 'claimed'
      ? Object.keys(json.claims)
      : json.actions.filter(({ kind }) => kind === of).map(({ machine }) => machine),
  );
  const found: Record<string, number> = {};
  for (const machine of input.machines.filter(({ id }) => chosen.has(id))) {
    const domain = attributeOf(machine, label) ?? '(none)';
    found[domain] = (found[domain] ?? 0) + 1;
  }
  expect(found, `${where}: ${of} by ${label}`).toEqual(counts);
}

/** The fields of `value` that `pattern` names. An absent field reads as null. */
function picked(value: unknown, pattern: unknown): unknown {
  if (!isObject(value) || !isObject(pattern)) return value ?? null;
  return Object.fromEntries(Object.entries(pattern).map(([key, part]) => [key, picked(value[key], part)]));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
