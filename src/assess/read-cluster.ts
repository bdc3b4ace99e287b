// A cluster from its API server: one list of each resource, in pages; nothing is watched or written. Pods and nodes must be
// readable. Without the right to read another resource the assessment goes on and says what it lacks.

import { BigFleetError, printable } from '../model/index.ts';
import {
  type KubeClient,
  KubeError,
  type KubeList,
  type KubeObject,
  type Node,
  type Pod,
  pathOf,
  RESOURCES,
  type Resource,
} from '../operator/kube/index.ts';
import { type ClusterObjects, type SupportingKind, WITHOUT } from './cluster-objects.ts';

const PAGE_SIZE = 500;
/** Pages of one list; more means that the continue tokens of the server do not end. */
const MAX_PAGES = 10_000;

const SUPPORTING: Readonly<Record<SupportingKind, Resource>> = {
  namespaces: RESOURCES.namespaces,
  persistentvolumeclaims: RESOURCES.persistentVolumeClaims,
  persistentvolumes: RESOURCES.persistentVolumes,
  daemonsets: RESOURCES.daemonSets,
  priorityclasses: RESOURCES.priorityClasses,
  poddisruptionbudgets: RESOURCES.podDisruptionBudgets,
};

/** Called with what is read, for a person. */
export type Progress = (what: string) => void;

export async function clusterFromApi(
  name: string,
  client: Pick<KubeClient, 'list'>,
  progress: Progress,
): Promise<ClusterObjects> {
  const read = async <T extends KubeObject>(resource: Resource): Promise<readonly T[]> =>
    await listOf<T>(name, client, resource, progress);
  const nodes = await mandatory(name, RESOURCES.nodes, read<Node>(RESOURCES.nodes));
  const pods = await mandatory(name, RESOURCES.pods, read<Pod>(RESOURCES.pods));
  const supporting: Partial<Record<SupportingKind, readonly KubeObject[]>> = {};
  const gaps: string[] = [];
  for (const [key, resource] of Object.entries(SUPPORTING) as [SupportingKind, Resource][]) {
    try {
      supporting[key] = await read(resource);
    } catch (error) {
      if (!(error instanceof KubeError) || (error.status !== 403 && error.status !== 404))
        throw failure(name, resource, error);
      const why = error.status === 403 ? `no right to ${rightOf(resource)}` : `the API has no ${key}`;
      gaps.push(`Not readable: ${why}, so ${WITHOUT[key]}.`);
    }
  }
  return { name, pods, nodes, supporting, gaps };
}

async function mandatory<T>(name: string, resource: Resource, list: Promise<T>): Promise<T> {
  try {
    return await list;
  } catch (error) {
    throw failure(name, resource, error);
  }
}

async function listOf<T extends KubeObject>(
  name: string,
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  progress: Progress,
): Promise<readonly T[]> {
  const items: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    progress(`Reading ${resource.plural} of ${name}${items.length === 0 ? '' : `: ${items.length} so far`}`);
    const query = { limit: PAGE_SIZE, continue: token };
    const list: KubeList<T> = await client.list<T>(pathOf(resource), { query });
    for (const item of list.items) items.push(item);
    token = list.metadata.continue;
    if (token === undefined || token === '') break;
  }
  return items;
}

/** As in a rule of RBAC: `list pods in all namespaces`, `list deployments.apps in all namespaces`. */
function rightOf({ base, plural, isNamespaced }: Resource): string {
  const group = /^\/apis\/([^/]+)\//.exec(base)?.[1];
  return `list ${group === undefined ? plural : `${plural}.${group}`}${isNamespaced ? ' in all namespaces' : ''}`;
}

function failure(name: string, resource: Resource, error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const { status } = error;
  const who = `cluster ${printable(name)}`;
  const what =
    status === 403
      ? `In ${who} there is no right to ${rightOf(resource)}`
      : status === 0
        ? `The API server of ${who} does not answer`
        : `The API server of ${who} refused to ${rightOf(resource)} (${status})`;
  return new BigFleetError('BF_KUBE_FAILED', `${what}: ${printable(error.message)}`, { cause: error });
}
