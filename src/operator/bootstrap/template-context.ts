// What a bootstrap template knows of the machine and the cluster: the names with their types, and the values of one
// request. Used by renderer.ts; docs/operate/operator.md lists the names.

import type { NodeSelectorRequirement } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { NodeSelectorRequirement_Operator } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { CapacityType } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type { BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { NodeTaint } from '../kube/objects.ts';
import type { TaintRule } from '../pods/settings.ts';
import { kubeletLabels, kubeletTaints, taintsOf } from './node-identity.ts';
import type { TemplateRecord, TemplateScope } from './template.ts';

/** How a node reaches and trusts the API server. */
export interface ClusterAccess {
  /** HOST:PORT. */
  readonly endpoint: string;
  /** Certificates in PEM. */
  readonly caBundle: string;
  /** Hash of the public key of the first certificate, as kubeadm expects it: `sha256:` and hex digits. */
  readonly caHash: string;
}

/** Names of every template. */
const MACHINE_SCOPE: TemplateScope = {
  cluster: 'text',
  machine: 'text',
  providerId: 'text',
  zone: 'text',
  type: 'text',
  capacityType: 'text',
  labels: 'map',
  taints: { each: { key: 'text', value: 'text', effect: 'text' } },
  requirements: { each: { key: 'text', operator: 'text', values: 'texts' } },
  nodeLabels: 'text',
  nodeTaints: 'text',
};

/** Names that need the right to mint tokens, or access that is known. */
const ACCESS_SCOPE: TemplateScope = { endpoint: 'text', caBundle: 'text', caHash: 'text' };
const TOKEN_SCOPE: TemplateScope = { token: 'text', tokenExpires: 'text' };

export type BootstrapMode = 'tokens' | 'template';

/** In mode `template` there is no token; the endpoint and the authority are empty where they are not known. */
export function templateScope(mode: BootstrapMode): TemplateScope {
  return { ...MACHINE_SCOPE, ...ACCESS_SCOPE, ...(mode === 'tokens' ? TOKEN_SCOPE : {}) };
}

export interface Token {
  readonly text: string;
  readonly expiresMs: number;
}

export interface ContextParts {
  readonly cluster: string;
  readonly taintRules: readonly TaintRule[];
  readonly access: ClusterAccess | null;
  readonly token: Token | null;
}

const CAPACITY_TYPES: Readonly<Record<number, string>> = {
  [CapacityType.CAPACITY_TYPE_BARE_METAL]: 'bare-metal',
  [CapacityType.CAPACITY_TYPE_RESERVED]: 'reserved',
  [CapacityType.CAPACITY_TYPE_ON_DEMAND]: 'on-demand',
  [CapacityType.CAPACITY_TYPE_SPOT]: 'spot',
};

const OPERATORS: Readonly<Record<number, string>> = {
  [NodeSelectorRequirement_Operator.OPERATOR_IN]: 'In',
  [NodeSelectorRequirement_Operator.OPERATOR_NOT_IN]: 'NotIn',
  [NodeSelectorRequirement_Operator.OPERATOR_EXISTS]: 'Exists',
  [NodeSelectorRequirement_Operator.OPERATOR_DOES_NOT_EXIST]: 'DoesNotExist',
  [NodeSelectorRequirement_Operator.OPERATOR_SAME]: 'Same',
};

export function templateValues(request: BootstrapRequest, parts: ContextParts): TemplateRecord {
  const { cluster, access, token } = parts;
  const labels = labelsOf(request);
  const taints: readonly NodeTaint[] = taintsOf(request.taints, labels, parts.taintRules);
  return {
    cluster,
    machine: request.machineId,
    providerId: request.providerId,
    zone: request.zone,
    type: request.instanceType,
    capacityType: CAPACITY_TYPES[request.capacityType] ?? '',
    labels,
    taints: taints.map(({ key, value = '', effect }) => ({ key, value, effect })),
    requirements: request.requirements.map(requirementRecord),
    nodeLabels: kubeletLabels(labels, request.machineId),
    nodeTaints: kubeletTaints(taints),
    endpoint: access?.endpoint ?? '',
    caBundle: access?.caBundle ?? '',
    caHash: access?.caHash ?? '',
    ...(token === null
      ? {}
      : { token: token.text, tokenExpires: new Date(token.expiresMs).toISOString().replace(/\.\d+Z$/, 'Z') }),
  };
}

const TYPE_LABEL = 'node.kubernetes.io/instance-type';
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Labels that the node is to carry, with type and zone where the shard knows them. */
function labelsOf({ labels, instanceType, zone }: BootstrapRequest): ReadonlyMap<string, string> {
  const all = new Map(labels);
  if (instanceType !== '' && !all.has(TYPE_LABEL)) all.set(TYPE_LABEL, instanceType);
  if (zone !== '' && !all.has(ZONE_LABEL)) all.set(ZONE_LABEL, zone);
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function requirementRecord({ key, operator, values }: NodeSelectorRequirement): TemplateRecord {
  return { key, operator: OPERATORS[operator] ?? '', values };
}

/** Requests that a template is tried with: every fact given, and none, as from a shard of the reference. */
export function exampleRequests(cluster: string): readonly BootstrapRequest[] {
  const none: BootstrapRequest = {
    requestId: 'example',
    clusterId: cluster,
    requirements: [],
    machineId: '',
    labels: new Map(),
    taints: [],
    instanceType: '',
    zone: '',
    capacityType: CapacityType.CAPACITY_TYPE_UNSPECIFIED,
    providerId: '',
  };
  const all: BootstrapRequest = {
    ...none,
    requirements: [
      {
        key: ZONE_LABEL,
        operator: NodeSelectorRequirement_Operator.OPERATOR_IN,
        values: ['zone-a', 'zone-b'],
      },
    ],
    machineId: 'machine-1',
    labels: new Map([
      ['team', "o'hara"],
      ['kubernetes.io/arch', 'amd64'],
    ]),
    taints: [{ key: 'dedicated', value: 'batch', effect: 'NoSchedule' }],
    instanceType: 'm5.large',
    zone: 'zone-a',
    capacityType: CapacityType.CAPACITY_TYPE_SPOT,
    providerId: 'example:///zone-a/i-0123456789',
  };
  return [all, none];
}

/** Access and token for examples. The token has the form of a real one and is not valid anywhere. */
export const EXAMPLE_ACCESS: ClusterAccess = {
  endpoint: 'api.example:6443',
  caBundle: '-----BEGIN CERTIFICATE-----\nZXhhbXBsZQ==\n-----END CERTIFICATE-----\n',
  caHash: `sha256:${'0'.repeat(64)}`,
};
export const EXAMPLE_TOKEN: Token = { text: 'abcdef.0123456789abcdef', expiresMs: Date.UTC(2030, 0, 1) };
