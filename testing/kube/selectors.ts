// Label and field selectors: of the fake API server's lists and watches, and of the objects that the fake scheduler and
// controllers read.

import type { LabelSelector, SelectorExpression } from '../../src/operator/kube/index.ts';
import { badRequest } from './api-errors.ts';

export type Labels = Readonly<Record<string, string>>;

/** Whether labels satisfy one expression, with the rules of label selectors and node affinity. */
export function matchesExpression(
  labels: Labels,
  { key, operator, values = [] }: SelectorExpression,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** An absent selector selects nothing; an empty one selects everything. */
export function matchesSelector(labels: Labels, selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => matchesExpression(labels, expression))
  );
}

/** `a=b,c!=d,e in (f,g),h,!i`. */
export function parseLabelSelector(text: string): (labels: Labels) => boolean {
  const terms = text.match(/[^,(]+(\([^)]*\))?/g) ?? [];
  const expressions = terms.map((term) => labelTerm(term.trim()));
  return (labels) => expressions.every((expression) => matchesExpression(labels, expression));
}

function labelTerm(term: string): SelectorExpression {
  const [, key, operator, list] = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term) ?? [];
  if (key !== undefined)
    return {
      key,
      operator: operator === 'in' ? 'In' : 'NotIn',
      values: list!.split(',').map((value) => value.trim()),
    };
  const [, name, sign, value] = /^([^!=]+?)\s*(==?|!=)\s*(.*)$/.exec(term) ?? [];
  if (name !== undefined)
    return { key: name, operator: sign === '!=' ? 'NotIn' : 'In', values: [value ?? ''] };
  if (term.startsWith('!')) return { key: term.slice(1), operator: 'DoesNotExist' };
  if (/^[\w./-]+$/.test(term)) return { key: term, operator: 'Exists' };
  throw badRequest(`unable to parse requirement: ${term}`);
}

/** `spec.nodeName=a,status.phase!=Running`. `known`: fields that the resource can be selected by. */
export function parseFieldSelector(text: string, known: readonly string[]): (object: unknown) => boolean {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const [, field, sign, value] = /^([^!=]+?)(==?|!=)(.*)$/.exec(term) ?? [];
      if (field === undefined) throw badRequest(`invalid field selector: ${term}`);
      if (!known.includes(field)) throw badRequest(`field label not supported: ${field}`);
      return { field, isEqual: sign !== '!=', value: value ?? '' };
    });
  return (object) =>
    terms.every(({ field, isEqual, value }) => (fieldText(object, field) === value) === isEqual);
}

function fieldText(object: unknown, field: string): string {
  let value: unknown = object;
  for (const part of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value === undefined || value === null ? '' : String(value as string | number | boolean);
}
