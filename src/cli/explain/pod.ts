// `bigfleet explain pod NS/NAME`: why a pod waits or where it runs, through the user's own kubeconfig. Called by
// explain.ts; the client comes from a factory, so that tests pass one in memory.

import { BigFleetError, printable } from '../../model/index.ts';
import { HttpKubeClient, type KubeClient, KubeError, loadKubeconfig } from '../../operator/kube/index.ts';
import { explainPod, type PodExplanation } from '../../operator/verdicts/explain-pod.ts';
import { age, countOf } from '../amounts.ts';
import { factLines, proseLines } from '../remote/facts.ts';
import type { RemoteIo } from '../remote/flags.ts';
import { tableLines } from '../table.ts';
import { DEFAULT_OPERATOR_NAMESPACE, type PodFlags } from './pod-flags.ts';

/** A client for one command; `close` lets the process end. */
interface ClusterAccess {
  readonly client: KubeClient;
  readonly close: () => void;
}

/** Connects to the API server that the user's kubeconfig selects. */
export type KubeFactory = (flags: PodFlags) => ClusterAccess;

const connectAsKubectl: KubeFactory = ({ kubeconfig, context }) => {
  const connection = loadKubeconfig({ path: kubeconfig, context });
  const client = new HttpKubeClient({ connection, userAgent: 'bigfleet-explain' });
  return { client, close: () => client.close() };
};

/** Exit code 0: it is explained, 2: there is no such pod, 1: the API server did not answer. */
export async function showPod(
  id: string,
  flags: PodFlags,
  { out, paint }: RemoteIo,
  connect: KubeFactory = connectAsKubectl,
  nowMs: number = Date.now(),
): Promise<void> {
  const { namespace, name } = podName(id);
  const operatorNamespace = flags.operatorNamespace ?? DEFAULT_OPERATOR_NAMESPACE;
  const { client, close } = connect(flags);
  const explanation = await answered(explainPod(client, { namespace, name, operatorNamespace })).finally(
    close,
  );
  if (explanation === null)
    throw new BigFleetError(
      'BF_USAGE',
      `There is no pod "${printable(name)}" in namespace "${printable(namespace)}".`,
    );
  if (flags.output === 'json') return out(`${JSON.stringify(explanation, null, 2)}\n`);
  const sections = [
    [
      paint('bold', printable(`Pod ${explanation.namespace}/${explanation.name}`)),
      ...proseLines([explanation.summary]),
    ],
    titled('Facts', facts(explanation, nowMs), paint),
    titled('What its Need cannot express', proseLines(explanation.remarks, '- '), paint),
    titled('Events', eventLines(explanation, nowMs), paint),
    titled('Not readable', proseLines(explanation.gaps, '- '), paint),
  ].filter((section) => section.length > 0);
  out(`${sections.map((section) => section.join('\n')).join('\n\n')}\n`);
}

/** A pod without a namespace is one of `default`, as for kubectl. */
function podName(id: string): { readonly namespace: string; readonly name: string } {
  const parts = id.split('/');
  const [namespace, name] = parts.length === 1 ? ['default', parts[0]!] : (parts as [string, string]);
  if (parts.length > 2 || namespace === '' || name === '' || name === undefined)
    throw new BigFleetError('BF_USAGE', `"${printable(id)}" is not a pod, which is NAMESPACE/NAME.`);
  return { namespace, name };
}

async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const why =
      error.status === 0 ? 'The API server does not answer' : `The API server refused (${error.status})`;
    throw new BigFleetError('BF_KUBE_FAILED', `${why}: ${printable(error.message)}`, { cause: error });
  }
}

function facts(explanation: PodExplanation, nowMs: number): readonly string[] {
  const { node, machine, row, unschedulableSince, scheduler, verdictsAt, episodes } = explanation;
  return factLines([
    ['node', node],
    ['machine', machine],
    ['pending for', since(unschedulableSince, nowMs)],
    ['scheduler', scheduler],
    ['Need', row === null ? '' : `${row.fingerprint}${row.group === '' ? '' : `, group ${row.group}`}`],
    ['machines', row === null ? '' : machinesText(row)],
    ['rows ahead', row === null || row.satisfied ? '' : String(row.rowsAhead)],
    ['extra', episodes.map(({ group, pods }) => `${group} for ${countOf(pods, 'pod')}`).join(', ')],
    ['verdicts', verdictsAt === '' ? '' : `${since(verdictsAt, nowMs)} ago`],
  ]);
}

function machinesText(row: NonNullable<PodExplanation['row']>): string {
  const { machineTotal, notConfigured, machines, sharedMachines } = row;
  const named =
    machines.length === 0 ? '' : ` (${machines.join(', ')}${machineTotal > machines.length ? ', …' : ''})`;
  const shared = sharedMachines.length === 0 ? '' : `, and shares ${sharedMachines.join(', ')}`;
  return `${machineTotal}${named}${shared}${notConfigured > 0 ? `; ${notConfigured} not joined yet` : ''}`;
}

function eventLines({ events }: PodExplanation, nowMs: number): readonly string[] {
  if (events.length === 0) return [];
  const columns = [{ header: 'AGE' }, { header: 'FROM' }, { header: 'REASON' }, { header: 'MESSAGE' }];
  const rows = events.map(({ at, from, reason, message }) =>
    [since(at, nowMs), from, reason, message].map((text) => ({ text })),
  );
  return tableLines(columns, rows, { indent: 2 });
}

function since(time: string, nowMs: number): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? '' : age(Math.max(0, nowMs - ms));
}

function titled(title: string, lines: readonly string[], paint: RemoteIo['paint']): readonly string[] {
  return lines.length === 0 ? [] : [paint('bold', title), ...lines];
}
