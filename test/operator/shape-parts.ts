// The parts of which the table of pod shapes is made: the nodes, the taints that they register with, and short forms for
// what pods ask for.

import type {
  Container,
  Node,
  PersistentVolume,
  Pod,
  ResourceList,
} from '../../src/operator/kube/objects.ts';
import type { TaintRule } from '../../src/operator/pods/settings.ts';

export interface ShapeNode {
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: ResourceList;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
export const TYPE = 'node.kubernetes.io/instance-type';
export const HOSTNAME = 'kubernetes.io/hostname';
export const ARCH = 'kubernetes.io/arch';
const OS = 'kubernetes.io/os';

function placed(zone: string, type: string, arch: string, generation: string): Record<string, string> {
  return {
    [ZONE]: zone,
    [REGION]: zone.slice(0, 2),
    [TYPE]: type,
    [ARCH]: arch,
    [OS]: 'linux',
    'example.com/generation': generation,
  };
}

/** Every node also has the label of its name, as kubelets set it. */
export const SHAPE_NODES: Readonly<Record<string, ShapeNode>> = {
  small: {
    labels: placed('eu-a', 's2', 'amd64', '3'),
    allocatable: { cpu: '2', memory: '4Gi', 'ephemeral-storage': '20Gi', pods: '110' },
  },
  large: {
    labels: { ...placed('eu-a', 's16', 'amd64', '5'), disk: 'ssd' },
    allocatable: { cpu: '16', memory: '64Gi', 'ephemeral-storage': '200Gi', pods: '110' },
  },
  'large-b': {
    labels: placed('eu-b', 's16', 'amd64', '5'),
    allocatable: { cpu: '16', memory: '64Gi', 'ephemeral-storage': '200Gi', pods: '110' },
  },
  arm: {
    labels: placed('eu-a', 'a16', 'arm64', '4'),
    allocatable: { cpu: '16', memory: '64Gi', 'ephemeral-storage': '200Gi', pods: '110' },
  },
  gpu: {
    labels: { ...placed('eu-b', 'g8', 'amd64', '7'), accelerator: 'a100' },
    allocatable: {
      cpu: '8',
      memory: '32Gi',
      'ephemeral-storage': '100Gi',
      'nvidia.com/gpu': '4',
      pods: '110',
    },
    taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
  },
  payments: {
    labels: { ...placed('us-a', 's8', 'amd64', '5'), team: 'payments' },
    allocatable: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' },
    taints: [
      { key: 'dedicated', value: 'payments', effect: 'NoExecute' },
      { key: 'example.com/soft', effect: 'PreferNoSchedule' },
    ],
  },
  /** On premises: without a zone, with huge pages. */
  bare: {
    labels: { [TYPE]: 'metal', [ARCH]: 'amd64', [OS]: 'linux', rack: 'r7' },
    allocatable: {
      cpu: '32',
      memory: '128Gi',
      'ephemeral-storage': '500Gi',
      'hugepages-2Mi': '1Gi',
      pods: '110',
    },
  },
};

/** The taints of the nodes above, as the operator's settings declare them. */
export const SHAPE_TAINTS: readonly TaintRule[] = [
  {
    selector: { matchExpressions: [{ key: 'accelerator', operator: 'Exists' }] },
    taints: SHAPE_NODES['gpu']!.taints!,
  },
  { selector: { matchLabels: { team: 'payments' } }, taints: SHAPE_NODES['payments']!.taints! },
];

export function shapeNode(name: string): Node {
  const { labels, allocatable, taints = [] } = SHAPE_NODES[name]!;
  return {
    metadata: { name, labels: { ...labels, [HOSTNAME]: name } },
    spec: { taints },
    status: { allocatable, capacity: allocatable },
  };
}

export interface PodShapeCase {
  readonly title: string;
  readonly pod: Pod;
  /** Names of the nodes that it fits. */
  readonly fits: readonly string[];
  /** Names of more nodes that the scheduler takes and the translation on purpose does not ask for. */
  readonly alsoTaken?: readonly string[];
  /** Volumes behind the pod's claims: claim `x` is bound to volume `x`. */
  readonly volumes?: readonly PersistentVolume[];
  /** What the pod requests, where the table is about that. */
  readonly requests?: ResourceList;
  /** Part of a remark that the pod gets. */
  readonly remark?: string;
  /** The status cannot be given to a scheduler that has not placed the pod; only the translation is compared. */
  readonly isTranslationOnly?: true;
}

export type Spec = Omit<Pod['spec'], 'containers'> & { readonly containers?: readonly Container[] };

export function pod(
  spec: Spec,
  rest: Partial<Pod['metadata']> & { readonly status?: Pod['status'] } = {},
): Pod {
  const { status, ...metadata } = rest;
  const containers = spec.containers ?? [asking({ cpu: '100m', memory: '64Mi' })];
  return {
    metadata: { name: 'pod', namespace: 'default', uid: 'pod-uid', labels: { app: 'web' }, ...metadata },
    spec: { ...spec, containers },
    ...(status === undefined ? {} : { status }),
  };
}

export function asking(requests: ResourceList, name = 'main'): Container {
  return { name, resources: { requests } };
}

export function limited(limits: ResourceList, requests?: ResourceList): Container {
  return { name: 'main', resources: requests === undefined ? { limits } : { limits, requests } };
}

export function init(requests: ResourceList, name = 'init'): Container {
  return asking(requests, name);
}

export function sidecar(requests: ResourceList, name = 'sidecar'): Container {
  return { ...asking(requests, name), restartPolicy: 'Always' };
}

export function requiring(
  ...terms: readonly { key: string; operator: string; values?: readonly string[] }[][]
): Spec {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}

export const IN = (key: string, ...values: string[]) => ({ key, operator: 'In', values });
export const NOT_IN = (key: string, ...values: string[]) => ({ key, operator: 'NotIn', values });
export const EXISTS = (key: string) => ({ key, operator: 'Exists' });
export const ABSENT = (key: string) => ({ key, operator: 'DoesNotExist' });
export const GT = (key: string, value: string) => ({ key, operator: 'Gt', values: [value] });
export const LT = (key: string, value: string) => ({ key, operator: 'Lt', values: [value] });

export function volume(
  name: string,
  ...terms: readonly { key: string; operator: string; values?: readonly string[] }[][]
): PersistentVolume {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  return { metadata: { name }, spec: { nodeAffinity: { required: { nodeSelectorTerms } } } };
}

export function claiming(...names: readonly string[]): Spec {
  return { volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) };
}

export const TOLERATES_GPU = { key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' };
export const TOLERATES_ALL = { operator: 'Exists' };

/** Nodes without taints. */
export const OPEN = ['small', 'large', 'large-b', 'arm', 'bare'];
export const OPEN_BIG = ['large', 'large-b', 'arm', 'bare'];
export const ALL = Object.keys(SHAPE_NODES);
