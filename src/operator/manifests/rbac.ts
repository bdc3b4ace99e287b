// The rights of the operator: each rule is used by a part of it, which docs/operate/operator.md names. No rule reads
// Secrets. Rights on objects of its own namespace and on Secrets are Roles and not part of the ClusterRole. Printed by
// manifests.ts.

import type { BootstrapMode } from '../bootstrap/template-context.ts';
import { TOKENS_CONFIG_MAP } from '../bootstrap/tokens.ts';
import { GROUP } from './crds.ts';
import { APP, COMMON_LABELS, type Manifest } from './objects.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'patch', 'delete'];

const CLUSTER_RULES: readonly Rule[] = [
  // Demand, and pods that block a drain; preemptions delete a pod whose grace has ended.
  { apiGroups: [''], resources: ['pods'], verbs: [...READ, 'delete'] },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  // Cordon, labels and the state of drains; the object of a machine that is gone is deleted.
  { apiGroups: [''], resources: ['nodes'], verbs: [...READ, 'patch', 'delete'] },
  { apiGroups: [''], resources: ['namespaces', 'persistentvolumeclaims', 'persistentvolumes'], verbs: READ },
  { apiGroups: ['apps'], resources: ['daemonsets'], verbs: READ },
  { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: READ },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: READ },
  { apiGroups: [GROUP], resources: ['capacityrequests'], verbs: READ },
  { apiGroups: [GROUP], resources: ['capacityrequests/status'], verbs: ['patch'] },
  { apiGroups: [GROUP], resources: ['upcomingnodes', 'availablecapacities'], verbs: [...READ, ...WRITE] },
  { apiGroups: [GROUP], resources: ['upcomingnodes/status'], verbs: ['patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** ConfigMaps that the operator keeps: what the shard says about rows, open episodes of stuck pods, and its tokens. */
const CONFIG_MAPS = ['bigfleet-verdicts', 'bigfleet-episodes', TOKENS_CONFIG_MAP];

/** A right to create cannot be limited by name. */
const NAMESPACE_RULES: readonly Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [APP],
    verbs: ['get', 'update'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: CONFIG_MAPS,
    verbs: ['get', 'update', 'patch'],
  },
];

/** Bootstrap tokens are Secrets of kube-system; their names are random. */
const TOKEN_RULES: readonly Rule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] },
];

const CLUSTER_INFO_RULES: readonly Rule[] = [
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] },
];

export function accessRules(namespace: string, mode: BootstrapMode): readonly Manifest[] {
  const account: Manifest = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: APP, namespace, labels: COMMON_LABELS },
  };
  const roles = [
    ...bound('ClusterRole', undefined, CLUSTER_RULES, namespace),
    ...bound('Role', namespace, NAMESPACE_RULES, namespace),
    ...bound('Role', 'kube-public', CLUSTER_INFO_RULES, namespace),
    ...(mode === 'tokens' ? bound('Role', 'kube-system', TOKEN_RULES, namespace) : []),
  ];
  return [account, ...roles];
}

/** A role and its binding to the account of the operator. */
function bound(
  kind: 'ClusterRole' | 'Role',
  target: string | undefined,
  rules: readonly Rule[],
  accountNamespace: string,
): readonly Manifest[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const metadata = {
    name: APP,
    ...(target === undefined ? {} : { namespace: target }),
    labels: COMMON_LABELS,
  };
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup, kind, name: APP },
      subjects: [{ kind: 'ServiceAccount', name: APP, namespace: accountNamespace }],
    },
  ];
}
