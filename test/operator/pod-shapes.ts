// Shapes of pods with the nodes that they fit: what the translation must say, and what kube-scheduler says of the same pods
// on the same, empty nodes. pod-shapes.test.ts compares the translation with the table; a test with a real control plane
// compares the scheduler with it. A node that a shape does not list rejects it.

import type { Pod } from '../../src/operator/kube/objects.ts';
import {
  ABSENT,
  ALL,
  ARCH,
  asking,
  claiming,
  EXISTS,
  GT,
  HOSTNAME,
  IN,
  init,
  LT,
  limited,
  NOT_IN,
  OPEN,
  OPEN_BIG,
  type PodShapeCase,
  pod,
  requiring,
  sidecar,
  TOLERATES_ALL,
  TOLERATES_GPU,
  TYPE,
  volume,
  ZONE,
} from './shape-parts.ts';

const RESOURCES: readonly PodShapeCase[] = [
  { title: 'no requests at all', pod: pod({ containers: [{ name: 'main' }] }), fits: OPEN },
  { title: 'small requests', pod: pod({}), fits: OPEN, requests: { cpu: '100m', memory: '64Mi' } },
  {
    title: 'exactly a small node',
    pod: pod({ containers: [asking({ cpu: '2', memory: '4Gi' })] }),
    fits: OPEN,
  },
  {
    title: 'a little more cpu than a small node',
    pod: pod({ containers: [asking({ cpu: '2001m' })] }),
    fits: OPEN_BIG,
  },
  {
    title: 'a byte more memory than a small node',
    pod: pod({ containers: [asking({ memory: '4294967297' })] }),
    fits: OPEN_BIG,
  },
  { title: 'more than any node', pod: pod({ containers: [asking({ cpu: '33' })] }), fits: [] },
  {
    title: 'two containers add up',
    pod: pod({ containers: [asking({ cpu: '1500m' }), asking({ cpu: '1' }, 'second')] }),
    fits: OPEN_BIG,
    requests: { cpu: '2500m' },
  },
  {
    title: 'decimal and exponent quantities',
    pod: pod({ containers: [asking({ cpu: '1.5', memory: '1e9' })] }),
    fits: OPEN,
    requests: { cpu: '1500m', memory: '1000000000' },
  },
  {
    title: 'limits without requests are requests',
    pod: pod({ containers: [limited({ cpu: '4', memory: '1Gi' })] }),
    fits: OPEN_BIG,
    requests: { cpu: '4', memory: '1Gi' },
  },
  {
    title: 'a request below its limit counts, not the limit',
    pod: pod({ containers: [limited({ cpu: '8', memory: '8Gi' }, { cpu: '1', memory: '8Gi' })] }),
    fits: OPEN_BIG,
    requests: { cpu: '1', memory: '8Gi' },
  },
  {
    title: 'an init container larger than the containers',
    pod: pod({ containers: [asking({ cpu: '1' })], initContainers: [init({ cpu: '6' })] }),
    fits: OPEN_BIG,
    requests: { cpu: '6' },
  },
  {
    title: 'init containers run one after the other',
    pod: pod({
      containers: [asking({ cpu: '1' })],
      initContainers: [init({ cpu: '1500m' }, 'first'), init({ cpu: '2' }, 'second')],
    }),
    fits: OPEN,
    requests: { cpu: '2' },
  },
  {
    title: 'the peak is taken per resource',
    pod: pod({
      containers: [asking({ cpu: '2', memory: '1Gi' })],
      initContainers: [init({ cpu: '1', memory: '4Gi' })],
    }),
    fits: OPEN,
    requests: { cpu: '2', memory: '4Gi' },
  },
  {
    title: 'a sidecar runs beside the containers',
    pod: pod({ containers: [asking({ cpu: '1500m' })], initContainers: [sidecar({ cpu: '600m' })] }),
    fits: OPEN_BIG,
    requests: { cpu: '2100m' },
  },
  {
    title: 'an init container after a sidecar runs beside it',
    pod: pod({
      containers: [asking({ cpu: '100m' })],
      initContainers: [sidecar({ cpu: '500m' }), init({ cpu: '1600m' })],
    }),
    fits: OPEN_BIG,
    requests: { cpu: '2100m' },
  },
  {
    title: 'an init container before a sidecar does not',
    pod: pod({
      containers: [asking({ cpu: '100m' })],
      initContainers: [init({ cpu: '1600m' }), sidecar({ cpu: '500m' })],
    }),
    fits: OPEN,
    requests: { cpu: '1600m' },
  },
  {
    title: 'two sidecars and an init container between them',
    pod: pod({
      containers: [asking({ cpu: '200m' })],
      initContainers: [sidecar({ cpu: '300m' }, 'one'), init({ cpu: '1' }), sidecar({ cpu: '900m' }, 'two')],
    }),
    fits: OPEN,
    requests: { cpu: '1400m' },
  },
  {
    title: 'overhead of the runtime is added',
    pod: pod({ containers: [asking({ cpu: '2' })], overhead: { cpu: '250m', memory: '120Mi' } }),
    fits: OPEN_BIG,
    requests: { cpu: '2250m', memory: '120Mi' },
    isTranslationOnly: true,
  },
  {
    title: 'pod-level requests replace the sum of the containers',
    pod: pod({ containers: [asking({ cpu: '500m' })], resources: { requests: { cpu: '3', memory: '1Gi' } } }),
    fits: OPEN_BIG,
    requests: { cpu: '3', memory: '1Gi' },
  },
  {
    title: 'pod-level requests leave other resources to the containers',
    pod: pod({
      containers: [asking({ cpu: '500m', 'ephemeral-storage': '30Gi' })],
      resources: { requests: { cpu: '1' } },
    }),
    fits: OPEN_BIG,
    requests: { cpu: '1', 'ephemeral-storage': '30Gi' },
  },
  {
    title: 'ephemeral storage',
    pod: pod({ containers: [asking({ 'ephemeral-storage': '300Gi' })] }),
    fits: ['bare'],
    requests: { 'ephemeral-storage': '300Gi' },
  },
  {
    title: 'huge pages',
    pod: pod({ containers: [limited({ 'hugepages-2Mi': '512Mi', memory: '1Gi', cpu: '1' })] }),
    fits: ['bare'],
    requests: { 'hugepages-2Mi': '512Mi', memory: '1Gi', cpu: '1' },
  },
  {
    title: 'more huge pages than there are',
    pod: pod({ containers: [limited({ 'hugepages-2Mi': '2Gi', memory: '1Gi', cpu: '1' })] }),
    fits: [],
  },
  {
    title: 'an extended resource, tolerated',
    pod: pod({ containers: [limited({ 'nvidia.com/gpu': '4' })], tolerations: [TOLERATES_GPU] }),
    fits: ['gpu'],
    requests: { 'nvidia.com/gpu': '4' },
  },
  {
    title: 'an extended resource behind a taint',
    pod: pod({ containers: [limited({ 'nvidia.com/gpu': '1' })] }),
    fits: [],
  },
  {
    title: 'more of an extended resource than a node has',
    pod: pod({ containers: [limited({ 'nvidia.com/gpu': '5' })], tolerations: [TOLERATES_GPU] }),
    fits: [],
  },
  {
    title: 'an extended resource that no node has',
    pod: pod({ containers: [limited({ 'example.com/fpga': '1' })], tolerations: [TOLERATES_ALL] }),
    fits: [],
  },
  {
    title: 'a resize that the kubelet has not finished: the larger counts',
    pod: pod(
      { containers: [asking({ cpu: '1' })] },
      {
        status: {
          containerStatuses: [
            { name: 'main', allocatedResources: { cpu: '3' }, resources: { requests: { cpu: '2' } } },
          ],
        },
      },
    ),
    fits: OPEN_BIG,
    requests: { cpu: '3' },
    isTranslationOnly: true,
  },
  {
    title: 'a resize that is not feasible: what is allocated counts',
    pod: pod(
      { containers: [asking({ cpu: '40' })] },
      {
        status: {
          conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
          containerStatuses: [
            { name: 'main', allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '1' } } },
          ],
        },
      },
    ),
    fits: OPEN,
    requests: { cpu: '1' },
    isTranslationOnly: true,
  },
];

const LABELS: readonly PodShapeCase[] = [
  { title: 'a node selector', pod: pod({ nodeSelector: { disk: 'ssd' } }), fits: ['large'] },
  { title: 'a node selector that nothing meets', pod: pod({ nodeSelector: { disk: 'tape' } }), fits: [] },
  {
    title: 'a node selector of two labels',
    pod: pod({ nodeSelector: { [ZONE]: 'eu-a', [ARCH]: 'arm64' } }),
    fits: ['arm'],
  },
  { title: 'an instance type', pod: pod({ nodeSelector: { [TYPE]: 's16' } }), fits: ['large', 'large-b'] },
  { title: 'In with several values', pod: pod(requiring([IN(ZONE, 'eu-b', 'us-a')])), fits: ['large-b'] },
  {
    title: 'NotIn also takes nodes without the label',
    pod: pod(requiring([NOT_IN(ZONE, 'eu-a')])),
    fits: ['large-b', 'bare'],
  },
  { title: 'Exists', pod: pod(requiring([EXISTS('rack')])), fits: ['bare'] },
  { title: 'DoesNotExist', pod: pod(requiring([ABSENT(ZONE)])), fits: ['bare'] },
  {
    title: 'two expressions of one term',
    pod: pod(requiring([IN(ZONE, 'eu-a'), NOT_IN(ARCH, 'arm64')])),
    fits: ['small', 'large'],
  },
  {
    title: 'two expressions of one label',
    pod: pod(requiring([IN(ZONE, 'eu-a', 'eu-b'), NOT_IN(ZONE, 'eu-a')])),
    fits: ['large-b'],
  },
  {
    title: 'expressions of one label that exclude each other',
    pod: pod(requiring([IN(ZONE, 'eu-a'), IN(ZONE, 'eu-b')])),
    fits: [],
  },
  {
    title: 'a selector and an affinity',
    pod: pod({ nodeSelector: { [TYPE]: 's16' }, ...requiring([IN(ZONE, 'eu-b')]) }),
    fits: ['large-b'],
  },
  {
    title: 'terms that differ in one label',
    pod: pod(requiring([IN(ZONE, 'eu-b'), IN(TYPE, 's16')], [IN(ZONE, 'eu-a'), IN(TYPE, 's16')])),
    fits: ['large', 'large-b'],
  },
  {
    title: 'terms of different labels',
    pod: pod(requiring([IN('rack', 'r7')], [IN('disk', 'ssd')])),
    fits: ['large', 'bare'],
  },
  {
    title: 'terms of which one cannot be met',
    pod: pod(requiring([IN('rack', 'r9')], [IN(ARCH, 'arm64')])),
    fits: ['arm'],
  },
  {
    title: 'terms and a selector',
    pod: pod({ nodeSelector: { [ARCH]: 'amd64' }, ...requiring([IN('rack', 'r7')], [IN(ZONE, 'eu-a')]) }),
    fits: ['small', 'large', 'bare'],
  },
  {
    title: 'Gt',
    pod: pod(requiring([GT('example.com/generation', '3')])),
    fits: ['large', 'large-b', 'arm'],
  },
  { title: 'Lt', pod: pod(requiring([LT('example.com/generation', '4')])), fits: ['small'] },
  {
    title: 'Gt and Lt of one label',
    pod: pod(requiring([GT('example.com/generation', '3'), LT('example.com/generation', '5')])),
    fits: ['arm'],
  },
  {
    title: 'Gt that nothing meets',
    pod: pod(requiring([GT('example.com/generation', '9')])),
    fits: [],
    remark: 'no machine with such a value',
  },
  {
    title: 'Gt of a label that no node has',
    pod: pod(requiring([GT('example.com/age', '1')])),
    fits: [],
    remark: 'no machine with such a value',
  },
  {
    title: 'a node by its name',
    pod: pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [IN('metadata.name', 'large')] }],
          },
        },
      },
    }),
    fits: ['large'],
    remark: 'a node by its name',
  },
  {
    title: 'a hostname',
    pod: pod({ nodeSelector: { [HOSTNAME]: 'arm' } }),
    fits: ['arm'],
    remark: 'a node by its name',
  },
  {
    title: 'an empty term beside one with conditions',
    pod: pod(requiring([], [IN('disk', 'ssd')])),
    fits: ['large'],
  },
  {
    title: 'preferred terms decide nothing',
    pod: pod({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [IN(ZONE, 'eu-b')] } },
          ],
        },
      } as NonNullable<Pod['spec']['affinity']>,
    }),
    fits: OPEN,
  },
];

const TAINTS: readonly PodShapeCase[] = [
  { title: 'no toleration', pod: pod({}), fits: OPEN },
  { title: 'tolerates everything', pod: pod({ tolerations: [TOLERATES_ALL] }), fits: ALL },
  {
    title: 'tolerates by key and effect',
    pod: pod({ tolerations: [TOLERATES_GPU] }),
    fits: [...OPEN, 'gpu'],
  },
  {
    title: 'tolerates by value',
    pod: pod({
      tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'payments', effect: 'NoExecute' }],
    }),
    fits: [...OPEN, 'payments'],
  },
  {
    title: 'tolerates another value',
    pod: pod({ tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'search' }] }),
    fits: OPEN,
  },
  {
    title: 'tolerates another effect',
    pod: pod({ tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }] }),
    fits: OPEN,
  },
  {
    title: 'tolerates any effect',
    pod: pod({ tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
    fits: [...OPEN, 'payments'],
  },
  {
    title: 'Equal is the default operator',
    pod: pod({ tolerations: [{ key: 'nvidia.com/gpu', value: 'present' }] }),
    fits: [...OPEN, 'gpu'],
  },
  {
    title: 'requires tainted nodes and does not tolerate them',
    pod: pod({ nodeSelector: { team: 'payments' } }),
    fits: [],
    remark: 'does not tolerate',
  },
  {
    title: 'requires tainted nodes and tolerates them',
    pod: pod({ nodeSelector: { team: 'payments' }, tolerations: [TOLERATES_ALL] }),
    fits: ['payments'],
  },
  {
    title: 'one of two terms is behind a taint',
    pod: pod(requiring([IN('accelerator', 'a100')], [IN('disk', 'ssd')])),
    fits: ['large'],
  },
];

const VOLUMES: readonly PodShapeCase[] = [
  {
    title: 'a volume in one zone',
    pod: pod(claiming('data')),
    volumes: [volume('data', [IN(ZONE, 'eu-b')])],
    fits: ['large-b'],
  },
  {
    title: 'two volumes in one zone',
    pod: pod(claiming('data', 'logs')),
    volumes: [volume('data', [IN(ZONE, 'eu-a', 'eu-b')]), volume('logs', [IN(ZONE, 'eu-a')])],
    fits: ['small', 'large', 'arm'],
  },
  {
    title: 'two volumes in different zones',
    pod: pod(claiming('data', 'logs')),
    volumes: [volume('data', [IN(ZONE, 'eu-b')]), volume('logs', [IN(ZONE, 'eu-a')])],
    fits: [],
  },
  {
    title: 'a volume of two terms',
    pod: pod(claiming('data')),
    volumes: [volume('data', [IN(ZONE, 'eu-b')], [IN('rack', 'r7')])],
    fits: ['large-b', 'bare'],
  },
  {
    title: 'a volume and a selector that exclude each other',
    pod: pod({ ...claiming('data'), nodeSelector: { [ZONE]: 'eu-a' } }),
    volumes: [volume('data', [IN(ZONE, 'eu-b')])],
    fits: [],
  },
  {
    title: 'a volume of one node',
    pod: pod(claiming('data')),
    volumes: [volume('data', [IN(HOSTNAME, 'large')])],
    fits: ['large'],
    remark: 'a node by its name',
  },
  {
    title: 'a volume with its zone as a label',
    pod: pod(claiming('data')),
    volumes: [{ metadata: { name: 'data', labels: { [ZONE]: 'eu-b__us-a' } }, spec: {} }],
    fits: ['large-b'],
    // The scheduler compares nothing on a node without a zone, where the volume could not be attached.
    alsoTaken: ['bare'],
  },
  {
    title: 'a volume that can be used everywhere',
    pod: pod(claiming('data')),
    volumes: [{ metadata: { name: 'data' }, spec: {} }],
    fits: OPEN,
  },
  {
    title: 'a generic ephemeral volume, bound',
    pod: pod({ volumes: [{ name: 'scratch', ephemeral: {} }] }),
    volumes: [volume('pod-scratch', [IN(ZONE, 'eu-a')])],
    fits: ['small', 'large', 'arm'],
  },
];

const WEB = { matchLabels: { app: 'web' } };

const TOPOLOGY: readonly PodShapeCase[] = [
  {
    title: 'pods that share a zone',
    pod: pod({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: WEB }],
        },
      },
    }),
    fits: ['small', 'large', 'large-b', 'arm'],
  },
  {
    title: 'a hard spread over zones',
    pod: pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: WEB },
      ],
    }),
    fits: ['small', 'large', 'large-b', 'arm'],
  },
  {
    title: 'a soft spread over zones',
    pod: pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: WEB },
      ],
    }),
    fits: OPEN,
  },
  {
    title: 'a hard spread over nodes',
    pod: pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: HOSTNAME, whenUnsatisfiable: 'DoNotSchedule', labelSelector: WEB },
      ],
    }),
    fits: OPEN,
    remark: 'left to the scheduler',
  },
  {
    title: 'one pod per node',
    pod: pod({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOSTNAME, labelSelector: WEB }],
        },
      },
    }),
    fits: OPEN,
    remark: 'anti-affinity',
  },
  {
    title: 'a host port',
    pod: pod({ containers: [{ ...asking({ cpu: '100m' }), ports: [{ hostPort: 8080 }] }] }),
    fits: OPEN,
    remark: 'host ports',
  },
];

export const POD_SHAPES: readonly PodShapeCase[] = [
  ...RESOURCES,
  ...LABELS,
  ...TAINTS,
  ...VOLUMES,
  ...TOPOLOGY,
];
