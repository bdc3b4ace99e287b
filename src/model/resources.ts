// Resource vectors: how much of each named resource, in whole units (see quantity.ts). An absent
// resource is zero. A vector never holds a negative or fractional amount.

import { BigFleetError } from './errors.ts';
import { formatQuantity, MAX_UNITS } from './quantity.ts';
import { compareText, excerpt } from './text.ts';

/** Resource name to units. A Map, because names come from the wire and `__proto__` is a legal one. */
export type ResourceVector = ReadonlyMap<string, number>;

/** The empty vector. */
export const NO_RESOURCES: ResourceVector = new Map();

/** Per dimension sum. Throws rather than leave the exact range. */
export function add(a: ResourceVector, b: ResourceVector): ResourceVector {
  const sum = new Map(a);
  for (const [name, units] of b) sum.set(name, checked((sum.get(name) ?? 0) + units, name));
  return sum;
}

/** Per dimension sum; undefined if one of them leaves the exact range. */
export function exactSum(a: ResourceVector, b: ResourceVector): ResourceVector | undefined {
  const sum = new Map(a);
  for (const [name, units] of b) {
    const total = (sum.get(name) ?? 0) + units;
    if (total > MAX_UNITS) return undefined;
    sum.set(name, total);
  }
  return sum;
}

/** Per dimension difference, never below zero; dimensions of `b` that `a` lacks stay absent. */
export function subtract(a: ResourceVector, b: ResourceVector): ResourceVector {
  const rest = new Map<string, number>();
  for (const [name, units] of a) rest.set(name, Math.max(0, units - (b.get(name) ?? 0)));
  return rest;
}

/** Per dimension maximum. */
export function maximum(a: ResourceVector, b: ResourceVector): ResourceVector {
  const max = new Map(a);
  for (const [name, units] of b) max.set(name, Math.max(units, max.get(name) ?? 0));
  return max;
}

/** `n` times the vector; nothing at all for n ≤ 0. */
export function scale(vector: ResourceVector, n: number): ResourceVector {
  if (n <= 0) return NO_RESOURCES;
  const scaled = new Map<string, number>();
  for (const [name, units] of vector) scaled.set(name, checked(units * n, name));
  return scaled;
}

/** Whether every dimension that `want` names is there in full. */
export function covers(have: ResourceVector, want: ResourceVector): boolean {
  for (const [name, units] of want) {
    if ((have.get(name) ?? 0) < units) return false;
  }
  return true;
}

/** Whether no dimension is above zero; the empty vector is zero. */
export function isZero(vector: ResourceVector): boolean {
  for (const units of vector.values()) {
    if (units > 0) return false;
  }
  return true;
}

/**
 * Whether a resource is an accelerator or another device that few machines have, such as `nvidia.com/gpu`. Kubernetes names
 * those with the domain of their vendor; names below `kubernetes.io` and names without a domain are everyday resources.
 */
export function isAccelerator(resource: string): boolean {
  const slash = resource.indexOf('/');
  const domain = resource.slice(0, Math.max(0, slash));
  return slash !== -1 && domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io');
}

/**
 * Whether a machine has a *foreign accelerator* of a row: a positive amount of an accelerator that is not ignored and of
 * which the row wants nothing, neither in its aggregate nor in its largest pod.
 */
export function hasForeignAccelerator(
  offer: ResourceVector,
  aggregate: ResourceVector,
  minUnit: ResourceVector,
  ignored: ReadonlySet<string>,
): boolean {
  for (const [name, units] of offer) {
    if (units <= 0 || ignored.has(name) || !isAccelerator(name)) continue;
    if ((aggregate.get(name) ?? 0) === 0 && (minUnit.get(name) ?? 0) === 0) return true;
  }
  return false;
}

/** One text per value of a vector: names in order, zeros left out. `16Gi` and its byte count give the same text. */
export function canonicalResources(vector: ResourceVector): string {
  let text = '';
  let last = '';
  for (const [name, units] of vector) {
    if (!(units > 0)) continue;
    // Most vectors have their names in order, and need no list of them.
    if (text !== '' && compareText(last, name) > 0) return canonicalResources(inNameOrder(vector));
    text += text === '' ? `${escapeName(name)}=${units}` : `,${escapeName(name)}=${units}`;
    last = name;
  }
  return text;
}

function inNameOrder(vector: ResourceVector): ResourceVector {
  return new Map([...vector].sort(([a], [b]) => compareText(a, b)));
}

const NEEDS_ESCAPE = /[\\=,]/;

function escapeName(name: string): string {
  return NEEDS_ESCAPE.test(name) ? name.replace(/[\\=,]/g, '\\$&') : name;
}

/** The vector as quantity texts, names in order, zeros left out. */
export function formatResources(vector: ResourceVector): Record<string, string> {
  const named = [...vector].filter(([, units]) => units > 0).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(named.map(([name, units]) => [name, formatQuantity(units, name)]));
}

function checked(units: number, name: string): number {
  if (units <= MAX_UNITS) return units;
  const detail = `The amount of ${excerpt(name)} is too large to count exactly.`;
  throw new BigFleetError('BF_QUANTITY_OVERFLOW', detail);
}
