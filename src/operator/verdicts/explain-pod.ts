// Why a pod waits, or where it runs: from the pod, its Events, its node and the ConfigMap of verdicts, with the rights of
// the caller. What the caller may not read is named and left out. Used by `bigfleet explain pod`.

import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject, Node, Pod } from '../kube/objects.ts';
import { MACHINE_LABEL } from '../nodes/contract.ts';
import { listAll, nodePath, podPath } from '../nodes/paths.ts';
import { countOf, waitText } from './texts.ts';
import { readVerdictMap, VERDICTS_CONFIG_MAP, type VerdictMap, type VerdictRow } from './verdict-map.ts';

const MAX_EVENTS = 15;

type PodSituation =
  | 'running'
  | 'finished'
  | 'terminating'
  | 'gated'
  /** The scheduler has not tried it yet. */
  | 'unscheduled'
  /** It waits for a machine, and BigFleet counts it. */
  | 'waiting'
  /** It waits for a machine, and BigFleet does not count it. */
  | 'not-counted'
  /** It waits for a machine. Whether it counts is not known: more pods wait than the ConfigMap of verdicts has room for. */
  | 'not-listed';

interface PodEventLine {
  readonly at: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly from: string;
}

export interface PodExplanation {
  readonly namespace: string;
  readonly name: string;
  readonly situation: PodSituation;
  /** One sentence that answers the question. */
  readonly summary: string;
  readonly node: string;
  readonly machine: string;
  readonly unschedulableSince: string;
  /** The scheduler's own words. */
  readonly scheduler: string;
  readonly row: VerdictRow | null;
  /** What a row cannot express of the pod. */
  readonly remarks: readonly string[];
  readonly episodes: readonly { readonly group: string; readonly since: string; readonly pods: number }[];
  readonly events: readonly PodEventLine[];
  /** When the verdicts were written; '' if they cannot be read. */
  readonly verdictsAt: string;
  /** What could not be read. */
  readonly gaps: readonly string[];
}

interface CoreEvent extends KubeObject {
  readonly involvedObject?: { readonly uid?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

/** Null if there is no such pod. */
export async function explainPod(
  kube: KubeClient,
  where: { readonly namespace: string; readonly name: string; readonly operatorNamespace: string },
): Promise<PodExplanation | null> {
  const { namespace, name, operatorNamespace } = where;
  const pod = await ifFound(kube.get<Pod>(podPath(namespace, name)));
  if (pod === null) return null;
  const gaps: string[] = [];
  const node = pod.spec.nodeName ?? '';
  const [map, events, nodeObject] = await Promise.all([
    readable(
      readVerdictMap(kube, operatorNamespace),
      `ConfigMap ${operatorNamespace}/${VERDICTS_CONFIG_MAP}`,
      gaps,
    ),
    readable(eventsOf(kube, pod, namespace), `Events in namespace ${namespace}`, gaps),
    node === '' ? null : readable(ifFound(kube.get<Node>(nodePath(node))), `Node ${node}`, gaps),
  ]);
  const waits = map?.pods.get(`${namespace}/${name}`);
  const row = waits === undefined ? null : rowOf(map!, waits.fingerprint, waits.group);
  const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const situation = situationOf(pod, waits !== undefined, (map?.cut.pods ?? 0) > 0);
  const machine = nodeObject?.metadata.labels?.[MACHINE_LABEL] ?? '';
  return {
    namespace,
    name,
    situation,
    summary: summaryOf(situation, { node, machine, row, map: map ?? null, reason: pod.status?.phase ?? '' }),
    node,
    machine,
    unschedulableSince:
      waits?.since ?? (condition?.status === 'False' ? (condition.lastTransitionTime ?? '') : ''),
    scheduler: condition?.status === 'False' ? (condition.message ?? '') : '',
    row,
    remarks: waits?.remarks ?? [],
    episodes:
      row === null ? [] : (map?.episodes ?? []).filter(({ fingerprint }) => fingerprint === row.fingerprint),
    events: events ?? [],
    verdictsAt: map?.at ?? '',
    gaps,
  };
}

function situationOf(pod: Pod, isCounted: boolean, isCut: boolean): PodSituation {
  const { phase, conditions = [] } = pod.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') return 'finished';
  if (pod.metadata.deletionTimestamp !== undefined) return 'terminating';
  if ((pod.spec.nodeName ?? '') !== '') return 'running';
  if ((pod.spec.schedulingGates ?? []).length > 0) return 'gated';
  if (isCounted) return 'waiting';
  const isUnschedulable = conditions.some(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  );
  if (!isUnschedulable) return 'unscheduled';
  return isCut ? 'not-listed' : 'not-counted';
}

function summaryOf(
  situation: PodSituation,
  {
    node,
    machine,
    row,
    map,
    reason,
  }: {
    readonly node: string;
    readonly machine: string;
    readonly row: VerdictRow | null;
    readonly map: VerdictMap | null;
    readonly reason: string;
  },
): string {
  switch (situation) {
    case 'finished':
      return `It has ended (${reason}).`;
    case 'terminating':
      return node === '' ? 'It is being deleted.' : `It is being deleted on node ${node}.`;
    case 'running':
      return machine === ''
        ? `It is on node ${node}, which BigFleet does not manage.`
        : `It is on node ${node}, machine ${machine}.`;
    case 'gated':
      return 'It has scheduling gates and counts once they are removed.';
    case 'unscheduled':
      return 'The scheduler has not marked it Unschedulable, so BigFleet does not count it yet.';
    case 'waiting':
      if (row === null) return withoutVerdict(map?.cut.rows ?? 0);
      return waitText(row).text;
    case 'not-listed':
      return `It is Unschedulable. The ConfigMap of verdicts lists ${countOf(map?.pods.size ?? 0, 'waiting pod')}; ${map?.cut.pods} more did not fit, so whether BigFleet counts it is not known here. Its Events may say why it waits.`;
    case 'not-counted':
      return map === null
        ? 'It is Unschedulable; the verdicts of the operator cannot be read.'
        : 'It is Unschedulable, but BigFleet does not count it: it is opted out, not opted in, or newer than the last verdicts.';
  }
}

function withoutVerdict(cutRows: number): string {
  return cutRows === 0
    ? 'It is counted; the shard has sent no verdict on its row yet.'
    : `It is counted. The verdict on its row is not listed: ${countOf(cutRows, 'verdict')} did not fit into the ConfigMap of verdicts. Its Events say why it waits.`;
}

function rowOf(map: VerdictMap, fingerprint: string, group: string): VerdictRow | null {
  return map.rows.find((row) => row.fingerprint === fingerprint && row.group === group) ?? null;
}

async function eventsOf(kube: KubeClient, pod: Pod, namespace: string): Promise<readonly PodEventLine[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod.metadata.name}`;
  const found = await listAll<CoreEvent>(kube, path, { fieldSelector });
  return found
    .filter(
      ({ involvedObject }) => involvedObject?.uid === undefined || involvedObject.uid === pod.metadata.uid,
    )
    .map((event) => ({
      at: event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? '',
      type: event.type ?? '',
      reason: event.reason ?? '',
      message: event.message ?? '',
      from: event.reportingComponent || (event.source?.component ?? ''),
    }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-MAX_EVENTS);
}

async function ifFound<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return null;
    throw error;
  }
}

/** Null, with a line in `gaps`, if the caller may not read it. */
async function readable<T>(request: Promise<T>, what: string, gaps: string[]): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof KubeError) || (error.status !== 403 && error.status !== 401)) throw error;
    gaps.push(`${what}: no right to read it.`);
    return null;
  }
}
