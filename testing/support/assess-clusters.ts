// Clusters and catalogues for tests of the assessment: nodes with their pods as kubectl prints them.

import type { Node, Pod } from '../../src/operator/kube/index.ts';
import { parseCatalogueFile } from '../../src/scenario/offerings-file.ts';

/** Four cores for a dollar and sixteen for three, on demand; four for half a dollar, spot; eight owned ones. */
export const CATALOGUE = `
offerings:
  - { name: small, instanceType: small, pricePerHour: 1, resources: { cpu: 4, memory: 16Gi } }
  - { name: large, instanceType: large, pricePerHour: 3, resources: { cpu: 16, memory: 64Gi } }
  - name: small-spot
    instanceType: small
    capacityType: spot
    pricePerHour: 0.5
    interruptionProbability: 0.01
    resources: { cpu: 4, memory: 16Gi }
  - { name: metal, instanceType: metal, capacityType: bare-metal, pricePerHour: 2, resources: { cpu: 8, memory: 32Gi } }
`;

export function catalogueOf(text: string = CATALOGUE) {
  const parsed = parseCatalogueFile(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return { file: 'prices.yaml', ...parsed.value };
}

export function node(
  name: string,
  type: string,
  cpu: number,
  labels: Readonly<Record<string, string>> = {},
): Node {
  return {
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'node.kubernetes.io/instance-type': type,
        'topology.kubernetes.io/zone': 'zone-a',
        'kubernetes.io/arch': 'amd64',
        ...labels,
      },
    },
    status: { allocatable: { cpu: String(cpu), memory: `${4 * cpu}Gi` } },
  };
}

/** A pod on a node, or one that waits if `nodeName` is ''. */
export function podOn(
  nodeName: string,
  name: string,
  cpu: string,
  spec: Partial<Pod['spec']> = {},
): Pod & { readonly kind: 'Pod' } {
  const waits = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: `uid-${name}` },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu, memory: '1Gi' } } }],
      ...(nodeName === '' ? {} : { nodeName }),
      ...spec,
    },
    status: { phase: nodeName === '' ? 'Pending' : 'Running', conditions: nodeName === '' ? [waits] : [] },
  };
}

/** The output of `kubectl get pods,nodes -A -o json`. */
export function kubectlList(...items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}
