// Requirements: conditions that every machine of a row must meet. `Same` also requires that all machines share one value
// of the key; the engine enforces that part, and here `Same` only requires that the machine has a value.

import { compareText, sortedUnique } from './text.ts';

/** Numbers are the wire's and appear in fingerprints. */
export const Operator = { Unspecified: 0, In: 1, NotIn: 2, Exists: 3, DoesNotExist: 4, Same: 5 } as const;
export type Operator = (typeof Operator)[keyof typeof Operator];

/** A condition on a label, the zone or the instance type of a machine. */
export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** The label key of the instance type of a machine. */
export const INSTANCE_TYPE_KEY = 'node.kubernetes.io/instance-type';
/** The label key of the zone of a machine. */
export const ZONE_KEY = 'topology.kubernetes.io/zone';

/** The fields of a machine that requirements are matched against. */
export interface Attributes {
  readonly instanceType: string;
  readonly zone: string;
  readonly labels: ReadonlyMap<string, string>;
}

export function isOperator(n: number): n is Operator {
  return Number.isInteger(n) && n >= Operator.Unspecified && n <= Operator.Same;
}

/** The machine's value of a key, or undefined. For type and zone, the label is a fallback for an empty field. */
export function attributeOf(machine: Attributes, key: string): string | undefined {
  if (key === INSTANCE_TYPE_KEY && machine.instanceType !== '') return machine.instanceType;
  if (key === ZONE_KEY && machine.zone !== '') return machine.zone;
  return machine.labels.get(key);
}

/** Whether a machine meets a requirement. A label with an empty value counts as present. */
export function meets(machine: Attributes, requirement: Requirement): boolean {
  const value = attributeOf(machine, requirement.key);
  switch (requirement.operator) {
    case Operator.In:
      return value !== undefined && requirement.values.includes(value);
    case Operator.NotIn:
      return value === undefined || !requirement.values.includes(value);
    case Operator.Exists:
      return value !== undefined;
    case Operator.DoesNotExist:
      return value === undefined;
    case Operator.Same:
      return value !== undefined && (requirement.values.length === 0 || requirement.values.includes(value));
    case Operator.Unspecified:
      return false;
  }
}

/** Whether a machine meets every requirement of a list. */
export function meetsAll(machine: Attributes, requirements: readonly Requirement[]): boolean {
  for (const requirement of requirements) {
    if (!meets(machine, requirement)) return false;
  }
  return true;
}

/** One order and one spelling for every set of requirements: values sorted and unique, then by key, operator, values. */
export function canonicalRequirements(requirements: readonly Requirement[]): readonly Requirement[] {
  return requirements
    .map(({ key, operator, values }): Requirement => ({ key, operator, values: sortedUnique(values) }))
    .sort((a, b) => compareText(a.key, b.key) || a.operator - b.operator || compareLists(a.values, b.values));
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareText(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
