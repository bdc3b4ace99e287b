// Required pod affinity: pods that must share a zone, a rack or the like become a gang, with a `Same` requirement on the
// topology key and a group id that every implementation of the operator computes alike (wire contract, "Group id").

import { createHash } from 'node:crypto';
import { compareText, isLongerThan, NameLimits } from '../../model/index.ts';
import type { LabelSelector } from '../kube/objects.ts';

/** `<topology key>` + NUL + canonical selector. One that is too long for the wire is replaced by its hash. */
export function groupOf(topologyKey: string, selector: LabelSelector | undefined): string {
  const group = `${topologyKey}\0${canonicalSelector(selector)}`;
  if (!isLongerThan(group, NameLimits.group)) return group;
  return `${topologyKey.slice(0, NameLimits.key)}\0sha256:${createHash('sha256').update(group).digest('hex')}`;
}

/** '' without a selector; else `k=v,` for each label, `;`, and `key operator v1,v2;` for each expression. */
export function canonicalSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return '';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, value]) => `${key}=${value},`);
  const expressions = (selector.matchExpressions ?? [])
    .map(({ key, operator, values = [] }) => ({
      key,
      operator,
      values: [...values].sort(compareText).join(','),
    }))
    .sort(
      (a, b) =>
        compareText(a.key, b.key) || compareText(a.operator, b.operator) || compareText(a.values, b.values),
    )
    .map(({ key, operator, values }) => `${key} ${operator} ${values};`);
  return `${labels.join('')};${expressions.join('')}`;
}
