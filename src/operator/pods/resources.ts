// What a pod requests of each resource, as kube-scheduler computes it (component-helpers, resource.PodRequests):
//
//   max(sum of containers + sidecars, peak of the init stage) + overhead
//
// where an init container runs beside the sidecars started before it, pod-level requests replace the sum of the containers
// for the resources they name, and a resize in progress counts as the largest of spec, allocated and actual.

import { excerpt, MAX_UNITS, NameLimits, type ResourceVector } from '../../model/index.ts';
import type { Container, ContainerStatus, Pod, ResourceList, ResourceRequirements } from '../kube/objects.ts';
import { amountOf, saturatingSum } from './quantities.ts';

/** Resource names of one row at most; the shard sets aside rows with more. */
const MAX_RESOURCES = 16;

export interface PodResources {
  readonly resources: ResourceVector;
  readonly remarks: readonly string[];
  /** Why the pod cannot be counted; null if it can. */
  readonly problem: string | null;
}

/** The parts of a pod, or of the template of a DaemonSet, that decide what it requests. */
export interface Requesting {
  readonly spec: Pod['spec'];
  readonly status?: Pod['status'];
}

type Amounts = Map<string, number>;

/**
 * A pod that requests nothing fits every node that exists, and none if there is none. Counted as this, the smallest amount,
 * its row is not empty and gets a machine.
 */
const NOMINAL: ResourceVector = new Map([['cpu', 1]]);

export function orNominal(resources: ResourceVector): ResourceVector {
  return resources.size === 0 ? NOMINAL : resources;
}

export function podResources(pod: Requesting, countPods = false): PodResources {
  return new Sum(countPods).of(pod);
}

/** The resources of a CapacityRequest, which is one pod's request. */
export function listedResources(list: ResourceList, countPods = false): PodResources {
  return new Sum(countPods).ofList(list);
}

class Sum {
  readonly #remarks: string[] = [];
  #problem: string | null = null;
  readonly #countPods: boolean;

  constructor(countPods: boolean) {
    this.#countPods = countPods;
  }

  of({ spec, status }: Requesting): PodResources {
    const total: Amounts = new Map();
    const isInfeasible = isResizeInfeasible(status);
    for (const container of spec.containers ?? []) {
      const found = statusOf(status?.containerStatuses, container.name);
      addTo(total, this.#container(container, found, isInfeasible));
    }
    if (spec.initContainers !== undefined)
      this.#addInitStage(total, spec.initContainers, status, isInfeasible);
    if (spec.resources !== undefined) this.#replaceByPodLevel(total, spec.resources, status);
    if (spec.overhead !== undefined) addTo(total, this.#read(spec.overhead));
    return this.#result(total);
  }

  ofList(list: ResourceList): PodResources {
    return this.#result(this.#read(list));
  }

  #addInitStage(
    total: Amounts,
    containers: readonly Container[],
    status: Pod['status'],
    isInfeasible: boolean,
  ): void {
    const sidecars: Amounts = new Map();
    const peak: Amounts = new Map();
    for (const container of containers) {
      if (container.restartPolicy === 'Always') {
        const found = statusOf(status?.initContainerStatuses, container.name);
        const amounts = this.#container(container, found, isInfeasible);
        addTo(total, amounts);
        addTo(sidecars, amounts);
        raiseTo(peak, sidecars);
      } else {
        const amounts = new Map(this.#container(container, undefined, isInfeasible));
        addTo(amounts, sidecars);
        raiseTo(peak, amounts);
      }
    }
    raiseTo(total, peak);
  }

  #container(container: Container, status: ContainerStatus | undefined, isInfeasible: boolean): Amounts {
    const spec = this.#requests(container.resources);
    if (status?.resources === undefined) return spec;
    // KEP-1287: what the kubelet has admitted and what runs count as well; a resize that it refused does not.
    const amounts = isInfeasible ? new Map<string, number>() : spec;
    if (status.resources.requests !== undefined) raiseTo(amounts, this.#read(status.resources.requests));
    if (status.allocatedResources !== undefined) raiseTo(amounts, this.#read(status.allocatedResources));
    return amounts;
  }

  #replaceByPodLevel(total: Amounts, resources: ResourceRequirements, status: Pod['status']): void {
    const requests = this.#read(resources.requests ?? {});
    // The API server sets requests of pods from limits, but not those in the template of a DaemonSet.
    for (const [name, units] of this.#read(resources.limits ?? {}))
      if (!requests.has(name) && !total.has(name)) requests.set(name, units);
    if (status?.resources?.requests !== undefined) raiseTo(requests, this.#read(status.resources.requests));
    if (status?.allocatedResources !== undefined) raiseTo(requests, this.#read(status.allocatedResources));
    for (const [name, units] of requests) if (isPodLevel(name)) total.set(name, units);
  }

  /** Requests; a limit without a request is one. */
  #requests(resources: ResourceRequirements | undefined): Amounts {
    const amounts = this.#read(resources?.requests ?? {});
    const { limits } = resources ?? {};
    if (limits === undefined) return amounts;
    for (const name of Object.keys(limits)) {
      if (resources?.requests !== undefined && Object.hasOwn(resources.requests, name)) continue;
      this.#readOne(name, limits[name]!, amounts);
    }
    return amounts;
  }

  #read(list: ResourceList): Amounts {
    const amounts: Amounts = new Map();
    for (const name of Object.keys(list)) this.#readOne(name, list[name]!, amounts);
    return amounts;
  }

  #readOne(name: string, quantity: string | number, amounts: Amounts): void {
    const amount = amountOf(quantity, name);
    if (amount.kind === 'units') amounts.set(name, amount.units);
    else if (amount.kind === 'negative')
      this.#remarks.push(`The request of ${excerpt(name, 64)} is below zero and counts as 0.`);
    else this.#problem ??= `Its request of ${excerpt(name, 64)}, ${amount.problem}.`;
  }

  #result(total: Amounts): PodResources {
    for (const [name, units] of total) {
      if (units === 0) total.delete(name);
      else if (units >= MAX_UNITS)
        this.#problem ??= `Its request of ${excerpt(name, 64)} is too large to count exactly.`;
      if (name.length > NameLimits.resource)
        this.#problem ??= `The name of a resource has more than ${NameLimits.resource} characters.`;
    }
    if (this.#countPods) total.set('pods', 1);
    if (total.size > MAX_RESOURCES)
      this.#problem ??= `It requests ${total.size} different resources, at most ${MAX_RESOURCES} can be counted.`;
    return { resources: total, remarks: this.#remarks, problem: this.#problem };
  }
}

function statusOf(
  statuses: readonly ContainerStatus[] | undefined,
  name: string,
): ContainerStatus | undefined {
  if (statuses === undefined) return undefined;
  for (const status of statuses) if (status.name === name) return status;
  return undefined;
}

/** Reported by a condition since Kubernetes 1.33, by a field before. */
function isResizeInfeasible(status: Pod['status']): boolean {
  if (status?.resize === 'Infeasible') return true;
  return (
    status?.conditions?.some(
      ({ type, status: value, reason }) =>
        type === 'PodResizePending' && value === 'True' && reason === 'Infeasible',
    ) ?? false
  );
}

function isPodLevel(resource: string): boolean {
  return resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-');
}

function addTo(sum: Amounts, amounts: ResourceVector): void {
  for (const [name, units] of amounts) sum.set(name, saturatingSum(sum.get(name) ?? 0, units));
}

function raiseTo(peak: Amounts, amounts: ResourceVector): void {
  for (const [name, units] of amounts) if (units > (peak.get(name) ?? 0)) peak.set(name, units);
}
