// The cluster of `bench operator`, as JSON texts: nodes, and pods of thousands of workloads that look like those of a real
// API server, managed fields and status included. Runs in the process that feeds the operator, so that its memory does not
// count.

import { Random } from '../../src/runtime/random.ts';

export interface ClusterSize {
  readonly pods: number;
  readonly nodes: number;
  readonly workloads: number;
}

const DAEMONS_PER_NODE = 4;
/** Share of workloads whose pods have a volume each. */
const STATEFUL_SHARE = 0.04;
const ZONES = ['eu-a', 'eu-b', 'eu-c'];

/** A pod of the generated cluster. `node` 0: it waits. */
interface LivePod {
  readonly workload: number;
  readonly serial: number;
  node: number;
}

export class GeneratedCluster {
  readonly #size: ClusterSize;
  readonly #random: Random;
  readonly #pods: LivePod[] = [];
  #serial = 0;

  constructor(size: ClusterSize, seed: number) {
    this.#size = size;
    this.#random = new Random(seed);
  }

  *nodes(): Generator<object> {
    for (let i = 1; i <= this.#size.nodes; i++) {
      yield {
        metadata: {
          name: nodeName(i),
          uid: `node-${i}`,
          resourceVersion: String(i),
          labels: {
            'kubernetes.io/hostname': nodeName(i),
            'kubernetes.io/arch': 'amd64',
            'kubernetes.io/os': 'linux',
            'node.kubernetes.io/instance-type': `m${i % 40}.4xlarge`,
            'topology.kubernetes.io/zone': ZONES[i % ZONES.length],
            'example.com/pool': `pool-${i % 60}`,
            'bigfleet.lucy.sh/machine': `machine-${i}`,
          },
        },
        spec: { providerID: `fake://machine-${i}` },
        status: { allocatable: { cpu: '64', memory: '256Gi', pods: '110' } },
      };
    }
  }

  *volumes(): Generator<{ readonly claim: object; readonly volume: object }> {
    for (let workload = 0; workload < this.#size.workloads * STATEFUL_SHARE; workload++) {
      for (let i = 0; i < this.#size.pods / this.#size.workloads; i++) {
        const name = `data-${workload}-${i}`;
        const values = [ZONES[workload % ZONES.length]!];
        const matchExpressions = [{ key: 'topology.kubernetes.io/zone', operator: 'In', values }];
        yield {
          claim: { metadata: { name, namespace: namespaceOf(workload) }, spec: { volumeName: name } },
          volume: {
            metadata: { name },
            spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
          },
        };
      }
    }
  }

  *daemonSets(): Generator<object> {
    for (let i = 0; i < DAEMONS_PER_NODE; i++) {
      const containers = [{ name: 'agent', resources: { requests: { cpu: '100m', memory: '128Mi' } } }];
      yield {
        metadata: { name: `agent-${i}`, namespace: 'kube-system' },
        spec: { template: { spec: { containers, tolerations: [{ operator: 'Exists' }] } } },
      };
    }
  }

  *budgets(): Generator<object> {
    for (let workload = 0; workload < this.#size.workloads; workload++) {
      yield {
        metadata: { name: `budget-${workload}`, namespace: namespaceOf(workload) },
        spec: { selector: { matchLabels: { app: `app-${workload}` } } },
        status: { disruptionsAllowed: workload % 3 },
      };
    }
  }

  *namespaces(): Generator<object> {
    for (let i = 0; i < 200; i++) yield { metadata: { name: `team-${i}`, labels: { team: `team-${i}` } } };
    yield { metadata: { name: 'kube-system' } };
  }

  /** All pods of the first list, as JSON texts. */
  *pods(): Generator<string> {
    const { pods, nodes } = this.#size;
    for (let node = 1; node <= nodes; node++)
      for (let i = 0; i < DAEMONS_PER_NODE; i++) yield daemonJson(i, node);
    for (let i = nodes * DAEMONS_PER_NODE; i < pods; i++) {
      const pod = this.#newPod();
      pod.node = 1 + (i % nodes);
      yield podJson(pod, this.#size);
    }
  }

  /** Watch events: pods are deleted, created and found unschedulable, bound, and change their status. */
  *events(count: number): Generator<string> {
    for (let i = 0; i < count; i++) {
      const index = this.#random.below(this.#pods.length);
      const pod = this.#pods[index]!;
      switch (i % 4) {
        case 0: {
          this.#pods[index] = this.#pods.at(-1)!;
          this.#pods.pop();
          yield `{"type":"DELETED","object":${podJson(pod, this.#size)}}`;
          break;
        }
        case 1:
          yield `{"type":"ADDED","object":${podJson(this.#newPod(), this.#size)}}`;
          break;
        case 2: {
          // The pod of the event before.
          const waiting = this.#pods.at(-1)!;
          waiting.node = 1 + this.#random.below(this.#size.nodes);
          yield `{"type":"MODIFIED","object":${podJson(waiting, this.#size)}}`;
          break;
        }
        default:
          yield `{"type":"MODIFIED","object":${podJson(pod, this.#size)}}`;
      }
    }
  }

  #newPod(): LivePod {
    const serial = this.#serial++;
    const pod = { workload: serial % this.#size.workloads, serial, node: 0 };
    this.#pods.push(pod);
    return pod;
  }
}

function nodeName(node: number): string {
  return `ip-10-${node >> 8}-${node & 255}.eu.compute.internal`;
}

function namespaceOf(workload: number): string {
  return `team-${workload % 200}`;
}

function uidOf(serial: number, kind: number): string {
  const hex = serial.toString(16).padStart(12, '0');
  return `${kind}a5c1b2e-4f7d-4c3a-9b1e-${hex}`;
}

const MANAGED_FIELDS = [
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-11-18T08:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': {
        'f:generateName': {},
        'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} },
        'f:ownerReferences': { '.': {}, 'k:{"uid":"x"}': {} },
      },
      'f:spec': {
        'f:containers': {
          'k:{"name":"main"}': {
            '.': {},
            'f:env': {},
            'f:image': {},
            'f:imagePullPolicy': {},
            'f:name': {},
            'f:resources': { '.': {}, 'f:limits': {}, 'f:requests': {} },
            'f:terminationMessagePath': {},
            'f:terminationMessagePolicy': {},
          },
        },
        'f:dnsPolicy': {},
        'f:enableServiceLinks': {},
        'f:restartPolicy': {},
        'f:schedulerName': {},
        'f:securityContext': {},
        'f:terminationGracePeriodSeconds': {},
      },
    },
  },
  {
    manager: 'kubelet',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-11-18T08:00:05Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:status': {
        'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
        'f:containerStatuses': {},
        'f:hostIP': {},
        'f:phase': {},
        'f:podIP': {},
        'f:startTime': {},
      },
    },
    subresource: 'status',
  },
];

function container(name: string, requests: object): object {
  return {
    name,
    image: `registry.example.com/${name}@sha256:7d1f0a3c5b9e8d2f4a6c8e0b1d3f5a7c9e1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f`,
    command: ['/bin/server', '--port=8080', '--log-level=info'],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'REGION', value: 'eu' },
      { name: 'LOG_LEVEL', value: 'info' },
    ],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    resources: { requests, limits: { memory: '4Gi' } },
    readinessProbe: {
      httpGet: { path: '/ready', port: 'http', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    volumeMounts: [
      { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  };
}

const TOLERATIONS = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
];

function statusOf(node: number, names: readonly string[]): object {
  if (node === 0) {
    const message =
      '0/5000 nodes are available: 5000 Insufficient cpu. preemption: 0/5000 nodes are available.';
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: '2026-11-18T08:00:00Z',
    };
    return { phase: 'Pending', conditions: [condition], qosClass: 'Burstable' };
  }
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-11-18T08:00:05Z',
  });
  return {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
      condition,
    ),
    hostIP: '10.0.0.1',
    podIP: `10.200.${node >> 8}.${node & 255}`,
    startTime: '2026-11-18T08:00:01Z',
    containerStatuses: names.map((name) => ({
      name,
      state: { running: { startedAt: '2026-11-18T08:00:04Z' } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: `registry.example.com/${name}:1`,
      imageID:
        'registry.example.com/x@sha256:7d1f0a3c5b9e8d2f4a6c8e0b1d3f5a7c9e1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f',
      containerID: 'containerd://9e1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f7d1f0a3c5b9e8d2f4a6c8e0b1d3f5a7c',
      started: true,
    })),
    qosClass: 'Burstable',
  };
}

function daemonJson(daemon: number, node: number): string {
  const names = ['agent'];
  return JSON.stringify({
    metadata: {
      name: `agent-${daemon}-${node}`,
      generateName: `agent-${daemon}-`,
      namespace: 'kube-system',
      uid: uidOf(daemon * 1_000_000 + node, 2),
      resourceVersion: String(node),
      creationTimestamp: '2026-11-18T08:00:00Z',
      labels: {
        app: `agent-${daemon}`,
        'controller-revision-hash': '6d8f7c',
        'pod-template-generation': '1',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: `agent-${daemon}`,
          uid: `d-${daemon}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: MANAGED_FIELDS,
    },
    spec: {
      nodeName: nodeName(node),
      containers: [container('agent', { cpu: '100m', memory: '128Mi' })],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName(node)] }] },
            ],
          },
        },
      },
      tolerations: [{ operator: 'Exists' }],
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
    },
    status: statusOf(node, names),
  });
}

/** Workloads differ in pool and priority, so that each is a row of its own; some also in affinity, spread and volumes. */
function podJson({ workload, serial, node }: LivePod, { pods, workloads }: ClusterSize): string {
  const app = `app-${workload}`;
  const names = workload % 5 === 0 ? ['main', 'proxy'] : ['main'];
  const variant = serial % 3;
  const requests = {
    cpu: `${100 + (workload % 20) * 50 + variant * 10}m`,
    memory: `${128 + (workload % 16) * 64}Mi`,
  };
  const selector = { matchLabels: { app } };
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              {
                key: 'example.com/pool',
                operator: 'In',
                values: [`pool-${workload % 60}`, `pool-${(workload + 1) % 60}`],
              },
            ],
          },
        ],
      },
    },
    ...(workload % 25 === 1
      ? {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: selector, topologyKey: 'topology.kubernetes.io/zone' },
            ],
          },
        }
      : {}),
  };
  const isStateful = workload < workloads * STATEFUL_SHARE;
  const claim = Math.floor(serial / workloads) % Math.ceil(pods / workloads);
  return JSON.stringify({
    metadata: {
      name: `${app}-7d9f8b6c5-${serial.toString(36)}`,
      generateName: `${app}-7d9f8b6c5-`,
      namespace: namespaceOf(workload),
      uid: uidOf(serial, 1),
      resourceVersion: String(serial),
      creationTimestamp: '2026-11-18T08:00:00Z',
      labels: {
        app,
        'pod-template-hash': '7d9f8b6c5',
        team: `team-${workload % 200}`,
        version: 'v42',
        ...(isStateful ? { 'statefulset.kubernetes.io/pod-name': `${app}-${serial}` } : {}),
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'bigfleet.lucy.sh/interruption-penalty': String(2 ** (workload % 4)),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-7d9f8b6c5`,
          uid: `r-${workload}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: MANAGED_FIELDS,
    },
    spec: {
      ...(node === 0 ? {} : { nodeName: nodeName(node) }),
      containers: names.map((name) => container(name, requests)),
      affinity,
      ...(workload % 10 === 2
        ? {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'topology.kubernetes.io/zone',
                whenUnsatisfiable: 'DoNotSchedule',
                labelSelector: selector,
              },
            ],
          }
        : {}),
      volumes: [
        {
          name: 'kube-api-access',
          projected: {
            sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
            defaultMode: 420,
          },
        },
        ...(isStateful
          ? [{ name: 'data', persistentVolumeClaim: { claimName: `data-${workload}-${claim}` } }]
          : []),
      ],
      tolerations: TOLERATIONS,
      priority: Math.floor(workload / 60) * 100,
      priorityClassName: `tier-${Math.floor(workload / 60)}`,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      schedulerName: 'default-scheduler',
    },
    status: statusOf(node, names),
  });
}
