// Paths of the API server that the parts for nodes, drains and verdicts use, and a listing in pages.

import type { KubeClient, Query, RequestOptions } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { apiVersionOf, pathOf, RESOURCES } from '../kube/paths.ts';

export const BIGFLEET_API = apiVersionOf(RESOURCES.upcomingNodes);
export const UPCOMING_NODES = pathOf(RESOURCES.upcomingNodes);
export const AVAILABLE_CAPACITIES = pathOf(RESOURCES.availableCapacities);
export const PODS = pathOf(RESOURCES.pods);

const PAGE_SIZE = 500;
/** Pages of one listing; more means that the server's continue tokens do not end. */
const MAX_PAGES = 10_000;

export function nodePath(name: string): string {
  return pathOf(RESOURCES.nodes, { name });
}

export function podPath(namespace: string, name: string): string {
  return pathOf(RESOURCES.pods, { namespace, name });
}

export function budgetsPath(namespace: string): string {
  return pathOf(RESOURCES.podDisruptionBudgets, { namespace });
}

export function capacityRequestPath(namespace: string, name: string): string {
  return pathOf(RESOURCES.capacityRequests, { namespace, name });
}

export function configMapPath(namespace: string, name: string): string {
  return pathOf(RESOURCES.configMaps, { namespace, name });
}

/** All objects below a path, listed in pages. */
export async function listAll<T extends KubeObject>(
  kube: KubeClient,
  path: string,
  query: Query = {},
  options: Omit<RequestOptions, 'query'> = {},
): Promise<readonly T[]> {
  const items: T[] = [];
  let token: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = { ...query, limit: PAGE_SIZE, continue: token };
    const list = await kube.list<T>(path, { ...options, query: page });
    items.push(...list.items);
    token = list.metadata.continue;
    if (token === undefined || token === '') break;
  }
  return items;
}
