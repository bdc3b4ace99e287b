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

/** Reflectors list and watch; a right to get is named where one object is read. */
const FOLLOW = ['list', 'watch'];

const CLUSTER_RULES: readonly Rule[] = [
  // Demand, and pods that block a drain; preemptions delete a pod whose grace has ended.
  { apiGroups: [''], resources: ['pods'], verbs: [...FOLLOW, 'delete'] },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  // Cordon, labels and the state of drains; the object of a machine that is gone is deleted.
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', ...FOLLOW, 'patch', 'delete'] },
  {
    apiGroups: [''],
    resources: ['namespaces', 'persistentvolumeclaims', 'persistentvolumes'],
    verbs: FOLLOW,
  },
  { apiGroups: ['apps'], resources: ['daemonsets'], verbs: FOLLOW },
  { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: FOLLOW },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: FOLLOW },
  { apiGroups: [GROUP], resources: ['capacityrequests'], verbs: FOLLOW },
  { apiGroups: [GROUP], resources: ['capacityrequests/status'], verbs: ['patch'] },
  // Listed once for each term; apply creates what does not exist.
  {
    apiGroups: [GROUP],
    resources: ['upcomingnodes', 'availablecapacities'],
    verbs: ['list', 'create', 'patch', 'delete'],
  },
  { apiGroups: [GROUP], resources: ['upcomingnodes/status'], verbs: ['patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** A right to create cannot be limited by name. */
function namespaceRules(mode: BootstrapMode): readonly Rule[] {
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  return [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: [APP], verbs: ['get', 'update'] },
    { ...configMaps, verbs: ['create'] },
    // What the shard says about rows; read by people alone.
    { ...configMaps, resourceNames: ['bigfleet-verdicts'], verbs: ['patch'] },
    // Open episodes of stuck pods, and ids of bootstrap tokens.
    {
      ...configMaps,
      resourceNames: ['bigfleet-episodes', ...(mode === 'tokens' ? [TOKENS_CONFIG_MAP] : [])],
      verbs: ['get', 'patch'],
    },
  ];
}

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
    ...bound('Role', namespace, namespaceRules(mode), namespace),
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
