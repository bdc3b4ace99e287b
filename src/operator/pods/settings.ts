// Settings of the translation from pods to demand: the part of the operator's settings that decides what a pod asks for.
// Read by every file of this folder; process/demand-settings.ts reads and checks them as one section.

import type { LabelSelector, NodeTaint, SelectorExpression } from '../kube/objects.ts';

/** Nodes with these labels register with these taints: the bootstrap passes them to the kubelet. */
export interface TaintRule {
  readonly selector: LabelSelector;
  readonly taints: readonly NodeTaint[];
}

/** Dollars as quantities; a penalty that is left out has no default. */
export interface PenaltyDefaults {
  readonly interruptionPenalty?: string | number;
  readonly reclamationPenalty?: string | number;
}

export interface TranslationSettings {
  /** Added to what a pod asks for if it says nothing about that label. */
  readonly defaultRequirements: readonly SelectorExpression[];
  readonly taints: readonly TaintRule[];
  /** By name of a PriorityClass: penalties of pods without the annotation. */
  readonly priorityClassDefaults: Readonly<Record<string, PenaltyDefaults>>;
  /** Labels of every node that BigFleet adds; they decide which DaemonSets will run on it. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** By label: values that machines have, for `Gt` and `Lt` before a node with one of them was seen. */
  readonly knownValues: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether each pod also asks for one unit of `pods`. Only for providers whose machines declare `pods`: a machine that
   * does not declare a resource has none of it.
   */
  readonly countPods: boolean;
}

/** Images for amd64 must not land on arm64 because it is cheaper. */
const AMD64 = { key: 'kubernetes.io/arch', operator: 'In' as const, values: ['amd64'] };

export const DEFAULT_TRANSLATION: TranslationSettings = {
  defaultRequirements: [AMD64],
  taints: [],
  priorityClassDefaults: {},
  nodeLabels: { 'kubernetes.io/os': 'linux' },
  knownValues: {},
  countPods: false,
};
