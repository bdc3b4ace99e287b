// What a pod asks for, as a whole: amounts and constraints. The table of pods calls the two parts separately, because it
// translates each shape once; tools and tests call these.

import type { ResourceVector } from '../../model/index.ts';
import type { CapacityRequest, Pod } from '../kube/objects.ts';
import { type ClusterFacts, type Constraints, constraintsOf } from './constraints.ts';
import { listedResources, orNominal, type PodResources, podResources } from './resources.ts';
import { shapeOfCapacityRequest, shapeOfPod } from './shape.ts';
import type { VolumeTerms } from './volumes.ts';

export interface PodRequest extends Constraints {
  readonly resources: ResourceVector;
}

/** `volumes`: where the volumes behind the pod's claims can be reached from. Never throws. */
export function translatePod(pod: Pod, volumes: readonly VolumeTerms[], facts: ClusterFacts): PodRequest {
  return guarded(
    () => podResources(pod, facts.settings.countPods),
    () => constraintsOf(shapeOfPod(pod, facts.settings), volumes, facts),
  );
}

export function translateCapacityRequest(request: CapacityRequest, facts: ClusterFacts): PodRequest {
  return guarded(
    () => listedResources(request.spec.resources, facts.settings.countPods),
    () => constraintsOf(shapeOfCapacityRequest(request), [], facts),
  );
}

function guarded(resources: () => PodResources, constraints: () => Constraints): PodRequest {
  try {
    const amounts = resources();
    const parts = constraints();
    return {
      ...parts,
      resources: orNominal(amounts.resources),
      remarks: [...amounts.remarks, ...parts.remarks],
      problem: amounts.problem ?? parts.problem,
    };
  } catch {
    const problem = 'Its spec cannot be read.';
    return {
      profiles: [],
      group: '',
      remarks: [],
      problem,
      dependsOnSeenValues: false,
      resources: new Map(),
    };
  }
}
