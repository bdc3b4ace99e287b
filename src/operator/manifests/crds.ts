// The custom resources: group, version, names and fields are those of the reference, so that either operator can serve
// objects of the other. CapacityRequest has an optional `status.conditions` besides. Printed by manifests.ts.

import type { Manifest } from './objects.ts';

export const GROUP = 'bigfleet.lucy.sh';
const VERSION = 'v1alpha1';

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string' };
const INT32: Schema = { type: 'integer', format: 'int32' };
const TIME: Schema = { type: 'string', format: 'date-time' };

const QUANTITY: Schema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
};

const TEXTS: Schema = { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'atomic' };
const RESOURCES: Schema = { type: 'object', additionalProperties: QUANTITY };
const LABEL_MAP: Schema = { type: 'object', additionalProperties: TEXT };

function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function list(items: Schema): Schema {
  return { type: 'array', items };
}

function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

const EXPRESSION = object({ key: TEXT, operator: TEXT, values: TEXTS }, ['key', 'operator']);
const SELECTOR: Schema = {
  ...object({
    matchExpressions: { ...list(EXPRESSION), 'x-kubernetes-list-type': 'atomic' },
    matchLabels: LABEL_MAP,
  }),
  'x-kubernetes-map-type': 'atomic',
};
const SPREAD = object({ maxSkew: INT32, topologyKey: TEXT, whenUnsatisfiable: TEXT }, [
  'maxSkew',
  'topologyKey',
  'whenUnsatisfiable',
]);
const CONDITION = object(
  {
    type: TEXT,
    status: oneOf('True', 'False', 'Unknown'),
    reason: TEXT,
    message: TEXT,
    lastTransitionTime: TIME,
    observedGeneration: { type: 'integer', format: 'int64' },
  },
  ['type', 'status'],
);
const TAINT = object({ effect: TEXT, key: TEXT, value: TEXT, timeAdded: TIME }, ['effect', 'key']);
const NODE_REFERENCE: Schema = {
  ...object({
    apiVersion: TEXT,
    fieldPath: TEXT,
    kind: TEXT,
    name: TEXT,
    namespace: TEXT,
    resourceVersion: TEXT,
    uid: TEXT,
  }),
  'x-kubernetes-map-type': 'atomic',
};

interface Resource {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly columns: readonly (readonly [name: string, type: string, path: string])[];
  readonly selectable: readonly string[];
  readonly spec: Schema;
  readonly status: Schema;
}

const AGE = ['Age', 'date', '.metadata.creationTimestamp'] as const;

const CAPACITY_REQUEST: Resource = {
  kind: 'CapacityRequest',
  plural: 'capacityrequests',
  shortNames: ['cr', 'crs'],
  scope: 'Namespaced',
  columns: [['Phase', 'string', '.status.phase'], ['Priority', 'integer', '.spec.priority'], AGE],
  selectable: ['.status.phase'],
  spec: object(
    {
      coLocation: object({ labelSelector: SELECTOR, topologyKey: TEXT }, ['topologyKey']),
      interruptionPenalty: QUANTITY,
      priority: INT32,
      reclamationPenalty: QUANTITY,
      requirements: list(EXPRESSION),
      resources: RESOURCES,
      topologySpread: list(SPREAD),
    },
    ['priority', 'resources'],
  ),
  status: object(
    {
      acknowledgedAt: TIME,
      conditions: {
        ...list(CONDITION),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      },
      phase: oneOf('Pending', 'Acknowledged'),
    },
    ['phase'],
  ),
};

const AVAILABLE_CAPACITY: Resource = {
  kind: 'AvailableCapacity',
  plural: 'availablecapacities',
  shortNames: ['avc'],
  scope: 'Cluster',
  columns: [
    ['Availability', 'string', '.spec.availability'],
    ['Available', 'integer', '.spec.availableCount'],
    ['Cost', 'string', '.spec.cost'],
  ],
  selectable: [],
  spec: object(
    {
      availability: oneOf('None', 'Low', 'Medium', 'High'),
      availableCount: INT32,
      cost: QUANTITY,
      requirements: list(EXPRESSION),
      resources: RESOURCES,
    },
    ['availability', 'availableCount', 'cost', 'resources'],
  ),
  status: { type: 'object' },
};

const UPCOMING_NODE: Resource = {
  kind: 'UpcomingNode',
  plural: 'upcomingnodes',
  shortNames: ['upn'],
  scope: 'Cluster',
  columns: [['Phase', 'string', '.status.phase'], ['Node', 'string', '.status.nodeRef.name'], AGE],
  selectable: [],
  spec: object({ labels: LABEL_MAP, resources: RESOURCES, taints: list(TAINT) }, ['resources']),
  status: object(
    {
      lastError: TEXT,
      nodeRef: NODE_REFERENCE,
      phase: oneOf('Provisioning', 'Launched', 'Registered', 'Ready', 'Draining', 'Drained', 'Failed'),
      providerID: TEXT,
      provisioningStartTime: TIME,
    },
    ['phase'],
  ),
};

export function customResourceDefinitions(): readonly Manifest[] {
  return [AVAILABLE_CAPACITY, CAPACITY_REQUEST, UPCOMING_NODE].map(definitionOf);
}

function definitionOf(resource: Resource): Manifest {
  const { kind, plural, shortNames, scope, columns, selectable, spec, status } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'bigfleet' } },
    spec: {
      group: GROUP,
      names: {
        categories: ['fleet'],
        kind,
        listKind: `${kind}List`,
        plural,
        shortNames,
        singular: kind.toLowerCase(),
      },
      scope,
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          additionalPrinterColumns: columns.map(([name, type, jsonPath]) => ({ name, type, jsonPath })),
          ...(selectable.length === 0
            ? {}
            : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
          schema: {
            openAPIV3Schema: object(
              { apiVersion: TEXT, kind: TEXT, metadata: { type: 'object' }, spec, status },
              ['spec'],
            ),
          },
          subresources: { status: {} },
        },
      ],
    },
  };
}
