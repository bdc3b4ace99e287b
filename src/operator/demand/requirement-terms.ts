// Requirements of a row as a term of conditions, so that they can be intersected: with those of published capacity, which
// gives alternatives their price, and with those of DaemonSets, which decides what a fresh node carries.

import { Operator, type Requirement } from '../../model/index.ts';
import type { SelectorExpression } from '../kube/objects.ts';
import { intersect, isImpossible, type NodeTerm, readTerm } from '../pods/node-terms.ts';

const NAMES: Readonly<Record<number, string>> = {
  [Operator.In]: 'In',
  [Operator.NotIn]: 'NotIn',
  [Operator.Exists]: 'Exists',
  [Operator.DoesNotExist]: 'DoesNotExist',
};

/** `Same` only says here that the label exists, with one of its values if it lists any. */
export function termOf(requirements: readonly Requirement[]): NodeTerm {
  const expressions = requirements.flatMap(({ key, operator, values }): readonly SelectorExpression[] => {
    if (operator === Operator.Same) return [{ key, operator: values.length > 0 ? 'In' : 'Exists', values }];
    const name = NAMES[operator];
    return name === undefined ? [] : [{ key, operator: name, values }];
  });
  return readTerm(expressions, () => []).term;
}

/** Whether some machine can meet both terms. */
export function areCompatible(a: NodeTerm, b: NodeTerm): boolean {
  return !isImpossible(intersect(a, b));
}
