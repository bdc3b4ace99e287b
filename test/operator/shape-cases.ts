// The table of pod shapes against the scheduler of a control plane: each shape is tried on each node of the table, one pod
// per node at a time, so that no pod is in the way of another one. pod-shapes.test.ts compares the translation with the table.

import { expect } from 'vitest';
import {
  type KubeClient,
  KubeError,
  type KubeObject,
  type NodeSelectorTerm,
  type PersistentVolume,
  type Pod,
  pathOf,
  RESOURCES,
} from '../../src/operator/kube/index.ts';
import { eventually, startControlPlane } from '../../testing/kube/control-plane.ts';
import { FakeKubelets } from '../../testing/kube/kubelet.ts';
import type { EndToEndCase } from './end-to-end-case.ts';
import { POD_SHAPES } from './pod-shapes.ts';
import { type PodShapeCase, SHAPE_NODES, shapeNode } from './shape-parts.ts';

const NAMESPACE = 'default';
const PODS = pathOf(RESOURCES.pods, { namespace: NAMESPACE });
const CLAIMS = pathOf(RESOURCES.persistentVolumeClaims, { namespace: NAMESPACE });
const VOLUMES = pathOf(RESOURCES.persistentVolumes);

/** Shapes of groups of pods, whose pods on other nodes matter: they are tried one node after the other. */
function isOfGroup({ pod }: PodShapeCase): boolean {
  const { affinity, topologySpreadConstraints } = pod.spec;
  return (
    affinity?.podAffinity !== undefined ||
    affinity?.podAntiAffinity !== undefined ||
    topologySpreadConstraints !== undefined
  );
}

/** The pod, bound to one node: each term of its affinity also names the node. A term without conditions matches nothing. */
function pinned({ pod, volumes = [] }: PodShapeCase, node: string): object {
  const { affinity, containers, initContainers } = pod.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const given: readonly NodeSelectorTerm[] = (required?.nodeSelectorTerms ?? [{}]).filter(
    ({ matchExpressions = [], matchFields = [] }) =>
      required === undefined || matchExpressions.length + matchFields.length > 0,
  );
  const byName = { key: 'metadata.name', operator: 'In', values: [node] };
  const nodeSelectorTerms = given.map((term) => ({
    ...term,
    matchFields: [...(term.matchFields ?? []), byName],
  }));
  const withImage = (all: typeof containers) =>
    all.map((container) => ({ ...container, image: 'fake', ...portsOf(container) }));
  return {
    metadata: { name: `on-${node}`, labels: pod.metadata.labels },
    spec: {
      ...pod.spec,
      terminationGracePeriodSeconds: 0,
      containers: withImage(containers),
      ...(initContainers === undefined ? {} : { initContainers: withImage(initContainers) }),
      ...(pod.spec.volumes === undefined
        ? {}
        : {
            volumes: volumes.map(({ metadata: { name } }) => ({
              name,
              persistentVolumeClaim: { claimName: name },
            })),
          }),
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  };
}

function portsOf(container: Pod['spec']['containers'][number]): object {
  const { ports } = container as { readonly ports?: readonly { readonly hostPort?: number }[] };
  if (ports === undefined) return {};
  return { ports: ports.map(({ hostPort }) => ({ hostPort, containerPort: hostPort })) };
}

/** A volume that is bound to the claim of its name, as a provisioner leaves both. */
async function bindVolume(client: KubeClient, { metadata, spec }: PersistentVolume): Promise<void> {
  const { name, labels = {} } = metadata;
  const size = { storage: '1Gi' };
  const accessModes = ['ReadWriteOnce'];
  await client.create(VOLUMES, {
    metadata: { name, labels },
    spec: {
      ...spec,
      capacity: size,
      accessModes,
      storageClassName: '',
      csi: { driver: 'fake', volumeHandle: name },
      claimRef: { namespace: NAMESPACE, name },
    },
  } as unknown as KubeObject);
  const claim = await client.create(CLAIMS, {
    metadata: { name, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: name, accessModes, storageClassName: '', resources: { requests: size } },
  } as unknown as KubeObject);
  await client.patch(`${VOLUMES}/${name}`, 'merge', {
    spec: { claimRef: { uid: claim.metadata.uid } },
  });
  for (const path of [`${CLAIMS}/${name}`, `${VOLUMES}/${name}`])
    await client.patch(`${path}/status`, 'merge', { status: { phase: 'Bound' } });
}

async function unbindVolume(client: KubeClient, name: string): Promise<void> {
  for (const path of [`${CLAIMS}/${name}`, `${VOLUMES}/${name}`]) {
    await client.patch(path, 'merge', { metadata: { finalizers: null } });
    await gone(client.delete(path));
  }
}

async function gone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof KubeError && error.isNotFound)) throw error;
  }
}

/** How long a rejection with claims must last: the scheduler learns of a pod, its claims and their volumes in any order. */
const SETTLE_MS = 1_000;
/** A pod that is expected to fit may be rejected once before, and then waits for the scheduler's longest backoff. */
const FITS_MS = 60_000;

/** The nodes of `nodes` that the scheduler puts the shape on, if it has no other choice. */
async function placed(
  client: KubeClient,
  shape: PodShapeCase,
  nodes: readonly string[],
): Promise<readonly string[]> {
  await Promise.all(nodes.map((node) => client.create(PODS, pinned(shape, node) as KubeObject)));
  const expected = new Set([...shape.fits, ...(shape.alsoTaken ?? [])].map((node) => `on-${node}`));
  let pods: readonly Pod[] = [];
  const settleMs = shape.volumes === undefined ? 0 : SETTLE_MS;
  let settledMs = 0;
  const startMs = Date.now();
  await eventually(
    `the scheduler decides on "${shape.title}"`,
    async () => {
      pods = (await client.list<Pod>(PODS)).items;
      const rejected = pods.filter(({ spec }) => spec.nodeName === undefined);
      if (rejected.length === 0) return true;
      if (!rejected.every(isRejected)) settledMs = 0;
      else if (settledMs === 0) settledMs = Date.now();
      const isExpected = rejected.every(({ metadata }) => !expected.has(metadata.name));
      if (!isExpected && Date.now() - startMs < FITS_MS) return false;
      return settledMs > 0 && Date.now() - settledMs >= settleMs;
    },
    2 * FITS_MS,
  );
  await Promise.all(
    pods.map(({ metadata }) => gone(client.delete(`${PODS}/${metadata.name}`, { gracePeriodSeconds: 0 }))),
  );
  await eventually('the pods are gone', async () => (await client.list<Pod>(PODS)).items.length === 0);
  return pods.flatMap(({ spec }) => spec.nodeName ?? []);
}

function isRejected({ status }: Pod): boolean {
  const conditions = status?.conditions ?? [];
  return conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable');
}

export const SHAPE_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given the table of pod shapes, then the scheduler puts each on the nodes that the table lists, and on no other',
    run: async (target, { onTestFinished }) => {
      // The kubelets never renew their Leases, since the pods here must not run.
      const plane = await startControlPlane(target, { nodeMonitorGraceSeconds: 3_600 });
      onTestFinished(() => plane.stop());
      const client = plane.admin;
      const kubelets = new FakeKubelets({ client });
      onTestFinished(() => kubelets.stop());
      const nodes = Object.keys(SHAPE_NODES);
      for (const name of nodes) {
        const { metadata, spec, status } = shapeNode(name);
        const capacity = status?.capacity ?? {};
        await kubelets.boot({
          ...{ name, providerID: `fake://${name}`, capacity },
          ...{ labels: metadata.labels ?? {}, taints: spec?.taints ?? [] },
        });
      }
      const said: Record<string, readonly string[]> = {};
      const expected: Record<string, readonly string[]> = {};
      for (const shape of POD_SHAPES.filter(({ isTranslationOnly }) => isTranslationOnly !== true)) {
        const { title, volumes = [], fits, alsoTaken = [] } = shape;
        for (const volume of volumes) await bindVolume(client, volume);
        const rounds = isOfGroup(shape) ? nodes.map((node) => [node]) : [nodes];
        const found: string[] = [];
        for (const round of rounds) found.push(...(await placed(client, shape, round)));
        for (const { metadata } of volumes) await unbindVolume(client, metadata.name);
        said[title] = found.sort();
        expected[title] = [...fits, ...alsoTaken].sort();
      }
      expect(Object.keys(said).length).toBeGreaterThanOrEqual(60);
      expect(said).toEqual(expected);
    },
  },
];
