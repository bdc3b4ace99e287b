// DaemonSets: what their pods will take of a fresh node that is acquired for a profile. min_unit includes it; a machine of
// exactly the size of the largest pod would have no room for that pod otherwise. A DaemonSet counts if its pods may run on
// some machine of the profile, even if not on all: a machine that is a little too large costs less than a pod that no
// machine bought for it can hold.

import {
  INSTANCE_TYPE_KEY,
  NO_RESOURCES,
  type Profile,
  type ResourceVector,
  ZONE_KEY,
} from '../../model/index.ts';
import type { DaemonSet, NodeSelectorTerm, SelectorExpression, Toleration } from '../kube/objects.ts';
import { HOSTNAME_KEY } from '../pods/keys.ts';
import {
  ANY_NODE,
  canonicalKey,
  intersect,
  isImpossible,
  type NodeTerm,
  readTerm,
  selectorExpressions,
} from '../pods/node-terms.ts';
import { saturatingSum } from '../pods/quantities.ts';
import { podResources } from '../pods/resources.ts';
import type { TranslationSettings } from '../pods/settings.ts';
import { awayFromTaints } from '../pods/taints.ts';
import { ListedObjects } from './listed-objects.ts';
import { areCompatible, termOf } from './requirement-terms.ts';

interface Daemon {
  readonly text: string;
  readonly resources: ResourceVector;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Null: no required node affinity. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | null;
  readonly tolerations: readonly Toleration[];
}

/** Labels that every node has, with a value that is not known before. */
const ON_EVERY_NODE = ['kubernetes.io/os', 'kubernetes.io/arch', INSTANCE_TYPE_KEY, ZONE_KEY];
/** The name of a fresh node is one that no selector names. */
const NEW_NAME: NodeTerm = readTerm([{ key: HOSTNAME_KEY, operator: 'In', values: ['\0'] }], () => []).term;

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
    const node = freshNode(profile, this.#settings.nodeLabels);
    for (const daemon of this.daemons.values()) {
      if (!this.#mayRunOn(daemon, node)) continue;
      for (const [name, units] of daemon.resources) sum.set(name, saturatingSum(sum.get(name) ?? 0, units));
    }
    if (this.#cache.size >= 65_536) this.#cache = new Map();
    this.#cache.set(profile.fingerprint, sum);
    return sum;
  }

  #mayRunOn({ nodeSelector, nodeTerms, tolerations }: Daemon, node: NodeTerm): boolean {
    const selected = termFor(selectorExpressions({ matchLabels: nodeSelector }), node);
    if (selected === null) return false;
    const wanted = nodeTerms === null ? [ANY_NODE] : nodeTerms.map((term) => affinityTerm(term, node));
    return wanted.some((term) => {
      if (term === null) return false;
      const both = intersect(intersect(node, selected), term);
      if (isImpossible(both)) return false;
      const { terms } = awayFromTaints([both], this.#settings.taints, tolerations);
      return terms.some((each) => !isImpossible(each));
    });
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

/** What is known about the labels of a fresh node; the requirements of the profile decide where the settings differ. */
function freshNode({ requirements }: Profile, nodeLabels: Readonly<Record<string, string>>): NodeTerm {
  const known = [
    ...Object.entries(nodeLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...ON_EVERY_NODE.map((key) => ({ key, operator: 'Exists' })),
  ].map((expression) => readTerm([expression], () => []).term);
  let node = termOf(requirements);
  for (const term of [...known, NEW_NAME]) if (areCompatible(node, term)) node = intersect(node, term);
  return node;
}

/** Conditions on the name of a node exclude fresh ones. A term without conditions selects nothing. Null: neither can be. */
function affinityTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: NodeTerm,
): NodeTerm | null {
  return matchExpressions.length > 0 && matchFields.length === 0 ? termFor(matchExpressions, node) : null;
}

/** Expressions as a term; null for an operator that is not known. */
function termFor(expressions: readonly SelectorExpression[], node: NodeTerm): NodeTerm | null {
  const valuesOf = (key: string): Iterable<string> | null => node.get(canonicalKey(key))?.values ?? null;
  const possible = expressions.map((expression) => {
    const { key, operator } = expression;
    // Compared with the values that the node may have; without a list of them, some value may pass.
    const isOpen = (operator === 'Gt' || operator === 'Lt') && valuesOf(key) === null;
    return isOpen ? { key, operator: 'Exists' } : expression;
  });
  const { term, problem } = readTerm(possible, (key) => valuesOf(key) ?? []);
  return problem === null ? term : null;
}
