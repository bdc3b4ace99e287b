// The resources that the fake API server knows: built-in ones, and those of CustomResourceDefinitions that tests create.

import type { KubeObject } from '../../src/operator/kube/index.ts';
import type { Schema } from './schemas.ts';

/** An object as it is stored. Never changed in place: each write makes a new one. */
export type StoredObject = KubeObject & Readonly<Record<string, unknown>>;

export interface ApiResource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** The main endpoint ignores `status`, and /status ignores everything else. */
  readonly hasStatus: boolean;
  /** Whether `status` is kept on create: of built-in resources only Nodes keep it. */
  readonly keepsStatusOnCreate: boolean;
  /** Whether an update must name the resource version. */
  readonly needsVersion: boolean;
  /** Field selectors in addition to metadata.name and metadata.namespace. */
  readonly fields: readonly string[];
  /** Two resources with one key are views of the same objects. */
  readonly storageKey: string;
  /** Of a custom resource; null: everything is accepted. */
  readonly schema: Schema | null;
}

type Traits = Partial<Omit<ApiResource, 'group' | 'version' | 'plural' | 'kind'>>;

function resource(groupVersion: string, plural: string, kind: string, traits: Traits = {}): ApiResource {
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  return {
    group: group!,
    version: version!,
    plural,
    kind,
    isNamespaced: true,
    hasStatus: false,
    keepsStatusOnCreate: false,
    needsVersion: false,
    fields: [],
    storageKey: `${group}/${plural}`,
    schema: null,
    ...traits,
  };
}

const CLUSTER = { isNamespaced: false };
const RBAC = 'rbac.authorization.k8s.io/v1';
const EVENT_FIELDS = [
  'reason',
  'type',
  'involvedObject.uid',
  'involvedObject.name',
  'involvedObject.kind',
  'regarding.uid',
  'regarding.name',
];

const BUILT_IN: readonly ApiResource[] = [
  resource('v1', 'pods', 'Pod', {
    hasStatus: true,
    fields: ['spec.nodeName', 'status.phase', 'spec.schedulerName'],
  }),
  resource('v1', 'nodes', 'Node', {
    ...CLUSTER,
    hasStatus: true,
    keepsStatusOnCreate: true,
    fields: ['spec.unschedulable'],
  }),
  resource('v1', 'namespaces', 'Namespace', { ...CLUSTER, hasStatus: true, fields: ['status.phase'] }),
  resource('v1', 'secrets', 'Secret', { fields: ['type'] }),
  resource('v1', 'configmaps', 'ConfigMap'),
  resource('v1', 'services', 'Service', { hasStatus: true }),
  resource('v1', 'serviceaccounts', 'ServiceAccount'),
  resource('v1', 'persistentvolumes', 'PersistentVolume', { ...CLUSTER, hasStatus: true }),
  resource('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', { hasStatus: true }),
  resource('v1', 'events', 'Event', { fields: EVENT_FIELDS, storageKey: 'events' }),
  resource('events.k8s.io/v1', 'events', 'Event', { fields: EVENT_FIELDS, storageKey: 'events' }),
  resource('coordination.k8s.io/v1', 'leases', 'Lease', { needsVersion: true }),
  resource('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', { hasStatus: true }),
  resource('apps/v1', 'daemonsets', 'DaemonSet', { hasStatus: true }),
  resource('apps/v1', 'deployments', 'Deployment', { hasStatus: true }),
  resource('apps/v1', 'replicasets', 'ReplicaSet', { hasStatus: true }),
  resource('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', CLUSTER),
  resource('storage.k8s.io/v1', 'storageclasses', 'StorageClass', CLUSTER),
  resource('apiextensions.k8s.io/v1', 'customresourcedefinitions', 'CustomResourceDefinition', {
    ...CLUSTER,
    hasStatus: true,
  }),
  resource(RBAC, 'clusterroles', 'ClusterRole', CLUSTER),
  resource(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', CLUSTER),
  resource(RBAC, 'roles', 'Role'),
  resource(RBAC, 'rolebindings', 'RoleBinding'),
];

export class ResourceRegistry {
  readonly #byPath = new Map<string, ApiResource>();

  constructor() {
    for (const each of BUILT_IN) this.#add(each);
  }

  /** Undefined: not installed. */
  find(group: string, version: string, plural: string): ApiResource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** The built-in resource of a plural, for code of the tests. */
  named(plural: string): ApiResource {
    for (const each of this.#byPath.values()) if (each.plural === plural) return each;
    throw new Error(`the fake API server has no resource ${plural}`);
  }

  ofKind(apiVersion: string, kind: string): ApiResource | undefined {
    for (const each of this.#byPath.values())
      if (each.kind === kind && groupVersion(each) === apiVersion) return each;
    return undefined;
  }

  /** Serves the versions of a CustomResourceDefinition from now on, and no others of it. */
  install(definition: StoredObject): void {
    const { group, names } = definition['spec'] as DefinitionSpec;
    for (const each of [...this.#byPath.values()])
      if (each.group === group && each.plural === names.plural) this.#byPath.delete(pathKey(each));
    for (const each of resourcesOf(definition)) this.#add(each);
  }

  remove(definition: StoredObject): void {
    for (const each of resourcesOf(definition)) this.#byPath.delete(pathKey(each));
  }

  #add(each: ApiResource): void {
    this.#byPath.set(pathKey(each), each);
  }
}

export function groupVersion({ group, version }: ApiResource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** 'pods', 'deployments.apps': how error messages name a resource. */
export function qualifiedName({ group, plural }: ApiResource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function pathKey({ group, version, plural }: ApiResource): string {
  return `${group}/${version}/${plural}`;
}

interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly schema?: { readonly openAPIV3Schema?: Schema };
    readonly subresources?: { readonly status?: unknown };
    readonly selectableFields?: readonly { readonly jsonPath: string }[];
  }[];
}

function resourcesOf(definition: StoredObject): readonly ApiResource[] {
  const { group, scope, names, versions } = definition['spec'] as DefinitionSpec;
  return versions
    .filter(({ served }) => served)
    .map(({ name, schema, subresources, selectableFields = [] }) =>
      resource(`${group}/${name}`, names.plural, names.kind, {
        isNamespaced: scope === 'Namespaced',
        hasStatus: subresources?.status !== undefined,
        needsVersion: true,
        schema: schema?.openAPIV3Schema ?? null,
        fields: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
      }),
    );
}
