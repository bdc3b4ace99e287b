// DaemonSets: what their pods will take of a fresh node that is acquired for a profile. min_unit includes it; a machine of
// exactly the size of the largest pod would have no room for that pod otherwise.

import { NO_RESOURCES, Operator, type Profile, type ResourceVector } from '../../model/index.ts';
import type { DaemonSet, NodeSelectorTerm, SelectorExpression, Toleration } from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import { canonicalKey, selectorExpressions } from '../pods/node-terms.ts';
import { saturatingSum } from '../pods/quantities.ts';
import { podResources } from '../pods/resources.ts';
import type { TranslationSettings } from '../pods/settings.ts';
import { untolerated } from '../pods/taints.ts';
import { ListedObjects } from './listed-objects.ts';

interface Daemon {
  readonly text: string;
  readonly resources: ResourceVector;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Null: no required node affinity. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | null;
  readonly tolerations: readonly Toleration[];
}

/** Labels that every node has, with a value that nothing is known about. */
const ON_EVERY_NODE = [
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
];
/** A value that no selector names. */
const SOME_VALUE: readonly string[] = ['\0'];

/** By label of a fresh node: the values that it may have. */
type FreshLabels = ReadonlyMap<string, readonly string[]>;

export class DaemonSets {
  readonly #settings: TranslationSettings;
  #version = 0;
  #cache = new Map<string, ResourceVector>();
  readonly daemons: ListedObjects<DaemonSet, Daemon>;

  constructor(settings: TranslationSettings) {
    this.#settings = settings;
    this.daemons = new ListedObjects<DaemonSet, Daemon>(
      (daemonSet) => readDaemon(daemonSet, settings),
      (_, daemon, before) => {
        // Most events of a DaemonSet are changes of its status.
        if (daemon?.text === before?.text) return;
        this.#version++;
        this.#cache.clear();
      },
    );
  }

  /** Changes whenever an answer of `onFreshNode` may have changed. */
  get version(): number {
    return this.#version;
  }

  /** What DaemonSet pods take of a fresh node of a profile. */
  onFreshNode(profile: Profile): ResourceVector {
    if (this.daemons.size === 0) return NO_RESOURCES;
    const known = this.#cache.get(profile.fingerprint);
    if (known !== undefined) return known;
    const sum = new Map<string, number>();
    const labels = labelsOfFreshNode(profile, this.#settings.nodeLabels);
    for (const daemon of this.daemons.values()) {
      if (!this.#runsOn(daemon, labels)) continue;
      for (const [name, units] of daemon.resources) sum.set(name, saturatingSum(sum.get(name) ?? 0, units));
    }
    if (this.#cache.size >= 65_536) this.#cache = new Map();
    this.#cache.set(profile.fingerprint, sum);
    return sum;
  }

  #runsOn({ nodeSelector, nodeTerms, tolerations }: Daemon, labels: FreshLabels): boolean {
    if (!holds(selectorExpressions({ matchLabels: nodeSelector }), labels)) return false;
    if (nodeTerms !== null && !nodeTerms.some((term) => isSelected(term, labels))) return false;
    return this.#settings.taints.every(
      (rule) =>
        !holds(selectorExpressions(rule.selector), labels) || untolerated(rule, tolerations) === undefined,
    );
  }
}

function readDaemon({ spec }: DaemonSet, { countPods }: TranslationSettings): Daemon | null {
  try {
    const template = spec.template.spec;
    const { resources, problem } = podResources({ spec: template }, countPods);
    if (problem !== null) return null;
    const affinity = template.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const rest = {
      nodeSelector: template.nodeSelector ?? {},
      nodeTerms: affinity?.nodeSelectorTerms ?? null,
      tolerations: template.tolerations ?? [],
    };
    return { ...rest, resources, text: JSON.stringify([...resources, rest]) };
  } catch {
    // A template that cannot be read; its pods would not be created either.
    return null;
  }
}

function labelsOfFreshNode(profile: Profile, nodeLabels: Readonly<Record<string, string>>): FreshLabels {
  const labels = new Map<string, readonly string[]>(ON_EVERY_NODE.map((key) => [key, SOME_VALUE]));
  for (const [key, value] of Object.entries(nodeLabels)) labels.set(canonicalKey(key), [value]);
  for (const { key, operator, values } of profile.requirements) {
    if (operator === Operator.In && values.length > 0) labels.set(key, values);
    else if ((operator === Operator.Exists || operator === Operator.Same) && !labels.has(key))
      labels.set(key, SOME_VALUE);
  }
  return labels;
}

/** Whether a fresh node meets all expressions, whichever of its possible values it has. */
function holds(expressions: readonly SelectorExpression[], labels: FreshLabels): boolean {
  return expressions.every((expression) => {
    const selector = { matchExpressions: [expression] };
    const values = labels.get(canonicalKey(expression.key));
    if (values === undefined) return selects(selector, labelsOf({}));
    return values.every((value) => selects(selector, labelsOf({ [expression.key]: value })));
  });
}

/** Conditions on the name of a node exclude fresh ones. A term without conditions selects nothing. */
function isSelected(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  labels: FreshLabels,
): boolean {
  return matchExpressions.length > 0 && matchFields.length === 0 && holds(matchExpressions, labels);
}
