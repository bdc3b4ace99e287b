// What an assessment reads of one cluster, whether from its API server or from a file. Made by read-cluster.ts and
// read-file.ts; cluster-demand.ts and assess.ts read it.

import type { KubeObject, Node, Pod } from '../operator/kube/index.ts';

/** Kinds that the translation of pods reads, apart from pods and nodes themselves, by name of the resource. */
export const SUPPORTING_KINDS = {
  namespaces: 'Namespace',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  daemonsets: 'DaemonSet',
  priorityclasses: 'PriorityClass',
  poddisruptionbudgets: 'PodDisruptionBudget',
} as const;

export type SupportingKind = keyof typeof SUPPORTING_KINDS;

/** What the assessment lacks without each of them, for a person. */
export const WITHOUT: Readonly<Record<SupportingKind, string>> = {
  namespaces: 'namespaces that are ignored are counted',
  persistentvolumeclaims: 'volumes bind no pod to a zone',
  persistentvolumes: 'volumes bind no pod to a zone',
  daemonsets: 'machines are sized without DaemonSet pods',
  priorityclasses: 'pods without a number for their priority have priority 0',
  poddisruptionbudgets: 'budgets of pods break no ties between machines',
};

export interface ClusterObjects {
  readonly name: string;
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** A kind that could not be read is absent. */
  readonly supporting: Readonly<Partial<Record<SupportingKind, readonly KubeObject[]>>>;
  /** What could not be read, and what follows from that, as sentences. */
  readonly gaps: readonly string[];
}
