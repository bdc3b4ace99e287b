// Label selectors in the syntax of Kubernetes, such as `rack=r1,zone in (a, b),!spot`, as requirements that machines are
// matched against. Used by read-routes.ts for lists of machines.

import { excerpt, Operator, type Requirement } from '../../model/index.ts';

/** Terms of a selector; each is compared with every class of machines. */
const MAX_TERMS = 50;
const KEY = /^[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)?$/;

/** The terms of a selector, all of which a machine has to meet; or what is wrong with it, such as `has more than …`. */
export function labelSelector(text: string): readonly Requirement[] | string {
  const terms = termsOf(text);
  if (terms.length > MAX_TERMS) return `has more than ${MAX_TERMS} terms`;
  const requirements: Requirement[] = [];
  for (const term of terms) {
    const requirement = requirementOf(term);
    if (requirement === null)
      return `has "${excerpt(term)}", which is none of key=value, key!=value, key in (a,b), key notin (a,b), key, !key`;
    requirements.push(requirement);
  }
  return requirements;
}

/** Splits at commas outside parentheses. */
function termsOf(text: string): readonly string[] {
  return text.split(/,(?![^()]*\))/).map((term) => term.trim());
}

function requirementOf(term: string): Requirement | null {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(term);
  if (set !== null) {
    const values = set[3]!.split(',').map((value) => value.trim());
    return requirement(set[1]!, set[2] === 'in' ? Operator.In : Operator.NotIn, values);
  }
  const pair = /^([^=!\s]+)\s*(==?|!=)\s*(.*)$/.exec(term);
  if (pair !== null)
    return requirement(pair[1]!, pair[2] === '!=' ? Operator.NotIn : Operator.In, [pair[3]!]);
  return term.startsWith('!')
    ? requirement(term.slice(1).trim(), Operator.DoesNotExist, [])
    : requirement(term, Operator.Exists, []);
}

function requirement(key: string, operator: Operator, values: readonly string[]): Requirement | null {
  return KEY.test(key) && values.every((value) => VALUE.test(value)) ? { key, operator, values } : null;
}
