// Evaluates Roles and ClusterRoles of the fake API server as the real one does, so that tests run with exactly the rights
// that our manifests grant.

import type { StoredObject } from './api-resources.ts';

export interface User {
  /** 'system:serviceaccount:NAMESPACE:NAME' for service accounts. */
  readonly name: string;
  /** 'system:masters' may do everything. */
  readonly groups: readonly string[];
}

export interface AccessRequest {
  readonly verb: string;
  readonly group: string;
  /** With subresource: 'pods/eviction'. */
  readonly resource: string;
  /** Undefined: cluster scope. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RbacObjects {
  /** Objects of a plural. */
  all(plural: string): Iterable<StoredObject>;
}

export function isAllowed(objects: RbacObjects, user: User, request: AccessRequest): boolean {
  if (user.groups.includes('system:masters')) return true;
  const isGranted = (binding: StoredObject): boolean => {
    const subjects = (binding['subjects'] ?? []) as readonly Subject[];
    if (!subjects.some((subject) => isSubject(user, subject, binding.metadata.namespace))) return false;
    const { kind, name } = binding['roleRef'] as { readonly kind: string; readonly name: string };
    const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    for (const role of objects.all(plural)) {
      if (role.metadata.name !== name) continue;
      if (kind !== 'ClusterRole' && role.metadata.namespace !== binding.metadata.namespace) continue;
      if (((role['rules'] ?? []) as readonly Rule[]).some((rule) => allows(rule, request))) return true;
    }
    return false;
  };
  for (const binding of objects.all('clusterrolebindings')) if (isGranted(binding)) return true;
  if (request.namespace === undefined) return false;
  for (const binding of objects.all('rolebindings'))
    if (binding.metadata.namespace === request.namespace && isGranted(binding)) return true;
  return false;
}

function isSubject(
  user: User,
  { kind, name, namespace }: Subject,
  bindingNamespace: string | undefined,
): boolean {
  if (kind === 'User') return user.name === name;
  if (kind === 'Group') return user.groups.includes(name);
  return user.name === `system:serviceaccount:${namespace ?? bindingNamespace}:${name}`;
}

function allows(rule: Rule, { verb, group, resource, name }: AccessRequest): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!has(verbs, verb) || !has(apiGroups, group)) return false;
  const [, subresource] = resource.split('/');
  const isResource =
    has(resources, resource) || (subresource !== undefined && resources.includes(`*/${subresource}`));
  if (!isResource) return false;
  return resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));
}

function has(list: readonly string[], word: string): boolean {
  return list.includes('*') || list.includes(word);
}

/** The message of a 403, word by word that of the real one. */
export function forbiddenMessage(
  user: User,
  { verb, group, resource, namespace, name }: AccessRequest,
): string {
  const [plural] = resource.split('/');
  const qualified = group === '' ? plural : `${plural}.${group}`;
  const what = name === undefined ? '' : ` "${name}"`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `${qualified}${what} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
}
