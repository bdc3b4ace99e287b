// Label selectors as the API server evaluates them: of disruption budgets, pod affinity, taint rules and DaemonSets.

import type { LabelSelector, SelectorExpression } from './objects.ts';

/** The value of a label; undefined if it is absent. */
export type LabelOf = (key: string) => string | undefined;

export function labelsOf(labels: Readonly<Record<string, string>>): LabelOf {
  return (key) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
}

/**
 * Whether labels meet a selector. An empty selector selects everything, an absent one nothing. `whenUnknown`: whether an
 * expression is met whose operator is of a newer API.
 */
export function selects(
  selector: LabelSelector | null | undefined,
  labelOf: LabelOf,
  whenUnknown = false,
): boolean {
  if (selector === undefined || selector === null) return false;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    if (labelOf(key) !== value) return false;
  return (selector.matchExpressions ?? []).every((each) => isMet(each, labelOf, whenUnknown));
}

function isMet(
  { key, operator, values = [] }: SelectorExpression,
  labelOf: LabelOf,
  whenUnknown: boolean,
): boolean {
  const value = labelOf(key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return whenUnknown;
  }
}
