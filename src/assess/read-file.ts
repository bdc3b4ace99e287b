// A cluster from a file: the output of `kubectl get pods,nodes -A -o json`, with more kinds if the user asks kubectl for
// them. Kinds that the assessment does not know are ignored.

import { BigFleetError, excerpt } from '../model/index.ts';
import type { KubeObject, Node, Pod } from '../operator/kube/index.ts';
import { type ClusterObjects, SUPPORTING_KINDS, type SupportingKind, WITHOUT } from './cluster-objects.ts';

const COMMAND = 'kubectl get pods,nodes -A -o json';

/** Throws `BF_INPUT_UNREADABLE` or `BF_INPUT_INVALID` with the name of the file. */
export function clusterFromText(name: string, file: string, text: string): ClusterObjects {
  const byKind = Map.groupBy(itemsOf(file, text), ({ kind }) => kind ?? '');
  const pods = (byKind.get('Pod') ?? []).filter((object): object is Pod => isPod(file, object));
  const nodes: readonly Node[] = byKind.get('Node') ?? [];
  if (nodes.length === 0)
    throw invalid(file, `There are no nodes in it. It should be the output of: ${COMMAND}`);
  if (pods.length === 0)
    throw invalid(file, `There are no pods in it. It should be the output of: ${COMMAND}`);
  const supporting: Partial<Record<SupportingKind, readonly KubeObject[]>> = {};
  const gaps: string[] = [];
  for (const [resource, kind] of Object.entries(SUPPORTING_KINDS) as [SupportingKind, string][]) {
    const found = byKind.get(kind);
    if (found !== undefined) supporting[resource] = found;
    else gaps.push(`The file has no ${resource}: ${WITHOUT[resource]}.`);
  }
  return { name, pods, nodes, supporting, gaps };
}

function itemsOf(file: string, text: string): readonly KubeObject[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${file} is not JSON: ${why}. Make it with: ${COMMAND}`);
  }
  const { kind, items } = (value ?? {}) as { readonly kind?: unknown; readonly items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items))
    throw invalid(
      file,
      `It is ${typeof kind === 'string' ? `a ${excerpt(kind)}` : 'not a Kubernetes object'}, not a List. Make it with: ${COMMAND}`,
    );
  // A PodList of the API itself has items without a kind.
  const itemKind = kind === 'List' ? '' : kind.slice(0, -'List'.length);
  for (const [i, item] of items.entries())
    if (typeof (item as KubeObject | null)?.metadata?.name !== 'string')
      throw invalid(file, `items[${i}] has no metadata.name.`);
  return (items as readonly KubeObject[]).map((item) =>
    item.kind === undefined && itemKind !== '' ? { ...item, kind: itemKind } : item,
  );
}

/** What an API server never leaves out. */
function isPod(file: string, { metadata, ...rest }: KubeObject): boolean {
  const { spec } = rest as Partial<Pod>;
  if (Array.isArray(spec?.containers)) return true;
  throw invalid(file, `The pod ${metadata.namespace ?? ''}/${metadata.name} has no spec.containers.`);
}

function invalid(file: string, detail: string): BigFleetError {
  return new BigFleetError('BF_INPUT_INVALID', `${file}: ${detail}`);
}
