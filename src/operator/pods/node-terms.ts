// Conditions on the labels of a node, as alternatives: a node fits if it meets all conditions of one term. The steps of the
// translation intersect terms (node selector, node affinity, volumes, taints); terms that differ in the values of one label
// become one, because a row of demand is a single list of requirements.

import { NameLimits, Operator, type Requirement } from '../../model/index.ts';
import type { LabelSelector, SelectorExpression } from '../kube/objects.ts';

/** What one label must be. `values` null: any value, or none at all unless `mustExist`. */
interface LabelCondition {
  readonly values: ReadonlySet<string> | null;
  readonly excluded: ReadonlySet<string>;
  readonly mustExist: boolean;
  readonly mustBeAbsent: boolean;
}

/** By label. */
export type NodeTerm = ReadonlyMap<string, LabelCondition>;

export const ANY_NODE: NodeTerm = new Map();

const NONE: ReadonlySet<string> = new Set();
const ANY_VALUE: LabelCondition = { values: null, excluded: NONE, mustExist: false, mustBeAbsent: false };

/** Labels with an older or a driver's own name for what machines state under one name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['topology.ebs.csi.aws.com/zone', 'topology.kubernetes.io/zone'],
  ['topology.gke.io/zone', 'topology.kubernetes.io/zone'],
  ['topology.disk.csi.azure.com/zone', 'topology.kubernetes.io/zone'],
]);

export function canonicalKey(key: string): string {
  return ALIASES.get(key) ?? key;
}

/** Whole numbers that were seen as values of a label. */
export type SeenValues = (key: string) => Iterable<string>;

/** A term and what there is to say about it; a problem means that it cannot be read. */
export interface TermReading {
  readonly term: NodeTerm;
  readonly remarks: readonly string[];
  readonly problem: string | null;
}

/** Reads a list of expressions, all of which a node must meet. */
export function readTerm(expressions: readonly SelectorExpression[], seen: SeenValues): TermReading {
  let term = ANY_NODE;
  const remarks: string[] = [];
  for (const expression of expressions) {
    const { key, operator } = expression;
    if (typeof key !== 'string' || key.length > NameLimits.key)
      return { term, remarks, problem: 'A label of its node affinity is not a label key.' };
    const condition = conditionOf(expression, seen, remarks);
    if (condition === null)
      return {
        term,
        remarks,
        problem: `The operator "${String(operator).slice(0, 32)}" of ${key} is not known.`,
      };
    term = withCondition(term, canonicalKey(key), condition);
  }
  return { term, remarks, problem: null };
}

function conditionOf(
  { key, operator, values = [] }: SelectorExpression,
  seen: SeenValues,
  remarks: string[],
): LabelCondition | null {
  switch (operator) {
    case 'In':
      return { ...ANY_VALUE, values: possible(values) };
    case 'NotIn':
      return { ...ANY_VALUE, excluded: possible(values) };
    case 'Exists':
      return { ...ANY_VALUE, mustExist: true };
    case 'DoesNotExist':
      return { ...ANY_VALUE, mustBeAbsent: true };
    case 'Gt':
    case 'Lt':
      return { ...ANY_VALUE, values: compared(key, operator, values, seen, remarks) };
    default:
      return null;
  }
}

/** No label has a value longer than this, so a longer one can be left out of any list. */
function possible(values: readonly string[]): ReadonlySet<string> {
  return new Set(values.filter((value) => value.length <= NameLimits.value));
}

/** Of the values that were seen, those that are greater or less. */
function compared(
  key: string,
  operator: 'Gt' | 'Lt',
  [bound = '']: readonly string[],
  seen: SeenValues,
  remarks: string[],
): ReadonlySet<string> {
  const limit = wholeNumber(bound);
  const passing = new Set<string>();
  for (const value of seen(canonicalKey(key))) {
    const number = wholeNumber(value);
    if (limit === null || number === null) continue;
    if (operator === 'Gt' ? number > limit : number < limit) passing.add(value);
  }
  if (passing.size === 0)
    remarks.push(
      `It requires ${key} ${operator === 'Gt' ? 'above' : 'below'} ${bound.slice(0, 32)}, and no machine with such a value has been seen; the setting knownValues can name values.`,
    );
  return passing;
}

/** As strconv.ParseInt reads it, which decides for the scheduler. */
export function wholeNumber(text: string): bigint | null {
  return /^[+-]?\d{1,19}$/.test(text) ? BigInt(text) : null;
}

/** The conditions of a label selector, without `Gt` and `Lt`, which selectors do not have. */
export function selectorExpressions(selector: LabelSelector): readonly SelectorExpression[] {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => {
    return { key, operator: 'In', values: [value] };
  });
  return [...labels, ...(selector.matchExpressions ?? [])];
}

function withCondition(term: NodeTerm, key: string, condition: LabelCondition): NodeTerm {
  const before = term.get(key);
  return new Map(term).set(key, before === undefined ? condition : both(before, condition));
}

function both(a: LabelCondition, b: LabelCondition): LabelCondition {
  const lists = [a.values, b.values].filter((list) => list !== null);
  const [first, second] = lists;
  return {
    values: first === undefined ? null : second === undefined ? first : common(first, second),
    excluded: new Set([...a.excluded, ...b.excluded]),
    mustExist: a.mustExist || b.mustExist,
    mustBeAbsent: a.mustBeAbsent || b.mustBeAbsent,
  };
}

function common(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a].filter((value) => b.has(value)));
}

/** Nodes that fit both terms. */
export function intersect(a: NodeTerm, b: NodeTerm): NodeTerm {
  let term = a;
  for (const [key, condition] of b) term = withCondition(term, key, condition);
  return term;
}

export function without(term: NodeTerm, key: string): NodeTerm {
  if (!term.has(key)) return term;
  const rest = new Map(term);
  rest.delete(key);
  return rest;
}

/** Whether no node can fit. */
export function isImpossible(term: NodeTerm): boolean {
  for (const condition of term.values()) {
    const needsValue = condition.mustExist || condition.values !== null;
    if (condition.mustBeAbsent && needsValue) return true;
    if (condition.values !== null && allowed(condition).length === 0) return true;
  }
  return false;
}

function allowed({ values, excluded }: LabelCondition): readonly string[] {
  return [...(values ?? [])].filter((value) => !excluded.has(value));
}

/** Alternatives whose union is every node that does not meet all expressions of a selector. */
export function negated(expressions: readonly SelectorExpression[]): readonly NodeTerm[] {
  return expressions.map(({ key, operator, values = [] }) => {
    const opposite: Partial<LabelCondition> =
      operator === 'In'
        ? { excluded: new Set(values) }
        : operator === 'NotIn'
          ? { values: new Set(values) }
          : operator === 'Exists'
            ? { mustBeAbsent: true }
            : { mustExist: true };
    return new Map([[canonicalKey(key), { ...ANY_VALUE, ...opposite }]]);
  });
}

/** One spelling for each term: no requirement follows from another one of the same label. */
export function requirementsOf(term: NodeTerm): Requirement[] {
  const requirements: Requirement[] = [];
  for (const [key, condition] of term) {
    const { values, excluded, mustExist, mustBeAbsent } = condition;
    if (mustBeAbsent) requirements.push({ key, operator: Operator.DoesNotExist, values: [] });
    if (values !== null) requirements.push({ key, operator: Operator.In, values: allowed(condition) });
    else if (mustExist) requirements.push({ key, operator: Operator.Exists, values: [] });
    if (values === null && excluded.size > 0 && !mustBeAbsent)
      requirements.push({ key, operator: Operator.NotIn, values: [...excluded] });
  }
  return requirements;
}

/**
 * Fewer terms with the same union: equal ones once, those that differ in the values of one label as one. Impossible ones are
 * dropped unless all are. Quadratic, for the few terms that a pod may have.
 */
export function merged(terms: readonly NodeTerm[]): readonly NodeTerm[] {
  const possibleOnes = terms.filter((term) => !isImpossible(term));
  const rest = possibleOnes.length > 0 ? possibleOnes : terms.slice(0, 1);
  const kept: NodeTerm[] = [];
  for (let next of rest) {
    for (let i = 0; i < kept.length; ) {
      const union = unionOf(kept[i]!, next);
      if (union === null) i++;
      else {
        next = union;
        kept.splice(i, 1);
        // A term that has grown may now be a neighbour of one that was passed.
        i = 0;
      }
    }
    kept.push(next);
  }
  return kept;
}

/** The term for both, if they differ in the values of at most one label. */
function unionOf(a: NodeTerm, b: NodeTerm): NodeTerm | null {
  if (a.size !== b.size) return null;
  let differing: string | null = null;
  for (const [key, condition] of a) {
    const other = b.get(key);
    if (other === undefined) return null;
    if (isSame(condition, other)) continue;
    if (differing !== null || !isList(condition) || !isList(other)) return null;
    differing = key;
  }
  if (differing === null) return a;
  const values = new Set([...allowed(a.get(differing)!), ...allowed(b.get(differing)!)]);
  return new Map(a).set(differing, { ...ANY_VALUE, values });
}

function isList({ values, mustBeAbsent }: LabelCondition): boolean {
  return values !== null && !mustBeAbsent;
}

function isSame(a: LabelCondition, b: LabelCondition): boolean {
  return (
    a.mustBeAbsent === b.mustBeAbsent &&
    (a.values === null) === (b.values === null) &&
    (a.values !== null || (a.mustExist === b.mustExist && isSameSet(a.excluded, b.excluded))) &&
    isSameSet(new Set(allowed(a)), new Set(allowed(b)))
  );
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((value) => b.has(value));
}
