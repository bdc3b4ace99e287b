// The Deployment of the operator: two replicas on different nodes, of which one leads, with the security context that the
// strictest Pod Security level asks for. Printed by manifests.ts.

import type { ManifestOptions } from './manifests.ts';
import { APP, COMMON_LABELS, LABELS, type Manifest } from './objects.ts';

interface DeploymentOptions extends Pick<ManifestOptions, 'image' | 'namespace' | 'replicas' | 'tlsSecret'> {
  readonly tlsFolder: string;
  readonly settingsFile: string;
  /** Changes with the settings, so that applying other ones replaces the pods. */
  readonly settingsHash: string;
}

const PORT = 8770;
/**
 * Garbage collection in favour of memory: parsed pages die young, so a large young generation only takes memory; and a heap
 * with a limit is collected before it has grown several times. 250,000 pods have 65 MiB of heap. Also used by `bench operator`.
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=8', '--max-old-space-size=512'];
/** The user of distroless images. */
const USER = 65532;

export function deployment(options: DeploymentOptions): Manifest {
  const { namespace, replicas, settingsHash } = options;
  const labels = { 'bigfleet.lucy.sh/settings-hash': settingsHash };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: APP, namespace, labels: COMMON_LABELS },
    spec: {
      replicas,
      selector: { matchLabels: LABELS },
      // A leader without a shard is not ready, and must be replaceable all the same.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      template: { metadata: { labels: COMMON_LABELS, annotations: labels }, spec: podSpec(options) },
    },
  };
}

function podSpec({ image, tlsSecret, tlsFolder, settingsFile }: DeploymentOptions): unknown {
  const folder = settingsFile.slice(0, settingsFile.lastIndexOf('/'));
  const hasTls = tlsSecret !== null;
  return {
    serviceAccountName: APP,
    // Pods that wait for a node wait for this one.
    priorityClassName: 'system-cluster-critical',
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(
      (topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: LABELS },
      }),
    ),
    containers: [
      {
        name: 'operator',
        image,
        command: ['bigfleet', 'operator', '--config', settingsFile],
        env: [
          fieldVariable('POD_NAME', 'metadata.name'),
          fieldVariable('POD_NAMESPACE', 'metadata.namespace'),
          { name: 'NODE_OPTIONS', value: NODE_OPTIONS.join(' ') },
        ],
        ports: [{ name: 'metrics', containerPort: PORT }],
        livenessProbe: probe('/healthz', 10),
        readinessProbe: probe('/readyz', 3),
        resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: 'settings', mountPath: folder, readOnly: true },
          ...(hasTls ? [{ name: 'tls', mountPath: tlsFolder, readOnly: true }] : []),
        ],
      },
    ],
    volumes: [
      { name: 'settings', configMap: { name: APP } },
      ...(hasTls ? [{ name: 'tls', secret: { secretName: tlsSecret, defaultMode: 0o440 } }] : []),
    ],
  };
}

function fieldVariable(name: string, fieldPath: string): unknown {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

function probe(path: string, failureThreshold: number): unknown {
  return { httpGet: { path, port: 'metrics' }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold };
}
