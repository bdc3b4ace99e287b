// Taints that the settings declare for nodes with certain labels. A pod that does not tolerate them must not count on such
// machines, so it gets the opposite of the labels as a requirement.

import type { NodeTaint, SelectorExpression, Toleration } from '../kube/objects.ts';
import {
  intersect,
  isImpossible,
  merged,
  type NodeTerm,
  negated,
  readTerm,
  selectorExpressions,
} from './node-terms.ts';
import type { TaintRule } from './settings.ts';

/** `PreferNoSchedule` keeps no pod away. */
function isHard({ effect }: NodeTaint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

/** As the scheduler decides it: an empty key or effect of a toleration matches all. */
function tolerates(tolerations: readonly Toleration[], taint: NodeTaint): boolean {
  return tolerations.some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key === '') return operator === 'Exists';
    if (key !== taint.key) return false;
    return (
      operator === 'Exists' || ((operator === 'Equal' || operator === '') && value === (taint.value ?? ''))
    );
  });
}

/** The first hard taint of a rule that is not tolerated. */
function untolerated(rule: TaintRule, tolerations: readonly Toleration[]): NodeTaint | undefined {
  return rule.taints.find((taint) => isHard(taint) && !tolerates(tolerations, taint));
}

/** The terms, without the nodes that have taints the pod does not tolerate. */
export function awayFromTaints(
  terms: readonly NodeTerm[],
  rules: readonly TaintRule[],
  tolerations: readonly Toleration[],
): { readonly terms: readonly NodeTerm[]; readonly remarks: readonly string[] } {
  const remarks: string[] = [];
  let rest = terms;
  for (const rule of rules) {
    const taint = untolerated(rule, tolerations);
    if (taint === undefined) continue;
    const expressions = selectorExpressions(rule.selector);
    const before = rest.every(isImpossible);
    rest = merged(rest.flatMap((term) => awayFrom(term, expressions)));
    if (!before && rest.every(isImpossible))
      remarks.push(`It requires nodes with the taint ${taint.key}:${taint.effect} and does not tolerate it.`);
  }
  return { terms: rest, remarks };
}

function awayFrom(term: NodeTerm, expressions: readonly SelectorExpression[]): readonly NodeTerm[] {
  // Nodes of the term never have the labels, so there is nothing to exclude.
  if (isImpossible(intersect(term, readTerm(expressions, () => []).term))) return [term];
  return negated(expressions).map((opposite) => intersect(term, opposite));
}
