// The shape of a pod: everything it asks for apart from amounts, without what differs between pods of one workload. There
// are a few thousand shapes in a cluster of hundreds of thousands of pods; each is translated once.

import type {
  CapacityRequest,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import { INTERRUPTION_PENALTY, RECLAMATION_PENALTY } from './keys.ts';
import type { TranslationSettings } from './settings.ts';

/** What a row cannot express; the pod is counted without it. */
export type Inexpressible = 'anti-affinity' | 'host-port' | 'resource-claim' | 'affinity-to-others';

export interface PodShape {
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  /** Of required node affinity; undefined if there is none. */
  readonly nodeTerms?: readonly NodeSelectorTerm[] | undefined;
  readonly podAffinity?: readonly PodAffinityTerm[] | undefined;
  readonly spread?: readonly TopologySpreadConstraint[] | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly priority?: number | undefined;
  readonly priorityClassName?: string | undefined;
  readonly interruptionPenalty?: string | number | undefined;
  readonly reclamationPenalty?: string | number | undefined;
  readonly inexpressible?: readonly Inexpressible[] | undefined;
  /** Whether the pod has its node: conditions on the name of a node no longer matter then. */
  readonly isBound?: true | undefined;
}

/** Tolerations matter only where the settings declare taints; left out, pods that differ in them share a shape. */
export function shapeOfPod(pod: Pod, settings: TranslationSettings): PodShape {
  const { spec, metadata } = pod;
  const { affinity } = spec;
  const podAffinity = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const inexpressible = inexpressibleParts(pod, podAffinity);
  return {
    nodeSelector: spec.nodeSelector,
    nodeTerms: requiredTerms(spec),
    podAffinity: podAffinity !== undefined && podAffinity.length > 0 ? podAffinity : undefined,
    spread: spec.topologySpreadConstraints,
    tolerations: settings.taints.length > 0 ? spec.tolerations : undefined,
    priority: spec.priority,
    priorityClassName: spec.priorityClassName,
    interruptionPenalty: metadata.annotations?.[INTERRUPTION_PENALTY],
    reclamationPenalty: metadata.annotations?.[RECLAMATION_PENALTY],
    inexpressible: inexpressible.length > 0 ? inexpressible : undefined,
    isBound: spec.nodeName === undefined || spec.nodeName === '' ? undefined : true,
  };
}

function requiredTerms(spec: Pod['spec']): readonly NodeSelectorTerm[] | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required == null ? undefined : (required.nodeSelectorTerms ?? []);
}

function inexpressibleParts(
  { spec, metadata }: Pod,
  podAffinity: readonly PodAffinityTerm[] | undefined,
): readonly Inexpressible[] {
  const parts: Inexpressible[] = [];
  const antiAffinity = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (antiAffinity !== undefined && antiAffinity.length > 0) parts.push('anti-affinity');
  if (spec.hostNetwork !== true && hasHostPort(spec)) parts.push('host-port');
  if (spec.hostNetwork === true && spec.containers?.some(({ ports }) => (ports?.length ?? 0) > 0))
    parts.push('host-port');
  if (spec.resourceClaims !== undefined && spec.resourceClaims.length > 0) parts.push('resource-claim');
  if (
    podAffinity?.[0] !== undefined &&
    !selects(podAffinity[0].labelSelector, labelsOf(metadata.labels ?? {}))
  )
    parts.push('affinity-to-others');
  return parts;
}

function hasHostPort({ containers, initContainers }: Pod['spec']): boolean {
  for (const { ports } of containers ?? []) if (ports?.some(({ hostPort = 0 }) => hostPort > 0)) return true;
  return initContainers?.some(({ ports }) => ports?.some(({ hostPort = 0 }) => hostPort > 0)) ?? false;
}

/** A CapacityRequest is one pod's request in other words. It has no tolerations, so taints do not concern it. */
export function shapeOfCapacityRequest({ spec }: CapacityRequest): PodShape {
  const { requirements, coLocation, topologySpread } = spec;
  return {
    nodeTerms:
      requirements === undefined || requirements.length === 0
        ? undefined
        : [{ matchExpressions: requirements }],
    podAffinity: coLocation === undefined ? undefined : [coLocation],
    spread: topologySpread,
    tolerations: [{ operator: 'Exists' }],
    priority: spec.priority,
    interruptionPenalty: spec.interruptionPenalty,
    reclamationPenalty: spec.reclamationPenalty,
  };
}

/** One text for each shape. */
export function shapeText(shape: PodShape): string {
  return JSON.stringify(shape);
}
