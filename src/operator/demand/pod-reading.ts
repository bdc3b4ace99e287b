// Reads what the table of pods keeps of a pod or CapacityRequest. Everything that may throw on a malformed object happens
// here, before the table is written, so that the last good state stays.

import { canonicalResources, type ResourceVector } from '../../model/index.ts';
import type { CapacityRequest, Pod } from '../kube/objects.ts';
import { listedResources, orNominal, podResources } from '../pods/resources.ts';
import type { TranslationSettings } from '../pods/settings.ts';
import { type PodShape, shapeOfCapacityRequest, shapeOfPod, shapeText } from '../pods/shape.ts';
import { claimNames } from '../pods/volumes.ts';
import { checkRequest } from './request-schema.ts';
import {
  Flag,
  flagsOfPod,
  flagsOfRequest,
  misreadSwitches,
  ownerOf,
  unschedulableCondition,
} from './standing.ts';
import { UnreadableError } from './unreadable.ts';

export interface PodReading {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly flags: number;
  /** '' if it is not bound. */
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly claims: readonly string[];
  /** Null for an object that never counts, of which nothing else is read. */
  readonly asked: {
    readonly shape: PodShape;
    readonly shapeText: string;
    readonly resources: ResourceVector;
    readonly resourcesText: string;
    readonly remarks: readonly string[];
    /** About switches whose value is neither on nor off. */
    readonly misread: readonly string[];
    readonly problem: string | null;
  } | null;
  /** When the scheduler marked it Unschedulable; 0 if it has not. */
  readonly sinceMs: number;
  /** Uid of the pod that a CapacityRequest was made for; '' for none. */
  readonly owner: string;
}

const NO_CLAIMS: readonly string[] = [];

export function readPod(pod: Pod, settings: TranslationSettings): PodReading {
  const { metadata, spec, status } = pod;
  if (typeof spec !== 'object' || spec === null)
    throw new UnreadableError('It has no spec.', 'Its API server may be newer than this operator.');
  const flags = flagsOfPod(pod);
  const identity = {
    uid: uidOf('Pod', pod),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    owner: '',
  };
  if ((flags & Flag.Finished) !== 0)
    return {
      ...identity,
      flags,
      nodeName: '',
      labels: undefined,
      claims: NO_CLAIMS,
      asked: null,
      sinceMs: 0,
    };
  const { resources, remarks, problem } = podResources(pod, settings.countPods);
  const shape = shapeOfPod(pod, settings);
  const amounts = (flags & Flag.Overhead) === 0 ? orNominal(resources) : resources;
  return {
    ...identity,
    flags: problem === null ? flags : flags | Flag.Quarantined,
    nodeName: spec.nodeName ?? '',
    labels: metadata.labels,
    claims: claimNames(pod),
    asked: {
      shape,
      shapeText: shapeText(shape),
      resources: amounts,
      resourcesText: canonicalResources(amounts),
      remarks,
      misread: misreadSwitches(metadata),
      problem,
    },
    sinceMs: (flags & Flag.Unschedulable) === 0 ? 0 : sinceOf(pod, status),
  };
}

export function readRequest(request: CapacityRequest, settings: TranslationSettings): PodReading {
  checkRequest(request);
  const { metadata, spec } = request;
  const { resources, remarks, problem } = listedResources(spec.resources, settings.countPods);
  const shape = shapeOfCapacityRequest(request);
  const amounts = orNominal(resources);
  const flags = flagsOfRequest(request);
  return {
    uid: uidOf('CapacityRequest', request),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    flags: problem === null ? flags : flags | Flag.Quarantined,
    nodeName: '',
    labels: undefined,
    claims: NO_CLAIMS,
    asked: {
      shape,
      shapeText: shapeText(shape),
      resources: amounts,
      resourcesText: canonicalResources(amounts),
      remarks,
      misread: [],
      problem,
    },
    sinceMs: 0,
    owner: ownerOf(request),
  };
}

/** Objects of a test may have no uid; those of an API server always do. */
export function uidOf(kind: 'Pod' | 'CapacityRequest', { metadata }: Pod | CapacityRequest): string {
  const uid = metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
  return kind === 'Pod' ? uid : `request:${uid}`;
}

function sinceOf({ metadata }: Pod, status: Pod['status']): number {
  const { lastTransitionTime = '' } = unschedulableCondition(status?.conditions) ?? {};
  const marked = Date.parse(lastTransitionTime);
  if (Number.isFinite(marked)) return marked;
  const created = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isFinite(created) ? created : 0;
}
