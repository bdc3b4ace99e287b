// Paths of the API resources that the operator reads and writes. Used by every part that calls a `KubeClient`.

/** One kind of object of the API. */
export interface Resource {
  /** '/api/v1' or '/apis/GROUP/VERSION'. */
  readonly base: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

function core(plural: string, kind: string, isNamespaced = true): Resource {
  return { base: '/api/v1', plural, kind, isNamespaced };
}

function inGroup(group: string, plural: string, kind: string, isNamespaced = true): Resource {
  return { base: `/apis/${group}`, plural, kind, isNamespaced };
}

const BIGFLEET = 'bigfleet.lucy.sh/v1alpha1';

export const RESOURCES = {
  pods: core('pods', 'Pod'),
  nodes: core('nodes', 'Node', false),
  namespaces: core('namespaces', 'Namespace', false),
  secrets: core('secrets', 'Secret'),
  configMaps: core('configmaps', 'ConfigMap'),
  serviceAccounts: core('serviceaccounts', 'ServiceAccount'),
  persistentVolumes: core('persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: core('persistentvolumeclaims', 'PersistentVolumeClaim'),
  events: inGroup('events.k8s.io/v1', 'events', 'Event'),
  leases: inGroup('coordination.k8s.io/v1', 'leases', 'Lease'),
  podDisruptionBudgets: inGroup('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  daemonSets: inGroup('apps/v1', 'daemonsets', 'DaemonSet'),
  deployments: inGroup('apps/v1', 'deployments', 'Deployment'),
  priorityClasses: inGroup('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', false),
  customResourceDefinitions: inGroup(
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    false,
  ),
  clusterRoles: inGroup('rbac.authorization.k8s.io/v1', 'clusterroles', 'ClusterRole', false),
  clusterRoleBindings: inGroup(
    'rbac.authorization.k8s.io/v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
    false,
  ),
  roles: inGroup('rbac.authorization.k8s.io/v1', 'roles', 'Role'),
  roleBindings: inGroup('rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding'),
  capacityRequests: inGroup(BIGFLEET, 'capacityrequests', 'CapacityRequest'),
  availableCapacities: inGroup(BIGFLEET, 'availablecapacities', 'AvailableCapacity', false),
  upcomingNodes: inGroup(BIGFLEET, 'upcomingnodes', 'UpcomingNode', false),
} as const satisfies Readonly<Record<string, Resource>>;

export interface ObjectPlace {
  /** Absent: cluster-scoped, or all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string | undefined;
  /** 'status', 'eviction', …. */
  readonly subresource?: string | undefined;
}

/** The path of a collection, an object or a subresource. Names are percent-encoded. */
export function pathOf({ base, plural }: Resource, place: ObjectPlace = {}): string {
  const { namespace, name, subresource } = place;
  const words = [base];
  if (namespace !== undefined) words.push('namespaces', encodeURIComponent(namespace));
  words.push(plural);
  if (name !== undefined) words.push(encodeURIComponent(name));
  if (subresource !== undefined) words.push(subresource);
  return words.join('/');
}

/** 'v1' or 'GROUP/VERSION', as objects have it. */
export function apiVersionOf({ base }: Resource): string {
  return base.replace(/^\/apis?\//, '');
}
